"""Topics that turn round: counted by hand, and by chance as often as simulated worlds say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.statistics.flips import count_flips
from topics.identity import generator

SIDES = st.tuples(st.lists(st.booleans(), max_size=6), st.lists(st.booleans(), max_size=6))


def test_a_majority_on_each_side_makes_a_flip() -> None:
    labels = {
        "turned": ([True, True, False], [False, False, True]),
        "kept": ([True, True], [True, False, True]),
        "tied": ([True, False], [False, False]),
        "unseen": ([], [True]),
    }
    found = count_flips(labels)
    assert (found.topics, found.names) == (3, ("turned",))
    assert 0 < found.by_chance < 2


@pytest.mark.parametrize("labels", [{"T": ([], [True])}, {"T": ([True], [False]), "U": ([True], [True])}, {}])
def test_if_trials_do_not_show_chance_there_is_no_figure(
    labels: dict[str, tuple[list[bool], list[bool]]],
) -> None:
    assert math.isnan(count_flips(labels).by_chance)


def test_sides_that_differ_everywhere_are_not_chance() -> None:
    found = count_flips({str(k): ([True] * 3, [False] * 3) for k in range(10)})
    assert len(found.names) == 10
    assert found.by_chance < 1


@given(st.dictionaries(st.text(max_size=3), SIDES, max_size=6))
def test_flips_do_not_depend_on_which_side_is_first(
    labels: dict[str, tuple[list[bool], list[bool]]],
) -> None:
    one = count_flips(labels)
    other = count_flips({topic: (b, a) for topic, (a, b) in labels.items()})
    assert (one.names, one.topics) == (other.names, other.topics)
    assert math.isnan(one.by_chance) or 0 <= one.by_chance <= one.topics + 1e-9


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.3, 0.3), (5, 5), (4, 1)])
@pytest.mark.parametrize("trials", [3, *(pytest.param(n, marks=pytest.mark.soak) for n in (5, 10))])
def test_the_expected_number_of_flips_occurs(a: float, b: float, trials: int) -> None:
    rng, seen, told, topics, worlds = generator(1, "flips"), [], [], 20, 150
    for _ in range(worlds):
        chances = rng.beta(a, b, topics)
        sides = rng.random((2, topics, trials)) < chances[:, None]
        found = count_flips({str(k): (sides[0, k].tolist(), sides[1, k].tolist()) for k in range(topics)})
        seen.append(len(found.names) / topics)
        told.append(found.by_chance / topics)
    error = np.std(np.array(seen) - np.array(told)) / math.sqrt(worlds)
    assert abs(np.mean(seen) - np.mean(told)) <= 0.03 + 2 * error
