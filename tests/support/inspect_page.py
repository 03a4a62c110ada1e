"""The part of docs/performance.md about Inspect AI, which plays the same turns as Harvest beside it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.servers.environment import FOLDER, python_environment
from tests.support.performance_page import HEADING, Bounded, machine

__all__ = ["inspect_part", "note"]

LEAST = 10  # times the CPU of Harvest that Inspect AI takes, at least
TOLD = """## Beside Inspect AI

Milliseconds of CPU a turn of `harvest run` and of [Inspect AI](https://inspect.aisi.org.uk) {version}, one after the
other in one run against the same server: 45 topics × 2 turns × {trials} trials (`epochs`), the second turn with the
first one before it, as many connections and samples at a time as the concurrency says. Its log is written, its display
is off. Both are warm: imports and what is made once are left out. Other work of the machine
changes the milliseconds more than their ratio. Written by
`python -m tests.benchmarks.turns --inspect --write`, which makes an environment for Inspect AI in the tests' cache, on
{machine}.

{table}

Inspect AI is a framework for evaluations of any kind, and its log also keeps an event for each call of the model."""


def inspect_part(url: str, concurrencies: Sequence[int], trials: int, own: Callable[[int], float]) -> str:
    """url: of the server. own: milliseconds of CPU a turn of Harvest at a concurrency."""
    python = python_environment("inspect_client") / "bin" / "python"
    rows = []
    for concurrency in concurrencies:
        found = _played(python, url, concurrency, trials)
        other, mine = 1000 * found["cpu"] / found["turns"], own(concurrency)
        # Written as the share of Inspect AI's CPU that Harvest takes: the less, the better.
        what = f"CPU of Harvest ÷ CPU of Inspect AI, concurrency {concurrency}"
        rows.append(Bounded(what, mine / other, 1 / LEAST, "×", note(mine, other, found["peak"])).row())
    return TOLD.format(version=_version(), trials=trials, machine=machine(), table="\n".join([HEADING, *rows]))


def note(mine: float, other: float, peak: float) -> str:
    """mine, other: milliseconds of CPU a turn. peak: MB of the process of Inspect AI."""
    return f"{mine:.2f} ms beside {other:.1f} ms: {other / mine:.0f} times less; Inspect AI peaks at {peak:.0f} MB"


def _played(python: Path, url: str, concurrency: int, epochs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="inspect-") as folder:
        client = str(FOLDER / "inspect_client.py")
        ran = subprocess.run(
            [str(python), client, url, str(concurrency), str(epochs), folder],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=600,
            cwd=folder,
            env={**os.environ, "HOME": folder},  # it keeps files of its own there
        )
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    assert found["turns"] == 90 * epochs, f"{found['turns']} turns, not {90 * epochs}"
    return found


def _version() -> str:
    pins = (FOLDER / "inspect_client.txt").read_text(encoding="utf-8").splitlines()
    return next(pin.partition("==")[2] for pin in pins if pin.startswith("inspect-ai=="))
