"""The ways in which a recorded protocol lets a conversation go on after each turn of a tree."""

from collections.abc import Mapping
from typing import Any

from recordings.trees.tree import ConversationTree

_STOP = ""  # the way that ends the conversation


def closed_nodes(tree: ConversationTree, protocol: object) -> dict[int, int]:
    """Return, for each node after which trials took every way that the protocol allows, the number of these ways.

    `protocol` is the protocol of a run as its header records it. Only trees that merge user turns by state and answers
    by label have such nodes, and only states in which the protocol itself speaks. A node is left out if trials went a
    way that the protocol does not know, for example because the system ended the conversation.
    """
    states = protocol.get("states") if isinstance(protocol, dict) else None
    keys = {key.speaker: key.name for key in tree.keys}
    if not isinstance(protocol, dict) or not isinstance(states, dict) or keys != {"user": "state", "system": "label"}:
        return {}
    limit = protocol.get("turn_limit")
    found = {}
    for node in range(len(tree)):
        seen = {tree.symbol_at(child).key for child in tree.children(node)}
        seen |= {_STOP} if tree.stops[node] else set()
        if seen and seen == _ways(tree, node, protocol, states, limit if isinstance(limit, int) else None):
            found[node] = len(seen)
    return found


def _ways(
    tree: ConversationTree, node: int, protocol: Mapping[str, Any], states: Mapping[str, Any], limit: int | None
) -> set[str] | None:
    """Return the keys of the possible next turns, with `_STOP` for an end, or None if they are not known."""
    if node == 0:
        return _entered({str(protocol.get("start"))}, states)
    if tree.speaker(node) == "user":
        return {str(edge.get("label")) for edge in _edges(states, tree.symbol_at(node).key)} or None
    asked, label = int(tree.parent[node]), tree.symbol_at(node).key
    if tree.speaker(asked) != "user":
        return None
    if limit is not None and sum(tree.speaker(one) == "user" for one in tree.path(node)) == limit:
        return {_STOP}
    edges = [edge for edge in _edges(states, tree.symbol_at(asked).key) if edge.get("label") == label]
    targets = {str(edge["go"]) if "go" in edge else _STOP for edge in edges}
    return _entered(targets, states) if targets else None


def _entered(targets: set[str], states: Mapping[str, Any]) -> set[str] | None:
    """Return the targets, or None if the protocol does not speak in one of them itself."""
    scripted = all(isinstance(states.get(one), dict) and "say" in states[one] for one in targets - {_STOP})
    return targets if scripted else None


def _edges(states: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the edges of a state, or [] unless the last one takes every answer."""
    state = states.get(name)
    edges = state.get("edges") if isinstance(state, dict) else None
    known = isinstance(edges, list) and bool(edges) and isinstance(edges[-1], dict) and "otherwise" in edges[-1]
    return edges if known and edges is not None else []
