"""Bootstrap intervals over topics: what they resample, when they refuse, and how often they hold the truth."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.measures.usefulness import share
from scoring.settings import Resample
from scoring.statistics import bootstrap
from scoring.statistics.bootstrap import Interval, Resampler, expanded_tail
from topics.errors import InputError

Floats = npt.NDArray[np.float64]

SIMULATIONS = 300


def names(count: int) -> list[str]:
    return [f"T{number:03d}" for number in range(count)]


def resampler(resample: str = "topics", seed: int = 0, **options: object) -> Resampler:
    return Resampler(np.random.default_rng(seed), resample=resample, **options)  # type: ignore[arg-type]


def of_means(values: Floats, resample: str = "topics", seed: int = 0) -> Interval:
    return resampler(resample, seed).means(names(len(values)), values[:, :, None])[0]


def ends(intervals: list[Interval]) -> list[float]:
    return [end for found in intervals for end in (found.low, found.high)]


def scores(rng: np.random.Generator, shape: tuple[int, ...], *, alike: bool) -> Floats:
    means = np.full((*shape[:-1], 1), 0.6) if alike else rng.beta(4, 2, (*shape[:-1], 1))
    return rng.beta(8 * means, 8 * (1 - means), shape)


def test_the_interval_is_that_of_a_bootstrap_written_out_in_full() -> None:
    rng = np.random.default_rng(7)
    values = scores(rng, (20, 3), alike=False)
    found = of_means(values)
    tail = expanded_tail(20, 0.95)
    drawn = values.mean(axis=1)[rng.integers(20, size=(40_000, 20))].mean(axis=1)
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [tail, 1 - tail]), abs=0.01)
    assert (found.method, found.resampled) == ("bootstrap, expanded percentile", "topics")


def test_the_two_stage_interval_is_that_of_a_two_stage_bootstrap_written_out_in_full() -> None:
    rng = np.random.default_rng(8)
    values = scores(rng, (12, 4), alike=False)
    values[3, 2:] = np.nan  # a topic with two valid trials draws two
    two_stage = resampler("topics+trials", replications=20_000)
    found = two_stage.means(names(12), values[:, :, None])[0]
    pairs = [row[~np.isnan(row)] for row in values]
    means = np.stack([rng.choice(row, (12, 20_000, len(row))).mean(axis=2) for row in pairs])  # (topic, slot, draw)
    picks = rng.integers(12, size=(12, 20_000))
    drawn = means[picks, np.arange(12)[:, None], np.arange(20_000)].mean(axis=0)
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.01)
    assert (found.method, found.resampled) == ("bootstrap, percentile", "topics+trials")


def test_the_expansion_is_hesterbergs() -> None:
    for n in (2, 15, 45, 1000):
        assert expanded_tail(n, 0.95) == pytest.approx(
            stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1)), rel=1e-9
        )
    assert expanded_tail(15, 0.95) < expanded_tail(45, 0.95) < 0.025
    assert expanded_tail(100_000, 0.95) == pytest.approx(0.025, abs=1e-5)


def test_few_topics_make_the_expansion_large() -> None:
    values = np.array([0.1, 0.25, 0.3, 0.5, 0.55, 0.9])[:, None]
    found = resampler(replications=50_000).means(names(6), values[:, :, None])[0]
    drawn = values[np.random.default_rng(1).integers(6, size=(200_000, 6)), 0].mean(axis=1)
    tail = expanded_tail(6, 0.95)
    assert tail < 0.003
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [tail, 1 - tail]), abs=0.02)
    assert found.low < np.quantile(drawn, 0.025) - 0.04


def test_other_topics_are_drawn_on_their_own() -> None:
    values = np.random.default_rng(6).random((10, 3, 1))
    first, others = resampler(), [f"U{number}" for number in range(10)]
    assert ends(first.means(names(10), values)) != ends(first.means(others, values))


def test_a_ratio_is_resampled_over_the_topics_it_rests_on() -> None:
    rng = np.random.default_rng(9)
    below = (rng.random((30, 5)) < 0.3).astype(float)
    above = below * (rng.random((30, 5)) < 0.6)
    found = resampler().ratio(names(30), above, below)
    rest = below.sum(axis=1) > 0
    padded = resampler().ratio(
        names(30), np.vstack([above[rest], 0 * below[~rest]]), np.vstack([below[rest], 0 * below[~rest]])
    )
    assert 0 < found.low < above.sum() / below.sum() < found.high < 1
    assert found.high - found.low == pytest.approx(padded.high - padded.low, rel=0.15)
    top, bottom = above.sum(axis=1)[rest], below.sum(axis=1)[rest]
    picks = rng.integers(rest.sum(), size=(40_000, int(rest.sum())))
    tail = expanded_tail(int(rest.sum()), 0.95)
    drawn = top[picks].sum(axis=1) / bottom[picks].sum(axis=1)
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [tail, 1 - tail]), abs=0.02)


@pytest.mark.parametrize("resample", ["topics", "topics+trials"])
def test_a_weighted_mean_of_ratios_is_drawn_as_each_ratio_is(resample: str) -> None:
    rng = np.random.default_rng(3)
    below = rng.integers(0, 3, (20, 4, 2)).astype(float)
    above = below * rng.random((20, 4, 2))
    draws = resampler(resample)
    each = draws.ratios(names(20), above, below)
    for column, alone in enumerate(each):
        part = slice(column, column + 1)
        found = draws.weighted_ratios(names(20), above[:, :, part], below[:, :, part], [2])
        assert (found.low, found.high, found.method) == pytest.approx((alone.low, alone.high, alone.method))
        weighted = draws.weighted_ratios(names(20), above, below, np.eye(2)[column])
        assert (weighted.low, weighted.high) == pytest.approx((alone.low, alone.high))
    both = draws.weighted_ratios(names(20), above, below, [1, 3])
    value = np.average(above.sum(axis=(0, 1)) / below.sum(axis=(0, 1)), weights=[1, 3])
    assert both.low < value < both.high
    below[2:, :, 1] = 0
    few = draws.weighted_ratios(names(20), np.minimum(above, below), below, [1, 3])
    assert (math.isnan(few.low), few.note) == (True, "a part of it has 2 topics: too few to resample")


@pytest.mark.parametrize("resample", ["topics", "topics+trials"])
def test_where_resampling_can_say_nothing_there_is_no_interval_and_a_reason(resample: str) -> None:
    for values, reason in (
        (np.full((9, 3), 0.4), "every topic has the same value"),
        (np.random.default_rng(0).random((1, 9)), "one topic: nothing to resample"),
        (np.random.default_rng(0).random((2, 9)), "2 topics: too few to resample"),
        (np.full((4, 2), np.nan), "no value"),
    ):
        found = of_means(values, resample)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert (found.note, found.method) == (reason, "")
        ratio = resampler(resample).ratio(names(len(values)), values, np.where(np.isnan(values), np.nan, 1.0))
        assert (ratio.note, math.isnan(ratio.low)) == (reason, True)


def test_topics_without_a_value_are_left_out_of_that_measure_alone() -> None:
    rng = np.random.default_rng(3)
    values = rng.random((10, 4, 2))
    values[6:, :, 1] = np.nan
    both = resampler().means(names(10), values)
    alone = resampler().means(names(6), values[:6, :, 1:])
    assert ends(both[1:]) == pytest.approx(ends(alone))
    assert ends(both[:1]) == pytest.approx(ends(resampler().means(names(10), values[:, :, :1])))


def test_the_same_topics_are_drawn_alike_whatever_else_is_scored_and_in_any_order() -> None:
    rng = np.random.default_rng(4)
    values = rng.random((10, 4, 3))
    first = resampler()
    apart = [first.means(names(10), values[:, :, [place]])[0] for place in (2, 0, 1)]
    first.means(names(7), values[:7])
    together = resampler().means(names(10), values)
    assert ends(together) == pytest.approx(ends([apart[1], apart[2], apart[0]]), abs=1e-12)
    assert ends(together) != pytest.approx(ends(resampler(seed=1).means(names(10), values)), abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 8), st.integers(1, 4), st.integers(0, 1000), st.sampled_from(["topics", "topics+trials"]))
def test_an_interval_of_a_mean_lies_within_the_values_and_moves_with_them(
    topics: int, trials: int, seed: int, resample: str
) -> None:
    values = np.random.default_rng(seed).random((topics, trials))
    found, moved = of_means(values, resample), of_means(3 + 2 * values, resample)
    assert values.min() - 1e-12 <= found.low <= found.high <= values.max() + 1e-12
    assert (moved.low, moved.high) == pytest.approx((3 + 2 * found.low, 3 + 2 * found.high))


def test_a_higher_level_is_wider_and_resampling_trials_too_is_wider_still() -> None:
    values = scores(np.random.default_rng(5), (30, 5), alike=True)
    narrow, wide = (resampler(level=level).means(names(30), values[:, :, None])[0] for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    topics, both = of_means(values), of_means(values, "topics+trials")
    assert both.high - both.low > 1.2 * (topics.high - topics.low)


def holds(intervals: list[Interval], truth: float) -> int:
    return sum(found.low <= truth <= found.high for found in intervals)


def expected_counts(lowest: float, highest: float) -> tuple[int, int]:
    """Counts of 300 that a coverage between `lowest` and `highest` leaves with a chance of 1 in 2,000 a side."""
    return (
        int(stats.binom.ppf(0.0005, SIMULATIONS, lowest)),
        int(stats.binom.ppf(0.9995, SIMULATIONS, highest)),
    )


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize(("topics", "trials"), [(45, 5), (15, 5), (15, 2)])
def test_default_intervals_of_means_hold_the_truth_about_95_times_in_100(topics: int, trials: int, alike: bool) -> None:
    rng = np.random.default_rng([1, topics, trials, alike])
    values = np.moveaxis(scores(rng, (SIMULATIONS, topics, trials), alike=alike), 0, -1)
    held = holds(resampler().means(names(topics), values), 0.6 if alike else 4 / 6)
    low, high = expected_counts(0.935, 0.965)
    assert low <= held <= high


def test_resampling_trials_too_is_the_cautious_choice_where_topics_are_alike() -> None:
    rng = np.random.default_rng(2)
    values = np.moveaxis(scores(rng, (SIMULATIONS, 45, 5), alike=True), 0, -1)
    held = holds(resampler("topics+trials").means(names(45), values), 0.6)
    assert held >= expected_counts(0.98, 1.0)[0]


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.98, None])
def test_default_intervals_of_shares_hold_the_truth_at_least_about_95_times_in_100(rate: float | None) -> None:
    rng = np.random.default_rng([3, int(100 * (rate or 0))])
    found = []
    for _ in range(SIMULATIONS):
        rates = rng.beta(4, 2, (45, 1)) if rate is None else np.full((45, 1), rate)
        above = (rng.random((45, 5)) < rates).astype(np.float64)
        lost = np.zeros(above.shape, dtype=bool)
        found.append(share(names(45), above, np.ones_like(above), lost, level=0.95, pooled=False).interval)
    low, high = expected_counts(0.935, 0.975)
    assert low <= holds(found, 4 / 6 if rate is None else rate) <= high


def test_weights_that_are_kept_stay_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.statistics.bootstrap._KEPT", 2**20)
    kept = resampler(replications=1000)
    for size in range(20, 100, 10):
        kept.means([f"{size}-{number}" for number in range(size)], np.random.default_rng(size).random((size, 1, 1)))
    assert 0 < sum(weights.nbytes for weights in kept._kept.values()) <= 2**20


@pytest.mark.parametrize("resample", ["topics", "topics+trials"])
def test_weights_are_drawn_a_part_at_a_time_where_they_are_many(
    resample: Resample, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(1).random((9, 3, 2))
    names = [f"T{i}" for i in range(9)]

    def intervals() -> list[tuple[float, float]]:
        resampler = Resampler(np.random.default_rng(2), replications=20_000, resample=resample)
        return [(one.low, one.high) for one in resampler.means(names, values)]

    whole = intervals()
    monkeypatch.setattr("scoring.statistics.bootstrap._KEPT", 100_000)
    np.testing.assert_allclose(intervals(), whole, atol=0.02)
    monkeypatch.setattr("scoring.statistics.bootstrap._MOST", 100_000)
    with pytest.raises(InputError, match="fewer replications"):
        intervals()


def test_columns_of_ratios_are_what_each_is_alone_whatever_their_units() -> None:
    rng = np.random.default_rng(5)
    below = rng.integers(0, 3, (12, 2, 6)).astype(float)
    below[:, :, 3:] = below[:, :, :1]  # three columns share their units
    below[:4, :, 1] = 0
    above = np.minimum(below, rng.integers(0, 3, below.shape))
    above[0, 0, 2] = np.nan
    for resample in ("topics", "topics+trials"):
        together = resampler(resample, 1, replications=200).ratios(names(12), above, below)
        for column, found in enumerate(together):
            alone = resampler(resample, 1, replications=200)
            one = alone.ratio(names(12), above[:, :, column], below[:, :, column])
            assert (found.low, found.high) == pytest.approx((one.low, one.high), rel=1e-12)


def test_weights_that_were_kept_give_what_they_gave_before_and_so_do_those_that_were_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(2).random((30, 3, 2))
    drawing = resampler(replications=500)
    first, second = drawing.means(names(30), values), drawing.means(names(30), values)
    assert first == second
    monkeypatch.setattr(bootstrap, "_AT_ONCE", 30 * 8 * 7)  # seven rows of weights at a time
    monkeypatch.setattr(bootstrap, "_KEPT", 0)
    anew = resampler(replications=500).means(names(30), values)
    assert ends(anew) == pytest.approx(ends(first), rel=1e-12)
