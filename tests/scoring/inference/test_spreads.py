"""Intervals of spreads: they hold the truth in worlds where few topics decide it, or say why there is none."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from scoring.inference.components import Component, across_systems, share_of_spread, within_system
from scoring.inference.interval import Interval, no_interval
from scoring.inference.spreads import FEWEST_WITHOUT_TOP, UNKNOWN, Range, distance_factor, share_ends
from tests.support.spread_worlds import CROSSED_WORLDS, SPREAD_WORLDS, CrossedWorld, SpreadWorld

SHARES = Range(0.0, 1.0)
UNSEEABLE = "3% of topics five times as slow"
"""A quarter of the samples of 45 topics have none of the 3%, and without a top nothing tells how far out these lie."""

SIZES = ((4, 5), (8, 5), (15, 5), (45, 5), (8, 10), (200, 2))
QUICK = (
    ("lognormal σ 1", 45, 5),
    ("lognormal σ 1.5", 45, 5),
    ("yes or no, 3% of topics never, others .95", 8, 5),
    ("yes or no, 3% of topics never, others .95", 15, 5),
    ("yes or no, 5% of topics .3, others always", 45, 5),
    ("scores, trials of unequal spread", 8, 5),
    ("ratings, mostly the best", 8, 5),
    ("yes or no, Beta, mean 0.85, ICC 0.2", 8, 5),
    ("yes or no, Beta, mean 0.95, ICC 0.2", 15, 5),
    ("yes or no, half of the topics .45, others .55", 15, 5),
)
QUICK_CROSSED = (
    ("yes or no, 5% of topics: one system never", 2, 8, 5),
    ("yes or no, half of the topics turn the systems round", 3, 15, 5),
    ("lognormal σ 1, systems apart", 2, 45, 5),
)


def range_of(world: SpreadWorld | CrossedWorld) -> Range:
    return Range(world.bottom, world.top, has_top=math.isfinite(world.top))


def named(name: str) -> SpreadWorld:
    return next(one for one in SPREAD_WORLDS if one.name == name)


def held(world: SpreadWorld, topics: int, trials: int, times: int) -> dict[str, list[bool]]:
    """By figure, of the studies with an interval, whether it holds the truth."""
    rng, found = np.random.default_rng([topics, trials]), dict[str, list[bool]]()
    for _ in range(times):
        values, truth = world.draw(rng, topics, trials)
        split = within_system(values, level=0.95, within=range_of(world))
        for name, one in (("topic", split.topic), ("trial", split.trial), ("icc", split.icc)):
            if one.interval.is_defined:
                inside = one.interval.low - 1e-12 <= truth[name] <= one.interval.high + 1e-12
                found.setdefault(name, []).append(inside)
    return found


def held_by_systems(world: CrossedWorld, size: tuple[int, int, int], times: int) -> dict[str, list[bool]]:
    rng, found = np.random.default_rng(size), dict[str, list[bool]]()
    for _ in range(times):
        values, truth = world.draw(rng, *size)
        split = across_systems(values, level=0.95, within=range_of(world))
        for name, true in truth.items():
            one = getattr(split, name).interval
            if one.is_defined:
                found.setdefault(name, []).append(one.low - 1e-12 <= true <= one.high + 1e-12)
    return found


def check(found: dict[str, list[bool]]) -> None:
    for name, hits in found.items():
        assert sum(hits) >= binom.ppf(0.001, len(hits), 0.93), (name, sum(hits) / len(hits))


@pytest.mark.parametrize(("name", "topics", "trials"), QUICK)
def test_if_few_topics_decide_a_spread_its_interval_covers_the_truth(name: str, topics: int, trials: int) -> None:
    found = held(named(name), topics, trials, 60)
    assert len(found["topic"]) == 60
    check(found)


@pytest.mark.parametrize(("name", "systems", "topics", "trials"), QUICK_CROSSED)
def test_the_same_for_spreads_over_several_systems(name: str, systems: int, topics: int, trials: int) -> None:
    world = next(one for one in CROSSED_WORLDS if one.name == name)
    found = held_by_systems(world, (systems, topics, trials), 30)
    assert len(found["system"]) == 30
    check(found)


THOROUGH = [
    pytest.param(world, size, id=f"{world.name}, {size[0]}x{size[1]}")
    for world in SPREAD_WORLDS
    for size in SIZES
    if world.name != UNSEEABLE or size[0] != 45  # samples that lack what decides: docs/variance.md
]


@pytest.mark.soak
@pytest.mark.parametrize(("world", "size"), THOROUGH)
def test_spreads_of_one_system_in_many_worlds(world: SpreadWorld, size: tuple[int, int]) -> None:
    found = held(world, *size, 500)
    assert found or (not range_of(world).is_bounded and size[0] < FEWEST_WITHOUT_TOP)
    check(found)


@pytest.mark.soak
@pytest.mark.parametrize("size", [(2, 8, 5), (3, 15, 5), (4, 45, 5), (8, 45, 5)], ids=str)
@pytest.mark.parametrize("world", CROSSED_WORLDS, ids=lambda world: world.name)
def test_spreads_over_systems_in_many_worlds(world: CrossedWorld, size: tuple[int, int, int]) -> None:
    check(held_by_systems(world, size, 300))


def test_if_the_answers_of_every_topic_are_mixed_topics_do_not_cause_most_of_the_spread() -> None:
    """Eight topics with two or three of five: under a beta-binomial with an ICC of .86 a chance of 1e-7."""
    cells = np.array([[1.0, 1, 0, 0, 0], [1, 1, 1, 0, 0]] * 4)
    found = within_system(cells, level=0.95, within=SHARES).icc
    assert max(0.0, found.value) == 0
    assert found.interval.high < 0.5


def test_one_failure_among_many_answers_does_not_show_that_all_is_chance_within_trials() -> None:
    """Mean .975, one useless answer on 8 × 5: most intervals that were 0.00 [0.00, 0.07] were of this kind."""
    cells = np.ones((8, 5))
    cells[0, 0] = 0
    found = within_system(cells, level=0.95, within=SHARES).icc
    assert found.interval.low == 0
    assert found.interval.high > 0.5


@pytest.mark.parametrize("topics", [4, 6, 10])
def test_topics_that_all_have_one_success_of_two_say_nothing_about_differences_between_them(topics: int) -> None:
    """Whatever the topics are, the noise of two trials hides it: 0 to 0 would be a claim that they are alike."""
    found = within_system(np.tile([1.0, 0.0], (topics, 1)), level=0.95, within=SHARES)
    for one in (found.topic, found.icc):
        assert not one.interval.is_defined
        assert one.interval.note == "trials of a topic differ by so much that nothing can be seen between topics"


def test_without_a_top_a_spread_needs_45_topics_and_says_why() -> None:
    rng = np.random.default_rng(1)
    for within in (UNKNOWN, Range(0.0, math.inf, has_top=False), Range(0.0, 20.0, has_top=False)):
        few, many = (within_system(10 + rng.normal(size=(n, 5)), level=0.95, within=within) for n in (44, 45))
        assert few.topic.interval.note == (
            "44 topics: where a measure has no top, a spread asks for 45, since a few topics far out decide it"
        )
        assert not few.icc.interval.is_defined
        assert many.icc.interval.is_defined
        assert "rare and far beyond" in many.topic.interval.assumes
    table = 10 + rng.normal(size=(3, 20, 5))
    assert not across_systems(table, level=0.95).system.interval.is_defined
    assert across_systems(table / 20, level=0.95, within=SHARES).system.interval.is_defined


def test_topics_with_one_trial_do_not_count_as_topics_that_show_the_variance_of_trials() -> None:
    cells = np.array([[1.0, math.nan]] * 9 + [[1, 0]] * 3)
    found = within_system(cells, level=0.95, within=SHARES)
    assert found.trial.interval.note == "3 topics: too few to resample, counting those with two trials"


def test_values_beyond_the_range_are_refused() -> None:
    with pytest.raises(ValueError, match="must be in their range"):
        within_system([[1.5, 0.5]] * 5, level=0.95, within=SHARES)


@pytest.mark.parametrize("topics", [5, 15, 60])
@pytest.mark.parametrize("mean", [0.5, 0.9])
def test_topics_that_are_alike_may_hide_one_at_the_end_of_the_range(topics: int, mean: float) -> None:
    """All topics have one mean, and trials never differ: the high end is that of one more topic with a Beta weight."""
    found = within_system(np.full((topics, 3), mean), level=0.95, within=SHARES).topic
    weight = float(beta.ppf(0.975, 0.75, topics))
    wanted = weight * (1 - weight) * mean**2 * topics / (topics - 1)
    assert found.value == pytest.approx(0)
    assert found.interval.low == 0
    assert found.interval.high == pytest.approx(min(0.25, wanted), rel=0.08)


def test_neither_the_order_of_topics_nor_the_choice_of_the_useful_label_changes_an_interval() -> None:
    rng = np.random.default_rng(2)
    cells = (rng.random((12, 5)) < rng.random((12, 1))).astype(np.float64)
    first = within_system(cells, level=0.95, within=SHARES)
    for other in (cells[rng.permutation(12)], 1 - cells):
        found = within_system(other, level=0.95, within=SHARES)
        for name in ("topic", "trial", "icc"):
            wanted, one = getattr(first, name).interval, getattr(found, name).interval
            assert (one.low, one.high) == pytest.approx((wanted.low, wanted.high))
    table = np.stack([cells, np.roll(cells, 3)])
    wanted, one = (across_systems(each, level=0.95, within=SHARES).system for each in (table, table[:, ::-1]))
    assert (one.interval.low, one.interval.high) == pytest.approx((wanted.interval.low, wanted.interval.high))


def test_an_unseen_topic_is_where_a_pareto_tail_has_one_in_forty_times_as_many() -> None:
    """Exact quantiles of a Pareto tail with the index ξ: the mean logarithm of those above a threshold is ξ."""
    for index in (0.3, 0.5):
        ranks = (np.arange(1, 1001) - 0.5) / 1000
        assert distance_factor(ranks**-index) == pytest.approx(40**index, rel=0.05)
    assert distance_factor(np.arange(100.0)) == 2
    assert distance_factor(np.geomspace(1.0, 1e6, 100)) == 8
    assert distance_factor(np.zeros(50)) == 2


def test_the_ends_of_a_share_are_those_of_its_parts_at_their_opposite_ends() -> None:
    assert share_ends((1.0, 4.0), (2.0, 3.0)) == pytest.approx((1 / 4, 4 / 6))
    assert share_ends((0.0, 0.0), (0.0, 0.0)) == (0, 1)

    def one(low: float, high: float) -> Component:
        return Component(low, Interval(low, high, "", ""))

    assert share_of_spread(one(8, 9), [one(0, 1), one(1, 2)]) == pytest.approx((8 / 11, 9 / 10))
    assert math.isnan(share_of_spread(one(8, 9), [Component(1.0, no_interval("few"))])[0])


def test_similar_systems_have_a_distance_of_0_and_different_ones_do_not() -> None:
    rng = np.random.default_rng(3)
    chances = rng.beta(2, 2, 15)
    alike = (rng.random((3, 15, 5)) < chances[:, None]).astype(np.float64)
    apart = (rng.random((3, 45, 5)) < np.array([0.1, 0.5, 0.9])[:, None, None]).astype(np.float64)
    assert across_systems(alike, level=0.95, within=SHARES).system.interval.low == 0
    found = across_systems(apart, level=0.95, within=SHARES).system
    assert 0 < found.interval.low < 0.16 < found.interval.high


def test_an_interval_starts_at_0_if_a_test_found_nothing() -> None:
    found = Component(0.02, Interval(0.01, 0.05, "some", "topics"))
    assert found.agree_with_test(True) is found
    assert (found.agree_with_test(False).interval.low, found.agree_with_test(False).interval.high) == (0, 0.05)
    none = Component(0.02, no_interval("few"))
    assert none.agree_with_test(False) is none


def test_the_intervals_of_ordinary_worlds_stay_narrow() -> None:
    """In units of the true spread; leaving out one topic at a time gave .39 and 1.35, and covered less."""
    world = named("yes or no, Beta, mean 0.6, ICC 0.45")
    rng = np.random.default_rng(4)
    for topics, most in ((45, 0.5), (8, 1.35)):
        widths = []
        for _ in range(40):
            values, truth = world.draw(rng, topics, 5)
            one = within_system(values, level=0.95, within=SHARES).topic.interval
            widths.append((math.sqrt(one.high) - math.sqrt(one.low)) / math.sqrt(truth["topic"]))
        assert float(np.median(widths)) <= most
