"""Ratios of figures: Fieller's intervals, their laws, and how often they cover in worlds that are hostile to ratios."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.comparison.compared_pairs import compare_pairs
from scoring.inference.aligned import Aligned, align
from scoring.inference.paired import Estimand
from scoring.inference.ratios import Ratio, compare_ratio
from scoring.settings import Guard
from tests.support.kept_cells import keep_cells
from tests.support.ratio_worlds import WORLDS, Floats, RatioWorld, covers, drawn_pair, ratio_of

NAMES = ("A", "B")


def sides(*values: Floats, **design: object) -> Aligned:
    """Two systems with (topics, trials) values."""
    cells = {
        name: {(f"T{row:03}", trial): (float(value), 1.0) for (row, trial), value in np.ndenumerate(side)}
        for name, side in zip(NAMES, values, strict=True)
    }
    topics = [f"T{row:03}" for row in range(len(values[0]))]
    return align(topics, NAMES, cells, pooled=False, **design)  # type: ignore[arg-type]


def ratios_of_sums(above: Floats, below: Floats) -> Aligned:
    """Two systems with (topics, 2) recoveries of failed turns."""
    cells = {
        name: {
            (f"T{row:03}", trial): (float(trial <= above[row, at]), 1.0)
            for row in range(len(above))
            for trial in range(1, int(below[row, at]) + 1)
        }
        for at, name in enumerate(NAMES)
    }
    return align([f"T{row:03}" for row in range(len(above))], NAMES, cells, pooled=True)


def compared(aligned: Aligned, estimand: Estimand, guard: Guard, reach: float = 1.0) -> tuple[Ratio, float, float]:
    """The ratio, and the ends of the difference."""
    (pair,) = compare_pairs(
        "M",
        None,
        aligned,
        np.random.default_rng(1),
        estimand=estimand,
        level=0.95,
        good="high",
        reach=reach,
        guard=guard,
        ratios=True,
    ).pairs
    assert pair.ratio is not None
    return pair.ratio, pair.interval.low, pair.interval.high


def test_with_t_intervals_the_ends_are_the_roots_of_fiellers_equation() -> None:
    """(a - r·b)² = t²·(s_aa - 2r·s_ab + r²·s_bb)/n, a quadratic equation in r."""
    rng = np.random.default_rng(4)
    one, other = rng.uniform(0.1, 0.3, 12), rng.uniform(0.5, 0.9, 12)
    found, *_ = compared(sides(one[:, None], other[:, None]), "like-these", "none")
    a, b, spread = one.mean(), other.mean(), np.cov(one, other) / 12
    t = stats.t.ppf(0.975, 11) ** 2
    roots = np.roots([b * b - t * spread[1, 1], -2 * (a * b - t * spread[0, 1]), a * a - t * spread[0, 0]])
    assert (found.above, found.below) == NAMES
    assert found.value == pytest.approx(a / b, rel=1e-12)
    assert [found.interval.low, found.interval.high] == pytest.approx(sorted(roots), rel=1e-5)
    assert found.interval.method.endswith("solved for the ratio (Fieller)")


def test_the_lower_figure_is_printed_in_percent_of_the_higher_one_whichever_comes_first() -> None:
    rng = np.random.default_rng(5)
    one, other = rng.random((20, 3)) ** 3, rng.random((20, 3))
    there, back = ratio_of(sides(one, other)), ratio_of(sides(other, one))
    assert (there.above, there.below, back.above, back.below) == ("A", "B", "B", "A")
    assert there.value == pytest.approx(back.value, rel=1e-12)
    assert there.interval.low == pytest.approx(back.interval.low, abs=0.01)  # other draws of the same weights
    assert there.interval.high == pytest.approx(back.interval.high, abs=0.01)


def test_figures_of_0_and_below_have_the_remaining_ratios() -> None:
    rng = np.random.default_rng(6)
    none, some = np.zeros((15, 3)), rng.random((15, 3))
    found = ratio_of(sides(none, some))
    assert (found.value, found.interval.low) == (0.0, 0.0)
    assert 0 < found.interval.high < 1
    nothing = ratio_of(sides(none, none))
    assert (math.isnan(nothing.value), nothing.interval.is_defined) == (True, False)
    assert nothing.interval.note == "both figures are 0"
    below = ratio_of(sides(some - 0.5, some))
    assert below.interval.note == "values below 0 have no meaningful ratio"


def test_a_denominator_that_may_be_0_leaves_the_interval_open_above() -> None:
    """A single topic of twelve has a value at all: the t interval of B includes 0. With an unseen topic, B has a share
    of at least that topic's weight, so the end is far away and finite."""
    one, other = np.zeros((12, 1)), np.zeros((12, 1))
    one[3], other[3] = 0.2, 1.0
    assert 10 < ratio_of(sides(one, other)).interval.high < math.inf
    found, *_ = compared(sides(one, other), "like-these", "none")
    assert found.value == pytest.approx(0.2)
    assert math.isinf(found.interval.high)
    assert found.interval.note == "no upper end, for the figure of B may be 0"


