"""Attempts that were lost: where shares differ, a winner is one within the bounds of what was lost."""

import numpy as np
import pytest

from scoring.comparison.compared_pairs import compare_pairs
from scoring.comparison.pairs import Pair
from scoring.inference.aligned import Aligned, Cell, Trial, align
from scoring.inference.losses import LostTrials, fill_losses, join_losses, losses_matter
from tests.support.compared_worlds import lost_whole

TOPICS = [f"T{row:02}" for row in range(45)]


def compared(useful: dict[str, np.ndarray], kept: dict[str, np.ndarray]) -> Pair:
    """Two systems, of whose answers only some were kept."""
    cells: dict[str, dict[Trial, Cell]] = {
        name: {
            (TOPICS[row], trial): (float(values[row, trial]), 1.0)
            for row, trial in np.ndindex(values.shape)
            if kept[name][row, trial]
        }
        for name, values in useful.items()
    }
    lost = {
        name: lost_whole(
            {topic: int((~kept[name][row]).sum()) for row, topic in enumerate(TOPICS)}, (0.0, 1.0), (1.0, 1.0)
        )
        for name in useful
    }

    def extreme(low: str, high: str) -> Aligned:
        ends = {
            low: fill_losses(cells[low], lost[low], high=False),
            high: fill_losses(cells[high], lost[high], high=True),
        }
        return align(TOPICS, list(useful), ends, pooled=False)

    found = compare_pairs(
        "%useful",
        1,
        align(TOPICS, list(useful), cells, pooled=False),
        np.random.default_rng(1),
        estimand="like-these",
        level=0.95,
        good="high",
        reach=1.0,
        lost=lost,
        extreme=extreme,
    )
    return found.pairs[0]


def drawn(seed: int, rates: tuple[float, float]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    chances = np.clip(rng.beta(2, 1.4, (45, 1)), 0, 1)
    return {name: rng.random((45, 5)) < np.clip(chances + more, 0, 1) for name, more in zip("AB", rates, strict=True)}


def test_a_system_that_loses_half_of_its_failures_does_not_win() -> None:
    """F4: alike systems, half of the failures of B are lost."""
    useful, rng = drawn(3, (0.0, 0.0)), np.random.default_rng(4)
    kept = {"A": np.ones((45, 5), dtype=bool), "B": useful["B"] | (rng.random((45, 5)) < 0.5)}
    pair = compared(useful, kept)
    assert pair.verdict == "cannot tell"
    assert "lost different shares" in pair.why
    assert pair.bounds is not None
    assert min(pair.bounds) <= pair.value <= max(pair.bounds)
    assert pair.interval.low < min(pair.bounds) < max(pair.bounds) < pair.interval.high
    assert pair.interval.contains(0)


def test_a_difference_that_no_loss_could_reverse_is_still_found() -> None:
    useful, rng = drawn(3, (0.3, -0.5)), np.random.default_rng(4)
    kept = {"A": np.ones((45, 5), dtype=bool), "B": useful["B"] | (rng.random((45, 5)) < 0.8)}
    pair = compared(useful, kept)
    assert pair.bounds is not None
    assert pair.verdict == "better"


def test_equal_losses_leave_the_comparison_unchanged_if_they_are_few() -> None:
    useful, rng = drawn(3, (0.3, -0.5)), np.random.default_rng(4)
    for stays, bounded in ((0.995, False), (0.97, True)):
        kept = {name: rng.random((45, 5)) < stays for name in "AB"}
        assert (compared(useful, kept).bounds is not None) == bounded


def test_equal_shares_of_different_lost_answers_tell_no_similar_systems_apart() -> None:
    """A loses 30% of its successes, B as much of its failures: by what is left, one study in two has a winner."""
    wrong, rng = 0, np.random.default_rng(8)
    for seed in range(30):
        useful = {name: rng.random((45, 5)) < np.random.default_rng(seed).beta(4, 4, (45, 1)) for name in "AB"}
        stays = rng.random((45, 5)) < 0.7
        kept = {"A": ~useful["A"] | stays, "B": useful["B"] | stays}
        wrong += compared(useful, kept).verdict != "cannot tell"
    assert wrong <= 3


@pytest.mark.parametrize(
    ("lost", "kept", "wanted"),
    [
        ((0, 0), (225, 225), False),
        ((2, 2), (223, 223), False),
        ((8, 10), (217, 215), True),
        ((20, 22), (205, 203), True),
        ((0, 49), (225, 176), True),
        ((4, 0), (71, 75), True),
    ],
)
def test_shares_differ_by_a_generous_test_and_only_few_may_be_lost_equally(
    lost: tuple[int, int], kept: tuple[int, int], wanted: bool
) -> None:
    assert losses_matter(lost, kept) is wanted


def test_losses_of_two_topic_sets_are_those_of_both() -> None:
    none = LostTrials({("T01", 1): (0.0, 1.0)}, {("T01", 1): (1.0, 1.0)}, [("T01", 1)])
    answers = LostTrials({("T02", 1): (0.0, 1.0)}, {("T02", 1): (1.0, 1.0)}, depends=True)
    beside = LostTrials({("T03", 1): (0.0, 1.0)}, {("T03", 1): (1.0, 1.0)})
    users = LostTrials(
        {("T03", 1): (0.0, 1.0), ("T03", 2): (0.0, 1.0)},
        {("T03", 1): (1.0, 1.0), ("T03", 2): (1.0, 1.0)},
        depends=True,
        why=("users spoke otherwise",),
        others={"B"},
        beside_others=beside,
    )
    both = join_losses([none, answers])
    assert (set(both.low), set(both.high)) == ({("T01", 1), ("T02", 1)},) * 2
    assert (list(both.valued), both.depends, both.why) == ([("T01", 1)], True, answers.why)
    assert both.losses_in_comparison("C") is both
    both = join_losses([none, users])
    assert (both.depends, both.why, set(both.others)) == (True, users.why, {"B"})
    assert both.losses_in_comparison("B") is both
    other = both.losses_in_comparison("C")
    assert (other.depends, set(other.low)) == (False, {("T01", 1), ("T03", 1)})
    every = join_losses([answers, users])
    assert (every.others, every.losses_in_comparison("C"), len(every.why)) == (frozenset(), every, 2)
