"""LiteLLM's proxy with mock responses: a server nobody here wrote, which asks nobody and so needs no network.

It lives in an environment of its own: see environment.py. To start it takes many seconds of processor time, so that
all who run at once share one: the first who asks for it starts it, and ends it when nobody holds it any more; it ends
with the first, even if that one is killed (see leash.py).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx

from tests.servers.environment import python_environment
from tests.servers.leashed import answers, free_port, leashed

__all__ = ["KEY", "TEXT", "shared_proxy"]

KEY = "sk-a-key-for-tests"
TEXT = "1. Back to the Future: https://www.imdb.com/title/tt0088763/ — café ☕ 東京"
NUGGETS = '{"nuggets": [{"quote": "Do you like it?", "type": "O", "act": "YES-NO-QUESTION"}]}'
VERDICT = '{"reason": "It reads well.", "score": 1}'
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
  - model_name: judge
    litellm_params: {{model: openai/mock, api_key: none, mock_response: '{VERDICT}'}}
  - model_name: long
    litellm_params: {{model: openai/mock, api_key: none, mock_response: "litellm.ContextWindowExceededError"}}
  - model_name: nuggets
    litellm_params: {{model: openai/mock, api_key: none, mock_response: '{NUGGETS}'}}
general_settings: {{master_key: {KEY}}}
router_settings: {{num_retries: 0, disable_cooldowns: true}}
"""


@contextlib.contextmanager
def shared_proxy(folder: Path) -> Iterator[str]:
    """The address of the proxy of all who name this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    address = folder / "address"
    with contextlib.ExitStack() as own, (folder / "users").open("w") as users:
        with _alone(folder):
            # Held before the address is looked at, and asked for alone before the proxy ends: none ends in between.
            fcntl.flock(users, fcntl.LOCK_SH)
            starts = not address.exists()
            if starts:
                address.write_text(own.enter_context(_started(folder)))
        try:
            yield address.read_text()
        finally:
            fcntl.flock(users, fcntl.LOCK_UN)
            while starts:
                with _alone(folder), contextlib.suppress(BlockingIOError):
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    address.unlink()
                    break
                time.sleep(0.2)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _started(folder: Path) -> Iterator[str]:
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it fetches a table of prices at start
        "LITELLM_TELEMETRY": "False",
        "NO_PROXY": "*",
    }
    program = str(python_environment("litellm") / "bin" / "litellm")
    # A port that was free may be taken while the proxy starts, which takes seconds.
    for left in (2, 1, 0):
        port, config = str(free_port()), str(folder / "config.yaml")
        command = (program, "--config", config, "--host", "127.0.0.1", "--port", port)
        with leashed(command, folder, environment) as running:
            try:
                running.wait_for(partial(answers, f"http://127.0.0.1:{port}/health/liveliness"))
            except AssertionError:
                if left and "address already in use" in running.log.read_text():
                    continue
                raise
            url = f"http://127.0.0.1:{port}"
            _load_translation(url)
            yield url
            return


def _load_translation(url: str) -> None:
    """Ask once through Anthropic's API, for which the proxy then loads what takes ten seconds on a busy machine."""
    asked = {"model": "mock", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx.Client(trust_env=False, timeout=120) as client:
        client.post(f"{url}/v1/messages", json=asked, headers=headers).raise_for_status()
