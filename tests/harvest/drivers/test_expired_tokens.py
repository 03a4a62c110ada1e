"""A token that expires in the middle of two conversations, at every door: it is renewed once, and no turn is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Reply, Surroundings, Unanswered
from tests.harvest.drivers.test_recipes import CASES, OF_THE_SESSION, conversation, documented_options, opened, truth_in
from tests.servers.doors import DOORS, KEY, Door
from tests.servers.doors.assistants import Described
from tests.servers.doors.guard import TOKENS, Gate
from tests.servers.local_http import serving

ENVIRONMENT: dict[str, str] = {"PATH": "/usr/bin:/bin"}
# How a token comes that renews. The header is the one of the key, unless the vendor takes tokens in another.
BY_SERVER = ("a2a", "ag-ui", "azure", "dify", "flowise", "gemini", "ollama", "openai-responses")
# How many requests, or turns, the key of a session is good for where it cannot be renewed.
LOST_WITH_THEIR_KEY = {"botpress": 30, "copilot-studio": 16, "voiceflow-v4": 5}
BY_PROGRAM = ("a2a-0.3", "anthropic", "langgraph", "perplexity", "rasa", "vertex", "voiceflow")


def renewing(name: str, url: str, gate: Gate) -> dict[str, Any]:
    """The option `auth` for a door."""
    program = {"argv": ("cat", str(gate.file))}
    if name == "bedrock":
        return {"sigv4": {"service": "bedrock", "region": "us-east-1", "command": program}}
    if name in BY_SERVER:
        return {"oauth2": {"token_url": f"{url}/token", "client_id": "audit"}}
    header, prefix = gate.door.key_header
    return {"command": program, "header": header, "prefix": prefix}


def check(door: Door, replies: list[tuple[str, Reply]]) -> None:
    """Assert that a conversation of ten turns is recorded as the door had it, part by part."""
    assert [truth_in(reply.turn) for _, reply in replies] == [
        door.truth(text, n) for n, (text, _) in enumerate(replies, 1)
    ]
    assert len(replies) == 10


@pytest.mark.parametrize(("name", "streamed"), [case for case in CASES if case[0] not in OF_THE_SESSION])
async def test_ten_turns_of_two_sessions_outlive_their_token(name: str, streamed: bool, tmp_path: Path) -> None:
    gate = Gate(DOORS[name](), uses=9, file=tmp_path / "token")
    secrets: set[str] = set()
    async with serving(gate) as server:
        options = documented_options(name, server.url, auth=renewing(name, server.url, gate))
        options = {key: value for key, value in options.items() if key not in ("api_key_env", "token_env")}
        around = Surroundings("s", tmp_path, environment=ENVIRONMENT, secrets=secrets)
        driver = build_driver(name, {**options, **({"stream": True} if streamed else {})}, around)
        every = await asyncio.gather(*(conversation(driver, trial, 10) for trial in (1, 2)))
        await driver.close()
    for replies in every:
        check(gate.door, replies)
    assert gate.refused in (1, 2)  # of each session, once at most
    assert gate.given == (2 if name in BY_SERVER else 0)
    assert secrets >= set(TOKENS)
    assert KEY not in secrets


async def test_a_session_of_direct_line_receives_a_new_token() -> None:
    async with opened("direct-line", False) as (driver, door, server):
        assert isinstance(door, Described)
        door.server.uses = 7
        every = await asyncio.gather(*(conversation(driver, trial, 10) for trial in (1, 2)))
        assert door.server.refused >= 2
        sent = [asked.json["text"] for asked in server.asked if asked.path.endswith("/activities") and asked.body]
    for replies in every:
        check(door, replies)
    # A turn that is refused was not taken, and is sent once more.
    assert set(sent) == {text for replies in every for text, _ in replies}
    assert len(sent) <= 20 + door.server.refused


@pytest.mark.parametrize(("name", "streamed"), [case for case in CASES if case[0] in LOST_WITH_THEIR_KEY])
async def test_a_session_whose_key_cannot_be_renewed_is_lost_and_the_next_one_is_complete(
    name: str, streamed: bool
) -> None:
    async with opened(name, streamed) as (driver, door, _):
        issuer: Any = door.server if isinstance(door, Described) else door
        issuer.uses = LOST_WITH_THEIR_KEY[name]
        outcomes = await asyncio.gather(*(conversation(driver, trial, 10) for trial in (1, 2)), return_exceptions=True)
        for outcome in outcomes:
            assert isinstance(outcome, Unanswered)
            assert outcome.reason in ("http-401", "http-403")
        # Of each session its turn, and before that, where replies are fetched, the look for late messages.
        if (name, streamed) == ("botpress", True):  # how often it looks depends on what is announced, and when
            assert issuer.refused >= 2
        else:
            assert issuer.refused == (4 if name == "copilot-studio" else 2)
        issuer.uses = 0
        check(door, await conversation(driver, 1, 10))
