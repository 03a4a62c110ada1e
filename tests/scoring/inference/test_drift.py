"""Evidence of a change: what it promises holds exactly in small worlds, and in simulated years."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.inference.drift import (
    BUDGET,
    SAME_BUDGET,
    Baseline,
    confirms_alarm,
    difference,
    evidence,
    evidence_shares,
    limits,
)
from tests.support.kept_cells import keep_cells
from tests.support.watched_years import (
    SINGLES,
    SIZES,
    SPREADS,
    World,
    coverage,
    false_alarm,
    same,
    upper,
    year,
    years,
)
from topics.identity import generator

CHANCES = st.floats(0.02, 0.98)


def known(means: list[float], count: int, runs: list[float]) -> Baseline:
    values = np.array(means)
    return Baseline(values, values * (1 - values), np.full(len(means), float(count)), np.array(runs))


@given(inflation=st.floats(1, 9), low=st.floats(0.1, 0.6))
def test_alike_trials_widen_intervals_as_if_there_were_fewer_of_them(inflation: float, low: float) -> None:
    audit = [[low, 0.8, 1.0, 0.4], [0.2, 0.9, 0.7, 1.0]]
    runs = [0.6, 0.62, 0.58, 0.6, 0.61]
    plain = known([0.6, 0.6], 20, runs)
    widened = dataclasses.replace(plain, inflation=inflation)
    assert widened.sampling_variance == pytest.approx(inflation * plain.sampling_variance)
    before, after = (difference(one, audit, matters=0.05, level=0.95) for one in (plain, widened))
    assert after.own == pytest.approx(inflation * before.own)
    assert after.value == before.value
    assert after.high - after.low >= before.high - before.low - 1e-9


@pytest.mark.parametrize("counts", [[2, 3, 2, 4], [1, 3, 1, 1], [1, 2, 2, 2]])
def test_audits_analysed_together_have_the_same_variances_as_alone(counts: list[int]) -> None:
    baseline, drawn = known([0.9, 0.6, 0.3, 0.8], 4, [0.6, 0.7]), generator(1, "audits")
    means, variances = drawn.random((5, 3, 4)), drawn.random((5, 3, 4)).round()
    trials = np.array(counts, dtype=np.float64)
    variances[..., trials == 1] = math.nan
    each = [
        [baseline.audit_variances(*one, trials) for one in zip(*some, strict=True)]
        for some in zip(means, variances, strict=True)
    ]
    assert baseline.audit_variances(means, variances, trials) == pytest.approx(np.array(each), rel=1e-14)


@given(
    chances=st.lists(CHANCES, min_size=2, max_size=3),
    means=st.lists(CHANCES, min_size=3, max_size=3),
    counts=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    matters=st.floats(0.01, 0.2),
)
def test_without_a_drop_the_expected_evidence_is_at_most_one(
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


def test_the_evidence_for_a_change_is_above_one_on_average() -> None:
    baseline = known([0.9, 0.6, 0.3], 40, [0.6] * 6)
    rng = np.random.default_rng(1)
    found = [
        evidence(baseline, [(rng.random(5) < p).astype(float) for p in (0.5, 0.2, 0.1)], matters=0.03)
        for _ in range(300)
    ]
    assert np.mean(found, axis=0)[0].max() > 0.5
    assert np.mean(found, axis=0)[1].max() < 0


def test_topics_with_fewer_trials_have_the_same_weight() -> None:
    """What is held to the bound is the mean over topics: many trials of one do not hide that another fell."""
    baseline = known([0.5, 0.5], 100, [0.5] * 5)
    many = evidence(baseline, [[1.0, 0.0] * 20, [0.0] * 4], matters=0.05)
    assert many[0].max() > 0
    even = evidence(baseline, [[1.0] * 40, [0.0] * 4], matters=0.05)
    assert even[0].max() <= 0


def test_a_lost_topic_must_leave_the_baseline_first() -> None:
    with pytest.raises(ValueError, match="each topic"):
        evidence(known([0.5, 0.5], 10, [0.5] * 4), [[1.0], []], matters=0.03)


def test_levels_start_again_with_every_audit() -> None:
    """Long silence before a change costs nothing: the evidence of quiet audits is not subtracted."""
    quiet, loud = np.full((2, 12), -5.0), np.full((2, 12), 3.0)
    late = evidence_shares([quiet] * 40 + [loud] * 4, looks=52)[-1]
    soon = evidence_shares([loud] * 4, looks=52)[-1]
    assert np.allclose(late, soon, atol=0.05)


def test_a_system_is_called_the_same_only_inside_the_margin() -> None:
    baseline = known([0.6] * 20, 200, [0.6, 0.61, 0.59, 0.6])
    cells = [[1.0] * 60 + [0.0] * 40 for _ in range(20)]
    found = difference(baseline, cells, matters=0.05, level=0.95)
    assert found.same
    assert -0.05 < found.inner_low < found.value < found.inner_high < 0.05
    assert found.low < found.inner_low
    assert not difference(baseline, cells, matters=0.001, level=0.95).same


def test_calling_it_the_same_is_wrong_in_at_most_one_of_twenty_at_the_very_edge() -> None:
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


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_few_runs_have_neither_an_interval_nor_a_verdict_of_sameness_except_about_these_runs(runs: int) -> None:
    cells = [[1.0] * 55 + [0.0] * 45] * 20
    found = difference(known([0.55] * 20, 200, [0.55] * runs), cells, matters=0.1, level=0.95)
    assert (found.same, found.interval.is_defined) == (False, False)
    assert "not show how much audits differ by themselves" in found.interval.note
    assert np.isnan([found.low, found.high, found.inner_low, found.p]).all()
    assert found.these_low < 0 < found.these_high
    assert found.printed_ends == (found.these_low, found.these_high)
    more = difference(known([0.55] * 20, 200, [0.55] * 4), cells, matters=0.1, level=0.95)
    assert more.interval.is_defined
    assert (more.same, math.isnan(more.these_low)) == (True, True)
    assert more.high - more.low > found.these_high - found.these_low


def test_each_side_has_the_variance_of_its_own_trials() -> None:
    """The formula of two independent means: √(Σ v/n + Σ v/N) / T, with the unbiased v of each side's topics."""
    means, counts = [0.95] * 8, 20
    baseline = Baseline(np.array(means), np.full(8, 0.05), np.full(8, float(counts)), np.full(4, 0.95))
    useful = [4, 3, 3, 4, 3, 3, 4, 3]  # of five, 27 of 40 = .675
    cells = [[1.0] * one + [0.0] * (5 - one) for one in useful]
    own = sum((k / 5) * (1 - k / 5) * 5 / 4 / 5 for k in useful) / 64
    found = difference(baseline, cells, matters=0.03, level=0.95)
    assert found.value == pytest.approx(0.675 - 0.95)
    assert found.own == pytest.approx(own)
    assert found.error == pytest.approx(math.sqrt(own + 0.05 / counts / 8))
    assert (found.high - found.low) / 2 > 1.96 * found.error, "what audits may differ by comes on top"


