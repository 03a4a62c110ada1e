"""The chance that citations of two topics are of one kind: by hand, unbiased, and covered."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.inference.same_kind import same_kind_chance, same_kind_interval
from tests.support.exposure_worlds import SIZES, WORLDS, ExposureWorld, topic_shares
from topics.arrays import Floats
from topics.identity import generator

SHARES = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(sum), min_size=2, max_size=6)


def as_shares(rows: list[list[int]]) -> Floats:
    counts = np.array(rows, dtype=np.float64)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def test_the_figures_are_those_computed_by_hand() -> None:
    # Three topics cite a, a and half a, half b: pairs 1, 1/2 and 1/2.
    assert same_kind_chance([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]) == pytest.approx(2 / 3)


@given(SHARES)
def test_the_chance_is_the_mean_over_pairs_of_topics(rows: list[list[int]]) -> None:
    each = as_shares(rows)
    pairs = [float(one @ other) for one, other in combinations(each, 2)]
    assert same_kind_chance(each) == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)


def test_topics_of_one_cluster_are_not_a_pair() -> None:
    # Two clusters: one with two topics that cite a, one with a topic that cites b and one that cites a.
    assert same_kind_chance([[2, 0], [1, 1]], [2, 2]) == pytest.approx(1 / 2)


def test_one_topic_has_no_pair() -> None:
    assert math.isnan(same_kind_chance([[1.0]]))
    assert same_kind_interval([[1.0]]).note == "one topic: nothing to resample"
    assert same_kind_interval(np.eye(3)).note == "3 topics: too few to resample"


@settings(max_examples=30)
@given(SHARES.filter(lambda rows: len(rows) > 3))
def test_the_interval_contains_the_value_in_any_order_of_topics(rows: list[list[int]]) -> None:
    each = as_shares(rows)
    found = same_kind_interval(each)
    assert 0 <= found.low <= same_kind_chance(each) <= found.high <= 1
    assert same_kind_interval(each[::-1]) == found


def test_the_plug_in_index_would_be_too_high() -> None:
    world = ExposureWorld(name="hundred equal domains", domains=100, exponent=0.0, cites=0.0)
    each = [topic_shares(world.draw(generator(0, "plug-in", str(k)), 15, 1)) for k in range(200)]
    assert np.mean([same_kind_chance(one) for one in each]) == pytest.approx(0.01, abs=0.002)
    assert np.mean([float(np.square(one.mean(axis=0)).sum()) for one in each]) > 0.07


@pytest.mark.parametrize(
    ("world", "size", "studies"),
    [
        *(pytest.param(one, (15, 1), 60, id=str(one)) for one in WORLDS[:9:2]),
        *(pytest.param(one, size, 400, marks=pytest.mark.soak, id=f"{one} {size}") for one in WORLDS for size in SIZES),
    ],
)
def test_intervals_cover(world: ExposureWorld, size: tuple[int, int], studies: int) -> None:
    truth = float(np.square(world.true_shares()).sum())
    found = [
        same_kind_interval(topic_shares(world.draw(generator(2, "same kind", str(world), str(k)), *size)))
        for k in range(studies)
    ]
    covered = sum(one.contains(truth) for one in found) / studies
    assert covered >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / studies)


def test_rounding_leaves_the_interval_within_its_range() -> None:
    assert same_kind_interval(as_shares([[0, 0, 1]] * 4)).high == 1
