"""Engines of `harvest compare`: the cells of a simulated study, handed over as those of recorded runs are."""

import itertools
import math
from unittest.mock import patch

import numpy as np

from scoring.comparison import compared_pairs
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.inference.aligned import Aligned, Cell, Trial, align
from scoring.inference.losses import LostTrials, fill_losses
from scoring.inference.needed import NeededSize
from scoring.inference.paired import Estimand
from scoring.settings import Guard
from tests.support.compared_worlds import lost_whole
from tests.support.torture.cells import Engine, Said, Size, winner
from tests.support.torture.classical import VALUES, student, topic_means
from tests.support.torture.study import Kind, Study
from tests.support.torture.world import World
from topics.identity import generator

PAIRS: tuple[Size, ...] = (
    (2, 5, 2),
    (4, 5, 2),
    (5, 20, 2),
    (8, 1, 2),
    (8, 3, 2),
    (15, 5, 2),
    (45, 1, 2),
    (45, 5, 2),
    (200, 1, 2),
)
"""The sizes for a pair."""
FAMILIES: tuple[Size, ...] = ((8, 3, 3), (15, 5, 4), (15, 5, 8), (45, 5, 3))
"""The sizes for more."""
ALPHA = 0.05
EXCHANGEABLE = frozenset({"light tails", "heavy tails", "zero-inflated", "rare bad topics", "heavy trials"})
"""Groups of worlds whose systems have one law, so that a typical difference is 0."""


OF_FAMILIES = frozenset(
    {
        "unequal spread of systems",
        "one system far off",
        "alike in the mean, not by topic",
        "recovery",
        "unequal loss",
        "clusters of topics",
        "sessions",
        "rare bad topics",
        "heavy tails",
    }
)
"""Groups of worlds in which more than two systems are compared, which takes long."""


def names(count: int, letter: str) -> tuple[str, ...]:
    """So many names, in the order of the alphabet."""
    return tuple(f"{letter}{number:03d}" for number in range(count))


def cells_of(study: Study, system: int) -> dict[Trial, Cell]:
    """What the valid conversations of one system give, by topic and trial: nothing where one was lost."""
    topics, found = names(study.values.shape[1], "T"), {}
    for topic, trial in zip(*np.nonzero(np.isfinite(study.values[system])), strict=True):
        value = float(study.values[system, topic, trial])
        if study.second is None:
            cell = value, 1.0
        else:  # of %recovery: recoveries of failures
            cell = (0.0, 0.0) if value == 1 else (float(study.second[system, topic, trial]), 1.0)
        found[topics[topic], int(trial) + 1] = cell
    return found


def lost_of(study: Study, system: int, ends: tuple[float, float]) -> LostTrials:
    """What one system lost, and the ends between which each lost value could have been."""
    gone = np.isnan(study.values[system]).sum(axis=1)
    topics = names(len(gone), "T")
    return lost_whole(
        {topic: int(count) for topic, count in zip(topics, gone, strict=True) if count}, (ends[0], 1.0), (ends[1], 1.0)
    )


def times_of(study: Study) -> dict[str, dict[Trial, float]] | None:
    """When each trial of each system began, in days; None where no time is known."""
    if study.times is None:
        return None
    systems, topics, trials = study.times.shape
    return {
        system: {
            (topic, trial + 1): float(study.times[at, row, trial])
            for row, topic in enumerate(names(topics, "T"))
            for trial in range(trials)
        }
        for at, system in enumerate(names(systems, "S"))
    }


