"""Bootstrap intervals over topics: what they resample, when they refuse, and how often they hold the truth."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.inference.bootstrap import Resampler
from scoring.inference.design import Design
from scoring.inference.interval import FEWEST_WITHOUT_END, Interval
from scoring.settings import Resample
from topics.errors import InputError

Floats = npt.NDArray[np.float64]

SIMULATIONS = 300
RESAMPLED = ("topics", "topics+trials", "bootstrap-t")


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


def ends_of(above: Floats, below: Floats, seed: int, top: float = 1.0) -> tuple[float, float]:
    """Quantiles of the weighted ratio with three quarters of a topic more, as large as the largest, written out in
    full."""
    drawn = np.random.default_rng(seed).dirichlet([*[1.0] * len(above), 0.75], 40_000)
    size = below.max()
    low, high = ((drawn @ np.append(above, size * end)) / (drawn @ np.append(below, size)) for end in (0.0, top))
    return float(np.quantile(low, 0.025)), float(np.quantile(high, 0.975))


def test_the_interval_is_that_of_a_bootstrap_computed_step_by_step() -> None:
    values = scores(np.random.default_rng(7), (20, 3), alike=False)
    found = of_means(values)
    each = values.mean(axis=1)
    assert (found.low, found.high) == pytest.approx(ends_of(each, np.ones(20), 1), abs=0.012)
    assert (found.method, found.resampled) == ("Gaffke-type interval with an unseen topic", "topics")
    topless = resampler().means(names(20), values[:, :, None], top=math.inf)[0]
    ordered = sorted(each)[::-1]
    tail = sum(math.log(one / ordered[4]) for one in ordered[:4]) / 4  # Hill's estimate from the square root of 20 best
    factor = max((1.5 + 0.5 * 15 / 20) / (1 - 1.3 * tail), 1 + 4 / math.sqrt(20))
    expected = ends_of(each, np.ones(20), 1, factor * ordered[0])
    assert (topless.low, topless.high) == pytest.approx(expected, abs=0.02)


def test_a_count_without_an_end_needs_enough_topics_to_show_the_kind_that_decides_its_mean() -> None:
    """59 topics miss a kind that is one in 20 in less than 5% of studies, and 58 do not."""
    values = np.random.default_rng(3).poisson(4.0, (59, 3, 2)).astype(float)
    few, many = (
        resampler().means(names(size), values[:size], top=math.inf, fewest=[FEWEST_WITHOUT_END, 0]) for size in (58, 59)
    )
    assert [one.is_defined for one in (*few, *many)] == [False, True, True, True]
    assert few[0].note == "it has no end, and 58 topics may lack the kind that decides its mean (it takes 59)"
    assert 0.95**59 < 0.05 < 0.95**58
    of_these = resampler().with_design(Design(estimand="these"))
    assert of_these.means(names(5), values[:5], top=math.inf, fewest=59)[0].is_defined
    assert resampler().means(names(5), values[:5], top=math.inf, fewest=59, unit="trial")[0].is_defined
    in_tens = resampler().with_design(Design({name: name[:3] for name in names(59)}))
    assert "it has no end, and 6 clusters" in in_tens.means(names(59), values, top=math.inf, fewest=59)[0].note


def test_the_two_stage_interval_is_that_of_a_two_stage_bootstrap_if_that_is_wider() -> None:
    rng = np.random.default_rng(8)
    values = rng.beta(0.4, 0.4, (12, 4)) * 0.02 + 0.49  # trials differ, topics hardly do
    values[3, 2:] = np.nan  # a topic with two valid trials draws two
    two_stage = resampler("topics+trials", replications=20_000)
    found = two_stage.means(names(12), values[:, :, None], bottom=0.489, top=0.511)[0]
    pairs = [row[~np.isnan(row)] for row in values]
    means = np.stack([rng.choice(row, (12, 20_000, len(row))).mean(axis=2) for row in pairs])  # (topic, slot, draw)
    picks = rng.integers(12, size=(12, 20_000))
    drawn = np.quantile(means[picks, np.arange(12)[:, None], np.arange(20_000)].mean(axis=0), [0.025, 0.975])
    alone = resampler(replications=20_000).means(names(12), values[:, :, None], bottom=0.489, top=0.511)[0]
    expected = min(drawn[0], alone.low), max(drawn[1], alone.high)
    assert (found.low, found.high) == pytest.approx(expected, abs=0.0005)
    assert (found.method, found.resampled) == (
        "Gaffke-type interval with an unseen topic, or bootstrap percentile, the wider",
        "topics+trials",
    )


def test_bootstrap_t_agrees_with_its_definition_where_it_is_wider() -> None:
    values = np.exp(np.random.default_rng(3).normal(size=(40, 1))) * 0.01
    each, rng = values[:, 0], np.random.default_rng(4)
    draws = each[rng.integers(40, size=(40_000, 40))]
    t = (draws.mean(axis=1) - each.mean()) / (draws.std(axis=1, ddof=1) / math.sqrt(40))
    error = each.std(ddof=1) / math.sqrt(40)
    low, high = each.mean() - np.quantile(t, 0.975) * error, each.mean() - np.quantile(t, 0.025) * error
    # With no room above the best there is little that could be unseen, so the studentised end is the further one.
    found = resampler("bootstrap-t", replications=20_000).means(names(40), values[:, :, None], top=each.max())[0]
    alone = resampler(replications=20_000).means(names(40), values[:, :, None], top=each.max())[0]
    assert found.high == pytest.approx(max(high, alone.high), rel=0.02)
    assert found.low == pytest.approx(min(low, alone.low), rel=0.02)
    assert high > alone.high
    assert found.method.endswith("or bootstrap-t, the wider")


def test_topics_with_equal_values_set_no_bound_by_bootstrap_t() -> None:
    values = np.array([0.4, 0.4, 0.4, 0.4, 0.5])[:, None]  # a third of all draws are of equal topics
    found, alone = (of_means(values, resample) for resample in ("bootstrap-t", "topics"))
    assert 0 <= found.low <= alone.low < alone.high <= found.high <= 1
    assert found.high == 1


def test_other_topics_are_drawn_separately() -> None:
    values = np.random.default_rng(6).random((10, 3, 1))
    first, others = resampler(), [f"U{number}" for number in range(10)]
    assert ends(first.means(names(10), values)) != ends(first.means(others, values))


def test_a_ratio_is_resampled_over_its_own_topics() -> None:
    rng = np.random.default_rng(9)
    below = (rng.random((30, 5)) < 0.3).astype(float)
    above = below * (rng.random((30, 5)) < 0.6)
    found = resampler().ratio(names(30), above, below)
    rest = below.sum(axis=1) > 0
    assert not rest.all()
    assert (found.low, found.high) == pytest.approx(
        ends_of(above.sum(axis=1)[rest], below.sum(axis=1)[rest], 1), abs=0.02
    )


@pytest.mark.parametrize("resample", ["topics", "topics+trials"])
def test_a_weighted_mean_of_ratios_is_drawn_like_each_ratio(resample: str) -> None:
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
def test_if_resampling_is_impossible_there_is_no_interval_but_a_reason(resample: str) -> None:
    for values, reason in (
        (np.random.default_rng(0).random((1, 9)), "one topic: nothing to resample"),
        (np.random.default_rng(0).random((2, 9)), "2 topics: too few to resample"),
        (np.random.default_rng(0).random((3, 9)), "3 topics: too few to resample"),
        (np.full((4, 2), np.nan), "no value"),
    ):
        found = of_means(values, resample)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert (found.note, found.method) == (reason, "")
        ratio = resampler(resample).ratio(names(len(values)), values, np.where(np.isnan(values), np.nan, 1.0))
        assert (ratio.note, math.isnan(ratio.low)) == (reason, True)


def test_topics_without_a_value_are_left_out_of_only_that_measure() -> None:
    rng = np.random.default_rng(3)
    values = rng.random((10, 4, 2))
    values[6:, :, 1] = np.nan
    both = resampler().means(names(10), values)
    alone = resampler().means(names(6), values[:6, :, 1:])
    assert ends(both[1:]) == pytest.approx(ends(alone))
    assert ends(both[:1]) == pytest.approx(ends(resampler().means(names(10), values[:, :, :1])))


def test_the_same_topics_have_the_same_draws_whatever_else_is_scored_and_in_any_order() -> None:
    rng = np.random.default_rng(4)
    values = rng.random((10, 4, 3))
    first = resampler()
    apart = [first.means(names(10), values[:, :, [place]])[0] for place in (2, 0, 1)]
    first.means(names(7), values[:7])
    together = resampler().means(names(10), values)
    assert ends(together) == pytest.approx(ends([apart[1], apart[2], apart[0]]), abs=1e-12)
    assert ends(together) != pytest.approx(ends(resampler(seed=1).means(names(10), values)), abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 8), st.integers(1, 4), st.integers(0, 1000), st.sampled_from(RESAMPLED))
def test_an_interval_of_a_mean_lies_within_its_range_holds_the_mean_and_moves_with_the_values(
    topics: int, trials: int, seed: int, resample: str
) -> None:
    values = np.random.default_rng(seed).random((topics, trials))
    found = of_means(values, resample)
    moved = resampler(resample).means(names(topics), 3 + 2 * values[:, :, None], bottom=3, top=5)[0]
    assert 0 <= found.low <= values.mean() <= found.high <= 1
    assert (moved.low, moved.high) == pytest.approx((3 + 2 * found.low, 3 + 2 * found.high))


def test_a_higher_level_is_wider_and_no_other_way_of_resampling_is_narrower() -> None:
    values = scores(np.random.default_rng(5), (30, 5), alike=True)
    narrow, wide = (resampler(level=level).means(names(30), values[:, :, None])[0] for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    alone = of_means(values)
    for resample in RESAMPLED:
        other = of_means(values, resample)
        assert other.low <= alone.low
        assert other.high >= alone.high


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
def test_intervals_of_means_cover_the_truth_at_least_at_their_level(topics: int, trials: int, alike: bool) -> None:
    rng = np.random.default_rng([1, topics, trials, alike])
    values = np.moveaxis(scores(rng, (SIMULATIONS, topics, trials), alike=alike), 0, -1)
    held = holds(resampler().means(names(topics), values), 0.6 if alike else 4 / 6)
    assert held >= expected_counts(0.95, 1.0)[0]


def test_kept_weights_stay_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Resampler, "bytes_kept", 2**20)
    kept = resampler(replications=1000)
    for size in range(20, 100, 10):
        kept.means([f"{size}-{number}" for number in range(size)], np.random.default_rng(size).random((size, 1, 1)))
    assert 0 < sum(weights.nbytes for weights in kept._kept.values()) <= 2**20


@pytest.mark.parametrize("resample", ["topics", "topics+trials"])
def test_many_weights_are_drawn_in_parts(resample: Resample, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).random((9, 3, 2))
    names = [f"T{i}" for i in range(9)]

    def intervals() -> list[tuple[float, float]]:
        resampler = Resampler(np.random.default_rng(2), replications=20_000, resample=resample)
        return [(one.low, one.high) for one in resampler.means(names, values)]

    whole = intervals()
    monkeypatch.setattr(Resampler, "bytes_kept", 100_000)
    np.testing.assert_allclose(intervals(), whole, atol=0.02)
    monkeypatch.setattr(Resampler, "most_bytes", 100_000)
    with pytest.raises(InputError, match="fewer replications"):
        intervals()


def test_columns_of_ratios_agree_with_each_alone_for_any_units() -> None:
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


def test_kept_weights_give_the_same_results_as_before_and_so_do_new_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(2).random((30, 3, 2))
    drawing = resampler(replications=500)
    first, second = drawing.means(names(30), values), drawing.means(names(30), values)
    assert first == second
    monkeypatch.setattr(Resampler, "bytes_at_once", 30 * 8 * 7)  # seven rows of weights at a time
    monkeypatch.setattr(Resampler, "bytes_kept", 0)
    anew = resampler(replications=500).means(names(30), values)
    assert ends(anew) == pytest.approx(ends(first), rel=1e-12)
