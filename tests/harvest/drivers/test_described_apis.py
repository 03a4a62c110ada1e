"""APIs of others, described in an audit: ten turns in two sessions at a time, and an error of each class."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Denied, Driver, DriverError, NotSent, Opening, Surroundings, Unanswered
from tests.servers.described_apis import Api, Dify, Flowise, Ollama, Truth
from tests.servers.local_http import LocalServer, serving
from topics.document import parse_document


@dataclass(frozen=True)
class Case:
    """An API and its options as an audit gives them."""

    server: type[Api]
    options: str
    streams: bool = True
    cut: str = "broken-stream"


CASES = {
    "Dify": Case(
        Dify,
        """
        url: {base}/v1/chat-messages
        body: {query: "{{ text }}", conversation_id: "{{ session }}", user: audit, inputs: {}, response_mode: streaming}
        session: $.conversation_id
        first_session: ""
        reply: {message: $.answer, agent_message: $.answer}
        thoughts: {agent_thought: $.thought}
        links: $.metadata.retriever_resources
        tokens: $.metadata.usage
        stream: {end: message_end, replace: {message_replace: $.answer}, fail: {error: $.message}}
        """,
    ),
    "Ollama": Case(
        Ollama,
        """
        url: {base}/api/chat
        body: {model: m1, messages: "{{ messages }}"}
        stateful: false
        reply: $.message.content
        thoughts: $.message.thinking
        finish: $.done_reason
        model: $.model
        tokens: $
        stream: {end: $.done}
        """,
    ),
    "Flowise": Case(
        Flowise,
        """
        url: {base}/api/v1/prediction/flow
        body: {question: "{{ text }}", streaming: true, overrideConfig: {sessionId: "{{ session }}"}}
        session: client
        reply: {token: $.data}
        links: {sourceDocuments: $.data}
        stream: {end: end, fail: {error: $.data}}
        """,
    ),
}


@asynccontextmanager
async def _driving(name: str) -> AsyncIterator[tuple[Api, Driver, LocalServer]]:
    case = CASES[name]
    api = case.server()
    async with serving(api) as server:
        options: Any = parse_document(case.options.replace("{base}", server.url), "options").value
        driver = build_driver(
            "http", {"timeout": 20, **options}, Surroundings(name, Path(), environment={"KEY": "k-0123456789"})
        )
        try:
            yield api, driver, server
        finally:
            await driver.close()


@pytest.mark.parametrize("name", CASES)
async def test_ten_turns_of_two_sessions_are_recorded_as_they_were_answered(name: str) -> None:
    async with _driving(name) as (api, driver, _):

        async def talk(person: str) -> list[tuple[str, Truth]]:
            found = []
            session = await driver.open(Opening(name, "M002", 1, 1))
            for number in range(10):
                text = f"{person} says {'unsafe ' * (number == 3)}{number}"
                turn = (await session.say(text)).turn
                found.append((text, Truth(turn.answer, turn.finish, turn.model, dict(turn.tokens))))
                assert turn.notes == ()
                assert bool(turn.pieces) is CASES[name].streams
                if turn.pieces:
                    assert turn.pieces[-1][1] == len(turn.answer.text) or number == 3
            await session.close()
            return found

        people = await asyncio.gather(talk("Ann"), talk("Bo"))
        for found in people:
            for text, recorded in found:
                assert recorded == api.truth[text]
        assert sorted(api.heard.values()) == sorted([text for text, _ in found] for found in people)


@pytest.mark.parametrize(
    ("words", "kind", "reason"),
    [
        ("busy", NotSent, "http-429"),
        ("down", Unanswered, "http-500"),
        ("denied", Denied, "http-401"),
        ("cut", Unanswered, ""),
        ("fail", Unanswered, "system-error"),
    ],
)
@pytest.mark.parametrize("name", CASES)
async def test_an_error_of_each_class_is_told_from_an_answer(
    name: str, words: str, kind: type[DriverError], reason: str
) -> None:
    async with _driving(name) as (api, driver, server):
        session = await driver.open(Opening(name, "M002", 1, 1))
        before = (await session.say("first")).turn.answer.text
        assert "you said “first”" in before
        asked = len(server.asked)
        with pytest.raises(kind) as caught:
            await session.say(f"this is {words}")
        assert caught.value.reason == (reason or CASES[name].cut)
        assert len(server.asked) == asked + 1, "a turn is sent once"
        assert {exhibit.name for exhibit in caught.value.exhibits} in ({"headers", "stream"}, {"headers", "response"})
        if words in ("cut", "fail") and CASES[name].streams:
            said = api.truth[f"this is {words}"].answer.text
            assert caught.value.partial == (said if words == "fail" else said[: len(caught.value.partial)]) != ""
