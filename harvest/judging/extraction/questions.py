"""The questions that extract the nuggets of a conversation, one for each passage."""

from collections.abc import Mapping
from dataclasses import dataclass

from harvest.judging.extraction.prompting import prompt_messages
from recordings.conversations.conversation import Conversation
from scoring.words import Passage, passages
from simulators.outside import Message
from topics.identity import content_hash


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a passage.

    key: a hash of the messages, so that a passage repeated after the same words is the same question.
    about: the first place where the passage occurs.
    """

    key: str
    passage: Passage
    messages: tuple[Message, ...]
    about: Mapping[str, str | int]


def questions(conversation: Conversation) -> tuple[Question, ...]:
    """Return a question for every passage with at least one word, in order. Other passages have no nuggets."""
    found, earlier = [], list[Passage]()
    for passage in passages(conversation):
        if passage.words:
            messages = prompt_messages(passage, earlier)
            key = content_hash("harvest-passage", [[one.role, one.text] for one in messages])
            about: dict[str, str | int] = {"trial": conversation.trial_id, "attempt": conversation.attempt}
            found.append(Question(key, passage, messages, {**about, "turn": passage.turn, "speaker": passage.speaker}))
        earlier.append(passage)
    return tuple(found)
