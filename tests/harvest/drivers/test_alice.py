"""`command` and `http` against ALICE, which is older than any of this and knows nothing about it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Driver, Opening, Surroundings
from tests.support.checkout import TESTS

ALICE = (sys.executable, str(TESTS / "servers" / "alice.py"))
SAID = (
    ("What is the capital of France?", "Paris."),
    ("What is 2+2?", "Four."),
    ("Do you know HAL?", 'HAL is the famous artificial intelligence from "2001".'),
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """ALICE as a web service, loaded once."""
    process = subprocess.Popen([*ALICE, "http", "0"], stdout=subprocess.PIPE, text=True)
    late = threading.Timer(90, process.kill)
    late.start()
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert port, "ALICE did not come up"
        yield f"http://127.0.0.1:{port}"
    finally:
        late.cancel()
        process.kill()
        process.communicate()


def _built(kind: str, address: str) -> Driver:
    by_id: dict[str, Any] = {
        "url": f"{address}/say",
        "body": {"session": "{{ session }}", "text": "{{ text }}"},
        "session": "client",
        "reply": "$.answer",
    }
    by_cookie = {"url": f"{address}/chat", "method": "GET", "query": {"text": "{{ text }}"}, "reply": "text"}
    options = {"http, id of ours": by_id, "http, cookie": by_cookie}[kind]
    return build_driver("http", options, Surroundings("alice", Path()))


@pytest.fixture(params=["http, id of ours", "http, cookie"])
async def served(request: pytest.FixtureRequest, address: str) -> AsyncIterator[Driver]:
    driver = _built(request.param, address)
    yield driver
    await driver.close()


def _opening(trial: int) -> Opening:
    return Opening("alice", "M002", trial, trial)


async def test_over_http_alice_answers(served: Driver) -> None:
    session = await served.open(_opening(1))
    for said, expected in SAID:
        assert (await session.say(said)).turn.answer.text == expected
    await session.close()


async def test_over_http_alice_remembers_within_a_session_and_not_across(served: Driver) -> None:
    visitors = {"Paris": await served.open(_opening(1)), "Lima": await served.open(_opening(2))}
    for city, session in visitors.items():
        await session.say(f"I live in {city}")
    stranger = await served.open(_opening(3))
    for city, session in visitors.items():
        assert (await session.say("Where do I live?")).turn.answer.text == f"You told me you are in {city}."
    assert (await stranger.say("Where do I live?")).turn.answer.text == "You told me you are in ."
    for session in (*visitors.values(), stranger):
        await session.close()


async def test_as_a_program_alice_answers_and_remembers() -> None:
    options = {"argv": (*ALICE, "lines"), "timeout": 90}
    driver = build_driver("command", options, Surroundings("alice", Path()))
    session = await driver.open(_opening(1))
    for said, expected in SAID:
        assert (await session.say(said)).turn.answer.text == expected
    await session.say("I live in Paris")
    assert (await session.say("Where do I live?")).turn.answer.text == "You told me you are in Paris."
    await session.close()
    await driver.close()
