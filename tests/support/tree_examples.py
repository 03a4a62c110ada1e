"""Conversations made for tests of trees: short texts over a small alphabet, so that many of them meet."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from protocols.answer import Answer
from protocols.route import Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.trees.builder import EXACT, Merging, TreeBuilder
from recordings.trees.tree import ConversationTree


def conversation(
    turns: Sequence[tuple[str, str | None]],
    trial: int = 1,
    *,
    system: str = "B1",
    topic: str = "M002",
    outcome: str | None = "completed",
    labels: Sequence[str] = (),
) -> Conversation:
    """turns: what was said, and the answer (None: none came). labels: of the answers, in order."""
    made = []
    for number, (said, answer) in enumerate(turns, 1):
        label = labels[number - 1] if number <= len(labels) else ""
        route = Route(number, f"state {number}", label, "rule", "1", (), "next") if label else None
        reply = None if answer is None else SystemTurn(Answer(answer))
        made.append(Turn(number, f"state {number}", said, reply, route))
    ended = None if outcome is None else Outcome(outcome)
    return Conversation(TrialKey(system, topic, trial), f"{system} {topic} {trial}", 1, tuple(made), ended)


def tree_of(conversations: Sequence[Conversation], merging: Merging = EXACT) -> ConversationTree:
    builder = TreeBuilder(merging)
    for one in conversations:
        builder.add(one)
    return builder.tree()


TEXTS = st.sampled_from(["a", " a", "a  ", "b", "B", "", "é", "e\u0301", "is Paris", "is not Paris", '\x07<&"\ud800'])
TURNS = st.lists(st.tuples(TEXTS, TEXTS), max_size=4)
OUTCOMES = st.sampled_from(["completed", "breakdown", "invalid", None])


@st.composite
def recordings(draw: st.DrawFn, most: int = 12) -> list[Conversation]:
    """Trials of one system and topic, of which the first is whole; some end with a turn that was not answered."""
    found = []
    for trial in range(1, draw(st.integers(1, most)) + 1):
        answered = draw(TURNS)
        cut_off = draw(st.booleans())
        turns = [
            (said, None if cut_off and place == len(answered) else answer)
            for place, (said, answer) in enumerate(answered, 1)
        ]
        labels = draw(st.lists(st.sampled_from(["o", "x"]), min_size=len(turns), max_size=len(turns)))
        outcome = "completed" if trial == 1 else draw(OUTCOMES)
        found.append(conversation(turns, trial, outcome=outcome, labels=labels))
    return found
