"""What a model is asked to find the nuggets of a conversation: one question for each passage."""

from collections.abc import Mapping
from dataclasses import dataclass

from harvest.judging.extraction.prompting import prompt_messages
from recordings.conversations.conversation import Conversation
from scoring.words import Passage, passages
from simulators.outside import Message
from topics.identity import content_hash


@dataclass(frozen=True, slots=True)
class Question:
    """One passage and what is asked about it. key: of the words that are sent, so that a passage that is said again
    after the same words is the same question, and has the same nuggets. about: where it stands first.
    """

    key: str
    passage: Passage
    messages: tuple[Message, ...]
    about: Mapping[str, str | int]


def questions(conversation: Conversation) -> tuple[Question, ...]:
    """Every passage of a conversation that has a word in it, in order; the others have no nugget."""
    found, earlier = [], list[Passage]()
    for passage in passages(conversation):
        if passage.words:
            messages = prompt_messages(passage, earlier)
            key = content_hash("harvest-passage", [[one.role, one.text] for one in messages])
            about: dict[str, str | int] = {"trial": conversation.trial_id, "attempt": conversation.attempt}
            found.append(Question(key, passage, messages, {**about, "turn": passage.turn, "speaker": passage.speaker}))
        earlier.append(passage)
    return tuple(found)
