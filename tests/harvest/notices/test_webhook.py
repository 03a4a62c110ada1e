"""A webhook gets figures only, and what happens to it is no part of the verdict."""

from __future__ import annotations

import json
import socket

import pytest

from harvest.notices.webhook import address, payload, send
from tests.support.bulletins import AT, CHANGED, HOSTILE_BULLETIN, bulletin
from tests.support.hostile_replies import LARGE
from tests.support.listening import listening
from topics.errors import InputError


def test_a_webhook_gets_the_verdict_and_the_figures() -> None:
    told = bulletin(CHANGED, code=1, verdict="changed", details=("answered as a-model-of-its-own",))
    with listening() as hook:
        assert send(told, hook.url) == ""
    (body,) = hook.sent
    assert json.loads(body) == {
        "format": "harvest-notice/1",
        "text": "weekly: changed. mine: ave%useful changed by -15.2 since the baseline (60.0%)",
        "command": "watch run",
        "audit": "weekly",
        "verdict": "changed",
        "exit_code": 1,
        "at": AT,
        "systems": [
            {
                "system": "mine",
                "figures": [
                    {
                        "figure": "ave%useful",
                        "verdict": "changed",
                        "decides": True,
                        "alarm": False,
                        "n": 225,
                        "value": 0.448,
                        "value_low": None,
                        "value_high": None,
                        "baseline": 0.6,
                        "difference": -0.152,
                        "difference_low": -0.21,
                        "difference_high": -0.09,
                    }
                ],
            }
        ],
    }


def test_a_systems_model_name_is_not_sent() -> None:
    found = json.dumps(payload(bulletin(CHANGED, details=("a-model-of-its-own",))))
    assert "a-model-of-its-own" not in found
    whole = json.dumps(payload(HOSTILE_BULLETIN)).encode()
    assert len(whole) < 100_000 < len(LARGE)


def test_a_failure_is_reported_in_a_word_without_the_address() -> None:
    told = bulletin(CHANGED)
    with listening() as hook:
        hook.status = 500
        assert send(told, hook.url) == "it answered 500"
        hook.status = 302
        assert send(told, hook.url) == "it answered 302"
        hook.seconds = 3.0
        assert send(told, hook.url, seconds=0.3) == "timeout"
    assert send(told, hook.url) == "connect"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert send(told, f"http://127.0.0.1:{silent.getsockname()[1]}/SECRET", seconds=0.3) == "timeout"
    assert send(told, "http://127.0.0.1:1/\N{SNOWMAN}" * 3).isprintable()


@pytest.mark.parametrize("value", ["", "  ", "SECRET", "ftp://SECRET/", "https://user:SECRET@example.org/"])
def test_an_invalid_address_is_not_repeated(value: str) -> None:
    with pytest.raises(InputError) as refused:
        address("HOOK", {"HOOK": value})
    assert "HOOK" in str(refused.value)
    assert "SECRET" not in str(refused.value)


def test_an_address_is_used_without_the_line_break_at_its_end() -> None:
    assert address("HOOK", {"HOOK": "https://example.org/x\n"}) == "https://example.org/x"
