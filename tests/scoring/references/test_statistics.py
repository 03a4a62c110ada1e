"""Intervals, tails, tests and trees against enumeration and bisection (`reference_statistics`), on random input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.inference.bootstrap import Resampler
from scoring.inference.proportions import highest_rate_without_events, jeffreys_ends, wilson_ends
from scoring.inference.tails import cvar, lower_quantile, probability_below, within_topics
from scoring.inference.unseen import unseen_mass
from scoring.measures.usefulness import share
from scoring.statistics.exchange import benjamini_yekutieli
from scoring.stochastic.chain import chain, label_codes, persistence
from scoring.stochastic.decomposition import spread
from scoring.stochastic.paths import enumerate_paths
from tests.support import reference_statistics as ref
from topics.errors import InputError

LEVELS = st.sampled_from([0.5, 0.8, 0.95, 0.99])


@st.composite
def counts(draw: st.DrawFn, most: int = 60) -> tuple[int, int]:
    n = draw(st.integers(1, most))
    return draw(st.integers(0, n)), n


@given(counts(), LEVELS)
def test_wilson_contains_the_rates_that_a_score_test_keeps(case: tuple[int, int], level: float) -> None:
    low, high = wilson_ends(*case, level)
    assert (float(low), float(high)) == pytest.approx(ref.wilson(*case, level), abs=1e-9)


@given(counts(most=30), LEVELS)
def test_jeffreys_is_the_middle_of_its_beta_distribution(case: tuple[int, int], level: float) -> None:
    low, high = jeffreys_ends(*case, level)
    assert (float(low), float(high)) == pytest.approx(ref.jeffreys(*case, level), abs=1e-7)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_bound_after_no_failure_is_the_largest_rate_that_is_not_too_unlikely(level: float) -> None:
    for n in (1, 5, 58, 59, 300):
        assert (1 - highest_rate_without_events(n, level)) ** n == pytest.approx(1 - level)


@given(st.text("abcdefghijkl", min_size=1, max_size=25), LEVELS)
@example("a", 0.95)
@example("aab", 0.95)
def test_unseen_mass_is_good_and_turings_with_estys_error(seen: str, level: float) -> None:
    once, twice = (sum(seen.count(kind) == times for kind in set(seen)) for times in (1, 2))
    found = unseen_mass(once, twice, len(seen), level)
    expected = ref.good_turing(list(seen), level)
    assert (float(found.estimate), float(found.low), float(found.high)) == pytest.approx(expected, abs=1e-7)


# --- the worst case --------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(-8, 8), st.integers(1, 5)), min_size=1, max_size=12),
    st.integers(1, 64),
)
def test_quantile_and_cvar_are_their_definitions_to_the_last_fraction_of_mass(
    cases: list[tuple[int, int]], part: int
) -> None:
    values = [Fraction(value, 8) for value, _ in cases]
    beta = Fraction(part, 64)
    own = [float(value) for value in values]
    for weights in ([Fraction(weight) for _, weight in cases], [Fraction(1)] * len(cases)):
        even = len(set(weights)) == 1
        mass = None if even else [float(weight) for weight in weights]
        assert cvar(own, float(beta), mass) == pytest.approx(float(ref.cvar(values, weights, beta)), abs=1e-12)
        assert lower_quantile(own, float(beta), mass) == float(ref.quantile(values, weights, beta))
        below = sum((w for v, w in zip(values, weights, strict=True) if v < values[0]), Fraction(0)) / sum(weights)
        assert probability_below(own, own[0], mass) == pytest.approx(float(below), abs=1e-12)


@pytest.mark.parametrize("beta", [0.1, 0.25, 0.3, 0.5, 1.0])
def test_within_topics_is_refused_of_one_trial_too_few_and_exact_from_then_on(beta: float) -> None:
    need = math.ceil(10 / beta)
    values = np.random.default_rng(3).integers(0, 9, (3, need)).astype(float)
    found = within_topics(["a", "b", "c"], values, beta)
    exact = [ref.cvar([Fraction(int(v)) for v in row], [Fraction(1)] * need, Fraction(str(beta))) for row in values]
    assert found.cvar == pytest.approx(float(sum(exact) / 3))
    values[1, 0] = np.nan
    with pytest.raises(InputError, match=f"at least {need} trials"):
        within_topics(["a", "b", "c"], values, beta)


# --- failing after failing -------------------------------------------------------------------------------------------


@st.composite
def grids(draw: st.DrawFn) -> tuple[list[list[str]], list[int]]:
    """Labels of some topics' trials (one grid each, so small that all ways can be enumerated) and their turns."""
    turns = draw(st.integers(2, 3))
    row = st.tuples(st.text("ox?", min_size=turns, max_size=turns), st.integers(1, turns), st.sampled_from("-·"))
    found = []
    for _ in range(draw(st.integers(1, 3))):
        cells = draw(st.lists(row, min_size=1, max_size=4))
        found.append([labels[:kept].ljust(turns, after) for labels, kept, after in cells])
    return found, [turns]


