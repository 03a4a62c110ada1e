"""Ends of conversations: each kind at a node is one of its own, unless it is not known how some trial ended."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.stochastic.parting import find_ends, plain_ends
from scoring.stochastic.transitions import IntervalName, end_shares, transitions
from tests.support.tree_examples import conversation, tree_of


def test_each_kind_of_end_at_a_node_is_an_end_and_every_node_has_one() -> None:
    found = find_ends(4, [3, 1, 1, 3, 1], ["breakdown", "satisfied", "breakdown", "breakdown", "satisfied"])
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
def test_if_it_is_unknown_how_a_trial_ended_all_ends_at_a_node_are_one(names: tuple[str, ...]) -> None:
    found, plain = find_ends(3, [2, 2, 1], names), plain_ends(3)
    assert (found.node.tolist(), found.name) == (plain.node.tolist(), plain.name)
    assert found.at.tolist() == [2, 2, 1]
    np.testing.assert_array_equal(found.count([0, 0, 0], 1), [[0, 1, 2]])


@pytest.mark.parametrize("interval", ["wilson", "jeffreys"])
def test_the_shares_of_the_ends_at_a_node_add_up_to_that_of_stopping(interval: IntervalName) -> None:
    """Two ends have the intervals that two branches would have; an only end has those of stopping."""
    outcomes = ["breakdown"] * 4 + ["turn-limit"] * 3 + ["completed"] * 5
    talks = [
        conversation([("a", "b")], trial, topic=f"T{trial % 3}", outcome=outcome)
        for trial, outcome in enumerate(outcomes, 1)
    ] + [
        conversation([("a", "b"), ("c", "d")], trial, topic=f"T{trial % 3}", outcome="completed")
        for trial in range(20, 26)
    ]
    tree = tree_of(talks)
    for topics in (None, [int(one.key.topic[1:]) for one in tree.trials]):
        found = transitions(tree, interval=interval, topics=topics)
        ends = end_shares(tree, tree.end_names(), found, topics)
        named = dict(zip(zip(ends.ends.node.tolist(), ends.ends.name), zip(ends.k.tolist(), ends.n.tolist())))
        assert named == {
            (2, "breakdown"): (4, 18),
            (2, "completed"): (5, 18),
            (2, "turn-limit"): (3, 18),
            (4, "completed"): (6, 6),
        }
        assert ends.k[ends.ends.node == 2].sum() == tree.stops[2]
        assert (ends.low[3], ends.high[3]) == (found.stop_low[4], found.stop_high[4])
        # The same trials, with an answer in the place of each end.
        branched = tree_of(
            [
                conversation(
                    [("a", "b"), ("c", "d" if len(one.turns) > 1 else one.outcome.kind)],
                    one.key.trial,
                    topic=one.key.topic,
                )
                for one in talks
                if one.outcome is not None
            ]
        )
        others = transitions(branched, interval=interval, topics=topics)
        for place, name in enumerate(("breakdown", "completed", "turn-limit")):
            child = branched.child(3, "system", name)
            assert child is not None
            assert (ends.low[place], ends.high[place]) == pytest.approx((others.low[child], others.high[child]))
