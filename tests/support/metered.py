"""A system under audit that is dear where it fails, and keeps a log of its own of every request that reached it.

A first answer is useful or not by the topic and trial that the user's text names, so it is the same in every run. After
a useless answer the user asks again, up to four times, so that a conversation that fails takes five times as much.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from pathlib import Path
from typing import Any

PROTOCOL = """\
format: harvest-protocol/1
name: insistent
version: 1
turn_limit: 5
rules:
  useful: {contains: {phrases: ["here it is"]}}
start: ask
states:
  ask:
    say: "{{ topic.request }}"
    edges: [{if: useful, label: o, stop: completed}, {otherwise: true, label: x, go: again}]
  again:
    say: "Again, please."
    edges: [{if: useful, label: o, stop: completed}, {otherwise: true, label: x, go: again}]
"""

AUDIT = """\
format: harvest-audit/1
name: capped
topics: fairweb-45
only: [M001, M002, M003, M004]
protocol: insistent.yaml
trials: {trials}
seed: 3
systems:
  - {{name: A, driver: python, options: {{function: "{function}", takes: history}}, concurrency: 3, retry_wait: 0}}
  - {{name: B, driver: python, options: {{function: "{function}", takes: history}}, retry_wait: 0}}
prices: {{A: {{input: 1000, output: 2000}}, B: {{turn: 0.25}}}}
"""


def write_audit(folder: Path, trials: int = 6, function: str = "answer", more: str = "") -> Path:
    """Write an audit of two systems of this module, and return its file."""
    (folder / "insistent.yaml").write_text(PROTOCOL)
    path = folder / "audit.yaml"
    path.write_text(AUDIT.format(trials=trials, function=f"{__file__}:{function}") + more)
    return path


def requests(folder: Path) -> list[list[str]]:
    """What the systems were asked: the user's turns of each request that reached them."""
    log = folder / "requests.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def answer(text: str, history: list[dict[str, str]]) -> dict[str, Any]:
    turns = [*(one["content"] for one in history if one["role"] == "user"), text]
    log = os.open(os.environ["HARVEST_REQUESTS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(log, (json.dumps(turns) + "\n").encode())
    os.close(log)
    time.sleep(float(os.environ.get("HARVEST_PAUSE", "0")))
    useful = zlib.crc32(turns[0].encode()) % 3 == 0
    return {
        "text": f"here it is: {len(turns)}" if useful else f"no idea {len(turns)}",
        "tokens": {"prompt": 100 * len(turns), "completion": 50},
    }


def failing(text: str, history: list[dict[str, str]]) -> dict[str, Any]:
    """Answer like `answer`, but fail after the first request of every conversation has been taken."""
    found = answer(text, history)
    if not history:
        raise RuntimeError("it broke after it had been asked")
    return found


def uncounted(text: str, history: list[dict[str, str]]) -> str:
    """Answer without counts of tokens."""
    return str(answer(text, history)["text"])


def worsening(text: str, history: list[dict[str, str]]) -> dict[str, Any]:
    """Answer usefully at first, and from the seventeenth request on never again."""
    found = answer(text, history)
    log = Path(os.environ["HARVEST_REQUESTS"])
    return {**found, "text": "here it is" if len(log.read_text().splitlines()) <= 16 else "no idea"}
