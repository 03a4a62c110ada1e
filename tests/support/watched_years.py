"""Years of weekly audits of a system that changes or does not: how often and when `scoring.statistics.drift` alarms.

    python -m tests.support.watched_years [--years 1000] [--further] [--write]      prints the tables; --write puts them
                                                                                    into docs/reaudit.md

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
from scoring.statistics.drift import Baseline, Difference, confirms, difference, evidence, levels, trials_to_settle
from scoring.statistics.exchange import holm
from scoring.statistics.stratified import compare_within
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
FURTHER = "<!-- further years -->\n"


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


def decline(chances: Floats, look: int) -> Floats:
    """A point a week, from .60 down to .45."""
    return with_mean(chances, max(0.45, MEAN - 0.01 * (look + 1)))


def bad_topic(size: int, trials: int, rng: np.random.Generator) -> int | None:
    """The look at which a topic that fell from .9 or more to .05 is named by itself; None for not within four."""
    chances = topics(size, rng)
    chances[0] = max(0.9, chances[0])
    known = sum(audit(chances, trials, 0.0, rng).sum(axis=1) for _ in range(RUNS))
    chances[0] = 0.05
    for look in range(1, 5):
        now = audit(chances, trials, 0.0, rng).sum(axis=1)
        p = [
            compare_within([int(b)], [trials], [int(a + b)], [trials * (RUNS + 1)]).p
            for a, b in zip(known, now, strict=True)
        ]
        if holm([1.0 if math.isnan(one) else one for one in p])[0] <= 0.05:
            return look
    return None


@dataclass(frozen=True, slots=True)
class Settling:
    """Of audits of which it could not be told whether they changed: for how many a number of trials was named, the mean
    chance that was said, and how many were settled by as many."""

    untold: int
    named: int
    said: float
    settled: float


def settling(size: int, trials: int, runs: int, matters: float, count: int) -> Settling:
    """Differences from a baseline are uniform from -20 to +5 points."""
    untold, said, settled = 0, list[float](), list[bool]()
    for number in range(count):
        rng = generator(number, "settling", f"{size}x{trials}x{runs}", round(1000 * matters))
        chances = topics(size, rng)
        known = baseline([audit(chances, trials, 0.0, rng) for _ in range(runs)])
        now = with_mean(chances, MEAN + float(rng.uniform(-0.20, 0.05)))
        cells = audit(now, trials, 0.0, rng)
        found = difference(known, list(cells), matters=matters, level=0.95)
        if _told(found, matters):
            continue
        untold += 1
        more, chance = trials_to_settle(known, found, each=trials, matters=matters)
        if more:
            both = np.concatenate([cells, audit(now, more, 0.0, rng)], axis=1)
            said.append(chance)
            settled.append(_told(difference(known, list(both), matters=matters, level=0.95), matters))
    return Settling(
        untold, len(said), float(np.mean(said or [math.nan])), float(np.mean(settled)) if settled else math.nan
    )


def _told(found: Difference, matters: float) -> bool:
    """Whether the interval lies inside ± what matters, or outside."""
    return found.same or found.inner_low > matters or found.inner_high < -matters


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


def further_tables(count: int) -> str:
    lines = [
        "| topics × trials | a point a week down to .45 reported: median look | nine in ten "
        "| a topic that falls from .9 or more to .05 is named at the first look | within four |",
        "|---|---|---|---|---|",
    ]
    for size, trials in SIZES:
        name = f"{size}x{trials}"
        falls = [
            year(size, trials, 0.0, generator(number, "slow decline", name), decline) or math.inf
            for number in range(count)
        ]
        middle, ninety = np.quantile(falls, [0.5, 0.9], method="higher")
        found = [bad_topic(size, trials, generator(number, "bad topic", name)) for number in range(count)]
        first, four = (sum(one is not None and one <= last for one in found) / count for last in (1, 4))
        lines.append(f"| {size} × {trials} | {middle:.0f} | {ninety:.0f} | {100 * first:.0f}% | {100 * four:.0f}% |")
        print(lines[-1], file=sys.stderr, flush=True)
    lines += [
        "",
        "| topics × trials | blessed runs | matters | cannot tell | with a number | chance that was said | settled |",
        "|---|---|---|---|---|---|---|",
    ]
    for size, trials in SIZES:
        for runs, matters in ((4, 0.05), (8, 0.03), (8, 0.05), (8, 0.1)):
            one = settling(size, trials, runs, matters, count)
            lines.append(
                f"| {size} × {trials} | {runs} | {100 * matters:g} points | {one.untold} of {count} | {one.named} "
                f"| {100 * one.said:.0f}% | {100 * one.settled:.0f}% |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--years", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--further", action="store_true", help="the other two tables, not the first")
    chosen = parser.parse_args()
    made = further_tables(chosen.years) if chosen.further else table(chosen.years)
    found = f"{chosen.years:,} years of each kind.\n\n{made}"
    begin = FURTHER if chosen.further else BEGIN
    if chosen.write:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(begin)
        PAGE.write_text(head + begin + found + END + rest.partition(END)[2], encoding="utf-8")
    else:
        print(found)


if __name__ == "__main__":
    main()
