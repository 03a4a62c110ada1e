"""LiteLLM's proxy with mock responses: a server nobody here wrote, which asks nobody and so needs no network.

It lives in an environment of its own: see environment.py. To start it takes many seconds of processor time, so that
all who run at once share one: the first who asks for it starts it, and ends it when nobody holds it any more; it ends
with the first, even if that one is killed (see leash.py).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.servers.environment import python_environment

__all__ = ["KEY", "TEXT", "shared_proxy"]

LEASH = Path(__file__).with_name("leash.py")
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
    # A port that was free may be taken while the proxy starts, which takes seconds.
    for _ in range(3):
        with _proxy(folder, _free_port()) as url:
            if url:
                yield url
                return
    raise AssertionError(f"the proxy did not come up: {(folder / 'log').read_text()[-2000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
                *(sys.executable, str(LEASH)),
                str(python_environment("litellm") / "bin" / "litellm"),
                *("--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)),
            ],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        yield url if _is_up(f"{url}/health/liveliness", process, folder / "log") else ""
    finally:
        assert process.stdin is not None
        process.stdin.close()  # the leash ends the whole group
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
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
