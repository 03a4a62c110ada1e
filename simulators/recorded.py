"""The recorded user: takes the turns that were recorded, as often as they were, and leaves where the recording ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from protocols.answer import Answer
from protocols.route import Say, Stop
from recordings.trees.keys import exact_form
from recordings.trees.tree import ConversationTree
from simulators.user import State
from topics.errors import InputError
from topics.topic import Topic

if TYPE_CHECKING:
    import numpy

__all__ = ["NO_BRANCH", "RECORDED_END", "RecordedUser", "exact_answer"]

NO_BRANCH = "no-branch"
"""Reason of the stop where the system's answer is in no branch: what a user would say next was not recorded."""

RECORDED_END = "recorded-end"
"""Reason of the stop where a recorded trial ended."""


def exact_answer(answer: Answer) -> str:
    """The key of an answer in a tree that was merged by exact words."""
    return exact_form(answer.text)


class RecordedUser:
    """Plays the user's side of recorded trees. After the same conversation it says what was said then, or ends, each
    with its recorded probability; it says the text that stands at the branch.

    trees: by topic id, user and system turns alternating. answer_key: the system's merge key of those trees, as a
    function of the answer alone. Raises InputError for a tree whose turns do not alternate.
    """

    name = "recorded"

    def __init__(
        self, trees: Mapping[str, ConversationTree], answer_key: Callable[[Answer], str] = exact_answer
    ) -> None:
        for topic, tree in trees.items():
            for node in range(1, len(tree)):
                before = tree.speaker(int(tree.parent[node])) or "system"
                if tree.speaker(node) == before:
                    raise InputError(
                        f"the tree of topic {topic} cannot be played: two {before} turns follow one another",
                        allowed="user and system turns in alternation, the user's first",
                    )
        self._trees, self._answer_key = trees, answer_key

    def start(self, topic: Topic, rng: numpy.random.Generator) -> State:
        """The memory before anything was said. Raises InputError for a topic that has no tree."""
        if topic.id not in self._trees:
            raise InputError(f"no tree of topic {topic.id!r} is recorded", allowed=", ".join(sorted(self._trees)))
        return {"topic": topic.id, "node": 0, "turn": 0, "over": False}

    def respond(self, state: State, answer: Answer | None, rng: numpy.random.Generator) -> tuple[Say | Stop, State]:
        """The next turn after `answer` (None: open the conversation), and the memory after it.

        Stops with the outcome `user-stopped` and the reason `recorded-end` or `no-branch`. Raises ValueError where the
        memory waits for an answer and none is given, or the other way round, or the conversation is over.
        """
        match state:
            case {"topic": str(topic), "node": int(node), "turn": int(turn), "over": bool(over)} if (
                topic in self._trees
            ):
                tree = self._trees[topic]
            case _:
                raise ValueError("not a memory of a recorded user")
        if over:
            raise ValueError("the conversation is over")
        if (answer is None) != (turn == 0):
            raise ValueError("the conversation is not open" if turn == 0 else "an answer is needed to go on")
        if answer is not None:
            found = tree.child(node, "system", self._answer_key(answer))
            if found is None:
                return Stop("user-stopped", NO_BRANCH), {**state, "over": True}
            node = found
        # One draw among the trials that came here: each stands for where it went on, or for ending here.
        drawn = int(rng.integers(int(tree.visits[node])))
        for branch in tree.children(node):
            if drawn < tree.visits[branch]:
                words = tree.symbol_at(branch).text
                return Say(words, "recorded", turn + 1), {**state, "node": branch, "turn": turn + 1}
            drawn -= int(tree.visits[branch])
        return Stop("user-stopped", RECORDED_END), {**state, "node": node, "over": True}
