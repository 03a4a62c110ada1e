"""`openai` against LiteLLM's proxy: a server nobody here wrote, with its own idea of a completion.

It lives in an environment of its own: see servers/environment.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Denied, Driver, DriverError, NotSent, Opening, Surroundings, Unanswered
from tests.servers.environment import python_environment

pytestmark = pytest.mark.xdist_group("litellm")

KEY = "sk-a-key-for-tests"
TEXT = "1. Back to the Future: https://www.imdb.com/title/tt0088763/ — café ☕ 東京"
NUGGETS = '{"nuggets": [{"quote": "Do you like it?", "type": "O", "act": "YES-NO-QUESTION"}]}'
CONFIG = f"""
model_list:
  - model_name: mock
    litellm_params: {{model: openai/mock, api_key: none, mock_response: "{TEXT}"}}
  - model_name: empty
    litellm_params: {{model: openai/mock, api_key: none, mock_response: " "}}
  - model_name: busy
    litellm_params: {{model: openai/mock, api_key: none, mock_response: "litellm.RateLimitError"}}
  - model_name: broken
    litellm_params: {{model: openai/mock, api_key: none, mock_response: "litellm.InternalServerError"}}
  - model_name: nuggets
    litellm_params: {{model: openai/mock, api_key: none, mock_response: '{NUGGETS}'}}
general_settings: {{master_key: {KEY}}}
router_settings: {{num_retries: 0, disable_cooldowns: true}}
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The proxy with mock responses; it asks nobody, so it needs no network."""
    folder = tmp_path_factory.mktemp("litellm")
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    # A port that was free may be taken while the proxy starts, which takes seconds.
    for _ in range(3):
        with _proxy(folder, _free_port()) as url:
            if url:
                yield url
                return
    raise AssertionError(f"the proxy did not come up: {(folder / 'log').read_text()[-2000:]}")


@contextlib.contextmanager
def _proxy(folder: Path, port: int) -> Iterator[str]:
    """Its address; "" where it did not come up because another program had taken the port."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it fetches a table of prices at start
        "LITELLM_TELEMETRY": "False",
        "NO_PROXY": "*",
    }
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [
                str(python_environment("litellm") / "bin" / "litellm"),
                *("--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)),
            ],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        yield url if _is_up(f"{url}/health/liveliness", process, folder / "log") else ""
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()


def _is_up(url: str, process: subprocess.Popen[bytes], log: Path) -> bool:
    """False where its port was taken. Raises AssertionError where it did not come up for another reason."""
    deadline = time.monotonic() + 120
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), opener.open(url, timeout=2):
            return True
        time.sleep(0.2)
    text = log.read_text()
    assert "address already in use" in text, f"the proxy did not come up: {text[-2000:]}"
    return False


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


Built = Any


@pytest.fixture
async def built(address: str, stream: bool) -> AsyncIterator[Built]:
    drivers: list[Driver] = []

    def build(model: str = "mock", key: str = KEY, **options: Any) -> Driver:
        given = {"base_url": f"{address}/v1", "model": model, "api_key_env": "TEST_KEY", "stream": stream}
        around = Surroundings("litellm", Path(), environment={"TEST_KEY": key})
        drivers.append(build_driver("openai", {**given, **options}, around))
        return drivers[-1]

    yield build
    for driver in drivers:
        await driver.close()


async def _turn(driver: Driver, text: str = "Movies, please.") -> Any:
    session = await driver.open(Opening("litellm", "M002", 1, 1))
    return (await session.say(text)).turn


async def test_the_reply_comes_whole_with_its_times_tokens_and_end(built: Built, stream: bool) -> None:
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


async def test_a_model_that_is_not_there_is_denied_with_the_servers_words(built: Built) -> None:
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
