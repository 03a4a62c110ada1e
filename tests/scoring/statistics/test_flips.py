"""Topics that turn round: counted by hand, and by chance as often as the deals say."""

from __future__ import annotations

import math

import numpy as np
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
    found = count_flips(labels, generator(1, "flips"))
    assert (found.topics, found.names) == (3, ("turned",))
    assert 0 < found.by_chance < 2


def test_without_a_topic_there_is_no_figure() -> None:
    found = count_flips({"T": ([], [True])}, generator(1, "flips"))
    assert (found.topics, found.names) == (0, ())
    assert math.isnan(found.by_chance)
    assert math.isnan(found.p)


@given(st.dictionaries(st.text(max_size=3), SIDES, max_size=5))
def test_the_sides_can_be_exchanged(labels: dict[str, tuple[list[bool], list[bool]]]) -> None:
    one = count_flips(labels, generator(2, "flips"))
    other = count_flips({topic: (b, a) for topic, (a, b) in labels.items()}, generator(2, "flips"))
    assert one.names == other.names
    assert math.isnan(one.p) or 0 < one.p <= 1


def test_arms_that_change_nothing_are_found_in_at_most_one_of_twenty() -> None:
    rng, small = np.random.default_rng(7), 0
    for number in range(200):
        chances = rng.beta(1, 1, 20)
        labels = {str(k): ((rng.random(5) < p).tolist(), (rng.random(5) < p).tolist()) for k, p in enumerate(chances)}
        small += count_flips(labels, generator(number, "flips")).p <= 0.05
    assert small <= 19, "of 200 at 5%, 99 of 100 times"