def test_if_the_difference_has_no_interval_the_ratio_has_none_for_the_same_reason() -> None:
    rng = np.random.default_rng(7)
    one, other = rng.random((29, 2)), rng.random((29, 2))
    few = ratio_of(sides(one[:3], other[:3]))
    assert (few.interval.is_defined, few.interval.note) == (False, "3 topics: too few to resample")
    assert few.value == pytest.approx(min(one[:3].mean() / other[:3].mean(), other[:3].mean() / one[:3].mean()))
    tail = ratio_of(sides(one, other), reach=math.inf)
    assert "29 topics are too few to show its tail" in tail.interval.note
    single = ratio_of(sides(one[:, :1], other[:, :1]), estimand="these")
    assert single.interval.note == "29 of 29 topics have one trial only, so trials cannot be seen to differ"


def test_ratios_of_ratios_end_where_the_difference_would_be_0() -> None:
    """Fewer than 20 failed turns of a side: the ends of MOVER-R from both Clopper-Pearson intervals, in closed form."""
    above, below = np.array([[2.0, 6.0], [2.0, 7.0], [1.0, 3.0]]), np.array([[9.0, 7.0], [5.0, 7.0], [4.0, 4.0]])
    found, *_ = compared(ratios_of_sums(above, below), "these", "unseen")
    a, b = 5 / 18, 16 / 18
    ends = [(stats.beta.ppf(0.025, k, 18 - k + 1), stats.beta.ppf(0.975, k + 1, 18 - k)) for k in (5, 16)]
    (low, up), (least, most) = ends
    first = (a * b - math.sqrt((a * b) ** 2 - low * most * (2 * a - low) * (2 * b - most))) / (most * (2 * b - most))
    last = (a * b + math.sqrt((a * b) ** 2 - up * least * (2 * a - up) * (2 * b - least))) / (least * (2 * b - least))
    assert found.value == pytest.approx(a / b, rel=1e-12)
    assert [found.interval.low, found.interval.high] == pytest.approx([first, last], rel=1e-5)


def test_continued_sessions_widen_a_ratio_and_leave_a_ratio_of_ratios_without_interval() -> None:
    rng = np.random.default_rng(8)
    one, other = 0.5 * rng.random((20, 6)), rng.random((20, 6))
    fresh, going_on = ratio_of(sides(one, other)), ratio_of(sides(one, other, continued=NAMES))
    assert going_on.value == pytest.approx(fresh.value)
    assert going_on.interval.low <= fresh.interval.low + 1e-6
    assert going_on.interval.high >= fresh.interval.high - 1e-6
    cells = {
        name: {(f"T{row:03}", trial): (float(rng.integers(0, 2)), 1.0) for row in range(20) for trial in range(6)}
        for name in NAMES
    }
    pooled = align([f"T{row:03}" for row in range(20)], NAMES, cells, pooled=True, continued=NAMES)
    assert "sessions go on" in ratio_of(pooled).interval.note


