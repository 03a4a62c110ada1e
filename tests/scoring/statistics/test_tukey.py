"""Randomised Tukey HSD: by hand, by every permutation, and how often it errs."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest

from scoring.statistics.exchange import exchange_p
from scoring.statistics.tukey import group_letters, tukey_p, undistinguished_sets
from tests.support.compared_worlds import allowed_errors, drawn_shares, drawn_systems


def test_for_two_systems_it_is_the_p_of_exchanging_the_sides() -> None:
    values = np.random.default_rng(1).random((7, 2))
    p = tukey_p(values, np.random.default_rng(2))
    assert p[0, 1] == p[1, 0] == exchange_p(values[:, 0] - values[:, 1], np.random.default_rng(3))
    assert np.isnan(tukey_p(values[:1], np.random.default_rng(2))[0, 1])


def test_three_systems_agree_with_all_permutations_and_use_the_worst_hypothesis() -> None:
    values = np.random.default_rng(4).random((4, 3)) + np.array([0.0, 0.1, 0.8])
    orders = list(permutations(range(3)))
    every = np.array(
        [
            np.ptp(np.mean([row[list(order)] for row, order in zip(values, chosen)], axis=0))
            for chosen in product(orders, repeat=4)
        ]
    )
    of_all = (every >= np.ptp(values.mean(axis=0)) - 1e-12).mean()
    p = tukey_p(values, np.random.default_rng(5))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        own = exchange_p(values[:, one] - values[:, other], np.random.default_rng(6))
        assert p[one, other] == pytest.approx(max(own, of_all), abs=4 * math.sqrt(of_all * (1 - of_all) / 4999))


def test_two_pairs_share_the_error_rate_if_four_systems_may_be_alike_in_pairs() -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(size=(10, 1)) + rng.normal(0, 0.01, (10, 4)) + np.array([0.0, 0.0, 5.0, 5.0])
    values[:, 1] += 0.006
    p = tukey_p(values, np.random.default_rng(8))
    first = exchange_p(values[:, 0] - values[:, 1], rng)
    second = exchange_p(values[:, 2] - values[:, 3], rng)
    assert p[0, 1] == max(first, min(1, 2 * first, 2 * second))
    assert p[0, 2] < 0.01, "one far from the other two"


def test_more_than_six_systems_are_tested_together() -> None:
    values = np.random.default_rng(9).random((12, 7))
    values[:, 6] += 2
    p = tukey_p(values, np.random.default_rng(1), draws=199)
    assert p[0, 6] == 1 / 200
    assert p[0, 1] > 0.5
    assert (p == p.T).all()


def test_systems_that_cannot_be_told_apart_share_a_letter_and_others_do_not() -> None:
    p = np.ones((4, 4))
    p[0, 3] = p[3, 0] = p[0, 2] = p[2, 0] = 0.01
    sets = undistinguished_sets(p, 0.05)
    assert sets == ((0, 1), (1, 2, 3))
    assert group_letters(sets, [3, 2, 1, 0]) == ["b", "ab", "a", "a"]
    assert undistinguished_sets(np.full((2, 2), np.nan), 0.05) == ((0, 1),)
    for seed in range(20):
        drawn = np.random.default_rng(seed).random((6, 6))
        drawn = np.maximum(drawn, drawn.T)
        names = group_letters(undistinguished_sets(drawn, 0.6), list(range(6)))
        for one in range(6):
            for other in range(one):
                assert bool(set(names[one]) & set(names[other])) == (drawn[one, other] > 0.6)


def errors(replications: int, topics: int, icc: float, far: float, trials: tuple[int, ...], draws: int) -> int:
    """How often a difference is found among systems that are alike. far: of the last system from them."""
    rng, wrong = np.random.default_rng(11), 0
    alike = len(trials) - 1 if far else len(trials)
    for _ in range(replications):
        chances = np.tile(drawn_shares(rng, topics, icc)[:, None], len(trials))
        if far:
            chances[:, -1] = np.clip(chances[:, -1] - far, 0, 1)
        p = tukey_p(drawn_systems(rng, chances, trials).values, rng, draws=draws)
        wrong += bool((p[:alike, :alike] <= 0.05).any())
    return wrong


@pytest.mark.parametrize("icc", [0.45, *(pytest.param(icc, marks=pytest.mark.soak) for icc in (0.0, 0.8))])
@pytest.mark.parametrize("far", [0.0, 0.4])
def test_similar_systems_are_seldom_told_apart(icc: float, far: float) -> None:
    assert errors(60, 15, icc, far, (5, 5, 5, 5), draws=199) <= allowed_errors(60, 0.05)


@pytest.mark.soak
@pytest.mark.parametrize("icc", [0.0, 0.45, 0.8])
@pytest.mark.parametrize("far", [0.0, 0.4])
@pytest.mark.parametrize("trials", [(5, 5, 5, 5), (2, 20, 5, 5)])
@pytest.mark.parametrize("topics", [15, 45])
def test_the_family_error_of_a_thousand_comparisons(
    topics: int, icc: float, far: float, trials: tuple[int, ...]
) -> None:
    wrong = errors(1000, topics, icc, far, trials, draws=999)
    print(f"{topics} topics, ICC {icc}, {trials}, one off by {far}: {wrong / 1000}")
    assert wrong <= allowed_errors(1000, 0.05, 0.01)


def test_a_real_difference_is_found_next_to_a_distant_system() -> None:
    rng, closed, plain = np.random.default_rng(13), 0, 0
    for _ in range(30):
        base = drawn_shares(rng, 30, 0.45)
        chances = np.clip(np.stack([base, base, base - 0.12, base - 0.6], axis=1), 0, 1)
        values = drawn_systems(rng, chances, (10, 10, 10, 10)).values
        closed += tukey_p(values, rng, draws=199)[0, 2] <= 0.05
        means = values.mean(axis=0)
        drawn = np.ptp(rng.permuted(np.tile(values, (199, 1, 1)), axis=2).mean(axis=1), axis=1)
        plain += (1 + (drawn >= abs(means[0] - means[2])).sum()) / 200 <= 0.05
    assert closed > plain + 8
