"""Recorded conversations as input of the breakdown detector."""

from protocols.breakdown.features import Utterance
from recordings.conversations.conversation import Conversation


def utterances_of(conversation: Conversation) -> tuple[tuple[Utterance, ...], dict[int, int]]:
    """Return the utterances of both sides in order, and for each turn number the index of its answer among them."""
    found: list[Utterance] = []
    places = {}
    for turn in conversation.turns:
        found.append(Utterance("U", turn.said))
        if turn.reply is not None:
            places[turn.number] = len(found)
            found.append(Utterance("S", turn.reply.answer.text))
    return tuple(found), places