def test_losses_at_both_ends_widen_a_ratio() -> None:
    rng = np.random.default_rng(9)
    one, other = 0.5 * rng.random((20, 3)), rng.random((20, 3))
    aligned, less, more = (sides(one * down, other * up) for down, up in ((1, 1), (0.8, 1.1), (1.2, 0.9)))
    difference = compared(aligned, "like-these", "unseen")[0].interval
    found, alone = (
        compare_ratio(
            aligned,
            0,
            1,
            difference,
            np.random.default_rng(1),
            estimand="like-these",
            level=0.95,
            reach=1.0,
            bounds=bounds,
        )
        for bounds in ((less, more), ())
    )
    assert found.value == alone.value
    assert found.interval.low < alone.interval.low < alone.interval.high < found.interval.high


def test_clusters_of_topics_are_one_unit() -> None:
    """Each topic nine times, in clusters of nine: as the interval of a few topics, not of many."""
    rng = np.random.default_rng(10)
    one, other = 0.5 * rng.random((8, 1)), rng.random((8, 1))
    nine = [np.repeat(side, 9, axis=0) for side in (one, other)]
    clusters = {f"T{row:03}": str(row // 9) for row in range(72)}
    few, many = ratio_of(sides(one, other)), ratio_of(sides(*nine, clusters=clusters))
    assert many.interval.low == pytest.approx(few.interval.low, rel=1e-6)
    assert many.interval.high == pytest.approx(few.interval.high, rel=1e-6)
    assert ratio_of(sides(*nine)).interval.high < many.interval.high


VALUES = st.integers(0, 20).map(lambda number: number / 20)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.tuples(VALUES, VALUES), st.tuples(VALUES, VALUES)), min_size=5, max_size=40),
    st.sampled_from([("like-these", "none"), ("these", "unseen"), ("like-these", "unseen")]),
    st.booleans(),
)
def test_a_ratio_may_be_1_if_the_difference_may_be_0(
    pairs: list[tuple[tuple[float, float], tuple[float, float]]], asked: tuple[Estimand, Guard], has_end: bool
) -> None:
    values = np.array(pairs)
    found, low, high = compared(sides(values[:, 0], values[:, 1]), *asked, reach=1.0 if has_end else math.inf)
    if not found.interval.is_defined:
        return
    assert found.interval.low <= found.value * (1 + 1e-6)
    assert found.interval.high >= found.value * (1 - 1e-6)
    if low <= 0 <= high:
        assert found.interval.low <= 1 <= found.interval.high
    elif asked[1] == "none" and math.isfinite(found.interval.high) and min(abs(low), abs(high)) > 1e-6:
        assert not found.interval.low <= 1 <= found.interval.high  # Fieller's set is one interval if it has two ends


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 2**32),
    st.floats(0.3, 2.0),
    st.floats(0.3, 2.0),
    st.floats(0.2, 1.0),
    st.integers(30, 60),
    st.sampled_from([0.0, 0.3]),
)
def test_levels_without_a_top_have_a_ratio_of_1_if_the_difference_may_be_0(
    seed: int, sigma: float, other: float, ratio: float, topics: int, empty: float
) -> None:
    """Lognormal levels, some of them 0. The unseen topic of the difference may be further away than that of a side."""
    rng = np.random.default_rng(seed)
    shape = (topics, 2)
    common = np.exp(0.8 * rng.normal(size=(topics, 1)))
    one = ratio * common * np.exp(sigma * rng.normal(size=shape)) * (rng.random((topics, 1)) >= empty)
    two = common * np.exp(other * rng.normal(size=shape)) * (rng.random((topics, 1)) >= empty)
    found, low, high = compared(sides(one, two), "like-these", "unseen", math.inf)
    assert found.interval.low <= found.value <= found.interval.high
    if low <= 0 <= high:
        assert found.interval.low <= 1 <= found.interval.high


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32), st.floats(0.01, 1000))
def test_the_unit_of_a_measure_without_an_end_does_not_change_a_ratio(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    one, other = (np.exp(rng.normal(size=(35, 2))) for _ in NAMES)
    plain, scaled = (ratio_of(sides(one * of, other * of), reach=math.inf) for of in (1.0, unit))
    assert scaled.value == pytest.approx(plain.value, rel=1e-9)
    assert scaled.interval.low == pytest.approx(plain.interval.low, rel=1e-3, abs=1e-6)
    assert scaled.interval.high == pytest.approx(plain.interval.high, rel=1e-3)


def coverage(world: RatioWorld, topics: int, studies: int, estimand: Estimand, seed: int) -> tuple[int, int, int]:
    """How many intervals covered, were given, and had no upper end. Of these topics, some have a value."""
    rng = np.random.default_rng([seed, topics])
    fixed = world.law(rng, topics)
    while estimand == "these" and not fixed.all(axis=1).any():
        fixed = world.law(rng, topics)
    ratio = fixed[:, 0].sum() / fixed[:, 1].sum() if estimand == "these" else world.ratio
    held = printed = unbounded = 0
    for _ in range(studies):
        levels = fixed if estimand == "these" else world.law(rng, topics)
        found = ratio_of(drawn_pair(rng, levels, world.trials, world.noise), estimand=estimand, reach=world.reach)
        printed += found.interval.is_defined
        held += found.interval.is_defined and covers(found, ratio)
        unbounded += math.isinf(found.interval.high)
    return held, printed, unbounded


@pytest.mark.parametrize("world", keep_cells(WORLDS, 3, 7), ids=lambda world: world.name)
def test_intervals_of_ratios_cover_in_hostile_worlds(world: RatioWorld) -> None:
    held, printed, _ = coverage(world, world.topics[1], 40, "like-these", 11)
    assert held >= stats.binom.ppf(1e-4, printed, 0.93)


@pytest.mark.parametrize(("failing", "ratio"), [((0.15, 0.3), 1.0), ((0.3, 0.3), 0.3), ((0.1, 0.5), 0.5)])
def test_ratios_of_ratios_cover_even_if_a_system_seldom_fails(failing: tuple[float, float], ratio: float) -> None:
    """Topics differ in how often they fail and in how well both systems recover."""
    rng, held, printed = np.random.default_rng(3), 0, 0
    for _ in range(40):
        recovering = rng.beta(0.6, 0.6, (25, 1)) * [ratio, 1.0]
        below = np.stack([rng.binomial(5, rng.beta(2 * rate, 2 * (1 - rate), 25)) for rate in failing], axis=1)
        found = ratio_of(ratios_of_sums(rng.binomial(below, recovering).astype(float), below.astype(float)))
        printed += found.interval.is_defined
        held += found.interval.is_defined and covers(found, ratio)
    assert printed > 30
    assert held >= stats.binom.ppf(1e-4, printed, 0.93)


@pytest.mark.soak
@pytest.mark.parametrize("estimand", ["like-these", "these"])
@pytest.mark.parametrize(("world", "topics"), [(world, topics) for world in WORLDS for topics in world.topics])
def test_intervals_of_ratios_cover_in_many_studies(world: RatioWorld, topics: int, estimand: Estimand) -> None:
    held, printed, unbounded = coverage(world, topics, 500, estimand, 12)
    share = held / printed if printed else math.nan
    print(f"{world.name}, {topics} topics, {estimand}: {share:.3f} of {printed}, {unbounded} without an upper end")
    assert held >= stats.binom.ppf(1e-4, printed, 0.93)
