"""`openai` against LiteLLM's proxy: a server nobody here wrote, with its own idea of a completion.

Its tests share one process of it: see servers/litellm_proxy.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Denied, Driver, DriverError, NotSent, Opening, Surroundings, Unanswered
from tests.servers.litellm_proxy import KEY, TEXT


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


Built = Any


@pytest.fixture
async def built(litellm: str, stream: bool) -> AsyncIterator[Built]:
    drivers: list[Driver] = []

    def build(model: str = "mock", key: str = KEY, **options: Any) -> Driver:
        given = {"base_url": f"{litellm}/v1", "model": model, "api_key_env": "TEST_KEY", "stream": stream}
        around = Surroundings("litellm", Path(), environment={"TEST_KEY": key})
        drivers.append(build_driver("openai", {**given, **options}, around))
        return drivers[-1]

    yield build
    for driver in drivers:
        await driver.close()


async def _turn(driver: Driver, text: str = "Movies, please.") -> Any:
    session = await driver.open(Opening("litellm", "M002", 1, 1))
    return (await session.say(text)).turn


async def test_the_reply_is_complete_with_its_times_tokens_and_end(built: Built, stream: bool) -> None:
    turn = await _turn(built())
    assert turn.answer.text == TEXT
    assert [link.href for link in turn.answer.links] == ["https://www.imdb.com/title/tt0088763/"]
    assert turn.finish == "stop"
    assert turn.tokens["total"] == turn.tokens["prompt"] + turn.tokens["completion"]
    assert 0 < turn.first_seconds <= turn.seconds
    if stream:
        assert len(turn.pieces) > 10
        assert turn.pieces[-1][1] == len(TEXT)
    else:
        assert turn.pieces == ()


async def test_every_turn_sends_the_whole_conversation(built: Built, stream: bool) -> None:
    session = await built(system_prompt="Be brief.").open(Opening("litellm", "M002", 1, 1))
    turns = [(await session.say("Can you name a few more?")).turn for _ in range(3)]
    assert [turn.answer.text for turn in turns] == [TEXT] * 3
    prompts = [turn.tokens["prompt"] for turn in turns]
    # The mock counts what it was sent only in a stream; otherwise it says 10, whatever came.
    assert prompts[0] < prompts[1] < prompts[2] if stream else prompts == [10, 10, 10]


async def test_sixteen_sessions_at_once(built: Built) -> None:
    driver = built(temperature=0.7, top_p=0.9, max_tokens=500, seed="trial", extra={"user": "tests"})
    turns = await asyncio.gather(*(_turn(driver, f"Movies, please ({i}).") for i in range(16)))
    assert {turn.answer.text for turn in turns} == {TEXT}


async def test_a_missing_model_is_denied_with_the_servers_words(built: Built) -> None:
    with pytest.raises(Denied, match="Invalid model name") as caught:
        await _turn(built("no-such-model"))
    assert caught.value.reason == "http-400"
    assert caught.value.exhibits


async def test_a_wrong_key_is_denied(built: Built) -> None:
    with pytest.raises(Denied):
        await _turn(built(key="sk-wrong"))


async def test_a_busy_model_is_not_sent(built: Built) -> None:
    with pytest.raises(NotSent) as caught:
        await _turn(built("busy"))
    assert caught.value.reason == "http-429"


async def test_a_broken_model_is_unanswered(built: Built) -> None:
    with pytest.raises(Unanswered) as caught:
        await _turn(built("broken"))
    assert caught.value.reason == "http-500"


async def test_no_error_shows_the_key(built: Built) -> None:
    with pytest.raises(DriverError) as caught:
        await _turn(built("no-such-model"))
    assert KEY not in str(caught.value)
    assert not any(KEY.encode() in exhibit.data for exhibit in caught.value.exhibits)
