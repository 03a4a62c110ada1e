"""Recipes against servers nobody here wrote: aimock, which speaks many APIs, LiteLLM's proxy, and servers of agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver, options_model
from harvest.systems.driver import DriverError, NotSent, Opening, Surroundings, Unanswered
from recordings.conversations.conversation import SystemTurn, ending_from_finish
from tests.harvest.drivers.test_recipes import documented_options
from tests.servers import litellm_proxy
from tests.servers.agent_servers import running_agent
from tests.servers.aimock import running_aimock

THOUGHT, OPENS = "Noon is wrong.", "It opens at nine. café ☕ 東京"
USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "input_tokens": 3, "output_tokens": 4}
USAGE |= {"promptTokenCount": 3, "candidatesTokenCount": 4}
FIXTURES: list[dict[str, Any]] = [
    {"match": {"userMessage": "think"}, "response": {"content": OPENS, "reasoning": THOUGHT, "usage": USAGE}},
    {"match": {"userMessage": "cut"}, "response": {"content": "One, two,", "finishReason": "length"}},
    {
        "match": {"userMessage": "call"},
        "response": {"content": "I looked.", "toolCalls": [{"name": "find", "arguments": '{"day": 3}'}]},
    },
    {"match": {"userMessage": "busy"}, "response": {"error": {"message": "Slow down"}, "status": 429}},
    {"match": {"userMessage": "down"}, "response": {"error": {"message": "Broken"}, "status": 503}},
    {"match": {"userMessage": "hello"}, "response": {"content": "Hello."}},
]
TURNS = ("hello", "think", "call", "cut", "hello", "hello", "think", "call", "hello", "cut")
TEXTS = {"hello": "Hello.", "think": OPENS, "call": "I looked.", "cut": "One, two,"}
AGENT = {
    "name": "mill",
    "tasks": [
        {"pattern": text, "artifacts": [{"parts": [{"text": TEXTS[text]}]}]} for text in ("think", "call", "cut")
    ],
    "messages": [{"pattern": "hello", "parts": [{"text": TEXTS["hello"]}]}],
}
A2A = {"path": "/a2a", "agents": [AGENT]}
STEPS = [
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "find"},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": '{"day": 3}'},
    {"type": "TOOL_CALL_END", "toolCallId": "c"},
    {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "role": "assistant", "delta": TEXTS["call"]},
    {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
]
RUNS: list[dict[str, Any]] = [{"match": {"message": text}, "text": TEXTS[text]} for text in ("hello", "think", "cut")]
RUNS.append({"match": {"message": "call"}, "events": STEPS})
AG_UI = {"path": "/agui", "fixtures": RUNS}
PATHS = {
    "anthropic": "/v1",
    "openai-responses": "/v1",
    "ollama": "",
    "azure": "/v1",
    "perplexity": "/v1",
    "gemini": "/v1beta",
    "vertex": "/v1/projects/p/locations/l",
    "bedrock": "",
    "a2a": "/a2a",
    "ag-ui": "/agui",
}
UNTOLD = {
    "ollama": {"thoughts", "tokens", "end"},
    "perplexity-streamed": {"tokens"},
    "a2a": {"thoughts", "tokens", "end", "calls", "faults"},
    "ag-ui": {"thoughts", "tokens", "end", "faults"},
}
"""What aimock does not say in these APIs, or in other fields than the vendor."""
STREAMED = [
    (name, streamed)
    for name in PATHS
    for streamed in (False, True)
    if not streamed or ("stream" in options_model(name).model_fields and name != "a2a")  # it streams no such tasks
]


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_aimock(tmp_path_factory.mktemp("aimock"), FIXTURES, a2a=A2A, agui=AG_UI) as url:
        yield url


async def talk(name: str, url: str, turns: tuple[str, ...], *, sessions: int = 1, **options: Any) -> list[SystemTurn]:
    """All turns of all sessions, which are played at the same time."""
    key = options.pop("key", "a-key-for-tests")

    class Environment(dict[str, str]):
        def get(self, name: str, default: Any = None) -> Any:
            return key

    given = documented_options(name, url, **options)
    driver = build_driver(name, given, Surroundings("s", Path(), environment=Environment()))

    async def conversation(trial: int) -> list[SystemTurn]:
        session = await driver.open(Opening("s", "M002", trial, trial))
        said = [(await session.say(text)).turn for text in turns]
        await session.close()
        return said

    try:
        every = await asyncio.gather(*map(conversation, range(sessions)))
    finally:
        await driver.close()
    return [turn for one in every for turn in one]


@pytest.mark.parametrize(("name", "streamed"), STREAMED)
async def test_ten_turns_of_two_sessions_are_the_replies_configured_in_aimock(
    name: str, streamed: bool, aimock: str
) -> None:
    more = {"stream": True} if streamed else {}
    turns = await talk(name, aimock + PATHS[name], TURNS, sessions=2, **more)
    untold = UNTOLD.get(name, set()) | UNTOLD.get(f"{name}-streamed" if streamed else "", set())
    for text, turn in zip(TURNS * 2, turns, strict=True):
        answer = turn.answer
        assert answer.text == TEXTS[text]
        calls = [(call.name, json.loads(call.arguments)) for call in answer.calls]
        assert calls == ([("find", {"day": 3})] if text == "call" and "calls" not in untold else [])
        assert answer.thoughts == (THOUGHT if text == "think" and "thoughts" not in untold else "")
        ending = ending_from_finish(turn.finish)
        assert ending == "cut" if text == "cut" and "end" not in untold else ending in ("whole", "")
        assert turn.notes == ()
        if text == "think" and "tokens" not in untold:
            assert (turn.tokens["prompt"], turn.tokens["completion"]) == (3, 4)
        assert (len(turn.pieces) > 1) is (streamed and text == "think")


@pytest.mark.parametrize(
    ("name", "streamed"), [case for case in STREAMED if "faults" not in UNTOLD.get(case[0], set())]
)
@pytest.mark.parametrize(("text", "kind", "reason"), [("busy", NotSent, "http-429"), ("down", Unanswered, "http-503")])
async def test_a_failure_of_aimock_has_its_kind(
    name: str, streamed: bool, text: str, kind: type[DriverError], reason: str, aimock: str
) -> None:
    with pytest.raises(kind) as caught:
        await talk(name, aimock + PATHS[name], ("hello", text), **({"stream": True} if streamed else {}))
    assert caught.value.reason == reason


@pytest.mark.parametrize("name", ["anthropic", "openai-responses", "perplexity"])
async def test_litellm_gives_the_same_replies_through_each_api(name: str, litellm: str) -> None:
    url, key = f"{litellm}/v1", litellm_proxy.KEY
    more: dict[str, Any] = {"headers": {"Authorization": {"env": "KEY", "prefix": "Bearer "}}, "api_key_env": None}
    turns = await talk(name, url, ("Movies?",) * 10, sessions=2, model="mock", key=key, **more)
    assert {turn.answer.text for turn in turns} == {litellm_proxy.TEXT}
    assert {turn.answer.links[0].href for turn in turns} == {"https://www.imdb.com/title/tt0088763/"}
    assert {ending_from_finish(turn.finish) for turn in turns} == {"whole"}
    with pytest.raises(DriverError, match=r"http-4\d\d"):
        await talk(name, url, ("Movies?",), model="no-such-model", key=key, **more)


A2A_WORDS = ("message", "ask", "down")
ODD = {"langgraph": ("down",), "a2a": A2A_WORDS, "a2a-0.3": A2A_WORDS, "ag-ui": ("think", "down")}
"""Words to which an agent answers in a way of its own."""


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "streamed"), [*((name, False) for name in ODD), *((name, True) for name in ODD if name != "ag-ui")]
)
async def test_an_agent_on_its_vendors_server_is_recorded_as_it_spoke(
    name: str, streamed: bool, tmp_path: Path
) -> None:
    more = {"stream": True} if streamed else {}
    words = tuple(f"word {n} “東京”" for n in range(1, 10 - len(ODD[name]) + 2))
    asked = (*words, *ODD[name][:-1])
    with running_agent(name.removesuffix("-0.3"), tmp_path) as url:
        turns = await talk(name, url, asked, sessions=2, **more)
        for n, (text, turn) in enumerate(zip(asked * 2, turns, strict=True)):
            assert turn.answer.text == f"Turn {n % len(asked) + 1}: you said {text}"
            assert turn.answer.thoughts == (THOUGHT if text == "think" else "")
            assert turn.notes == ()
            if name == "langgraph":
                assert (turn.finish, turn.model, turn.tokens["prompt"]) == ("stop", "m9", n % len(asked) + 1)
        with pytest.raises(Unanswered) as caught:
            await talk(name, url, ("hello", "down"), **more)
    assert caught.value.reason == "system-error"
