"""Evidence of a change: what it promises holds exactly in small worlds, and in simulated years."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.inference.drift import BUDGET, Baseline, confirms, difference, evidence, levels, limits
from tests.support.watched_years import SIZES, SPREADS, upper, year, years
from topics.identity import generator

CHANCES = st.floats(0.02, 0.98)


def known(means: list[float], count: int, runs: list[float]) -> Baseline:
    values = np.array(means)
    return Baseline(values, values * (1 - values), np.full(len(means), float(count)), np.array(runs))


@given(
    chances=st.lists(CHANCES, min_size=2, max_size=3),
    means=st.lists(CHANCES, min_size=3, max_size=3),
    counts=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    matters=st.floats(0.01, 0.2),
)
def test_without_a_drop_the_expectation_of_the_evidence_is_at_most_one(
    chances: list[float], means: list[float], counts: list[int], matters: float
) -> None:
    size = len(chances)
    baseline = known(means[:size], 20, [float(np.mean(means[:size]))] * 4)
    low, high = limits(baseline, matters=matters)
    total = np.zeros((2, 12))
    for outcome in itertools.product((0.0, 1.0), repeat=sum(counts[:size])):
        cells, at, chance = [], 0, 1.0
        for k in range(size):
            cells.append(list(outcome[at : at + counts[k]]))
            at += counts[k]
            chance *= math.prod(chances[k] if one else 1 - chances[k] for one in cells[-1])
        total += chance * np.exp(evidence(baseline, cells, matters=matters))
    mean = float(np.mean(chances))
    if mean >= low:
        assert total[0].max() <= 1 + 1e-9
    if mean <= high:
        assert total[1].max() <= 1 + 1e-9


def test_evidence_for_a_change_is_above_one_on_average() -> None:
    baseline = known([0.9, 0.6, 0.3], 40, [0.6] * 6)
    rng = np.random.default_rng(1)
    found = [
        evidence(baseline, [(rng.random(5) < p).astype(float) for p in (0.5, 0.2, 0.1)], matters=0.03)
        for _ in range(300)
    ]
    assert np.mean(found, axis=0)[0].max() > 0.5
    assert np.mean(found, axis=0)[1].max() < 0


def test_topics_with_fewer_trials_count_alike() -> None:
    """What is held to the bound is the mean over topics: many trials of one do not hide that another fell."""
    baseline = known([0.5, 0.5], 100, [0.5] * 5)
    many = evidence(baseline, [[1.0, 0.0] * 20, [0.0] * 4], matters=0.05)
    assert many[0].max() > 0
    even = evidence(baseline, [[1.0] * 40, [0.0] * 4], matters=0.05)
    assert even[0].max() <= 0


def test_a_lost_topic_must_leave_the_baseline_first() -> None:
    with pytest.raises(ValueError, match="each topic"):
        evidence(known([0.5, 0.5], 10, [0.5] * 4), [[1.0], []], matters=0.03)


def test_levels_start_anew_with_every_audit() -> None:
    """Long silence before a change costs nothing: the evidence of quiet audits is not subtracted."""
    quiet, loud = np.full((2, 12), -5.0), np.full((2, 12), 3.0)
    late = levels([quiet] * 40 + [loud] * 4, looks=52)[-1]
    soon = levels([loud] * 4, looks=52)[-1]
    assert np.allclose(late, soon, atol=0.05)


def test_the_same_is_said_only_inside_what_matters() -> None:
    baseline = known([0.6] * 20, 200, [0.6, 0.61, 0.59, 0.6])
    cells = [[1.0] * 60 + [0.0] * 40 for _ in range(20)]
    found = difference(baseline, cells, matters=0.05, level=0.95)
    assert found.same
    assert -0.05 < found.inner_low < found.value < found.inner_high < 0.05
    assert found.low < found.inner_low
    assert not difference(baseline, cells, matters=0.001, level=0.95).same


def test_the_same_is_wrong_in_at_most_one_of_twenty_at_the_very_edge() -> None:
    rng, wrong = np.random.default_rng(3), 0
    chances = rng.beta(1, 1, 30)
    chances = np.clip(chances, 0.1, 0.9)
    for _ in range(150):
        before = (rng.random((30, 80)) < chances[:, None]).astype(float)
        runs = [float(before[:, 10 * one : 10 * one + 10].mean()) for one in range(8)]
        baseline = Baseline(before.mean(axis=1), before.var(axis=1, ddof=1), np.full(30, 80.0), np.array(runs))
        now = (rng.random((30, 40)) < (chances - 0.06)[:, None]).astype(float)
        wrong += difference(baseline, list(now), matters=0.06, level=0.95).same
    assert wrong <= 14, "of 150 at 5%, 99 of 100 times"


def test_one_run_says_nothing_of_how_audits_differ() -> None:
    found = difference(known([0.5, 0.6], 10, [0.55]), [[1.0, 0.0], [1.0, 0.0]], matters=0.1, level=0.95)
    assert math.isnan(found.runs)


def test_confirmation_looks_at_one_audit_alone() -> None:
    baseline = known([0.6] * 10, 100, [0.6] * 5)
    low, well = [[0.0, 0.0, 1.0]] * 10, [[1.0, 0.0, 1.0]] * 10
    assert confirms(baseline, low, 0, matters=0.03)
    assert not confirms(baseline, well, 0, matters=0.03)
    assert not confirms(baseline, low, 1, matters=0.03)


def test_null_years_seldom_alarm_and_a_drop_is_reported_soon() -> None:
    null = [year(15, 5, 0.15, generator(number, "small null years")) for number in range(40)]
    assert sum(one is not None for one in null) <= 6, "of 40 at 5%, 99 of 100 times"
    from tests.support.watched_years import drop

    found = [year(45, 5, 0.0, generator(number, "small drops"), drop, looks=10) for number in range(20)]
    assert sum(one is not None and one <= 5 for one in found) >= 16


@pytest.mark.soak
@pytest.mark.parametrize(("size", "trials"), SIZES)
@pytest.mark.parametrize("spread", SPREADS)
def test_a_thousand_years(size: int, trials: int, spread: float) -> None:
    found = years(size, trials, spread, 1000)
    print(found)
    if spread <= 0.15:
        assert upper(found.alarms, 1000) <= BUDGET + 0.012
        most = {(45, 5): 4, (15, 5): 15, (15, 20): 4}[size, trials]
        assert found.ninety <= most
