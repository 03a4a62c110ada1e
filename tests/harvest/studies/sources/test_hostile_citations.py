"""Shares of sources in hostile worlds: intervals cover, and alike systems are told apart rarely over all domains."""

import math

import numpy as np
import pytest

from harvest.studies.sources.citations import CitingAnswer, CitingSystem
from scoring.inference.bootstrap import Resampler
from scoring.inference.matched import compare_family, difference
from tests.support.exposure_worlds import WORLDS, Counts, ExposureWorld
from topics.arrays import Floats
from topics.identity import generator

SIZES = ((8, 1), (8, 3), (15, 3), (45, 1), (45, 3))


def citing(counts: Counts, system: str) -> CitingSystem:
    """A system whose conversations have one answer each."""
    topics = tuple(f"T{at:03}" for at in range(len(counts)))
    return CitingSystem(
        system,
        "domain",
        topics,
        {
            (topic, trial): (CitingAnswer(tuple(str(at) for at in np.repeat(np.arange(len(cited)), cited))),)
            for topic, own in zip(topics, counts, strict=True)
            for trial, cited in enumerate(own, 1)
        },
    )


def truths(world: ExposureWorld) -> tuple[Floats, Floats]:
    """(domains,) the true shares of answers and of citations."""
    counts = world.draw(generator(1, "truth of shares", str(world)), 20_000, 1)[:, 0]
    return np.asarray((counts > 0).mean(axis=0)), np.asarray(counts.sum(axis=0) / counts.sum())


@pytest.mark.parametrize(
    ("world", "size", "studies"),
    [
        *(pytest.param(WORLDS[at], (15, 1), 40, id=str(WORLDS[at])) for at in (4, 8)),
        *(pytest.param(one, size, 300, marks=pytest.mark.soak, id=f"{one} {size}") for one in WORLDS for size in SIZES),
    ],
)
def test_intervals_of_shares_cover(world: ExposureWorld, size: tuple[int, int], studies: int) -> None:
    columns = sorted({0, 1, min(5, world.domains - 1)})
    names = [str(at) for at in columns]
    answers, citations = (side[columns] for side in truths(world))
    covered, printed = np.zeros((2, len(names))), np.zeros((2, len(names)))
    for number in range(studies):
        one = citing(world.draw(generator(6, "shares", str(world), str(size), str(number)), *size), "A")
        shown, cited, whole, every = one.table(names)
        resampler = Resampler(generator(number, "shares"), replications=1000)
        each = (
            (resampler.means(one.topics, shown / whole), answers),
            (resampler.ratios(one.topics, cited, every * np.ones(len(names))), citations),
        )
        for at, (intervals, true) in enumerate(each):
            for place, interval in enumerate(intervals):
                printed[at, place] += interval.is_defined
                covered[at, place] += interval.contains(float(true[place]))
    with np.errstate(invalid="ignore"):
        least = float(np.nanmin(covered / np.where(printed > 0, printed, np.nan)))
    assert least >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / studies)


@pytest.mark.parametrize(
    ("world", "size", "studies"),
    [
        pytest.param(WORLDS[8], (15, 2), 15, id=str(WORLDS[8])),
        *(pytest.param(one, size, 200, marks=pytest.mark.soak, id=f"{one} {size}") for one in WORLDS for size in SIZES),
    ],
)
def test_similar_systems_are_told_apart_rarely(world: ExposureWorld, size: tuple[int, int], studies: int) -> None:
    topics, trials = size
    wrong = 0
    for number in range(studies):
        rng = generator(7, "alike", str(world), str(size), str(number))
        counts = world.draw(rng, topics, 2 * trials)
        one, other = citing(counts[:, :trials], "A"), citing(counts[:, trials:], "B")
        first = np.argsort(-counts.sum(axis=(0, 1)), kind="stable")[:6]
        each = [difference(one.topics, one.cells(str(at)), other.cells(str(at)), rng, level=0.95) for at in first]
        wrong += any(found.beyond for found in compare_family(each, [math.nan] * len(each), level=0.95))
    assert wrong <= max(1, 0.05 * studies)
