"""What a protocol allows after each turn of a tree: worked by hand for small protocols."""

from typing import Any

import pytest

from harvest.studies.trees.figures import closed_nodes, tree_figures
from recordings.trees.builder import LABEL, TreeBuilder
from recordings.trees.tree import ConversationTree

ASK = {
    "say": "Which?",
    "edges": [
        {"if": "good", "label": "o", "go": "more"},
        {"if": "bad", "label": "x", "stop": "breakdown"},
        {"otherwise": True, "label": "x", "go": "insist"},
    ],
}
LAST = {
    "say": "More?",
    "edges": [
        {"if": "good", "label": "o", "stop": "completed"},
        {"otherwise": True, "label": "x", "stop": "completed"},
    ],
}
TWO = {"start": "ask", "states": {"ask": ASK, "more": LAST, "insist": LAST}, "turn_limit": 2}


def tree(*paths: str) -> ConversationTree:
    """Of conversations such as `ask o more x`: states and labels in turn."""
    builder = TreeBuilder(LABEL)
    for path in paths:
        words = path.split()
        builder.add_path(("system" if place % 2 else "user", word, None) for place, word in enumerate(words))
    return builder.tree()


def names(found: ConversationTree, nodes: dict[int, int]) -> dict[str, int]:
    return {" ".join(found.symbol_at(one).key for one in found.path(node)): ways for node, ways in nodes.items()}


def test_a_turn_decided_by_the_protocol_is_closed_and_an_unseen_one_is_open() -> None:
    one = tree("ask o more o", "ask o more x", "ask x insist x")
    assert names(one, closed_nodes(one, TWO)) == {
        "": 1,
        "ask": 2,
        "ask o": 1,
        "ask o more": 2,
        "ask o more o": 1,
        "ask o more x": 1,
        "ask x insist x": 1,
    }, "after ask x a breakdown was possible, and after insist a useful answer"


def test_with_a_breakdown_next_to_insisting_nothing_else_can_follow() -> None:
    one = tree("ask x", "ask x insist o")
    assert names(one, closed_nodes(one, TWO))["ask x"] == 2


def test_a_turn_limit_ends_branches_that_the_edges_would_continue() -> None:
    loop: dict[str, Any] = {"say": "Again?", "edges": [{"otherwise": True, "label": "x", "go": "loop"}]}
    one = tree("loop x loop x")
    limited = {"start": "loop", "states": {"loop": loop}, "turn_limit": 2}
    assert len(closed_nodes(one, limited)) == len(one)
    assert "loop x loop x" not in names(one, closed_nodes(one, {**limited, "turn_limit": 3}))


@pytest.mark.parametrize(
    "protocol",
    [
        None,
        {},
        {"start": "ask", "states": []},
        {"start": "ask", "states": {"ask": {"user": "people", "edges": ASK["edges"]}}},
        {"start": "ask", "states": {"ask": {"each": "topic.turns", "then": "end", "edges": ASK["edges"][:2]}}},
    ],
)
def test_without_a_protocol_of_its_own_text_nothing_is_known(protocol: object) -> None:
    one = tree("ask o", "ask x")
    assert not {"", "ask o", "ask x"} & {*names(one, closed_nodes(one, protocol))}


def test_an_end_that_the_protocol_does_not_know_leaves_the_turn_open() -> None:
    one = tree("ask o", "ask o more o")
    assert "ask o" not in names(one, closed_nodes(one, TWO)), "the system ended a conversation there"


def test_certain_turns_have_no_interval_and_closed_ones_no_other_branch() -> None:
    one = tree(*["ask o more o"] * 9, *["ask o more x"] * 6, *["ask x"] * 3, *["ask x insist x"] * 5)
    plain, known = tree_figures(one), tree_figures(one, protocol=TWO)
    places = {
        name: node
        for node, name in ((node, " ".join(one.symbol_at(at).key for at in one.path(node))) for node in range(len(one)))
    }
    for name, share in (("ask", "100%"), ("ask o more", "100%")):
        assert plain.words()[places[name]][2].startswith("[")
        assert known.words()[places[name]][::2] == (share, "")
    assert known.words()[places["ask o"]] == plain.words()[places["ask o"]], "answers are not certain"
    assert known.stop_words()[places["ask o more o"]][2] == ""
    assert plain.unseen()[places["ask x"]].startswith("another branch: about ")
    assert known.unseen()[places["ask x"]] == ""