def test_values_of_any_kind_have_their_own_variance() -> None:
    """Shares of turns vary less than answers of yes and no with the same mean."""
    baseline = known([0.5, 0.6, 0.4, 0.5], 40, [0.5] * 4)
    turns, answers = [[0.25, 0.5, 0.75, 0.5]] * 4, [[0.0, 1.0, 1.0, 0.0]] * 4
    assert difference(baseline, turns, matters=0.05, level=0.95).own == pytest.approx(1 / 24 / 4 / 4)
    assert difference(baseline, answers, matters=0.05, level=0.95).own == pytest.approx(1 / 3 / 4 / 4)


def test_single_trials_have_the_variance_between_topics() -> None:
    rng, held = np.random.default_rng(5), 0
    chances = np.clip(rng.beta(1, 1, 40), 0.05, 0.95)
    for _ in range(300):
        before = (rng.random((40, 4)) < chances[:, None]).astype(float)
        baseline = Baseline(before.mean(axis=1), before.var(axis=1, ddof=1), np.full(40, 4.0), before.mean(axis=0))
        now = (rng.random(40) < 0.6 * chances).astype(float)
        found = difference(baseline, [[one] for one in now], matters=0.03, level=0.95)
        held += found.interval.contains(-0.4 * float(chances.mean()))
    assert held >= 0.93 * 300 - 1


