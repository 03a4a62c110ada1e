"""Ends of conversations: each kind at a node is one of its own, unless it is not known how some trial ended."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.stochastic.ends import ends_of, plain_ends


def test_each_kind_of_end_at_a_node_is_an_end_and_every_node_has_one() -> None:
    found = ends_of(4, [3, 1, 1, 3, 1], ["breakdown", "satisfied", "breakdown", "breakdown", "satisfied"])
    assert list(zip(found.node.tolist(), found.name)) == [
        (0, ""),
        (1, "breakdown"),
        (1, "satisfied"),
        (2, ""),
        (3, "breakdown"),
    ]
    assert found.at.tolist() == [4, 2, 1, 4, 2]
    assert found.count([0, 0, 1, 1, 1], 2).tolist() == [[0, 0, 1, 0, 1], [0, 1, 1, 0, 1]]
    assert found.find(1, "satisfied") == 2
    with pytest.raises(ValueError):
        found.find(3, "satisfied")


@pytest.mark.parametrize("names", [(), ("breakdown", "", "satisfied")])
def test_where_it_is_not_known_how_a_trial_ended_all_ends_at_a_node_are_one(names: tuple[str, ...]) -> None:
    found, plain = ends_of(3, [2, 2, 1], names), plain_ends(3)
    assert (found.node.tolist(), found.name) == (plain.node.tolist(), plain.name)
    assert found.at.tolist() == [2, 2, 1]
    np.testing.assert_array_equal(found.count([0, 0, 0], 1), [[0, 1, 2]])