@given(grids())
@example(([["xx", "xx", "xx", "xx"], ["oo", "ox", "xo", "oo"]], [2]))
def test_the_test_of_persistence_equals_permuting_the_next_labels_in_every_way(
    grid: tuple[list[list[str]], list[int]],
) -> None:
    rows = [row for rows in grid[0] for row in rows]
    topics = [f"T{number}" for number, rows in enumerate(grid[0]) for _ in rows]
    trials = max(map(len, grid[0]))
    labels = np.full((len(grid[0]), trials, len(rows[0])), label_codes(["?" * len(rows[0])])[0, 0])
    for number, here in enumerate(grid[0]):
        labels[number, : len(here)] = label_codes(here)
    names = [f"T{number}" for number in range(len(grid[0]))]
    found = persistence(labels, names)
    difference, odds = ref.mantel_haenszel(rows, topics)
    assert found.test.difference == pytest.approx(difference, nan_ok=True)
    if found.test.n:
        more, fewer, both = ref.persistence(rows, topics)
        assert (found.test.more, found.test.fewer, found.test.p) == pytest.approx((more, fewer, both))
        assert found.test.odds_ratio == pytest.approx(odds, nan_ok=True)
    else:
        assert ref.persistence(rows, topics) == (1.0, 1.0, 1.0)
        assert math.isnan(found.test.more)
    pairs = [
        (row[turn], row[turn + 1])
        for row in rows
        for turn in range(len(row) - 1)
        if row[turn] in "ox" and row[turn + 1] in "ox"
    ]
    for side, after in ((found.after_x, "x"), (found.after_o, "o")):
        next_ones = [then for now, then in pairs if now == after]
        assert side.n == len(next_ones)
        expected = sum(then != "o" for then in next_ones) / len(next_ones) if next_ones else math.nan
        assert side.value == pytest.approx(expected, nan_ok=True)


@given(grids())
def test_a_transition_is_its_count_divided_by_that_of_its_source(
    grid: tuple[list[list[str]], list[int]],
) -> None:
    (turns,) = grid[1]
    trials = max(map(len, grid[0]))
    labels = np.full((len(grid[0]), trials, turns), label_codes(["?" * turns])[0, 0])
    for number, here in enumerate(grid[0]):
        labels[number, : len(here)] = label_codes(here)
    rows = ["s" + row for rows in grid[0] for row in rows]
    for step in (None, *range(1, turns + 1)):
        for edge in chain(labels, [f"T{number}" for number in range(len(grid[0]))], step=step):
            source = "s" if edge.source == "start" else edge.source
            among = "ox-" if edge.target == "-" else "ox"
            taken = [
                row[turn + 1]
                for row in rows
                for turn in range(turns)
                if row[turn] == source and row[turn + 1] in among and step in (None, turn + 1)
            ]
            assert edge.share.n == len(taken)
            expected = taken.count(edge.target) / len(taken) if taken else math.nan
            assert edge.share.value == pytest.approx(expected, nan_ok=True)


# --- bootstrap -------------------------------------------------------------------------------------------------------


def holds(
    above: Sequence[float], below: Sequence[float], low: float, high: float, draws: int, unseen: float = 0.75
) -> bool:
    """Whether both ends of an 80% interval are quantiles of the weighted ratio, but for drawing."""
    error = 5 * math.sqrt(0.1 * 0.9 / draws)
    return (
        abs(ref.with_an_unseen_topic(above, below, 0.0, low, unseen) - 0.1) < error
        and abs(ref.with_an_unseen_topic(above, below, 1.0, high, unseen) - 0.9) < error
    )


@pytest.mark.parametrize("seed", range(10))
def test_an_interval_of_a_mean_is_read_from_the_distribution_of_weighted_means(seed: int) -> None:
    rng = np.random.default_rng([11, seed])
    topics = int(rng.integers(4, 12))
    cells = rng.integers(0, 5, (topics, 3)) / 4
    valid = rng.random((topics, 3)) < 0.8
    valid[:, 0] = True
    cells[0], cells[1], valid[:2] = 0, 1, True
    means = [float(row[ok].mean()) for row, ok in zip(cells, valid, strict=True)]
    resampler = Resampler(np.random.default_rng(seed), replications=20_000, level=0.8)
    (found,) = resampler.means([f"T{number}" for number in range(topics)], np.where(valid, cells, np.nan)[..., None])
    assert holds(means, [1.0] * topics, found.low, found.high, 20_000)


@pytest.mark.parametrize("seed", range(10))
def test_an_interval_of_a_ratio_of_sums_is_read_from_the_distribution_of_weighted_ratios(seed: int) -> None:
    rng = np.random.default_rng([12, seed])
    topics = int(rng.integers(4, 12))
    below = rng.integers(1, 4, (topics, 2))
    above = np.minimum(below, rng.integers(0, 4, (topics, 2)))
    above[0], above[1] = 0, below[1]
    resampler = Resampler(np.random.default_rng(seed), replications=20_000, level=0.8)
    found = resampler.ratio([f"T{number}" for number in range(topics)], above, below)
    assert holds(above.sum(axis=1).tolist(), below.sum(axis=1).tolist(), found.low, found.high, 20_000)


