"""`harvest probe`: find out which API a URL has, send one harmless turn, and print the system for an audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harvest.cli.exposures import keys_in_clear_option, show_exposures
from harvest.cli.interruption import run_until_stopped
from harvest.cli.parameters import NumberRange
from harvest.terminal import printable, prose_width, wrap_lines
from topics.errors import InputError
from topics.shown_names import shorten

if TYPE_CHECKING:
    from harvest.audits.api_probe import Candidate, Probe
    from harvest.systems.exposure import Exposure


@click.command()
@click.argument("url", metavar="URL")
@click.option("--key-env", metavar="NAME", help="The environment variable with the key, if the API needs one.")
@click.option("--driver", metavar="NAME", help="Try this driver, whatever was found: see `harvest init --list`.")
@click.option("--option", "options", metavar="NAME=VALUE", multiple=True, help="An option of the driver: model=NAME.")
@click.option("--message", metavar="TEXT", default="Hello", show_default=True, help="The turn to send, once.")
@click.option("--dry", is_flag=True, help="Send no turn: only look.")
@click.option("--timeout", metavar="SECONDS", type=NumberRange(1, 3600), default=60.0, show_default=True)
@keys_in_clear_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    url: str,
    key_env: str | None,
    driver: str | None,
    options: tuple[str, ...],
    message: str,
    dry: bool,
    timeout: float,
    keys_in_clear: bool,
    as_json: bool,
) -> int:
    """Find out which API a URL has, with one harmless turn.

    The form of the URL is compared with known APIs; if it says nothing, requests that only read are sent. Then one turn
    is sent by the driver that fits best. The system for an audit is printed on standard output. You must have the right
    to audit it.
    """
    from harvest.audits.api_probe import Probe
    from harvest.drivers.registry import driver_module

    _check_arguments(url, message)
    probe = Probe(url.rstrip("/"), key_env, dict(map(_read_option, options)), timeout)
    if driver is not None and getattr(driver_module(driver), "LOOK", None) is None:
        what = f"the driver {driver!r} is not for an API that can be probed"
        raise InputError(what, advice="choose an API of `harvest init --list`, or `openai`")
    return run_until_stopped(_probe(probe, driver, message, dry, keys_in_clear, as_json))


def _check_arguments(url: str, message: str) -> None:
    from pydantic_core import PydanticCustomError

    from topics.target import parse_target

    try:
        parse_target(url, secret="name a variable by --key-env")
    except PydanticCustomError as fault:
        advice = "give the whole URL, such as https://api.example.org/v1"
        raise InputError(str(fault.message()), advice=advice) from None
    if not message.strip():
        raise InputError("--message is empty", advice="give a harmless message, such as Hello")


def _read_option(text: str) -> tuple[str, object]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise InputError(f"--option {text!r} has no value", allowed="NAME=VALUE, such as model=my-model")
    return name, value


async def _probe(probe: Probe, driver: str | None, message: str, dry: bool, keys_in_clear: bool, as_json: bool) -> int:
    from harvest.audits.api_probe import asked_candidates, candidates_by_look, candidates_by_url, try_candidate
    from harvest.systems.driver import DriverError, Surroundings
    from harvest.systems.exposure import Exposure

    surroundings = Surroundings("the probed system", Path.cwd())
    contacted = Exposure("the probed system", (probe.key_env,) if probe.key_env else (), (probe.url,))
    _show_exposure(contacted, keys_in_clear)
    if driver is not None:
        found = asked_candidates(probe, driver)
    else:
        found = candidates_by_url(probe)
        if not found:
            try:
                found = await candidates_by_look(probe, surroundings, _say)
            except DriverError as error:
                raise InputError(str(error), advice="check the URL, and that the server runs") from None
    for why in dict.fromkeys(f"{one.driver}: {one.why}" for one in found):
        _say(why)
    if not found:
        _say(
            "no known API was recognised. Many servers speak chat completions and do not say so: --driver openai "
            "--option model=NAME tries that; for others see harvest init --list; an API of its own form is described "
            "to driver: http"
        )
        if as_json:
            click.echo(json.dumps({"url": probe.url, "driver": None, "found": []}))
        return 2
    first, fault, text = found[0], "", None
    if first.missing:
        _say(f"{first.driver} needs {' and '.join(first.missing)}: give --option {first.missing[0]}=VALUE")
    elif not dry:
        exposure = probe.exposure(first)
        if exposure.origins != contacted.origins:  # an agent card may name another server
            _show_exposure(exposure, keys_in_clear)
        _say(f"sends the turn {message!r} once, as the driver {first.driver}")
        try:
            try:
                reply = await try_candidate(probe, first, message, surroundings)
            except DriverError as error:
                if driver is None or error.reason != "http-404" or len(found) == 1:
                    raise
                first = found[1]
                _say(f"nothing is there ({error.reason}); sends it once to {first.options['base_url']}")
                reply = await try_candidate(probe, first, message, surroundings)
            text = reply.turn.answer.text
            _say(f"answer after {reply.turn.seconds or 0:.1f} s: {shorten(' '.join(text.split()), 200)}")
        except DriverError as error:
            fault = str(error)
            _say(f"no answer: {fault}")
            if error.reason in ("http-401", "http-403") and probe.key_env is None:
                _say("if the API needs a key, name its environment variable by --key-env NAME")
    _print(probe, first, found, text, fault, as_json)
    if text is not None:
        _say(f"this is an entry of `systems` in an audit; harvest init --driver {first.driver} writes the rest")
    return 2 if fault or first.missing else 0


def _show_exposure(exposure: Exposure, keys_in_clear: bool) -> None:
    from harvest.audits.exposures import refuse_keys_in_clear

    show_exposures([exposure], err=True)
    if not keys_in_clear:
        refuse_keys_in_clear([exposure], None)


def _print(probe: Probe, first: Candidate, found: list[Candidate], text: str | None, fault: str, as_json: bool) -> None:
    if not as_json:
        click.echo(first.system(), nl=False)
        return
    every = [{"driver": one.driver, "why": one.why, "options": dict(one.options)} for one in found]
    told = {"url": probe.url, "driver": first.driver, "found": every, "missing": list(first.missing)}
    click.echo(json.dumps({**told, "answer": text, "fault": fault}, indent=2, ensure_ascii=False))


def _say(line: str) -> None:
    click.echo(wrap_lines(printable(line, line=True), prose_width(), hang=4), err=True)
