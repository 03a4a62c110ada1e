"""The interval of an arm that was chosen for being worst: it holds the truth as often as it says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scoring.inference.matched import simultaneous_level
from scoring.statistics.beta import student_quantile
from tests.support.compared_worlds import allowed_errors


def differences(rng: np.random.Generator, topics: int, arms: int, kind: str) -> NDArray[np.float64]:
    """(T, A) whose true means are 0. alike: arms do well on the same topics. shares: of five trials."""
    if kind == "shares":
        base = rng.beta(1, 1, topics)[:, None]
        both = rng.binomial(5, np.broadcast_to(base, (topics, arms + 1))) / 5
        return np.asarray(both[:, 1:] - both[:, :1])
    common = rng.normal(size=(topics, 1)) if kind == "alike" else 0.0
    return np.asarray(common + rng.normal(size=(topics, arms)))


def covered(replications: int, topics: int, arms: int, kind: str) -> tuple[int, int]:
    """How often the worst arm's interval holds 0, and its own 95% interval does."""
    rng = np.random.default_rng([topics, arms])
    together = alone = 0
    reach = student_quantile(0.975, topics - 1) / math.sqrt(topics)
    for _ in range(replications):
        each = differences(rng, topics, arms, kind)
        worst = int(each.mean(axis=0).argmin())
        own = each[:, worst]
        wide = student_quantile(0.5 + simultaneous_level(each, rng, level=0.95) / 2, topics - 1) / math.sqrt(topics)
        together += abs(own.mean()) <= wide * own.std(ddof=1)
        alone += abs(own.mean()) <= reach * own.std(ddof=1)
    return together, alone


def test_the_worst_of_six_arms_is_covered_where_its_own_interval_fails() -> None:
    together, alone = covered(200, 15, 6, "own")
    assert 200 - together <= allowed_errors(200, 0.05)
    assert 200 - alone > allowed_errors(200, 0.05)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["own", "alike", "shares"])
@pytest.mark.parametrize("arms", [2, 6, 12])
@pytest.mark.parametrize("topics", [8, 15, 45])
def test_whichever_arm_is_worst_its_interval_covers(topics: int, arms: int, kind: str) -> None:
    together, alone = covered(2000, topics, arms, kind)
    print(f"{topics} topics, {arms} arms, {kind}: {together / 2000:.3f}; by itself {alone / 2000:.3f}")
    assert 2000 - together <= allowed_errors(2000, 0.05)


@given(topics=st.integers(2, 12), arms=st.integers(1, 5), seed=st.integers(0, 1000), level=st.sampled_from([0.8, 0.95]))
def test_the_level_lies_between_one_arm_and_bonferroni(topics: int, arms: int, seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    each = rng.normal(size=(topics, arms))
    found = simultaneous_level(each, rng, level=level)
    assert level - 1e-12 <= found <= 1 - (1 - level) / arms + 1e-12


def test_equal_arms_cost_nothing() -> None:
    rng = np.random.default_rng(1)
    own = rng.normal(size=(20, 1))
    same = simultaneous_level(np.repeat(own, 6, axis=1), rng, level=0.95)
    unlike = simultaneous_level(rng.normal(size=(20, 6)), rng, level=0.95)
    assert same == pytest.approx(0.95, abs=0.01)
    assert unlike > 0.985


def test_one_arm_has_its_own_level_and_few_topics_have_bonferronis() -> None:
    rng = np.random.default_rng(2)
    assert simultaneous_level(rng.normal(size=(9, 1)), rng, level=0.95) == pytest.approx(0.95)
    assert simultaneous_level(rng.normal(size=(2, 5)), rng, level=0.95) == pytest.approx(0.99)