# --- shares over trials ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pooled", [False, True])
def test_the_interval_of_a_share_is_the_one_described_in_docs_measures(pooled: bool) -> None:
    rng = np.random.default_rng([13, pooled])
    for _ in range(60):
        topics, trials = int(rng.integers(4, 12)), int(rng.integers(1, 6))
        below = rng.integers(0, 2, (topics, trials)).astype(float) if pooled else np.ones((topics, trials))
        above = below * (rng.random((topics, trials)) < rng.beta(0.7, 0.7, (topics, 1)))
        names = [f"T{number}" for number in range(topics)]
        found = share(names, above, below, np.zeros((topics, trials), bool), level=0.8, pooled=pooled)
        sums = [(a.sum(), b.sum()) for a, b in zip(above, below, strict=True) if b.sum()]
        answers = sum(b for _, b in sums)
        if not sums:
            assert found.n == 0
        elif answers == len(sums):  # one answer a topic
            by = ref.exact if answers < 4 else ref.one_answer_a_topic
            low, high = by(round(sum(a for a, _ in sums)), round(answers), 0.8)
            assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-6)
        elif 0 < found.value < 1 and len(sums) >= 4:
            sides = [a for a, _ in sums], [b for _, b in sums]
            if not pooled:
                sides = [a / b for a, b in sums], [1.0] * len(sums)
            assert found.interval.note == f"effective n = {ref.effective(sums, pooled):.1f}"
            limit = 0.1 ** (1 / len(sums))
            if found.interval.low < limit and found.interval.high > 1 - limit:
                assert holds(*sides, found.interval.low, found.interval.high, 4000, 1.0 if pooled else 0.75), sums


def test_the_interval_of_recovery_covers_if_few_topics_ever_fail() -> None:
    """Nominal 95% in a world of 45 topics × 10 trials in which 6 topics fail on average: .94 with 2,000 simulations."""
    rng, held, told = np.random.default_rng(14), 0, 0
    names = [f"T{number}" for number in range(45)]
    for _ in range(500):
        below = rng.binomial(1, rng.beta(0.05, 0.95, (45, 1)), (45, 10)).astype(float)
        above = below * rng.binomial(1, rng.beta(0.5, 0.5, (45, 1)), (45, 10))
        found = share(names, above, below, np.zeros((45, 10), bool), level=0.95, pooled=True).interval
        told += not math.isnan(found.low)
        held += found.low <= 0.5 <= found.high
    assert held / told > 0.91


# --- trees of known probabilities ------------------------------------------------------------------------------------


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[Fraction]]:
    size = draw(st.integers(2, 9))
    parent = [-1] + [draw(st.integers(0, node - 1)) for node in range(1, size)]
    probability = [Fraction(1)] * size
    for node in range(size):
        children = [child for child in range(size) if parent[child] == node]
        parts = draw(st.lists(st.integers(1, 4), min_size=len(children), max_size=len(children)))
        rest = draw(st.integers(0, 3))
        for child, part in zip(children, parts, strict=True):
            probability[child] = Fraction(part, sum(parts) + rest)
    return parent, probability


@given(trees(), st.lists(st.integers(0, 6), min_size=9, max_size=9))
def test_the_law_of_total_variance_turn_by_turn(tree: tuple[list[int], list[Fraction]], values: list[int]) -> None:
    parent, probability = tree
    ways = list(ref.paths(parent, probability))
    found = enumerate_paths(np.array(parent), np.array([float(p) for p in probability]))
    assert {int(end): pytest.approx(w) for end, w in zip(found.ends, found.weights, strict=True)} == {
        end: float(weight) for end, _, weight in ways
    }
    score = [Fraction(values[end], 6) for end, _, _ in ways]
    terms, total = ref.spread(ways, score)
    own = np.array([values[int(end)] / 6 for end in found.ends])
    told = spread(np.array(parent), found.ends, own, found.weights)
    assert told.total == pytest.approx(float(total), abs=1e-12)
    depth = len(terms)
    assert told.settled[:depth] == pytest.approx([float(term) for term in terms], abs=1e-12)
    assert told.settled[depth:] == pytest.approx(0, abs=1e-12)
    assert float(sum(terms)) == pytest.approx(float(total), abs=1e-12)
    assert told.rest == pytest.approx(0, abs=1e-12)


@given(st.lists(st.floats(0, 1) | st.just(math.nan), max_size=12))
def test_false_discovery_rates_are_those_of_statsmodels(p: list[float]) -> None:
    from statsmodels.stats import multitest  # late: it takes a second

    found = benjamini_yekutieli(p)
    assert [math.isnan(one) for one in found] == [math.isnan(one) for one in p]
    known = [one for one in p if not math.isnan(one)]
    if known:
        expected = multitest.multipletests(known, method="fdr_by")[1]
        assert [one for one in found if not math.isnan(one)] == pytest.approx(list(expected))
