"""A recorded conversation as the detector of breakdown looks at it."""

from protocols.breakdown.features import Utterance
from recordings.conversations.conversation import Conversation


def utterances_of(conversation: Conversation) -> tuple[tuple[Utterance, ...], dict[int, int]]:
    """What both sides said, and by number of the turn the place of each answer in it."""
    found: list[Utterance] = []
    places = {}
    for turn in conversation.turns:
        found.append(Utterance("U", turn.said))
        if turn.reply is not None:
            places[turn.number] = len(found)
            found.append(Utterance("S", turn.reply.answer.text))
    return tuple(found), places
