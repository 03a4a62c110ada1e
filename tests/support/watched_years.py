"""Years of weekly audits of a system that changes or does not: how often and when `scoring.statistics.drift` alarms.

    python -m tests.support.watched_years [--years 1000] [--write]      prints the tables; --write puts them into
                                                                        docs/reaudit.md

The worlds: topics with a mean of .60 and an intraclass correlation of .45 (Beta), a baseline of 8 audits, and an effect
of each audit on all its trials, normal on the scale of log odds with standard deviation τ (τ = .3 moves a mean of .60
by about four points).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import beta_quantile
from scoring.statistics.drift import Baseline, confirms, evidence, levels
from tests.support.checkout import ROOT
from topics.identity import generator

Floats = npt.NDArray[np.float64]

SIZES = ((45, 5), (15, 5), (15, 20))
SPREADS = (0.0, 0.15, 0.3)
LOOKS = 52
MATTERS = 0.03
RUNS = 8
MEAN, ICC = 0.60, 0.45
PAGE = ROOT / "docs" / "reaudit.md"
BEGIN, END = "<!-- years -->\n", "<!-- end of years -->\n"


def moved(chances: Floats, by: float) -> Floats:
    """Chances moved on the scale of log odds."""
    return np.asarray(1 / (1 + np.exp(-(np.log(chances / (1 - chances)) + by))))


def with_mean(chances: Floats, mean: float) -> Floats:
    """Chances moved together so that their mean is `mean`."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if moved(chances, middle).mean() < mean else (low, middle)
    return moved(chances, low)


def topics(size: int, rng: np.random.Generator) -> Floats:
    weight = 1 / ICC - 1
    drawn = rng.beta(MEAN * weight, (1 - MEAN) * weight, size)
    return with_mean(np.clip(drawn, 1e-4, 1 - 1e-4), MEAN)


def audit(chances: Floats, trials: int, spread: float, rng: np.random.Generator) -> Floats:
    """(topics, trials) of 0 and 1."""
    now = moved(chances, float(rng.normal(0, spread))) if spread else chances
    return (rng.random((len(now), trials)) < now[:, None]).astype(np.float64)


def baseline(runs: list[Floats]) -> Baseline:
    together = np.concatenate(runs, axis=1)
    return Baseline(
        together.mean(axis=1),
        together.var(axis=1, ddof=1),
        np.full(len(together), float(together.shape[1])),
        np.array([one.mean() for one in runs]),
    )


Change = Callable[[Floats, int], Floats]
"""What becomes of the chances of topics at a look (from 0)."""


def year(
    size: int, trials: int, spread: float, rng: np.random.Generator, change: Change | None = None, looks: int = LOOKS
) -> int | None:
    """The look (from 1) at which a change was reported: an alarm that a later audit confirmed; None for never."""
    chances = topics(size, rng)
    known = baseline([audit(chances, trials, spread, rng) for _ in range(RUNS)])
    seen = [audit(change(chances, look) if change else chances, trials, spread, rng) for look in range(looks)]
    found = levels([evidence(known, list(one), matters=MATTERS) for one in seen], looks=LOOKS)
    for side in (0, 1):
        raised = np.flatnonzero(found[:, side] >= 1)
        if raised.size:
            for look in range(int(raised[0]) + 1, looks):
                if confirms(known, list(seen[look]), side, matters=MATTERS):
                    return look + 1
    return None


@dataclass(frozen=True, slots=True)
class Years:
    """alarms: share of null years with a report. found: looks until a drop to .45 was reported, median and 90th
    percentile; inf where it never was."""

    topics: int
    trials: int
    spread: float
    years: int
    alarms: float
    median: float
    ninety: float


def drop(chances: Floats, look: int) -> Floats:
    return with_mean(chances, 0.45)


def years(size: int, trials: int, spread: float, count: int) -> Years:
    name = (f"{size}x{trials}", int(1000 * spread))
    null = [year(size, trials, spread, generator(number, "null year", *name)) for number in range(count)]
    changed = [
        year(size, trials, spread, generator(number, "year of a drop", *name), drop) or math.inf
        for number in range(count)
    ]
    middle, ninety = np.quantile(changed, [0.5, 0.9], method="higher")
    alarms = sum(one is not None for one in null) / count
    return Years(size, trials, spread, count, alarms, float(middle), float(ninety))


def upper(share: float, count: int) -> float:
    """The upper 95% limit of a share (Clopper and Pearson, one side)."""
    hits = round(share * count)
    return 1.0 if hits == count else float(beta_quantile(0.95, hits + 1, count - hits))


def table(count: int) -> str:
    lines = [
        "| topics × trials | τ | false alarm in a year (upper limit) | .60 → .45 reported: median look | nine in ten |",
        "|---|---|---|---|---|",
    ]
    for size, trials in SIZES:
        for spread in SPREADS:
            one = years(size, trials, spread, count)
            looks = [f"{value:.0f}" if math.isfinite(value) else f"after {LOOKS}" for value in (one.median, one.ninety)]
            lines.append(
                f"| {size} × {trials} | {spread:g} | {one.alarms:.3f} ({upper(one.alarms, count):.3f}) "
                f"| {looks[0]} | {looks[1]} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--years", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    found = f"{chosen.years:,} years of each kind.\n\n{table(chosen.years)}"
    if chosen.write:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        PAGE.write_text(head + BEGIN + found + END + rest.partition(END)[2], encoding="utf-8")
    else:
        print(found)


if __name__ == "__main__":
    main()
