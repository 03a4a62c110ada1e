"""Simulated power: that of the comparison itself, Sakai's closed form where it holds, and promises that are kept."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from scoring.comparison.compared_pairs import compare_pairs
from scoring.inference.paired import Estimand, compare_like_these, compare_these
from scoring.inference.power import Power, _quantiles, judge_studies, simulate_power
from scoring.settings import Guard
from scoring.statistics.beta import student_quantile
from scoring.statistics.exchange import exchange_p, exchange_ps
from scoring.statistics.outcomes import Components, draw_outcomes
from tests.support.compared_worlds import drawn_shares, drawn_systems
from tests.support.kept_cells import keep_cells
from tests.support.sample_size import expected_width, paired_t_power

PASSES = Components("yes or no", 0.6, 0.081, 0.027, 0.0)


def power(
    one: Components,
    difference: float,
    topics: int,
    trials: int,
    of: Estimand,
    studies: int = 1000,
    guard: Guard = "unseen",
) -> Power:
    rng = np.random.default_rng([topics, trials, round(1000 * difference)])
    how = {"estimand": of, "level": 0.95, "alpha": 0.05, "studies": studies, "guard": guard}
    return simulate_power(one, difference, topics, trials, rng, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("topics", [1, 5, 13, 20])
def test_many_simultaneous_studies_have_the_p_of_each(topics: int) -> None:
    drawn = draw_outcomes(PASSES, 0.2, topics, 3, 25, np.random.default_rng(1)).values
    each = drawn[..., 0] - drawn[..., 1]
    each[0, 1:] = 0.0  # so few that differ that all exchanges are taken
    found = exchange_ps(each, np.random.default_rng(2))
    wanted = [exchange_p(one, np.random.default_rng(3)) for one in each]
    assert found == pytest.approx(wanted, abs=0 if topics <= 13 else 0.025, nan_ok=True)
    assert found[0] == pytest.approx(wanted[0], nan_ok=True)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("trials", [1, 2, 5])
@pytest.mark.parametrize("of", ["like-these", "these"])
def test_studies_are_tested_like_a_comparison(of: Estimand, trials: int, alpha: float) -> None:
    drawn = draw_outcomes(PASSES, 0.3, 8, trials, 60, np.random.default_rng(4))
    apart, widths = judge_studies(
        drawn, trials, np.random.default_rng(5), estimand=of, level=0.95, alpha=alpha, reach=1.0
    )
    for place, (values, noise) in enumerate(zip(drawn.values, drawn.noise, strict=True)):
        each = values[:, 0] - values[:, 1]
        if of == "these":
            one = compare_these(each, noise, np.full((8, 2), trials), level=0.95, reach=1.0)
        else:
            one = compare_like_these(each, np.random.default_rng(6), level=0.95, reach=1.0)
        if not 0.9 * alpha < one.outside < 1.1 * alpha:  # so near the draws decide
            assert apart[place] == (one.p <= alpha and one.outside <= alpha)
        near = 0.03 if of == "like-these" else 1e-9  # of which fewer weights are drawn
        assert widths[place] == pytest.approx(one.interval.high - one.interval.low, rel=near, nan_ok=True)


@pytest.mark.parametrize(
    "one", [PASSES, Components("bounded", 0.6, 0.05, 0.02, 0.1), Components("unbounded", 3.0, 1.0, 0.5, 2.0)]
)
@pytest.mark.parametrize("of", ["like-these", "these"])
def test_unequal_trials_are_tested_like_a_comparison(of: Estimand, one: Components) -> None:
    rng, reach = np.random.default_rng(7), 1.0 if one.shape != "unbounded" else math.inf
    trials = np.broadcast_to(np.array([2, 2, 3, 5, 9, 4])[None, :, None], (40, 6, 1))
    drawn = draw_outcomes(one, 0.3, 6, trials, 40, rng)
    apart, widths = judge_studies(drawn, trials, rng, estimand=of, level=0.95, alpha=0.05, reach=reach)
    for place, (values, noise) in enumerate(zip(drawn.values, drawn.noise, strict=True)):
        each = values[:, 0] - values[:, 1]
        if of == "these":
            own = compare_these(each, noise, np.broadcast_to(trials[place], (6, 2)), level=0.95, reach=reach)
        else:
            own = compare_like_these(each, np.random.default_rng(6), level=0.95, reach=reach)
        assert apart[place] == (own.p <= 0.05 and own.outside <= 0.05)
        near = 0.03 if of == "like-these" else 1e-9  # of which fewer weights are drawn
        assert widths[place] == pytest.approx(own.interval.high - own.interval.low, rel=near, nan_ok=True)


@pytest.mark.parametrize(
    "one", [PASSES, Components("bounded", 0.6, 0.05, 0.02, 0.1), Components("unbounded", 3.0, 1.0, 0.5, 2.0)]
)
def test_equal_numbers_of_trials_given_one_by_one_are_the_same_design(one: Components) -> None:
    def found(trials: int | list[int]) -> Power:
        rng = np.random.default_rng(8)
        return simulate_power(one, 0.3, 8, trials, rng, estimand="these", level=0.95, alpha=0.05, studies=2000)

    listed, equal = found([4] * 8), found(4)
    assert listed.found == pytest.approx(equal.found, abs=4 * math.hypot(listed.found_error, equal.found_error))
    assert listed.width == pytest.approx(equal.width, rel=0.02)
    uneven = found([2, 2, 2, 2, 6, 6, 6, 6])
    assert uneven.width > 1.05 * equal.width, "trials that are dealt without knowledge widen the interval"
    assert math.isnan(found([1] + [4] * 7).found), "one topic with a single trial has no test"


@pytest.mark.parametrize(("topics", "effect"), [(10, 1.0), (25, 0.6), (40, 0.3), (80, 0.2)])
def test_power_and_width_are_sakais_for_normal_values_with_one_trial(topics: int, effect: float) -> None:
    one = Components("unbounded", 0.0, 2.0, 0.3, 0.2)  # a difference of topics has the variance 2·(.3 + .2) = 1
    found = power(one, effect, topics, 1, "like-these", guard="none")
    assert found.found == pytest.approx(paired_t_power(topics, effect, alpha=0.05), abs=0.05)
    wanted = expected_width(topics, 1.0, level=0.95)
    assert found.width == pytest.approx(wanted, abs=4 * found.width_error + 1e-3 * wanted)


def test_these_topics_with_one_trial_have_no_test() -> None:
    assert math.isnan(power(PASSES, 0.1, 8, 1, "these").found)
    assert not math.isnan(power(PASSES, 0.1, 8, 2, "these").found)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.95 + 0.05 * 5 / 6, 0.9999])
def test_quantiles_for_many_degrees_at_once_are_those_of_each(level: float) -> None:
    degrees = np.array([1.0, 7, 199, 200, 200, 351, 2000, 40_000, 3])
    wanted = [student_quantile(0.5 + level / 2, int(one)) for one in degrees]
    assert _quantiles(degrees, level) == pytest.approx(wanted, rel=1e-8)


def test_an_impossible_difference_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no room for a difference of 0\.9"):
        power(PASSES, 0.9, 8, 2, "these")


@settings(max_examples=12, deadline=None)
@given(
    st.floats(0.3, 0.8),
    st.sampled_from([0.1, 0.45, 0.7]),
    st.sampled_from([0.05, 0.1, 0.2]),
    st.integers(7, 30),
    st.sampled_from([2, 5]),
    st.sampled_from(["like-these", "these"]),
)
def test_power_grows_and_intervals_narrow_with_topics(
    mean: float, icc: float, difference: float, topics: int, trials: int, of: Estimand
) -> None:
    between = icc * mean * (1 - mean)
    one = Components("yes or no", mean, 0.75 * between, 0.25 * between, 0.0)
    few, many = (power(one, difference, count, trials, of, studies=300) for count in (topics, 3 * topics))
    assert many.found >= few.found - 4 * math.hypot(many.found_error, few.found_error)
    assert many.width < few.width


class World(NamedTuple):
    """A design, and topics that the simulation does not draw: most lie near the ends, and systems add even amounts."""

    topics: int
    trials: int
    difference: float
    icc: float
    own: float
    of: Estimand

    @property
    def components(self) -> Components:
        topic, both = 0.36 * 0.24 * self.icc, self.own**2 / 3
        return Components("yes or no", 0.2 + 0.6 * 0.6, topic, both, 0.0)

    def chances(self, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """(topics, 2). Where it speaks of these topics, their difference is the true one."""
        own = rng.uniform(-self.own, self.own, (self.topics, 2))
        if self.of == "these":
            own -= own.mean(axis=0)
        half = np.array([self.difference / 2, -self.difference / 2])
        return np.asarray(0.2 + 0.6 * drawn_shares(rng, self.topics, self.icc)[:, None] + own + half)


def check_promise(world: World, studies: int) -> None:
    rng, found, widths = np.random.default_rng(11), 0, []
    for _ in range(studies):
        aligned = drawn_systems(rng, world.chances(rng), (world.trials, world.trials))
        (pair,) = compare_pairs("%useful", 1, aligned, rng, estimand=world.of, level=0.95, good="high", reach=1.0).pairs
        found += pair.verdict == "better"
        widths.append(pair.interval.high - pair.interval.low)
    promised = power(world.components, world.difference, world.topics, world.trials, world.of, studies=4000)
    least, most = max(0.0, promised.found - 0.05), min(1.0, promised.found + 0.05)
    print(
        f"{world}: promised {promised.found:.3f}, found {found / studies:.3f}; "
        f"width {promised.width:.3f}, {np.nanmean(widths):.3f}"
    )
    assert binom.ppf(1e-4, studies, least) <= found <= binom.ppf(1 - 1e-4, studies, most)
    error = float(np.nanstd(widths)) / math.sqrt(studies)
    assert np.nanmean(widths) == pytest.approx(promised.width, abs=0.03 * promised.width + 4 * error)


@pytest.mark.parametrize(
    "world", keep_cells([World(12, 5, 0.2, 0.45, 0.1, "like-these"), World(12, 5, 0.2, 0.45, 0.1, "these")], 1)
)
def test_power_and_width_agree_with_the_comparison_itself(world: World) -> None:
    check_promise(world, 150)


@pytest.mark.soak
@pytest.mark.parametrize(
    "world",
    [
        World(8, 10, 0.3, 0.45, 0.1, "like-these"),
        World(15, 2, 0.3, 0.2, 0.05, "like-these"),
        World(15, 5, 0.2, 0.8, 0.1, "like-these"),
        World(15, 20, 0.1, 0.45, 0.1, "like-these"),
        World(45, 1, 0.2, 0.45, 0.1, "like-these"),
        World(45, 5, 0.1, 0.8, 0.05, "like-these"),
        World(90, 5, 0.05, 0.45, 0.1, "like-these"),
        World(8, 10, 0.2, 0.45, 0.1, "these"),
        World(15, 20, 0.08, 0.8, 0.1, "these"),
        World(45, 5, 0.08, 0.45, 0.1, "these"),
    ],
)
def test_power_and_width_agree_over_ten_designs(world: World) -> None:
    check_promise(world, 1000)
