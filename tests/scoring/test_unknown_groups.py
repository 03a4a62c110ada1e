"""What unknown groups could make of DistrSim: never outside the bounds, and the bounds are reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.divergences import DIVERGENCES, distribution_similarity
from scoring.fairness import similarity_bounds

WEIGHTS = st.lists(st.integers(0, 6), min_size=2, max_size=5)


@settings(max_examples=60)
@given(st.sampled_from(["JSD", "RNOD", "NMD"]), st.integers(2, 5), st.data())
def test_no_distribution_of_the_unknown_is_outside_the_bounds(
    divergence: str, groups: int, data: st.DataObject
) -> None:
    weights = st.lists(st.integers(0, 6), min_size=groups, max_size=groups)
    known = np.array(data.draw(weights), dtype=float)
    gold = np.array(data.draw(weights.filter(any)), dtype=float)
    free = data.draw(st.integers(0, 8))
    whole = known.sum() + free
    if not whole:
        return
    known, gold = known / whole, gold / gold.sum()
    worst, best = similarity_bounds(known, gold, divergence)
    rng = np.random.default_rng(0)
    spread = np.concatenate((rng.dirichlet(np.ones(groups), 300), rng.dirichlet(np.full(groups, 0.2), 300)))
    tried = distribution_similarity(known + spread * (free / whole), gold, DIVERGENCES[divergence])
    assert worst - 1e-9 <= tried.min()
    assert tried.max() <= best + 1e-7
    assert best <= tried.max() + 0.15, "no looser than what a random search comes to"
    if not free:
        assert worst == pytest.approx(best)


@pytest.mark.parametrize("divergence", ["JSD", "RNOD", "NMD"])
def test_if_everything_is_unknown_it_could_be_the_gold_distribution(divergence: str) -> None:
    worst, best = similarity_bounds([0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4], divergence)
    assert best == pytest.approx(1)
    assert worst < 0.6


def test_one_known_and_one_unknown_of_two_groups() -> None:
    worst, best = similarity_bounds([0.5, 0], [0.5, 0.5], "JSD")
    assert (worst, best) == pytest.approx((float(distribution_similarity([1, 0], [0.5, 0.5], DIVERGENCES["JSD"])), 1.0))
