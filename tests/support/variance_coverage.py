"""How often intervals of variance components hold the truth, and how wide they are, in worlds where it is known.

`python -m tests.support.variance_coverage --write` counts it and writes the tables into docs/variance.md. Worlds where
few topics decide a spread are in `tests.support.spread_worlds`; those here also have holes.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from scoring.inference.components import Component, across_systems, within_system
from scoring.inference.spreads import Range
from tests.support.checkout import DOCS
from tests.support.spread_worlds import CROSSED_WORLDS, SPREAD_WORLDS, CrossedWorld, SpreadWorld

Floats = npt.NDArray[np.float64]
World = tuple[Floats, dict[str, float]]

NESTED = ("topic", "trial", "icc")
CROSSED_NAMES = ("systems", "topics", "system × topic", "trials", "Eρ²", "Φ")
SHARES = ("icc", "relative", "absolute")
CROSSED = ("system", "topic", "both", "trial", "relative", "absolute")
PLACE = re.compile(r"(<!-- coverage -->\n).*?(<!-- end -->)", re.DOTALL)


def nested_world(
    rng: np.random.Generator, shape: tuple[int, int], icc: float, *, yes_or_no: bool, holes: bool
) -> tuple[Floats, dict[str, float]]:
    topics, trials = shape
    if yes_or_no:
        chances = rng.beta(0.6 * (1 / icc - 1), 0.4 * (1 / icc - 1), topics) if icc else np.full(topics, 0.6)
        cells, whole = (rng.random(shape) < chances[:, None]).astype(np.float64), 0.24
    else:
        topic, trial = rng.normal(size=(topics, 1)), rng.normal(size=(topics, trials))
        cells, whole = math.sqrt(icc) * topic + math.sqrt(1 - icc) * trial, 1.0
    if holes:
        lost = rng.random(shape) < 0.25
        lost[:, :2] = False
        cells[lost] = np.nan
    return cells, {"topic": whole * icc, "trial": whole * (1 - icc), "icc": icc}


def crossed_world(
    rng: np.random.Generator, shape: tuple[int, int, int], *, holes: bool
) -> tuple[Floats, dict[str, float]]:
    systems, topics, trials = shape
    own = np.linspace(-1, 1, systems)
    own *= math.sqrt(0.1 / float(own.var(ddof=1)))
    cells = (
        own[:, None, None] + rng.normal(size=(1, topics, 1)) + math.sqrt(0.3) * rng.normal(size=(systems, topics, 1))
    )
    cells = cells + rng.normal(size=shape)
    if holes:
        cells[rng.random(shape) < 0.25] = np.nan
        cells[rng.random(shape[:2]) < 0.1] = np.nan
    noise = (0.3 + 1 / trials) / topics
    truth = {"system": 0.1, "topic": 1.0, "both": 0.3, "trial": 1.0}
    return cells, truth | {"relative": 0.1 / (0.1 + noise), "absolute": 0.1 / (0.1 + noise + 1 / topics)}


@dataclass(slots=True)
class Counted:
    """Of one figure: whether each interval holds the truth, and how wide it is, in units of the truth; of a spread the
    standard deviation, of a share itself."""

    held: list[bool] = field(default_factory=list)
    wide: list[float] = field(default_factory=list)

    def add(self, one: Component, truth: float, *, share: bool) -> None:
        low, high = one.interval.low, one.interval.high
        if not one.interval.is_defined:
            return
        self.held.append(low - 1e-12 <= truth <= high + 1e-12)
        if truth > 1e-12:
            self.wide.append((high - low) / truth if share else (math.sqrt(high) - math.sqrt(low)) / math.sqrt(truth))

    @property
    def said(self) -> str:
        if not self.held:
            return "–"
        covered = f"{sum(self.held) / len(self.held):.3f}".replace("0.", ".", 1)
        return covered + (f" {float(np.median(self.wide)):.1f}" if self.wide else "")


def covered(
    draw: Callable[[], World], split: Callable[[Floats], Mapping[str, Component]], times: int
) -> dict[str, Counted]:
    """By component, what was counted in so many studies."""
    found: dict[str, Counted] = {}
    for _ in range(times):
        cells, truth = draw()
        for name, one in split(cells).items():
            found.setdefault(name, Counted()).add(one, truth[name], share=name in SHARES)
    return found


def range_of(world: SpreadWorld | CrossedWorld) -> Range:
    return Range(world.bottom, world.top, has_top=math.isfinite(world.top))


def split_nested(cells: Floats, within: Range) -> dict[str, Component]:
    found = within_system(cells, level=0.95, within=within)
    return {name: getattr(found, name) for name in NESTED}


def split_crossed(cells: Floats, within: Range) -> dict[str, Component]:
    found = across_systems(cells, level=0.95, within=within)
    return {name: getattr(found, name) for name in CROSSED}


def nested_table(sizes: Sequence[tuple[int, int]], times: int) -> list[str]:
    """A row for each world, a column for each size that any of its worlds has intervals in."""
    lines = [_row("", *(f"{topics} × {trials}" for topics, trials in sizes)), _row(*["---"] * (len(sizes) + 1))]
    for world in SPREAD_WORLDS:
        cells = []
        for size in sizes:
            draw = partial(world.draw, np.random.default_rng([11, *size]), *size)
            found = covered(draw, partial(split_nested, within=range_of(world)), times)
            cells.append(" · ".join(found[name].said for name in NESTED))
        lines.append(_row(world.name, *("withheld" if set(cell) == set("– ·") else cell for cell in cells)))
    return lines


def crossed_table(sizes: Sequence[tuple[int, int, int]], times: int) -> list[str]:
    lines = [_row("", "systems × topics × trials", *CROSSED_NAMES), _row(*["---"] * (len(CROSSED) + 2))]
    for world in CROSSED_WORLDS:
        for size in (one for one in sizes if not range_of(world).missing_interval_reason(one[1])):
            draw = partial(world.draw, np.random.default_rng([12, *size]), *size)
            found = covered(draw, partial(split_crossed, within=range_of(world)), times)
            named = (" × ".join(map(str, size)), *(found[name].said for name in CROSSED))
            lines.append(_row(world.name, *named))
    return lines


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def table(times: int) -> str:
    nested = nested_table(((8, 5), (15, 5), (45, 5)), times)
    crossed = crossed_table(((2, 15, 5), (4, 45, 5)), max(1, times // 2))
    return "\n".join([*nested, "", *crossed]) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    counted = table(given.times)
    print(counted)
    if given.write:
        page = DOCS / "variance.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(PLACE.sub(lambda place: place[1] + counted + place[2], text), encoding="utf-8")
