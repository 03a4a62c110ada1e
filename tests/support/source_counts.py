"""How often intervals and verdicts on sources are right, in the worlds of `source_worlds`, for docs/calibration.md.

    python -m tests.support.source_counts FILE [--studies 300] [--world NAME] [--write]

counts, and keeps what was counted in FILE, a line for a cell, so that what was interrupted goes on; --write puts what
FILE holds into the page, and counts nothing.

The intervals are those of `harvest score` and `harvest sources`: the same functions, called with the same arguments.
Verdicts are those on three systems that are alike, over all pairs together.
"""

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from textwrap import fill

import numpy as np

from scoring.inference.aligned import Cell, Trial
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import Design
from scoring.inference.interval import FEWEST_WITHOUT_END, Interval, no_interval
from scoring.inference.largest_share import largest_share
from scoring.inference.losses import End, LostTrials, SideWithLosses
from scoring.inference.matched import Difference, compare_family, difference, within_bounds
from scoring.inference.watch_state import WatchState
from scoring.inference.watched_audit import JudgingRules, judge
from scoring.measures import sources
from scoring.measures.usefulness import FEWEST_FAILED, share
from scoring.stochastic.failures import rate_of
from tests.support.checkout import ROOT
from tests.support.source_worlds import HIDING, SOURCE_SIZES, SOURCE_WORLDS, Shown, SourceWorld, topic_names
from tests.support.watched_years import baseline
from topics.arrays import Floats
from topics.identity import generator

LEVEL = 0.95
PAGE = ROOT / "docs" / "calibration.md"
HEAD, END = "## Sources of answers", "## All cells"
FAMILIES = ((8, 2), (15, 3), (45, 2))
"""Topics and trials of studies of three systems."""
COMPARED = ("%sourced", "cites", "domains", "GF_sources")
DOMAINS = 6  # of a family: those that are shown most
VERDICTS = ("alike", "a year")  # how figures begin that are verdicts
RULES, BLESSED, WATCHED = JudgingRules(0.03, looks=52), 8, (15, 3)


