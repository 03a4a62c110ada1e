"""A recorded run as a branching system, which answers as the run did after the same conversation.

The trials of a topic form a tree by exact text. Each answer is taken from a trial that is drawn from all trials that
reached this turn. So every branch is taken with its recorded probability, and more trials can be played than were
recorded. If the user says something that was not said at this point of the recording, the attempt ends, because answers
are never invented.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from harvest.drivers.received import excerpt
from harvest.systems.driver import Capabilities, NothingHeld, Opening, Reply, Unanswered
from protocols.answer import Offer
from recordings.conversations.conversation import Conversation
from recordings.trees.builder import EXACT, TreeBuilder, exact_form
from recordings.trees.tree import ConversationTree
from topics.counting import pluralize
from topics.identity import generator

if TYPE_CHECKING:
    import numpy


class BranchingReplay(NothingHeld):
    """Driver for the recorded branches of one system. `recorded` has the complete conversations by topic, sorted.
    `topics` maps the topic ids of the audit to the topic ids of the recording."""

    def __init__(self, recorded: Mapping[str, Sequence[Conversation]], topics: Mapping[str, str], run: str) -> None:
        self._topics, self._run = topics, run
        self._trees: dict[str, tuple[ConversationTree, Sequence[Conversation]]] = {}
        for topic, conversations in recorded.items():
            builder = TreeBuilder(EXACT)
            for conversation in conversations:
                builder.add(conversation)
            self._trees[topic] = builder.tree(), conversations

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            stateful=True, no_return="a recorded tree has no branch that begins in a new session", presses=True
        )

    async def open(self, opening: Opening) -> "_Session":
        """Open a conversation. Raises Unanswered (`not-recorded`) if the run has no complete trial of the topic."""
        topic = self._topics.get(opening.topic, opening.topic)
        if topic not in self._trees:
            raise Unanswered("not-recorded", f"{self._run} has no complete conversation on topic {topic}")
        return _Session(*self._trees[topic], generator(opening.seed, "branches"))


class _Session(NothingHeld):
    def __init__(
        self, tree: ConversationTree, conversations: Sequence[Conversation], rng: "numpy.random.Generator"
    ) -> None:
        self._tree, self._conversations, self._rng = tree, conversations, rng
        self._node, self._turns = 0, 0

    async def press(self, offer: Offer) -> Reply:
        return await self.say(offer.title)

    async def say(self, text: str) -> Reply:
        """Return a recorded reply. Raises Unanswered with the reason `diverged` if no recorded user turn continues the
        conversation with this text, or with the reason `not-recorded` if the drawn trial has no answer to the text."""
        tree, number = self._tree, self._turns + 1
        asked = tree.child(self._node, "user", exact_form(text))
        if asked is None:
            raise Unanswered("diverged", f"turn {number}: {self._known_turns()}; now {excerpt(text, 80)!r}")
        trials = tree.through(asked)
        trial = int(trials[self._rng.integers(len(trials))])
        end = int(tree.ends[trial])
        if end == asked:
            ended = f"{tree.stops[asked]} of {pluralize(len(trials), 'trial')}"
            raise Unanswered("not-recorded", f"turn {number} was asked in the recording but never answered in {ended}")
        self._node = next(node for node in tree.children(asked) if node <= end < node + tree.size[node])
        self._turns = number
        reply = self._conversations[trial].turns[number - 1].reply
        assert reply is not None  # a trial that goes on after a user turn has its answer
        # Evidence stays in the run it was recorded in: its addresses mean nothing in another folder.
        return Reply(replace(reply, evidence=MappingProxyType({})))

    def _known_turns(self) -> str:
        tree = self._tree
        branches = tree.children(self._node)
        trials = pluralize(int(tree.visits[self._node]), "trial")
        if not branches:
            return f"the recording ends here ({trials})"
        said = ", ".join(repr(excerpt(tree.symbol_at(node).text, 60)) for node in branches[:3])
        return f"recorded after this conversation ({trials}): {said}{', …' if len(branches) > 3 else ''}"
