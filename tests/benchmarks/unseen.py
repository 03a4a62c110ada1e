"""How good estimates of unseen branch mass are: the simulation behind docs/unseen.svg and its table.

    python -m tests.benchmarks.unseen     a quick look, 500 simulations
    python -m tests.benchmarks.unseen --simulations 4000 --svg docs/unseen.svg
                                          the table of docs/stochastic.md and its plot

A world is a node with branches of known probabilities. For n trials: the unseen mass there truly is, what the estimate
makes of it, both on average, and how often the nominal 95% interval holds the true mass of its own simulation.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

from scoring.inference.unseen import unseen_mass

Floats = npt.NDArray[np.float64]

SIZES = (5, 10, 20, 50, 100, 200, 500)
SEED = 19530101


def _zipf(kinds: int) -> Floats:
    weights = 1.0 / np.arange(1, kinds + 1)
    scaled: Floats = weights / weights.sum()
    return scaled


WORLDS: dict[str, Floats] = {
    "labels: .6, .3, .1": np.array([0.6, 0.3, 0.1]),
    "one rare branch: .98, .02": np.array([0.98, 0.02]),
    "a usual answer (.8) and 40 rare ones": np.array([0.8, *([0.2 / 40] * 40)]),
    "100 answers, Zipf": _zipf(100),
    "exact texts: 2000 alike": np.full(2000, 1 / 2000),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """Averages over simulations: true unseen mass, its estimate, and how often the interval held the truth."""

    truth: float
    estimate: float
    held: float


def simulated(world: Floats, n: int, simulations: int, rng: np.random.Generator) -> Cell:
    """`simulations` times n trials at a node."""
    truth, estimate, held = 0.0, 0.0, 0
    for start in range(0, simulations, 500):
        size = min(500, simulations - start)
        counts = rng.multinomial(n, world, size=size)
        unseen = ((counts == 0) * world).sum(axis=1)
        found = unseen_mass((counts == 1).sum(axis=1), (counts == 2).sum(axis=1), np.full(size, n))
        truth, estimate = truth + float(unseen.sum()), estimate + float(found.estimate.sum())
        held += int(((found.low <= unseen + 1e-12) & (unseen <= found.high + 1e-12)).sum())
    return Cell(truth / simulations, estimate / simulations, held / simulations)


def table(simulations: int) -> dict[str, list[Cell]]:
    rng = np.random.default_rng(SEED)
    return {name: [simulated(world, n, simulations, rng) for n in SIZES] for name, world in WORLDS.items()}


def written(cells: dict[str, list[Cell]]) -> str:
    """The table as Markdown: truth / estimate (coverage)."""
    lines = ["| world | " + " | ".join(f"n={n}" for n in SIZES) + " |", "|---" * (len(SIZES) + 1) + "|"]
    for name, row in cells.items():
        each = [f"{cell.truth:.3f} / {cell.estimate:.3f} ({cell.held:.2f})" for cell in row]
        lines.append(f"| {name} | " + " | ".join(each) + " |")
    return "\n".join(lines) + "\n"


_STYLE = (
    "<style>.paper{fill:#ffffff}text{fill:#1a1a1a}.axis{stroke:#333333}.hair{stroke:#999999}.note{fill:#555555}"
    "@media screen and (prefers-color-scheme:dark){"
    ".paper{fill:#0d1117}text{fill:#e6e6e6}.axis{stroke:#9a9a9a}.hair{stroke:#6e7681}.note{fill:#9da7b1}}</style>"
)
_COLOURS = ("#1b6ca8", "#c8553d", "#4a7c59", "#7d5ba6", "#b8860b")
_MARKS = ("circle", "square", "diamond", "up", "down")


def picture(cells: dict[str, list[Cell]]) -> str:
    """Estimate against truth, both on average, a mark for each world and n; on the diagonal they agree."""
    left, top, side = 60, 24, 360

    def at(cell: Cell) -> tuple[float, float]:
        return left + side * cell.truth, top + side * (1 - cell.estimate)

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 440" font-family="sans-serif" font-size="13">',
        "<title>Unseen branch mass: estimate against truth</title>",
        _STYLE,
        '<rect width="760" height="440" class="paper"/>',
        f'<rect x="{left}" y="{top}" width="{side}" height="{side}" fill="none" class="axis"/>',
        f'<line x1="{left}" y1="{top + side}" x2="{left + side}" y2="{top}" class="hair" stroke-dasharray="4 4"/>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = left + side * tick, top + side * (1 - tick)
        parts.append(f'<text x="{x:.0f}" y="{top + side + 18}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{tick:g}</text>')
    parts.append(f'<text x="{left + side / 2:.0f}" y="{top + side + 40}" text-anchor="middle">unseen mass, true</text>')
    middle = f"16 {top + side / 2:.0f}"
    parts.append(
        f'<text x="16" y="{top + side / 2:.0f}" text-anchor="middle" transform="rotate(-90 {middle})">'
        "branches seen once / n</text>"
    )
    for place, (name, row) in enumerate(cells.items()):
        colour, mark = _COLOURS[place % 5], _MARKS[place % 5]
        parts += [_mark(mark, *at(cell), colour) for cell in row]
        y = top + 20 + 26 * place
        parts.append(_mark(mark, left + side + 30, y - 4, colour))
        parts.append(f'<text x="{left + side + 44}" y="{y}">{escape(name)}</text>')
    sizes = ", ".join(map(str, SIZES))
    for place, line in enumerate(("one mark for each n:", sizes)):
        y = top + 180 + 18 * place
        parts.append(f'<text x="{left + side + 24}" y="{y}" class="note">{line}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _mark(kind: str, x: float, y: float, colour: str) -> str:
    style = f'fill="{colour}" fill-opacity="0.85"'
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {style}/>'
    corners = {
        "square": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
        "diamond": ((0, -6), (6, 0), (0, 6), (-6, 0)),
        "up": ((0, -6), (5.5, 4), (-5.5, 4)),
        "down": ((0, 6), (5.5, -4), (-5.5, -4)),
    }[kind]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" {style}/>'


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--simulations", type=int, default=500)
    options.add_argument("--svg", type=Path)
    asked = options.parse_args()
    cells = table(asked.simulations)
    print(
        f"{asked.simulations} simulations a cell: unseen mass, true / estimated (coverage of nominal 95% intervals)\n"
    )
    print(written(cells))
    if asked.svg:
        asked.svg.write_text(picture(cells), encoding="utf-8")


if __name__ == "__main__":
    main()