ABOUT = """
Whose sources are shown, in worlds of citations that are hostile on purpose (`tests/support/source_worlds.py`): power
laws, domains in one of 200 answers, publishers of a topic's field, bursts, answers with more sources where one domain
is, few topics that decide, clusters of topics, systems that hardly ever cite, and trials that are lost. The least
coverage over {sizes} topics × trials, and in brackets the share of studies with an interval, if it is not all. {least}
to {most} studies a cell: a coverage of .95 is known to within a standard error of .013 from 300, and of .022 from 100.
*first* is the domain with the largest share, or the one that is rare by itself, and *rare* the sixteenth of sixty.
"""
ALIKE = """
Verdicts on three systems that are alike: the highest share of studies in which any pair is told apart, by each measure
and by the {domains} domains that are shown most, corrected over all pairs together (claimed: at most .05). In the last
world one system loses half of its trials with the first domain. *Alarm*: the share of years in which a weekly watch of
the first domain's share alarms, though nothing changed.
"""
FLAGGED = """
Flagged, by more than two standard errors: {missed}, of {cells} cells. The number of domains has no end, and a kind of
topic that is one in 20 can decide its mean, so it has no interval on fewer than {fewest} topics.
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """Of `studies` of a world at a size, how many had an interval (or, for verdicts, could have), and how many of these
    were right."""

    world: str
    figure: str
    topics: int
    trials: int
    studies: int
    printed: int
    right: int


def interval_of(name: str, shown: Shown, design: Design, seed: int) -> Interval:
    """Return the interval that `harvest score` prints of a measure."""
    values, of = shown.figures[name]
    topics = topic_names(len(values))
    if name.startswith("cites"):
        return rate_of(topics, values, level=LEVEL, invalid=shown.lost, design=design).share.interval
    if name in ("domains", "GF_sources"):
        resampler = Resampler(generator(seed, "scores"), level=LEVEL).with_design(design)
        top, fewest = (math.inf, sources.DOMAINS.fewest_topics) if name == "domains" else (1.0, 0)
        return resampler.means(topics, values[..., None], top=top, fewest=fewest)[0]
    pooled = name.startswith("%citations")
    above = np.where(of > 0, values, 0.0) * of
    found = share(topics, above, of, shown.lost, level=LEVEL, pooled=pooled, whole=float(np.nanmax(of)), design=design)
    few = pooled and 0 < found.units < FEWEST_FAILED
    return no_interval("few topics with a citation") if few else found.interval


def largest_interval(shown: Shown, clusters: dict[str, str]) -> Interval:
    _, each = shown.topic_shares()
    known = np.flatnonzero(each.sum(axis=1) > 0)
    topics = topic_names(len(each))
    _, of = Design(clusters).rows([topics[at] for at in known])
    own = (np.arange(max(of, default=-1) + 1)[:, None] == np.array(of)).astype(np.float64)
    return largest_share(own @ each[known], own.sum(axis=1), level=LEVEL)[2]


def count_intervals(world: SourceWorld, size: tuple[int, int], studies: int) -> Iterator[Counted]:
    """Count of every figure how many intervals hold the truth."""
    truths, printed, right = world.truths(size[1]), defaultdict[str, int](int), defaultdict[str, int](int)
    clusters = world.clusters(size[0])
    for number in range(studies):
        rng = generator(5, "sources", str(world), str(size), number)
        (shown,) = world.draw(rng, *size)
        for name, truth in truths.items():
            found = (
                largest_interval(shown, clusters)
                if name == "largest share"
                else interval_of(name, shown, Design(clusters), number)
            )
            printed[name] += found.is_defined
            right[name] += found.contains(truth)
    for name in truths:
        yield Counted(str(world), name, *size, studies, printed[name], right[name])


def cells_of(values: Floats) -> dict[Trial, Cell]:
    names = topic_names(len(values))
    return {
        (names[row], int(trial) + 1): (float(values[row, trial]), 1.0)
        for row, trial in zip(*np.nonzero(~np.isnan(values)), strict=True)
    }


def told_apart(world: SourceWorld, shown: Sequence[Shown], values: Sequence[Floats], seed: str, reach: float) -> int:
    """Return how many pairs of systems are told apart, of each (systems, topics, trials) values, corrected together, as
    `harvest compare` and `harvest sources` do."""
    found = []
    for at, of_measure in enumerate(values):
        ends = float(np.nanmin(of_measure)), float(np.nanmax(of_measure))
        sides = [side_of(one, own, ends) for one, own in zip(shown, of_measure, strict=True)]
        for number, pair in enumerate(combinations(sides, 2)):
            found.append(difference_of(world, of_measure.shape[1], pair, f"{seed} {at} {number}", reach))
    return sum(bool(one.beyond) for one in compare_family(found, [math.nan] * len(found), level=LEVEL))


def side_of(shown: Shown, values: Floats, ends: tuple[float, float]) -> SideWithLosses:
    topics = topic_names(len(values))
    gone = [(topics[row], int(trial) + 1) for row, trial in zip(*np.nonzero(shown.lost), strict=True)]
    low, high = (dict.fromkeys(gone, (end, 1.0)) for end in ends)
    return SideWithLosses(cells_of(values), LostTrials(low, high, depends=False))


def difference_of(
    world: SourceWorld, topics: int, pair: tuple[SideWithLosses, SideWithLosses], seed: str, reach: float
) -> Difference:
    def between(end: End) -> Difference:
        return difference(
            topic_names(topics),
            pair[0].cells_at(end, against=True),
            pair[1].cells_at(end),
            generator(0, "exchange", seed),
            level=LEVEL,
            reach=reach,
            clusters=world.clusters(topics),
        )

    return within_bounds(between, pair)


def count_verdicts(world: SourceWorld, size: tuple[int, int], studies: int) -> Iterator[Counted]:
    """Count how many studies of three systems that are alike tell none apart: by each measure, and by domain."""
    right = defaultdict[str, int](int)
    for number in range(studies):
        shown = world.draw(generator(6, "alike sources", str(world), str(size), number), *size, 3)
        for name in COMPARED:
            values = np.array([one.figures[name][0] for one in shown])
            reach = math.inf if name == "domains" else 1.0
            right[name] += not told_apart(world, shown, [values], f"{name} {number}", reach)
        often = np.argsort(-sum((one.counts > 0).sum(axis=(0, 1, 2)) for one in shown), kind="stable")[:DOMAINS]
        each = [
            np.array(
                [
                    np.where(one.lost, np.nan, (one.counts[..., at] > 0).sum(axis=2) / one.number[:, None])
                    for one in shown
                ]
            )
            for at in often
        ]
        right["by domain"] += not told_apart(world, shown, each, f"domains {number}", 1.0)
    for name in (*COMPARED, "by domain"):
        yield Counted(str(world), f"alike, {name}", *size, studies, studies, right[name])


def false_alarms(world: SourceWorld, size: tuple[int, int], years: int) -> Counted:
    """Count the years without an alarm of a weekly watch of an unchanged system: of the share of answers that show the
    first domain, after eight blessed runs."""
    topics, trials = size
    quiet, looks = 0, 52
    for number in range(years):
        rng = generator(8, "watched sources", str(world), str(size), number)
        (shown,) = world.draw(rng, topics, (BLESSED + looks) * trials)
        values = (shown.counts[..., 0] > 0).sum(axis=2) / shown.number[:, None]
        runs = np.split(values, BLESSED + looks, axis=1)
        known, state = baseline(runs[:BLESSED]), WatchState()
        for look, audited in enumerate(runs[BLESSED:]):
            state = judge(state, known, list(audited), RULES, at=float(look)).state
        quiet += not state.is_changed
    return Counted(str(world), "a year without an alarm", topics, trials, years, years, quiet)


def count_all(studies: int, only: str, kept: Path) -> None:
    done = {(one.world, one.figure, one.topics, one.trials) for one in read(kept)}
    jobs = [(world, size, count_intervals, "%sourced") for world in SOURCE_WORLDS for size in SOURCE_SIZES]
    jobs += [
        (world, size, count_verdicts, "alike, %sourced") for world in (*SOURCE_WORLDS, HIDING) for size in FAMILIES
    ]
    for world, size, count, first in jobs:
        if only in str(world) and (str(world), first, *size) not in done:
            keep(count(world, size, studies), kept)
    for world in SOURCE_WORLDS:
        if only in str(world) and (str(world), "a year without an alarm", *WATCHED) not in done:
            keep([false_alarms(world, WATCHED, studies)], kept)


def keep(found: Iterable[Counted], kept: Path) -> None:
    lines = [json.dumps(asdict(one)) for one in found]
    with kept.open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def read(kept: Path) -> list[Counted]:
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.is_file() else []
    return [Counted(**json.loads(line)) for line in lines]


def is_flagged(one: Counted) -> bool:
    """True if the rate misses what is claimed by more than two standard errors."""
    least = 0.95 if one.figure.startswith(VERDICTS) else 0.93
    return one.right < least * one.printed - 2 * math.sqrt(least * (1 - least) * one.printed)


def part(found: Sequence[Counted]) -> str:
    """The section of the page."""
    intervals = [one for one in found if not one.figure.startswith(VERDICTS)]
    names = list(dict.fromkeys(one.figure for one in intervals))
    studies = sorted({one.studies for one in found})
    flagged = [one for one in found if is_flagged(one)]
    sizes = [f"{topics}×{trials}" for topics, trials in dict.fromkeys((one.topics, one.trials) for one in intervals)]
    missed = "; ".join(f"{one.world}, {one.figure}, {one.topics}×{one.trials}" for one in flagged) or "none"
    return "\n".join(
        [
            f"{HEAD}\n",
            f"{wrapped(ABOUT, sizes=', '.join(sizes), least=studies[0], most=studies[-1])}\n",
            *table(intervals, names),
            f"\n{wrapped(ALIKE, domains=DOMAINS)}\n",
            *verdicts([one for one in found if one.figure.startswith(VERDICTS)]),
            f"\n{wrapped(FLAGGED, missed=missed, cells=len(found), fewest=FEWEST_WITHOUT_END)}\n",
        ]
    )


def wrapped(text: str, **words: object) -> str:
    return fill(" ".join(text.format(**words).split()), 120, break_long_words=False, break_on_hyphens=False)


def table(found: Sequence[Counted], names: Sequence[str]) -> Iterator[str]:
    """The least coverage of every figure in every world."""
    yield f"| world | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for world in dict.fromkeys(one.world for one in found):
        own = [[one for one in found if (one.world, one.figure) == (world, name)] for name in names]
        yield f"| {world} | {' | '.join(map(least_coverage, own))} |"


def least_coverage(cells: Sequence[Counted]) -> str:
    printed, studies = (sum(getattr(one, name) for one in cells) for name in ("printed", "studies"))
    if not printed:
        return "none" if cells else ""
    least = f"{min(one.right / one.printed for one in cells if one.printed):.3f}".removeprefix("0")
    return least if printed == studies else f"{least} ({min(99, round(100 * printed / studies))}%)"


def verdicts(found: Sequence[Counted]) -> Iterator[str]:
    names = list(dict.fromkeys(one.figure for one in found))
    heads = [name.removeprefix("alike, ").replace("a year without an alarm", "alarm") for name in names]
    yield f"| world | {' | '.join(heads)} |"
    yield "|---" * (len(names) + 1) + "|"
    for world in dict.fromkeys(one.world for one in found):
        each = [[one for one in found if (one.world, one.figure) == (world, name)] for name in names]
        wrong = [
            f"{max(1 - one.right / one.printed for one in own):.3f}".removeprefix("0") if own else "" for own in each
        ]
        yield f"| {world} | {' | '.join(wrong)} |"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="tests.support.source_counts", description=__doc__)
    parser.add_argument("kept", type=Path)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--world", default="")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(f"\n{END}\n")
        before = before.partition(f"\n{HEAD}\n")[0]
        PAGE.write_text(f"{before}\n{part(read(given.kept))}\n{END}\n{rest}", encoding="utf-8")
    else:
        count_all(given.studies, given.world, given.kept)


if __name__ == "__main__":
    main()
