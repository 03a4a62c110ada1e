"""How often intervals of variance components hold the truth, in worlds where it is known.

`python -m tests.support.variance_coverage --write` counts it and writes the table into docs/variance.md.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from scoring.inference.components import FEWEST_SYSTEMS, Component, across_systems, within_system
from tests.support.checkout import DOCS

Floats = npt.NDArray[np.float64]
World = tuple[Floats, dict[str, float]]

NESTED = ("topic", "trial", "icc")
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


def covered(
    draw: Callable[[], World], split: Callable[[Floats], Mapping[str, Component]], times: int
) -> dict[str, tuple[float, int]]:
    """By component: the share of intervals that hold the truth, of those there are, and how many there are."""
    held: dict[str, list[bool]] = {}
    for _ in range(times):
        cells, truth = draw()
        for name, one in split(cells).items():
            own = held.setdefault(name, [])
            if not math.isnan(one.interval.low):
                own.append(one.interval.low - 1e-12 <= truth[name] <= one.interval.high + 1e-12)
    return {name: (sum(own) / max(1, len(own)), len(own)) for name, own in held.items()}


def split_nested(cells: Floats) -> dict[str, Component]:
    found = within_system(cells, level=0.95)
    return {name: getattr(found, name) for name in NESTED}


def split_crossed(cells: Floats) -> dict[str, Component]:
    found = across_systems(cells, level=0.95)
    return {name: getattr(found, name) for name in CROSSED}


def table(times: int) -> str:
    lines = [
        "| one system: topics × trials, values, missing | ICC | topics | trials | ICC(1) |",
        "|---|---|---|---|---|",
    ]
    for shape in ((45, 5), (45, 20), (15, 10), (8, 10)):
        for yes_or_no in (True, False):
            for holes in (False, True):
                for icc in (0.0, 0.45, 0.8):
                    rng = np.random.default_rng([11, *shape, yes_or_no, holes, round(100 * icc)])

                    def draw(
                        rng: np.random.Generator = rng,
                        shape: tuple[int, int] = shape,
                        icc: float = icc,
                        yes_or_no: bool = yes_or_no,
                        holes: bool = holes,
                    ) -> World:
                        return nested_world(rng, shape, icc, yes_or_no=yes_or_no, holes=holes)

                    found = covered(draw, split_nested, times)
                    kind = f"{'yes or no' if yes_or_no else 'normal'}, {'a quarter' if holes else 'none'}"
                    cells = " | ".join(_cell(*found[name], times) for name in NESTED)
                    lines.append(f"| {shape[0]} × {shape[1]}, {kind} | {icc:.2g} | {cells} |")
    lines += [
        "",
        "| several systems (or arms, runs), missing | systems | topics | system × topic | trials | Eρ² | Φ |",
        "|" + "---|" * 7,
    ]
    for size in ((2, 45, 5), (3, 15, 5), (4, 45, 5), (8, 45, 10), (4, 15, 10)):
        for holes in (False, True):
            rng = np.random.default_rng([12, *size, holes])

            def cross(rng: np.random.Generator = rng, size: tuple[int, int, int] = size, holes: bool = holes) -> World:
                return crossed_world(rng, size, holes=holes)

            found = covered(cross, split_crossed, times)
            # With holes, how well means over "as many" tell systems apart is not one number.
            names = CROSSED if not holes and size[0] >= FEWEST_SYSTEMS else CROSSED[:4]
            cells = " | ".join(_cell(*found[name], times) for name in names) + " | " * (len(CROSSED) - len(names))
            lines.append(f"| {' × '.join(map(str, size))}, {'a quarter and more' if holes else 'none'} | {cells} |")
    return "\n".join(lines) + "\n"


def _cell(share: float, intervals: int, times: int) -> str:
    said = f"{share:.3f}".replace("0.", ".", 1)
    printed = f"{100 * intervals / times:.0f}%"
    return said if printed == "100%" else f"{said} ({printed})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    counted = table(given.times)
    print(counted)
    if given.write:
        page = DOCS / "variance.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(PLACE.sub(lambda place: place[1] + counted + place[2], text), encoding="utf-8")
