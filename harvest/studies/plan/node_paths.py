"""Find a path in a conversation tree from its printed form, such as `U ask → S o → U more → S o`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harvest.studies.trees.parted_systems import END, end_title, turn_name
from recordings.trees.tree import ConversationTree
from scoring.stochastic.parting import Ends
from topics.counting import pluralize
from topics.errors import InputError

ARROW = " → "

_ARROW = re.compile(r"→|->")
_MOST = 6  # continuations listed in a message


@dataclass(frozen=True, slots=True)
class Way:
    """A continuation from a node of the tree. `branch` is the next node, or the node itself if conversations end
    there. `title` is the printed name, and `taken` the number of trials that took this continuation. `end` is
    the name of the ending; it is "" for a branch or an unknown ending."""

    branch: int
    title: str
    taken: int
    end: str = ""


def find_way(tree: ConversationTree, ends: Ends, text: str) -> tuple[int, Way]:
    """Return the node before the last turn of a path, and the continuation that the last turn names.

    `ends` are the endings of the trials in the tree. `text` has turns as `harvest compare` prints them (speaker and
    name), separated by → or ->. The last turn may be an ending such as `■ breakdown`, or `end` if the node has only
    one kind of ending.

    Raises InputError if no conversation took the path (the message lists similar paths and their frequencies), if
    every conversation that reached the node took the same continuation, and for `end` if there are several kinds of
    ending.
    """
    turns = [" ".join(turn.split()) for turn in _ARROW.split(text)]
    if not all(turns):
        raise InputError(
            f"--node: {text!r} has a turn without a name" if text.strip() else "--node is empty",
            advice='write turns with arrows between them, as harvest compare prints them: "U ask → S o"',
        )
    node = 0
    for turn in turns[:-1]:
        found = next((way for way in _branches(tree, node) if way.title == turn), None)
        if found is None:
            raise _unknown_path(tree, ends, node, turn)
        node = found.branch
    turn, ways = turns[-1], [*_branches(tree, node), *_endings(tree, ends, node)]
    named = [way for way in ways if way.title == turn]
    if not named and turn in ("end", END):
        named = _endings(tree, ends, node)
    if not named:
        raise _unknown_path(tree, ends, node, turn)
    if len(named) > 1:
        raise InputError(
            f"--node: `{turn}` is ambiguous, as conversations end in {len(named)} ways after {_describe(tree, node)}",
            allowed=_list_ways(named),
        )
    if len(ways) < 2:
        several = [node for node in range(len(tree)) if len(tree.children(node)) + len(_endings(tree, ends, node)) > 1]
        several.sort(key=lambda node: (-int(tree.visits[node]), node))
        branching = [f"the ways on from {_describe(tree, one)} ({tree.visits[one]} came)" for one in several[:_MOST]]
        raise InputError(
            f"--node: all {pluralize(int(tree.visits[node]), 'conversation')} that reached {_describe(tree, node)} "
            f"continued with {turn}, so other branches are unknown",
            allowed="; ".join(branching) or "none, because no turn of this run has several continuations",
        )
    return node, named[0]


def _branches(tree: ConversationTree, node: int) -> list[Way]:
    return [Way(branch, turn_name(tree, branch), int(tree.visits[branch])) for branch in tree.children(node)]


def _endings(tree: ConversationTree, ends: Ends, node: int) -> list[Way]:
    first, last = np.searchsorted(ends.node, [node, node + 1]).tolist()
    taken = np.bincount(ends.at[tree.ending_at(node)], minlength=last)[first:last].tolist()
    named = zip(ends.name[first:last], taken, strict=True)
    return [Way(node, end_title(name), count, name) for name, count in named if count]


def _list_ways(ways: Sequence[Way]) -> str:
    shown = [f"{way.title} ({way.taken})" for way in ways[:_MOST]]
    more = [pluralize(len(ways) - _MOST, "other way")] if len(ways) > _MOST else []
    return ", ".join([*shown, *more])


def _unknown_path(tree: ConversationTree, ends: Ends, node: int, turn: str) -> InputError:
    ways = sorted([*_branches(tree, node), *_endings(tree, ends, node)], key=lambda way: -way.taken)
    came = pluralize(int(tree.visits[node]), "conversation")
    return InputError(
        f"--node: none of {came} that reached {_describe(tree, node)} continued with {turn!r}",
        allowed=_list_ways(ways),
        advice="see the paths of conversations: harvest compare, harvest tree",
    )


def _describe(tree: ConversationTree, node: int) -> str:
    return ARROW.join(turn_name(tree, turn) for turn in tree.path(node)) or "the start"
