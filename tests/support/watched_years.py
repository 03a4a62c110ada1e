"""Years of weekly audits of a system that changes or does not: how often and when `scoring.inference.drift` alarms.

    python -m tests.support.watched_years [--years 1000] [--further | --settling] [--write]

prints the tables; --write puts them into docs/reaudit.md.

The worlds: topics with a mean of .60 and an intraclass correlation of .45 (Beta), a baseline of 8 audits, and an effect
of each audit on all its trials, normal on the scale of log odds with standard deviation τ (τ = .3 moves a mean of .60
by about four points).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.drift import Baseline, confirms, difference, evidence, levels
from scoring.inference.settling import is_settled, trials_to_settle
from scoring.statistics.beta import beta_quantile
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
SETTLING = "<!-- settling -->\n"

APART = (-3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""True differences that more trials are asked to settle, in what matters."""

BLESSED = ((4, 0.05), (8, 0.03), (8, 0.05), (8, 0.1), (16, 0.05))
"""Runs of a baseline, and what matters."""

SETTLED_SPREADS = (0.0, 0.15)


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
class Promised:
    """A number of trials that was promised to settle what could not be told. apart: the true difference, in what
    matters. chance: that was said. kept: whether they settled it; later: whether they did at another hour, with another
    effect."""

    apart: float
    chance: float
    kept: bool
    later: bool


@dataclass(frozen=True, slots=True)
class Settling:
    """Of audits: of how many it could not be told whether they changed, and what was promised of these."""

    untold: int
    promises: tuple[Promised, ...]


def settling(size: int, trials: int, runs: int, matters: float, spread: float, count: int) -> Settling:
    """Each of APART is the true difference equally often."""
    untold, promises = 0, list[Promised]()
    for number in range(count):
        rng = generator(number, "settling", f"{size}x{trials}x{runs}", round(1000 * matters), round(100 * spread))
        chances = topics(size, rng)
        known = baseline([audit(chances, trials, spread, rng) for _ in range(runs)])
        apart = APART[number % len(APART)]
        now = with_mean(chances, MEAN + apart * matters)
        here = moved(now, float(rng.normal(0, spread)))
        cells = audit(here, trials, 0.0, rng)
        found = difference(known, list(cells), matters=matters, level=0.95)
        if is_settled(found, matters):
            continue
        untold += 1
        said = trials_to_settle(known, found, each=trials, matters=matters)
        if said.trials:
            more = (audit(here, said.trials, 0.0, rng), audit(now, said.trials, spread, rng))
            whole = [np.concatenate([cells, one], axis=1) for one in more]
            after = [difference(known, list(one), matters=matters, level=0.95) for one in whole]
            promises.append(Promised(apart, said.chance, *(is_settled(one, matters) for one in after)))
    return Settling(untold, tuple(promises))


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
    return "".join(f"{line}\n" for line in lines)


def settling_tables(count: int) -> str:
    lines = [
        "| topics × trials | blessed runs | matters | τ | cannot tell | promised | chance that was said | settled "
        "| at another hour |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    every: dict[float, list[Promised]] = {spread: [] for spread in SETTLED_SPREADS}
    untold = dict.fromkeys(SETTLED_SPREADS, 0)
    for spread in SETTLED_SPREADS:
        for size, trials in SIZES:
            for runs, matters in BLESSED:
                one = settling(size, trials, runs, matters, spread, count)
                every[spread] += one.promises
                untold[spread] += one.untold
                lines.append(
                    f"| {size} × {trials} | {runs} | {100 * matters:g} points | {spread:g} "
                    f"| {_share(one.untold, count)} | {_kept(one.untold, one.promises)} |"
                )
                print(lines[-1], file=sys.stderr, flush=True)
    for spread in SETTLED_SPREADS:
        lines.append(f"| all | | | {spread:g} | | {_kept(untold[spread], every[spread])} |")
    lines += ["", "| true difference, in what matters | promises | settled |", "|---|---|---|"]
    for words, least, most in (
        ("inside: 0 and 0.5", 0, 0.9),
        ("at the edge: 1", 0.9, 1.1),
        ("outside: 1.5 to 3", 1.1, 9),
    ):
        own = [one for found in every.values() for one in found if least <= abs(one.apart) < most]
        lines.append(f"| {words} | {len(own)} | {_percent([one.kept for one in own])} |")
    return "".join(f"{line}\n" for line in lines)


def _share(number: int, of: int) -> str:
    return f"{100 * number / of:.0f}%"


def _kept(untold: int, promises: Sequence[Promised]) -> str:
    said, kept = _percent([one.chance for one in promises]), _percent([one.kept for one in promises])
    later = _percent([one.later for one in promises])
    return f"{len(promises)} ({_share(len(promises), untold)}) | {said} | {kept} | {later}"


def _percent(values: Sequence[float]) -> str:
    return f"{100 * float(np.mean(values)):.0f}%" if values else ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--years", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--further", action="store_true", help="the second table, not the first")
    parser.add_argument("--settling", action="store_true", help="what settles what cannot be told, with so many audits")
    chosen = parser.parse_args()
    if chosen.settling:
        begin, made, what = SETTLING, settling_tables(chosen.years), "audits"
    elif chosen.further:
        begin, made, what = FURTHER, further_tables(chosen.years), "years"
    else:
        begin, made, what = BEGIN, table(chosen.years), "years"
    found = f"{chosen.years:,} {what} of each kind.\n\n{made}"
    if chosen.write:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(begin)
        PAGE.write_text(head + begin + found + END + rest.partition(END)[2], encoding="utf-8")
    else:
        print(found)


if __name__ == "__main__":
    main()