@pytest.mark.parametrize(("world", "now"), keep_cells([SINGLES[1], SINGLES[2], SINGLES[4], SINGLES[7]], 1, 3))
def test_the_interval_covers_a_change_of_any_size(world: World, now: float) -> None:
    found = coverage(world, now, 120)
    print(world, now, found)
    assert found.printed == 1
    assert found.held >= 0.93 - 2.33 * math.sqrt(0.93 * 0.07 / 120)


@pytest.mark.parametrize("now", [0.0, 1.0])
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_the_interval_covers_the_truth_if_now_nothing_or_everything_is_useful(spread: float, now: float) -> None:
    """No trial varies then, and half of the baselines lie above their own truth, the other half below it."""
    found = coverage(World(15, 5, spread, 4, 0.9), abs(now - 1e-9), 120)
    assert found.printed == 1
    assert found.held >= 0.93 - 2.33 * math.sqrt(0.93 * 0.07 / 120)


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize(("mean", "now"), [(0.95, 0.55), (0.6, 0.6)])
def test_the_interval_of_these_runs_is_valid_if_hours_do_not_differ(runs: int, mean: float, now: float) -> None:
    found = coverage(World(8, 5, 0.0, runs, mean), now, 120)
    assert found.printed == 0
    assert found.these >= 0.93 - 2.33 * math.sqrt(0.93 * 0.07 / 120)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("world", "now"),
    [
        *SINGLES,
        (World(8, 5, 0.3, 4, 0.5), 0.9),
        (World(15, 5, 0.15, 4, 0.8), 0.2),
        (World(45, 5, 0.15, 6, 0.9), 0.85),
        (World(15, 20, 0.3, 8, 0.6, buckets=True), 0.6),
        (World(45, 5, 0.15, 4, 0.6, buckets=True), 0.3),
    ],
)
def test_the_interval_covers_the_truth_in_two_thousand_audits(world: World, now: float) -> None:
    found = coverage(world, now, 2000)
    print(world, now, found)
    assert found.held >= 0.93 - 2.33 * math.sqrt(0.93 * 0.07 / 2000)


@pytest.mark.parametrize(
    ("world", "matters", "extensions"),
    keep_cells(
        [
            (World(45, 20, 0.15, 1), 0.05, ()),
            (World(45, 20, 0.15, 2), 0.05, ()),
            (World(45, 20, 0.15, 4), 0.05, ()),
            (World(45, 5, 0.0, 8), 0.1, (5,) * 7),
            (World(45, 20, 0.1, 8), 0.05, (10,) * 3),
        ],
        0,
        3,
    ),
)
def test_calling_it_the_same_is_wrong_in_at_most_one_of_twenty(
    world: World, matters: float, extensions: tuple[int, ...]
) -> None:
    wrong = same(world, -matters, matters, 60, extensions)
    assert wrong <= 7 / 60, "of 60 at 5%, 99 of 100 times"
    if world.runs < 4:
        assert wrong == 0


