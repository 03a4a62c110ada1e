"""Inspect AI as a client: the turns of tests/benchmarks/turns.py, 45 topics × 2 turns × epochs, with its log written.

    python inspect_client.py URL CONCURRENCY EPOCHS FOLDER       in the environment that inspect_ai.txt pins

Prints what it took, as JSON: turns, seconds of processor and clock, MB of the process at its peak, bytes of the log.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import solver

TOPICS, TURNS = 45, 2
ASK, MORE = "Name some researchers of this field.\nFormat: name, URL", "Can you name a few more?"


@solver  # type: ignore[untyped-decorator]  # it has no types here
def two_rounds() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        state = await generate(state)
        state.messages.append(ChatMessageUser(content=MORE))
        return await generate(state)

    return solve


def play(url: str, concurrency: int, epochs: int, folder: str) -> int:
    """How many turns were answered."""
    task = inspect_ai.Task(
        MemoryDataset([Sample(input=ASK, id=number + 1) for number in range(TOPICS)]), solver=two_rounds()
    )
    (log,) = inspect_ai.eval(
        task,
        model="openai-api/instant/instant",
        model_base_url=url,
        model_args={"api_key": "none"},
        epochs=epochs,
        max_connections=concurrency,
        max_samples=concurrency,
        display="none",
        log_dir=folder,
        log_level="error",
    )
    assert log.status == "success", log.error
    return sum(message.role == "assistant" for sample in log.samples for message in sample.messages)


def main() -> None:
    url, concurrency, epochs, folder = sys.argv[1:]
    play(url, 1, 1, f"{folder}/warm")  # imports, and what is made once
    cpu, wall = time.process_time(), time.perf_counter()
    turns = play(url, int(concurrency), int(epochs), f"{folder}/measured")
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    kept = sum(file.stat().st_size for file in Path(folder, "measured").iterdir())
    print(json.dumps({"turns": turns, "cpu": cpu, "wall": wall, "peak": peak, "journal": kept}))


if __name__ == "__main__":
    main()
