"""A webhook that receives figures and verdicts as JSON, but no text of a conversation or from a system."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harvest.drivers.options import WireOptions
from harvest.drivers.wire import Request, Wire
from harvest.notices.bulletin import Bulletin, Estimate, Notice, plain
from harvest.systems.driver import DriverError, Surroundings
from recordings.files.json_text import json_number
from recordings.log.own_loop import run_to_end
from topics.errors import InputError
from topics.target import parse_target

FORMAT = "harvest-notice/1"


def address(variable: str, environment: Mapping[str, str]) -> str:
    """Return the URL in an environment variable. Raises InputError if the URL is missing or invalid. The URL is a
    secret, so messages never contain it."""
    url = environment.get(variable, "").strip()
    if not url:
        raise InputError(
            f"the environment variable {variable} (--webhook-env) is not set",
            advice=f"export {variable}=https://… where harvest runs; the address of a webhook is a secret",
        )
    try:
        parse_target(url, secret="keep it in the variable")
    except ValueError:
        raise InputError(
            f"the environment variable {variable} (--webhook-env) is not the URL of a webhook",
            allowed="https://HOST/PATH",
        ) from None
    return url


def payload(bulletin: Bulletin) -> dict[str, Any]:
    """Return the data to send. Chat services that accept incoming messages show the entry `text`."""
    return {
        "format": FORMAT,
        "text": plain(bulletin.sentence),
        "command": bulletin.command,
        "audit": plain(bulletin.audit),
        "verdict": bulletin.verdict,
        "exit_code": bulletin.code,
        "at": bulletin.at,
        "systems": [
            {"system": plain(account.system), "figures": [_figure_values(one) for one in account.notices]}
            for account in bulletin.accounts
        ],
    }


def _figure_values(one: Notice) -> dict[str, Any]:
    return {
        "figure": plain(one.figure),
        "verdict": one.verdict,
        "decides": one.decides,
        "alarm": one.alarm,
        "n": one.n,
        **_interval_values("value", one.now),
        "baseline": json_number(one.before),
        **_interval_values("difference", one.moved),
    }


def _interval_values(name: str, one: Estimate) -> dict[str, float | None]:
    return {
        name: json_number(one.value),
        f"{name}_low": json_number(one.low),
        f"{name}_high": json_number(one.high),
    }


def send(bulletin: Bulletin, url: str, *, seconds: float = 10.0) -> str:
    """Post the bulletin to the webhook. Returns the reason if the bulletin was not accepted, else "". This function
    never raises. The returned reason never contains the URL, which is a secret. Posting takes at most `seconds`,
    because the verdict is printed only afterwards."""
    body = json.dumps(payload(bulletin), ensure_ascii=False, allow_nan=False).encode()

    async def post() -> int:
        limits = WireOptions.model_validate({"timeout": seconds, "connect_timeout": seconds / 2})
        wire = Wire(limits, Surroundings("webhook", Path()))
        try:
            return (await wire.ask(Request("POST", url, {"Content-Type": "application/json"}, body))).status
        finally:
            await wire.close()

    try:
        status = run_to_end(post())
    except DriverError as fault:
        return fault.reason
    except (InputError, ValueError, OSError):  # their messages may repeat the address
        return "its address cannot be used"
    return "" if 200 <= status < 300 else f"it answered {status}"
