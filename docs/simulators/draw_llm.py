"""Draws what the parameter `samples` of the llm user does. Run: python docs/simulators/draw_llm.py

Computed, for a model of which each sample is refused with the same probability q, whatever came before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from plot import Line, Plot, drawn  # stands in the folder above, which is no package

SHARES = [number / 50 for number in range(51)]
TURNS = 6


def llm() -> str:
    """How many conversations of six turns have one that no sample words, and how many samples a turn costs."""
    tried = (1, 2, 4, 8)
    ended = [Line(f"samples: {k}", [(q, 1 - (1 - q**k) ** TURNS) for q in SHARES]) for k in tried]
    cost = [Line(f"samples: {k}", [(q, sum(q**used for used in range(k))) for q in SHARES]) for k in tried]
    return drawn(
        Plot(f"no sample for one of {TURNS} turns", "samples refused", "conversations", ended, (0.0, 1.0), (0.0, 1.0)),
        Plot("what a turn costs", "samples refused", "samples", cost, (0.0, 1.0)),
    )


FIGURES: dict[str, Callable[[], str]] = {"llm.svg": llm}

if __name__ == "__main__":
    for file, figure in FIGURES.items():
        (Path(__file__).parent / file).write_text(figure(), encoding="utf-8")
