"""How often trials are drawn, where topics and then trials of each are drawn with replacement."""

import numpy as np
import pytest

from scoring.statistics.two_levels import two_level_counts


@pytest.mark.parametrize(("topics", "trials"), [(6, 4), (3, 1), (1, 5), (2, 300)])
def test_counts_of_two_levels_have_the_moments_of_drawing_topics_and_then_trials(topics: int, trials: int) -> None:
    size = max(4_000, 400_000 // (topics * trials))
    drawn = two_level_counts(np.random.default_rng(4), np.full(topics, trials), size).astype(float)
    assert drawn.shape == (topics * trials, size)
    assert (drawn.sum(axis=0) == topics * trials).all(), "each replication has as many trials as the data"
    by_topic = drawn.reshape(topics, trials, size).sum(axis=1)
    assert (by_topic % trials == 0).all(), "and whole topics"
    # A topic is drawn Binomial(T, 1/T) times, and each of its draws gives a trial Binomial(n, 1/n) times.
    apart = drawn - 1
    assert np.mean(apart**2) == pytest.approx(2 - 1 / topics - 1 / trials, rel=0.05, abs=1e-12)
    assert np.mean((by_topic / trials - 1) ** 2) == pytest.approx(1 - 1 / topics, rel=0.05, abs=1e-12)
    within = drawn.reshape(topics, trials, size)
    shared = [within[0, 0] * within[0, -1], within[0, 0] * within[-1, -1]]
    same, other = 2 - 1 / topics - 1 / trials, 1 - 1 / topics  # E[often²·n²]/n² less the draws that are one trial's
    if trials > 1:
        assert np.mean(shared[0]) == pytest.approx(same, abs=0.15)
    if topics > 1:
        assert np.mean(shared[1]) == pytest.approx(other, abs=0.15)


def test_topics_with_different_numbers_of_trials_draw_as_many_as_they_have() -> None:
    drawn = two_level_counts(np.random.default_rng(5), np.array([3, 1]), 20_000).astype(int)
    assert (drawn[4:] == 0).all(), "the second topic has one trial"
    assert np.isin(drawn[:3].sum(axis=0), (0, 3, 6)).all()
    assert (drawn[:3].sum(axis=0) // 3 + drawn[3] == 2).all()
    assert drawn[:4].mean(axis=1) == pytest.approx([1, 1, 1, 1], abs=0.04)
