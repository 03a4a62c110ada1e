"""Means of measures without a top, and ratios of topics that are not alike: what an unseen topic may be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scoring.inference.bootstrap import Resampler
from scoring.inference.unseen_topic import share_ends, smallest_reach, unseen_distance
from tests.support.dependence_worlds import levels, never_recovering


def covered(name: str, topics: int, trials: int, studies: int) -> tuple[float, float]:
    """(share of printed intervals that hold the mean of topics like these, median of high end over the mean seen)."""
    here = levels(name, np.random.default_rng([topics, trials]), (studies, topics, trials))
    drawn = Resampler(np.random.default_rng(0), replications=600)
    names = [f"T{number}" for number in range(topics)]
    found = drawn.means(names, np.moveaxis(here.values, 0, -1), top=math.inf)
    printed = [one for one in found if one.is_defined]
    seen = here.values.mean(axis=(1, 2))
    wide = [one.high / mean for one, mean in zip(found, seen, strict=True) if one.is_defined]
    return float(np.mean([one.contains(here.like_these) for one in printed])), float(np.median(wide))


@pytest.mark.parametrize(
    ("name", "topics", "trials"),
    [
        ("lognormal 1.5", 4, 5),
        ("lognormal 1.5", 15, 5),
        ("lognormal 1.5", 45, 2),
        ("lognormal 2", 8, 3),
        ("lognormal 2", 200, 1),
        ("Pareto 1.5", 45, 2),
        ("Lomax 2.1", 8, 3),
        ("half 0", 5, 5),
    ],
)
def test_a_mean_of_levels_with_a_long_tail_is_covered(name: str, topics: int, trials: int) -> None:
    held, _ = covered(name, topics, trials, 400)
    assert held >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / 400)


@pytest.mark.parametrize(("topics", "most"), [(8, 4.5), (15, 2.8), (45, 1.6), (200, 1.3)])
def test_levels_without_a_long_tail_are_not_given_one(topics: int, most: float) -> None:
    _, wide = covered("beta", topics, 2, 100)
    assert wide <= most


def test_topics_with_equal_values_have_the_same_distances_as_before() -> None:
    assert unseen_distance(np.full((9, 1), 0.5)) == pytest.approx(max(smallest_reach(9), 2.0) * 0.5)
    assert unseen_distance(np.zeros((9, 1))) == pytest.approx(0.0)


def test_a_heavier_tail_reaches_further_but_not_without_bound() -> None:
    body = np.linspace(0.9, 1.1, 40)
    reach = [float(unseen_distance(np.append(body, 10.0**power)[:, None])[0] / 10.0**power) for power in range(5)]
    assert reach == sorted(reach)
    assert reach[-1] == pytest.approx(8 * (1 + 16 / 41))


def test_a_few_topics_above_zero_have_an_unseen_tail() -> None:
    alone = unseen_distance(np.array([0.0, 0.0, 0.0, 0.0, 1.0])[:, None])
    assert alone[0] == pytest.approx(2 / (1 - 1.3 * 0.6))


@pytest.mark.parametrize(("topics", "trials", "fails"), [(45, 5, 0.1), (45, 5, 0.2), (15, 5, 0.3), (45, 2, 0.3)])
def test_recovery_is_covered_if_a_few_topics_never_recover(topics: int, trials: int, fails: float) -> None:
    here = never_recovering(np.random.default_rng([topics, trials]), (300, topics, trials), fails=fails)
    assert here.below is not None
    held = printed = 0
    for recovered, failed in zip(here.values.sum(axis=2), here.below.sum(axis=2), strict=True):
        rows = failed > 0
        if rows.sum() < 4:
            continue
        low, high = share_ends(recovered[rows][:, None], failed[rows][:, None], 0.95, pooled=True)
        printed += 1
        held += bool(low[0] <= here.like_these <= high[0])
    assert held / printed >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / printed)


def test_an_unseen_topic_is_as_large_as_the_largest_one() -> None:
    below = np.array([1.0, 1.0, 1.0, 1.0, 9.0])[:, None]
    narrow = share_ends(np.ones((5, 1)), np.ones((5, 1)), 0.95, pooled=True)
    wide = share_ends(below, below, 0.95, pooled=True)
    assert wide[0][0] < narrow[0][0]
