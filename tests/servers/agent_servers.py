"""Starts the agents of tests/servers/agents, each in an environment with what NAME.txt beside this file pins."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from tests.servers.environment import python_environment
from tests.servers.leashed import answers, free_port, leashed

__all__ = ["running_agent"]

HERE = Path(__file__).parent


@contextlib.contextmanager
def running_agent(name: str, folder: Path) -> Iterator[str]:
    """The address of an agent: `langgraph`, `a2a` or `ag-ui`."""
    programs = python_environment(name) / "bin"
    port = str(free_port())
    if name == "langgraph":
        graphs = {"dependencies": ["."], "graphs": {"agent": f"{HERE / 'agents' / 'langgraph_agent.py'}:graph"}}
        (folder / "langgraph.json").write_text(json.dumps(graphs))
        command = [str(programs / "langgraph"), "dev", "--no-browser", "--no-reload", "--port", port]
    else:
        command = [str(programs / "python"), str(HERE / "agents" / f"{name.replace('-', '_')}_agent.py"), port]
    with leashed(command, folder) as running:
        running.wait_for(lambda: answers(f"http://127.0.0.1:{port}/ok", any_status=True))
        yield f"http://127.0.0.1:{port}"
