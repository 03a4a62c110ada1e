"""Whether systems show the same: alike systems are apart by 0 on average, and are told apart as rarely as promised."""

import math

import numpy as np
import pytest

from scoring.inference.likeness import Likeness, apart_interval, compare_likeness, within
from tests.support.counted_rates import count_events
from tests.support.exposure_worlds import WORLDS, Counts, ExposureWorld
from topics.arrays import Floats
from topics.identity import generator


def jaccards(counts: Counts) -> Floats:
    """(trials, trials) Jaccard's index of the domains of the trials of a topic."""
    shown = (counts > 0).astype(np.float64)
    common, number = shown @ shown.T, shown.sum(axis=1)
    return np.asarray(common / (number[:, None] + number - common))


def test_the_figures_are_those_computed_by_hand() -> None:
    # Trials 1 and 2 are of the first side, 3 and 4 of the second.
    table = np.array([[1, 0.8, 0.1, 0.3], [0.8, 1, 0.2, 0.2], [0.1, 0.2, 1, 0.6], [0.3, 0.2, 0.6, 1]])
    found = compare_likeness([(table, 2)], generator(0, "by hand"))
    assert (found.first[0], found.second[0]) == (0.8, 0.6)
    assert found.between[0] == pytest.approx(0.2)
    assert found.apart[0] == pytest.approx(0.5)
    assert 0.2 < found.p < 0.5  # the split as it is, and the same the other way round, of six


def test_a_trial_without_sources_is_left_out() -> None:
    table = np.full((5, 5), np.nan)
    table[:4, :4] = 0.5
    found = compare_likeness([(table, 2)], generator(0, "empty"))
    assert (found.first[0], found.second[0], found.between[0], found.apart[0]) == (0.5, 0.5, 0.5, 0.0)


def test_one_trial_per_side_only_shows_the_similarity_between_sides() -> None:
    found = compare_likeness([(np.full((3, 3), 0.4), 1)], generator(0, "one"))
    assert math.isnan(found.first[0])
    assert found.between[0] == 0.4
    assert math.isnan(found.apart[0])
    assert math.isnan(found.p)


def test_without_pairs_there_is_no_mean() -> None:
    assert math.isnan(within(np.ones((1, 1))))
    assert math.isnan(within(np.ones((0, 0))))


def compared(world: ExposureWorld, other: ExposureWorld, topics: int, trials: int, number: int) -> Likeness:
    rng = generator(3, "likeness", str(world), str(other), str(number))
    if world is other:
        counts = world.draw(rng, topics, 2 * trials)
    else:
        counts = np.concatenate([one.draw(rng, topics, trials) for one in (world, other)], axis=1)
    return compare_likeness([(jaccards(own), trials) for own in counts], rng)


@pytest.mark.parametrize(
    ("world", "size", "looks"),
    [
        *(pytest.param(one, (8, 2), (40, 400), id=str(one)) for one in WORLDS[:9:4]),
        *(
            pytest.param(one, size, (400, 2000), marks=pytest.mark.soak, id=f"{one} {size}")
            for one in WORLDS
            for size in ((8, 3), (15, 5), (45, 2))
        ),
    ],
)
def test_similar_systems_are_not_told_apart(
    world: ExposureWorld, size: tuple[int, int], looks: tuple[int, ...]
) -> None:
    def events(number: int) -> dict[str, bool]:
        found = compared(world, world, *size, number)
        apart = found.apart[~np.isnan(found.apart)]
        interval, outside = apart_interval(apart, np.ones_like(apart), p=found.p)
        rejected = found.p <= 0.05
        return {"missed": not interval.contains(0.0), "rejected": rejected, "told": rejected and outside <= 0.05}

    studies, found = count_events({"missed": 0.07, "rejected": 0.05, "told": 0.05}, events, looks)
    assert found["told"] <= max(1, 0.05 * studies)


def true_apart(one: ExposureWorld, other: ExposureWorld) -> float:
    """What two systems whose topics all have one law are apart: exactly so, with one citation an answer."""
    return float(np.square(one.law - other.law).sum() / 2)


@pytest.mark.parametrize(
    ("topics", "trials", "looks"),
    [
        (8, 2, (40, 400)),
        *(pytest.param(*size, (400, 2000), marks=pytest.mark.soak) for size in ((8, 3), (15, 2), (45, 3))),
    ],
)
def test_intervals_cover_the_distance_between_systems(topics: int, trials: int, looks: tuple[int, ...]) -> None:
    one = ExposureWorld(name="one law alone", domains=6, exponent=2.0, cites=0.0)
    other = ExposureWorld(name="other law alone", domains=6, exponent=0.0, cites=0.0)
    truth = true_apart(one, other)

    def events(number: int) -> dict[str, bool]:
        found = compared(one, other, topics, trials, number)
        return {"missed": not apart_interval(found.apart, np.ones_like(found.apart), p=found.p)[0].contains(truth)}

    count_events({"missed": 0.07}, events, looks)


def test_few_topics_have_no_interval() -> None:
    assert apart_interval([0.1, 0.2, 0.3], [1.0, 1.0, 1.0])[0].note == "3 topics: too few to resample"


def test_systems_that_cite_other_domains_are_told_apart() -> None:
    one = ExposureWorld(name="one law", domains=20, exponent=1.0)
    other = ExposureWorld(name="other law", domains=20, exponent=0.0)
    found = compared(one, other, 45, 3, 0)
    assert found.p <= 0.001
    assert float(np.nanmean(found.apart)) > 0
