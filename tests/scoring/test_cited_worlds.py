"""Shares of citations in hostile worlds: intervals cover the true share, and alike systems are not told apart."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.inference.aligned import Cell, Trial, align
from scoring.inference.paired import Estimand
from scoring.inference.sides import compare_sides
from scoring.measures.usefulness import share
from tests.support.cited_worlds import WORLDS, CitedWorld
from topics.arrays import Floats

SITES = 5  # of which the most different one would be named


def covered(world: CitedWorld, studies: int) -> float:
    """Return the share of printed intervals that hold the true share."""
    truth, rng, found = world.truth(), np.random.default_rng(7), []
    for _ in range(studies):
        ((above, below, lost),) = world.play(rng)
        most = float(np.nanmax(below))
        of = share(world.names, above, below, lost, level=0.95, pooled=True, whole=most, design=world.design)
        found.append(of.interval.contains(truth) if of.interval.is_defined else None)
    printed = [one for one in found if one is not None]
    assert len(printed) >= studies / 2, "most studies have an interval"
    return sum(printed) / len(printed)


def told_apart(world: CitedWorld, studies: int, estimand: Estimand) -> float:
    """Return the share of studies in which one of several sites tells two systems apart that are alike: the smallest p,
    corrected for the number of sites (Holm's first step)."""
    rng, found = np.random.default_rng(11), 0
    for _ in range(studies):
        least = 1.0
        for _ in range(SITES):
            sides = {name: cells(world, *of[:2]) for name, of in zip("AB", world.play(rng, 2), strict=True)}
            aligned = align(world.names, ("A", "B"), sides, pooled=True, clusters=world.design.clusters)
            test = compare_sides(aligned, 0, 1, rng, estimand=estimand, level=0.95, reach=1.0)
            least = min(least, test.p if test.p == test.p else 1.0)
        found += least * SITES <= 0.05
    return found / studies


def cells(world: CitedWorld, above: Floats, below: Floats) -> dict[Trial, Cell]:
    return {
        (name, trial): (float(above[row, trial]), float(below[row, trial]))
        for row, name in enumerate(world.names)
        for trial in range(world.trials)
        if below[row, trial] == below[row, trial]
    }


def by_name(world: CitedWorld) -> str:
    return world.name


@pytest.mark.parametrize("world", WORLDS, ids=by_name)
def test_intervals_cover_in_a_few_studies(world: CitedWorld) -> None:
    assert covered(world, 30) >= 0.85  # of a coverage of .95, 30 studies show less once in 100 times


@pytest.mark.soak
@pytest.mark.parametrize("world", WORLDS, ids=by_name)
def test_intervals_cover(world: CitedWorld) -> None:
    assert covered(world, 1000) >= 0.93


@pytest.mark.soak
@pytest.mark.parametrize("estimand", ["like-these", "these"])
@pytest.mark.parametrize("world", WORLDS, ids=by_name)
def test_similar_systems_are_not_told_apart(world: CitedWorld, estimand: Estimand) -> None:
    assert told_apart(world, 400, estimand) <= 0.07  # .05, and twice the standard error of 400 studies