@pytest.mark.soak
@pytest.mark.parametrize("spread", [0.0, 0.1, 0.15, 0.3])
@pytest.mark.parametrize("runs", [4, 8])
@pytest.mark.parametrize(("size", "trials", "more"), [(45, 5, 5), (45, 20, 10)])
@pytest.mark.parametrize("matters", [0.05, 0.1])
def test_calling_it_the_same_is_wrong_in_at_most_one_of_twenty_however_often_it_is_extended(
    spread: float, runs: int, size: int, trials: int, more: int, matters: float
) -> None:
    wrong = same(World(size, trials, spread, runs), matters, matters, 1000, (more,) * 7)
    print(size, trials, spread, runs, matters, wrong)
    assert wrong <= 0.05 + 2.33 * math.sqrt(0.05 * 0.95 / 1000)


def test_an_unchanged_system_is_still_called_the_same() -> None:
    assert same(World(45, 20, 0.0, 8), 0.0, 0.05, 30) > 0.7
    assert same(World(45, 5, 0.15, 8), 0.0, 0.1, 30) > 0.4


def test_a_look_that_could_not_call_it_the_same_spends_no_error() -> None:
    wide = difference(known([0.6] * 5, 40, [0.6] * 4), [[1.0, 0.0, 1.0]] * 5, matters=0.05, level=0.95)
    assert wide.spent == 0
    cells = [[1.0] * 60 + [0.0] * 40] * 20
    narrow = difference(known([0.6] * 20, 400, [0.6] * 8), cells, matters=0.2, level=0.95)
    assert narrow.spent == pytest.approx(narrow.tail)
    again = difference(
        known([0.6] * 20, 400, [0.6] * 8), cells, matters=0.2, level=0.95, left=narrow.left - narrow.spent
    )
    assert again.tail + narrow.tail < SAME_BUDGET
    assert again.inner_high - again.inner_low > narrow.inner_high - narrow.inner_low


def test_confirmation_uses_only_one_audit() -> None:
    baseline = known([0.6] * 10, 100, [0.6] * 5)
    low, well = [[0.0, 0.0, 1.0]] * 10, [[1.0, 0.0, 1.0]] * 10
    assert confirms_alarm(baseline, low, 0, matters=0.03)
    assert not confirms_alarm(baseline, well, 0, matters=0.03)
    assert not confirms_alarm(baseline, low, 1, matters=0.03)


@pytest.mark.soak
@pytest.mark.parametrize(
    "world",
    [
        World(45, 5, 0.15, 4),
        World(15, 20, 0.15, 4),
        World(45, 5, 0.15, 4, weekly=0.8),
        World(15, 20, 0.15, 4, mixed=0.5),
        World(15, 20, 0.15, 4, sticky=0.5),
        World(15, 20, 0.15, 4, buckets=True),
    ],
    ids=str,
)
def test_a_year_without_a_change_has_no_alarm_in_worlds_with_dependent_trials(world: World) -> None:
    wrong = sum(false_alarm(world, generator(number, "hostile year", str(world))) for number in range(300))
    print(world, wrong)
    assert wrong <= 24, "of 300 at 5%, 99 of 100 times"


def test_null_years_seldom_alarm_and_a_drop_is_reported_soon() -> None:
    null = [year(15, 5, 0.15, generator(number, "small null years")) for number in range(20)]
    assert sum(one is not None for one in null) <= 4, "of 20 at 5%, 99 of 100 times"
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


def test_dependent_trials_do_not_make_an_audit_look_steady() -> None:
    """What audits differ by is reckoned at what topics allow, not at what the few trials of one audit show."""
    baseline = known([0.5, 0.6, 0.4, 0.5], 40, [0.45, 0.55, 0.52, 0.48])
    repeated, other = [[1.0] * 5, [1.0] * 5, [0.0] * 5, [0.0] * 5], [[1.0, 0.0] * 2] * 4
    found, independent = (difference(baseline, cells, matters=0.05, level=0.95) for cells in (repeated, other))
    assert found.slope == pytest.approx(baseline.slope, rel=0.01)
    assert found.slope == baseline.slope_at(0.5) > baseline.slope_at(0.9)
    assert independent.slope >= found.slope
