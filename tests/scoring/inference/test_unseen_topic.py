"""Intervals that allow for a kind of topic that was not asked: what they equal, their laws, and what they cover."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.inference.bootstrap import Resampler
from scoring.inference.interval import METHOD, Interval
from scoring.inference.proportions import clopper_pearson_ends
from scoring.inference.unseen_topic import answer_ends, highest_low_end, interval_ends, share_ends, smallest_reach
from scoring.measures.usefulness import share

Floats = npt.NDArray[np.float64]
Z = 1.959963984540054


def names(count: int) -> list[str]:
    return [f"T{number:02d}" for number in range(count)]


def of(useful: npt.ArrayLike, trials: int, *, pooled: bool = False, below: npt.ArrayLike | None = None) -> Interval:
    """The interval of a share from how many of its `trials` answers were useful on each topic."""
    counts = np.asarray(useful)
    answers = np.full(len(counts), trials) if below is None else np.asarray(below)
    grid = np.arange(trials)
    above = (grid < counts[:, None]).astype(float)
    bottom = np.where(grid < answers[:, None], 1.0, np.nan)
    lost = np.zeros(above.shape, dtype=bool)
    return share(names(len(counts)), above * bottom, bottom, lost, level=0.95, pooled=pooled).interval


@given(st.integers(1, 4), st.integers(1, 400), st.floats(0.5, 0.999), st.booleans(), st.integers(0, 2**32 - 1))
def test_ends_are_the_quantiles_of_numpy_to_the_last_bit(
    columns: int, draws: int, level: float, tied: bool, seed: int
) -> None:
    low, high = np.random.default_rng(seed).normal(size=(2, columns, draws))
    low[0] = np.nan  # a column without anything to weigh: all of it, since the unseen topic then weighs nothing
    if tied:
        low, high = low.round(1), high.round(1)
    tail = (1 - level) / 2
    wanted = np.quantile(low, tail, axis=1), np.quantile(high, 1 - tail, axis=1)
    for mine, theirs in zip(interval_ends(low, high, level), wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_single_failure_on_five_topics_claims_no_more_than_no_failure() -> None:
    perfect, nearly = of([20] * 5, 20), of([20] * 4 + [19], 20)
    assert (perfect.method, perfect.resampled) == (f"{METHOD} topic", "topics")
    assert nearly.low <= perfect.low < 0.567
    assert nearly.high <= perfect.high == 1


@st.composite
def answered(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    """(useful answers of each topic, answers of each, the most of them)."""
    trials = draw(st.integers(2, 12))
    below = draw(st.lists(st.integers(1, trials), min_size=2, max_size=12))
    return [draw(st.integers(0, most)) for most in below], below, trials


@given(answered(), st.booleans(), st.randoms(use_true_random=False))
def test_one_more_useful_answer_never_lowers_an_end(
    topics: tuple[list[int], list[int], int], pooled: bool, random: object
) -> None:
    useful, below, trials = topics
    could = [place for place, count in enumerate(useful) if count < below[place]]
    if not could or max(below) == 1:
        return
    better = list(useful)
    better[random.choice(could)] += 1  # type: ignore[attr-defined]
    before, after = (of(counts, trials, pooled=pooled, below=below) for counts in (useful, better))
    assert after.low >= before.low - 1e-12
    assert after.high >= before.high - 1e-12


@given(answered(), st.booleans())
def test_no_more_is_claimed_than_if_nothing_had_gone_wrong_on_these_topics(
    topics: tuple[list[int], list[int], int], pooled: bool
) -> None:
    useful, below, trials = topics
    found, units = of(useful, trials, pooled=pooled, below=below), len(useful)
    if max(below) > 1:
        assert found.low <= units / (units + Z * Z)
        assert found.high >= Z * Z / (units + Z * Z)


@given(answered(), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_topics_changes_nothing(
    topics: tuple[list[int], list[int], int], pooled: bool, random: object
) -> None:
    useful, below, trials = topics
    order = list(range(len(useful)))
    random.shuffle(order)  # type: ignore[attr-defined]
    one = of(useful, trials, pooled=pooled, below=below)
    two = of([useful[k] for k in order], trials, pooled=pooled, below=[below[k] for k in order])
    assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=1e-12)


@given(answered())
def test_the_interval_does_not_depend_on_which_answer_is_called_useful(
    topics: tuple[list[int], list[int], int],
) -> None:
    useful, below, trials = topics
    one = of(useful, trials, below=below)
    other = of([most - count for count, most in zip(useful, below, strict=True)], trials, below=below)
    assert (1 - other.high, 1 - other.low) == pytest.approx((one.low, one.high), abs=1e-9)


@pytest.mark.parametrize(("good", "topics"), [(4, 5), (12, 15), (7, 15), (44, 45), (20, 45)])
def test_topics_that_are_all_good_or_all_bad_give_the_quantiles_of_a_beta(good: int, topics: int) -> None:
    found = of([3] * good + [0] * (topics - good), 3)
    low = stats.beta.ppf(0.025, good, topics - good + 0.75)
    high = stats.beta.ppf(0.975, good + 0.75, topics - good)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)


@pytest.mark.parametrize("topics", [4, 15, 45])
def test_if_nothing_goes_wrong_the_interval_is_the_exact_one_of_the_topics(topics: int) -> None:
    found = of([4] * topics, 4)
    assert (found.low, found.high) == pytest.approx((float(clopper_pearson_ends(topics, topics)[0]), 1), abs=1e-9)
    assert highest_low_end(1000, 0.95) == pytest.approx(1000 / (1000 + Z * Z))


@pytest.mark.parametrize("topics", [4, 8, 15, 45, 200])
def test_the_interval_covers_for_any_share_of_topics_that_always_fail(topics: int) -> None:
    """Exactly, from the binomial law of how many do: at least .93 for every share, with three quarters of a topic."""
    good = np.arange(topics + 1)
    low, high = share_ends((np.arange(topics)[:, None] < good).astype(float), np.ones((topics, topics + 1)), 0.95)
    shares = np.linspace(0.005, 0.995, 199)
    chances = stats.binom.pmf(good, topics, shares[:, None])
    assert float((chances * ((low <= shares[:, None]) & (shares[:, None] <= high))).sum(axis=1).min()) >= 0.93


@pytest.mark.parametrize(
    ("topics", "trials", "shares", "rates"),
    [(5, 20, (0.2, 0.8), (0.1, 0.95)), (15, 5, (0.1, 0.9), (0.05, 0.98)), (5, 20, (0.1, 0.9), (0.05, 0.98))],
)
def test_the_interval_covers_for_topics_of_two_kinds(
    topics: int, trials: int, shares: tuple[float, float], rates: tuple[float, float]
) -> None:
    rng = np.random.default_rng(4)
    rate = rng.choice(rates, p=shares, size=(topics, 2000))
    low, high = share_ends(rng.binomial(trials, rate) / trials, np.ones(rate.shape), 0.95)
    truth = float(np.dot(rates, shares))
    assert float(((low <= truth) & (truth <= high)).mean()) >= 0.95


def test_a_measure_without_a_top_has_room_above_the_best_observed_value() -> None:
    scores = np.array([0.01, 0.012, 0.02, 0.015, 0.011])[:, None, None]
    bounded, topless = (
        Resampler(np.random.default_rng(0)).means(names(5), scores, top=top)[0] for top in (1.0, math.inf)
    )
    assert topless.low == bounded.low < 0.0136 < topless.high < bounded.high
    assert topless.high < smallest_reach(5) * 0.02
    assert [round(smallest_reach(count), 2) for count in (4, 16, 45)] == [3, 2, 1.6]


def test_scores_beyond_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match="must be from bottom to top"):
        Resampler(np.random.default_rng(0)).means(names(4), np.full((4, 1, 1), -0.1))


def test_equal_scores_have_an_interval_about_other_topics() -> None:
    found = Resampler(np.random.default_rng(0)).means(names(8), np.full((8, 3, 1), 0.4))[0]
    assert found.low < 0.4 < found.high
    nothing = Resampler(np.random.default_rng(0)).means(names(8), np.zeros((8, 3, 1)), top=math.inf)[0]
    assert (math.isnan(nothing.low), nothing.note) == (True, "every topic has the same value")


@pytest.mark.parametrize("answers", [4, 8, 15, 45, *(pytest.param(n, marks=pytest.mark.soak) for n in (60, 225))])
def test_with_one_answer_per_topic_it_covers_at_every_rate(answers: int) -> None:
    ends = np.array([answer_ends(float(useful), float(answers), 0.95) for useful in range(answers + 1)])
    for rate in np.linspace(0.005, 0.995, 199):
        chances = np.exp([binomial(answers, useful, rate) for useful in range(answers + 1)])
        assert chances[(ends[:, 0] <= rate) & (rate <= ends[:, 1])].sum() >= 0.938, rate


def binomial(n: int, k: int, rate: float) -> float:
    """The log of the chance of k useful answers of n."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return ways + k * math.log(rate) + (n - k) * math.log1p(-rate)


def test_the_quantiles_for_one_answer_per_topic_are_those_of_the_draws() -> None:
    for useful, answers in ((0, 5), (2, 5), (9, 14), (45, 45)):
        above = (np.arange(answers) < useful).astype(float)[:, None]
        low, high = share_ends(above, np.ones((answers, 1)), 0.95)
        assert (low[0], high[0]) == pytest.approx(answer_ends(float(useful), float(answers), 0.95), abs=0.015)
