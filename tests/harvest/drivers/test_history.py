"""A system that refuses its own empty reply as history goes on without that message."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.history import LEFT_OUT_NOTE, History
from harvest.drivers.registry import build_driver
from harvest.systems.driver import DriverError, Opening, Reply, Surroundings
from protocols.answer import Answer, Exchange
from tests.servers.local_http import Asked, response, serving

Message = dict[str, str]
REFUSED = '{"error": {"message": "text content blocks must be non-empty"}}'


def _empty(messages: list[Message]) -> bool:
    return any(message["role"] == "assistant" and not message["content"].strip() for message in messages)


def _in_a_row(messages: list[Message]) -> bool:
    roles = [message["role"] for message in messages]
    return any(first == second for first, second in pairwise(roles))


async def _talk(
    refuses: Callable[[list[Message]], bool], answers: list[str], status: str = "400 Bad Request", **options: Any
) -> tuple[list[Reply], list[list[Message]]]:
    """The replies of a system that answers by turns, and refuses some histories; and the histories it took."""
    taken: list[list[Message]] = []

    async def answering(asked: Asked, writer: asyncio.StreamWriter) -> None:
        messages = asked.json["messages"]
        if refuses(messages):
            writer.write(response(status, REFUSED))
            return
        taken.append(messages)
        message = {"role": "assistant", "content": answers[len(taken) - 1]}
        writer.write(response("200 OK", json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})))

    async with serving(answering) as server:
        if options.pop("driver", "openai") == "openai":
            driver = build_driver("openai", {"base_url": server.url, "model": "m"}, Surroundings("s", Path()))
        else:
            described = {
                "url": server.url,
                "body": {"messages": "{{ messages }}"},
                "stateful": False,
                "reply": "$.choices[0].message.content",
            }
            driver = build_driver("http", described, Surroundings("s", Path()))
        try:
            session = await driver.open(Opening("s", "T", 1, seed=1, **options))
            replies = [await session.say(f"turn {number}") for number in range(1, len(answers) + 1)]
        finally:
            await driver.close()
    return replies, taken


@pytest.mark.parametrize("driver", ["openai", "http"])
@pytest.mark.parametrize("status", ["400 Bad Request", "422 Unprocessable Entity", "500 Internal Server Error"])
@pytest.mark.parametrize("silence", ["", " \n"])
async def test_the_conversation_continues_without_the_refused_message(driver: str, status: str, silence: str) -> None:
    replies, taken = await _talk(_empty, [silence, "nine", "ten"], status, driver=driver)
    assert [reply.turn.answer.text for reply in replies] == [silence, "nine", "ten"]
    assert [reply.turn.notes for reply in replies] == [(), (LEFT_OUT_NOTE,), (LEFT_OUT_NOTE,)]
    assert taken[2] == [
        {"role": "user", "content": "turn 1"},
        {"role": "user", "content": "turn 2"},
        {"role": "assistant", "content": "nine"},
        {"role": "user", "content": "turn 3"},
    ]
    assert "refused-response" in [exhibit.name for exhibit in replies[1].exhibits]
    assert "refused-response" not in [exhibit.name for exhibit in replies[2].exhibits]


async def test_two_consecutive_user_turns_are_merged_if_they_are_refused() -> None:
    _, taken = await _talk(lambda messages: _empty(messages) or _in_a_row(messages), ["", "", "ten", "x"])
    assert taken[2] == [{"role": "user", "content": "turn 1\n\nturn 2\n\nturn 3"}]
    assert taken[3][1:] == [{"role": "assistant", "content": "ten"}, {"role": "user", "content": "turn 4"}]


async def test_an_empty_reply_that_is_not_refused_stays_in_the_history() -> None:
    replies, taken = await _talk(lambda messages: False, ["", "nine"])
    assert taken[1][1] == {"role": "assistant", "content": ""}
    assert replies[1].turn.notes == ()


async def test_a_resumed_conversation_continues_too() -> None:
    """Before its first answer in this session, a system that refuses a request would be left alone."""
    replies, _ = await _talk(_empty, ["nine"], history=(Exchange("before", Answer("")),))
    assert replies[0].turn.answer.text == "nine"


@pytest.mark.parametrize(("answers", "asked"), [(["", "nine"], 4), (["words", "nine"], 2)])
async def test_a_refusal_for_another_reason_is_a_fault(answers: list[str], asked: int) -> None:
    seen = []

    def refuses(messages: list[Message]) -> bool:
        seen.append(messages)
        return len(seen) > 1

    with pytest.raises(DriverError, match="http-400"):
        await _talk(refuses, answers)
    assert len(seen) == asked
    assert seen[-1] != seen[1] or asked == 2


@pytest.mark.parametrize("driver", ["command", "python"])
async def test_a_program_that_raises_at_an_empty_reply_gets_the_history_without_it(driver: str, tmp_path: Path) -> None:
    code = (
        "def answer(text, history):\n"
        "    if any(not one['content'] for one in history): raise ValueError('empty')\n"
        "    return '' if text == 'one' else str(len(history))\n"
    )
    (tmp_path / "bot.py").write_text(code)
    run = "import json, sys, bot; turn = json.load(sys.stdin); print(bot.answer(turn['text'], turn['history']))"
    options: dict[str, Any] = {"function": "bot.py:answer", "takes": "history"}
    if driver == "command":
        options = {"argv": (sys.executable, "-c", run), "mode": "once", "env": {"PYTHONPATH": str(tmp_path)}}
    built = build_driver(driver, options, Surroundings("s", tmp_path))
    try:
        session = await built.open(Opening("s", "T", 1, seed=1))
        replies = [await session.say(text) for text in ("one", "two")]
    finally:
        await built.close()
    assert [reply.turn.answer.text for reply in replies] == ["", "1"]
    assert replies[1].turn.notes == (LEFT_OUT_NOTE,)


def test_a_history_without_silence_is_sent_unchanged() -> None:
    history = History([Exchange("a", Answer("b"))], [{"role": "system", "content": "s"}])
    assert [message["content"] for message in history.messages("c")] == ["s", "a", "b", "c"]