def compared(study: Study, *, estimand: Estimand, guard: Guard = "unseen", topless: bool = False) -> MeasureComparison:
    """The study as `harvest compare` sees it. topless: whether the measure has no end near its values."""
    count, topics = study.values.shape[:2]
    systems, ids = names(count, "S"), names(topics, "T")
    cells = {name: cells_of(study, at) for at, name in enumerate(systems)}
    seen = study.values[np.isfinite(study.values)]
    ends = (float(seen.min()), float(seen.max())) if topless and len(seen) else (0.0, 1.0)
    lost = {name: lost_of(study, at, ends) for at, name in enumerate(systems)}
    clusters = (
        None if study.clusters is None else {name: str(one) for name, one in zip(ids, study.clusters, strict=True)}
    )
    continued = systems if study.continued else ()
    times = times_of(study)

    def aligned(of: dict[str, dict[Trial, Cell]]) -> Aligned:
        return align(
            ids,
            systems,
            of,
            pooled=study.second is not None,
            continued=continued,
            clusters=clusters,
            times=times,
            in_time=estimand == "these",
        )

    def extreme(low: str, high: str) -> Aligned:
        return aligned(
            {
                **cells,
                low: fill_losses(cells[low], lost[low], high=False),
                high: fill_losses(cells[high], lost[high], high=True),
            }
        )

    # What would settle it is no part of a verdict, and nine tenths of the time.
    unknown = NeededSize(math.nan, math.nan), None
    with patch.object(compared_pairs, "_find_needed", return_value=unknown):
        return compared_pairs.compare_pairs(
            "%recovery" if study.second is not None else "a measure",
            None,
            aligned(cells),
            generator(0, "comparison", "a measure"),
            estimand=estimand,
            level=1 - ALPHA,
            good="high",
            reach=math.inf if topless else 1.0,
            guard=guard,
            lost=lost,
            extreme=extreme,
        )


def said_of(pair: Pair, truth: float, reference: float, warning: str) -> Said:
    """What is printed of one pair. warning: that is printed beside it."""
    low, high = (pair.interval.low, pair.interval.high) if pair.interval.is_defined else (math.nan, math.nan)
    said = Said(truth, low, high, warning if pair.interval.is_defined else pair.interval.note, reference)
    return winner(said, pair.is_distinguished, 1.0 if pair.verdict in ("better", "higher") else -1.0)


def differences(world: World, study: Study, estimand: Estimand, guard: Guard = "unseen") -> list[Said]:
    """Every pair; the reference of a width is the paired t interval over topics."""
    truths = {
        ("like-these", False): "mean",
        ("these", False): "mean of these",
        ("like-these", True): "recovery",
        ("these", True): "recovery of these",
    }
    truth = world.truth(truths[estimand, study.second is not None], study)
    found = compared(study, estimand=estimand, guard=guard, topless=world.kind is Kind.UNBOUNDED)
    means, warning = topic_means(study), "; ".join(found.in_time.values())
    said = []
    for pair, (one, other) in zip(found.pairs, itertools.combinations(range(len(means)), 2), strict=True):
        low, high = student(means[one] - means[other])
        reference = high - low if estimand == "like-these" and study.second is None else math.nan
        said.append(said_of(pair, math.nan if truth is None else float(truth[one] - truth[other]), reference, warning))
    return said


def like_these(world: World, study: Study) -> list[Said]:
    """Of topics like these, as it is printed without options."""
    return differences(world, study, "like-these")


def classical(world: World, study: Study) -> list[Said]:
    """Of topics like these, without the guard against topics that were not asked."""
    return differences(world, study, "like-these", "none")


def these(world: World, study: Study) -> list[Said]:
    """Of these topics."""
    return differences(world, study, "these")


def typical(world: World, study: Study) -> list[Said]:
    """The median of the topics' differences, where it is printed; 0, as the systems of a pair have one law."""
    found = compared(study, estimand="like-these", topless=True)
    return [
        Said(0.0, pair.typical[1].low, pair.typical[1].high)
        if pair.typical is not None
        else Said(0.0, reason="the mean is printed")
        for pair in found.pairs
    ]


DIFFERENCES = VALUES | {Kind.TURNS}
ENGINES = (
    Engine("compare, topics like these", DIFFERENCES, like_these, PAIRS),
    Engine("compare, topics like these, families", DIFFERENCES, like_these, FAMILIES, OF_FAMILIES),
    Engine("compare, these topics", DIFFERENCES, these, (*PAIRS, (15, 5, 4))),
    Engine("compare, no guard", VALUES, classical, PAIRS, frozenset({"independent", "light tails"})),
    Engine("compare, typical difference", frozenset({Kind.UNBOUNDED}), typical, PAIRS, EXCHANGEABLE),
)
