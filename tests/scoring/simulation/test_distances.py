"""Distances between real and simulated users: acts, transitions, lengths, scores, and the order of systems."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recordings.acts.dialogue import ActTurn, Dialogue
from scoring.simulation.act_model import UniformModel, fit_acts
from scoring.simulation.lengths import cut_at_horizon, length_gap, survival
from scoring.simulation.realism import (
    act_divergence,
    cramer_von_mises,
    matrix_divergence,
    score_gap,
    transition_divergence,
)
from scoring.simulation.reliability import kendall_tau, ranking_agreement
from tests.scoring.simulation.test_act_model import dialogue, groups

lengths = st.lists(st.integers(1, 12), min_size=1, max_size=30)


def long(turns: int, *, ended: bool = True, name: str = "1") -> Dialogue:
    return Dialogue(name, tuple(ActTurn("a") for _ in range(turns)), ended)


@given(groups(), groups())
def test_a_group_has_no_distance_from_itself_and_distances_are_symmetric(
    first: list[Dialogue], second: list[Dialogue]
) -> None:
    assert act_divergence(first, first) == 0
    assert transition_divergence(first, first).value == 0
    assert act_divergence(first, second) == pytest.approx(act_divergence(second, first))
    there, back = transition_divergence(first, second), transition_divergence(second, first)
    assert there.value == pytest.approx(back.value)
    assert 0 <= there.alone <= there.value + 1e-12 <= 1 + 1e-9


def test_acts_that_have_nothing_in_common_are_one_bit_apart() -> None:
    assert act_divergence([dialogue("aa")], [dialogue("bb")]) == 1
    assert math.isnan(act_divergence([], [dialogue("a")]))


def test_rows_are_weighted_by_their_frequency_on_both_sides() -> None:
    first = [dialogue("ab")]  # start: a; a: b; b: stop
    second = [dialogue("aa")]  # start: a; a: a, stop
    found = transition_divergence(first, second)
    row_a = 1.0  # b against a and stop
    row_b = 1.0  # on one side only
    assert found.value == pytest.approx((1 / 3 + 2 / 3) / 2 * row_a + (1 / 3) / 2 * row_b)
    assert found.alone == pytest.approx(1 / 6)
    assert found.rows == 3


def test_the_known_matrix_has_no_distance_from_equal_shares() -> None:
    assert matrix_divergence(UniformModel(("a", "b")), [dialogue("ab"), dialogue("ba", name="2")]) > 0
    opening_only = [dialogue("a", ended=False), dialogue("b", ended=False, name="2")]
    assert matrix_divergence(UniformModel(("a", "b")), opening_only) == 0
    assert math.isnan(matrix_divergence(fit_acts([dialogue("a")]), []))


@given(lengths, lengths)
def test_without_censored_ends_the_gaps_are_those_of_the_lengths_themselves(a: list[int], b: list[int]) -> None:
    found = length_gap([long(n) for n in a], [long(n) for n in b])
    assert found.ks == pytest.approx(max(abs(np.mean(np.array(a) > t) - np.mean(np.array(b) > t)) for t in range(13)))
    assert found.wasserstein == pytest.approx(stats.wasserstein_distance(a, b))
    assert found.beyond == 0


@given(st.lists(st.tuples(st.integers(1, 8), st.booleans()), min_size=1, max_size=30))
def test_survival_is_that_of_kaplan_and_meier(observed: list[tuple[int, bool]]) -> None:
    """A dialogue cut off at L turns is one that scipy is told was lost at L - 1: it was not seen to decide after L."""
    curve = survival([long(n, ended=ended) for n, ended in observed])
    times = [n if ended else n - 1 for n, ended in observed]
    censored = stats.CensoredData(
        uncensored=[n for n, (_, ended) in zip(times, observed) if ended],
        right=[n for n, (_, ended) in zip(times, observed) if not ended],
    )
    expected = stats.ecdf(censored).sf
    for t in range(curve.last_known_turn + 1):
        assert curve.share[t] == pytest.approx(float(expected.evaluate(t)), abs=1e-12)


def test_a_user_who_was_cut_off_does_not_count_as_one_who_left() -> None:
    curve = survival([long(2), long(4), long(3, ended=False), long(5)])
    assert curve.share.tolist() == pytest.approx([1, 1, 0.75, 0.75, 0.375, 0])
    assert curve.at_risk.tolist() == [4, 4, 4, 2, 2, 1]
    assert curve.left.tolist() == [0, 0, 1, 0, 1, 1]
    assert curve.median == 4


def test_the_curve_is_undefined_where_nobody_was_seen_to_decide() -> None:
    curve = survival([long(2, ended=False), long(1)])
    assert curve.last_known_turn == 1
    assert math.isnan(curve.share[2])
    assert math.isnan(curve.median) is False  # half had left after one turn
    gap = length_gap([long(3, ended=False)], [long(3), long(2)])
    assert gap.horizon == 2
    assert gap.beyond == 1


def test_lengths_are_not_compared_if_everybody_was_cut_off_after_one_turn() -> None:
    gap = length_gap([long(1, ended=False), long(1, ended=False)], [long(3), long(2)])
    assert (gap.horizon, gap.beyond) == (0, 1)
    assert math.isnan(gap.ks)
    assert math.isnan(gap.wasserstein)


@given(
    *[st.lists(st.tuples(st.integers(1, 8), st.booleans()), min_size=1, max_size=12)] * 3,
)
def test_groups_cut_to_their_common_horizon_have_the_same_curves(
    a: list[tuple[int, bool]], b: list[tuple[int, bool]], c: list[tuple[int, bool]]
) -> None:
    groups = [[long(n, ended=ended) for n, ended in side] for side in (a, b, c)]
    cut = cut_at_horizon(groups)
    gaps = [length_gap(first, second) for first, second in ((cut[0], cut[1]), (cut[0], cut[2]))]
    turns = min(gap.horizon for gap in gaps)  # a pair of which all have left is known for good
    for before, after in zip(groups, cut):
        whole, part = survival(before).share, survival(after).share
        for t in range(min(turns + 1, part.size)):
            assert part[t] == pytest.approx(whole[t], nan_ok=True)


def test_survival_intervals_cover_the_truth_at_about_their_level() -> None:
    rng = np.random.default_rng(8)
    held = total = 0
    for _ in range(200):
        drawn = [long(int(n), ended=bool(n < 7)) for n in np.minimum(rng.geometric(0.25, size=60), 7)]
        curve = survival(drawn)
        for t in range(1, 6):
            truth = 0.75**t
            total += 1
            held += bool(curve.low[t] <= truth <= curve.high[t])
    assert 0.92 <= held / total <= 0.98


@given(
    st.lists(st.floats(-5, 5), min_size=2, max_size=15, unique=True),
    st.lists(st.floats(5.5, 9), min_size=2, max_size=15, unique=True),
    st.randoms(use_true_random=False),
)
def test_cramer_von_mises_is_that_of_scipy_where_no_scores_are_equal(
    a: list[float], b: list[float], rng: object
) -> None:
    both = [*a, *b]
    np.random.default_rng(len(a)).shuffle(both)
    first, second = both[: len(a)], both[len(a) :]
    assert cramer_von_mises(first, second) == pytest.approx(stats.cramervonmises_2samp(first, second).statistic)


def test_equal_scores_are_one_step_in_any_order() -> None:
    assert cramer_von_mises([0, 0, 1], [0, 1, 1]) == cramer_von_mises([1, 0, 0], [1, 1, 0])
    assert cramer_von_mises([0, 1], [0, 1]) == 0


def test_the_permutation_test_is_uniform_under_no_difference_and_small_under_a_large_one() -> None:
    rng = np.random.default_rng(3)
    same = [score_gap([*rng.random(20)], [*rng.random(15)], rng, permutations=200).p for _ in range(100)]
    assert 0 <= sum(p <= 0.05 for p in same) <= 11
    assert score_gap([*rng.random(40)], [*(rng.random(40) + 0.5)], rng).p == pytest.approx(1 / 2001)
    assert math.isnan(score_gap([math.nan], [1.0], rng).statistic)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_kendall_tau_is_that_of_scipy_ties_and_all(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert math.isnan(kendall_tau(first, second))
    else:
        assert kendall_tau(first, second) == pytest.approx(stats.kendalltau(first, second).statistic)


def scored(quality: dict[str, float], rng: np.random.Generator, *, topics: int = 10) -> list[Dialogue]:
    return [
        Dialogue(f"{system}/{t}", (ActTurn("a"),), True, "", system, f"T{t}", mean + rng.normal(0, 0.1))
        for system, mean in quality.items()
        for t in range(topics)
    ]


def test_a_user_that_ranks_systems_as_people_do_is_a_reliable_tester() -> None:
    rng = np.random.default_rng(2)
    quality = {"A": 0.1, "B": 0.4, "C": 0.6, "D": 0.8, "E": 0.95}
    people = scored(quality, rng)
    same = ranking_agreement(people, scored({name: mean / 2 for name, mean in quality.items()}, rng), rng)
    assert (same.tau, same.resampled, same.note) == (1, "topics", "")
    assert same.low > 0.5
    turned = ranking_agreement(people, scored({name: -mean for name, mean in quality.items()}, rng), rng)
    assert turned.tau == -1


def test_if_every_draw_gives_the_same_order_there_is_no_interval_of_width_zero() -> None:
    rng = np.random.default_rng(2)
    far = {"A": 0.1, "B": 5.0, "C": 9.0}
    found = ranking_agreement(scored(far, rng), scored(far, rng), rng)
    assert found.tau == 1
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert "no interval" in found.note


def test_topics_are_drawn_only_if_both_sides_have_the_same() -> None:
    rng = np.random.default_rng(2)
    quality = {"A": 0.1, "B": 0.4, "C": 0.6}
    found = ranking_agreement(scored(quality, rng), scored(quality, rng, topics=4), rng)
    assert found.resampled == "dialogues"
    assert "agreement by chance is likely" in found.note


def test_one_system_has_no_order() -> None:
    rng = np.random.default_rng(2)
    found = ranking_agreement(scored({"A": 0.5}, rng), scored({"A": 0.5, "B": 1}, rng), rng)
    assert math.isnan(found.tau)
    assert "at least two systems" in found.note
    level = [replace(one, score=0.5) for one in scored({"A": 0.5, "B": 0.7}, rng)]
    assert math.isnan(ranking_agreement(level, level, rng).tau)


def test_users_are_relabelled_and_drawn_with_all_their_dialogues() -> None:
    rng = np.random.default_rng(5)
    found = []
    for _ in range(100):
        sides = [rng.random(12).repeat(4) for _ in range(2)]
        units = [[f"u{n // 4}" for n in range(48)]] * 2
        found.append(
            score_gap(sides[0].tolist(), sides[1].tolist(), rng, units=(units[0], units[1]), permutations=200).p
        )
    assert sum(p <= 0.05 for p in found) <= 11, "taken apart they would be called different far more often"
    quality = {"A": 0.4, "B": 0.45, "C": 0.5}
    several = [replace(one, draws=one.topic) for one in scored(quality, rng)]
    agreed = ranking_agreement(several, scored(quality, rng, topics=4), rng)
    assert agreed.resampled == "users"
