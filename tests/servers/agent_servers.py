"""Starts the agents of tests/servers/agents, each in an environment with what NAME.txt beside this file pins."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.servers.environment import python_environment

__all__ = ["running_agent"]

HERE = Path(__file__).parent
LEASH = HERE / "leash.py"


@contextlib.contextmanager
def running_agent(name: str, folder: Path) -> Iterator[str]:
    """The address of an agent: `langgraph`, `a2a` or `ag-ui`."""
    programs = python_environment(name) / "bin"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    if name == "langgraph":
        graphs = {"dependencies": ["."], "graphs": {"agent": f"{HERE / 'agents' / 'langgraph_agent.py'}:graph"}}
        (folder / "langgraph.json").write_text(json.dumps(graphs))
        command = [str(programs / "langgraph"), "dev", "--no-browser", "--no-reload", "--port", port]
    else:
        command = [str(programs / "python"), str(HERE / "agents" / f"{name.replace('-', '_')}_agent.py"), port]
    log = folder / "log"
    with log.open("w") as written:
        process = subprocess.Popen(
            [sys.executable, str(LEASH), *command], cwd=folder, stdin=subprocess.PIPE, stdout=written, stderr=written
        )
    try:
        _wait(f"http://127.0.0.1:{port}/ok", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        assert process.stdin is not None
        process.stdin.close()  # the leash ends the whole group
        process.wait(10)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and process.poll() is None:
        try:
            opener.open(url, timeout=2).close()
            return
        except urllib.error.HTTPError as answer:
            answer.close()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the server did not come up: {log.read_text()[-2000:]}")
