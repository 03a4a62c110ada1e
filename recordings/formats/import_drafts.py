"""A conversation of a file on its way into a run, and how it is identified: see `recordings.formats.import_numbers`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recordings.conversations.conversation import Conversation
from recordings.formats.message_shapes import Record
from recordings.secrets.redaction import Redactor
from topics.identity import content_hash

Known = Literal["number", "id", "time", "file"]
# What was said in each turn, and what was answered; None for no answer.
Words = Sequence[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A conversation of a file. Its trial is 0 until it gets a number, unless it has one. name: the id or the instant
    that identifies it; "" for neither."""

    conversation: Conversation
    known: Known
    record: Record
    name: str = ""


class Identity:
    """Identifies conversations without a number. Secrets are not part of the identity, because it stays in the
    recording."""

    def __init__(self) -> None:
        self._redactor = Redactor()

    def __call__(self, system: str, topic: str, *names: str, words: Words = ()) -> str:
        return identity_of(system, topic, *names, words=self.cleaned(words))

    def cleaned(self, words: Words) -> Words:
        """Return the words as a recording stores them."""
        clean = self._redactor.text
        return [(clean(said), None if answered is None else clean(answered)) for said, answered in words]


def identity_of(system: str, topic: str, *names: str, words: Words = ()) -> str:
    """Return the identity of a conversation whose words are without secrets, as in recordings."""
    return content_hash("imported", {"system": system, "topic": topic, "names": names, "words": list(map(list, words))})


def words_of(conversation: Conversation) -> Words:
    return [(turn.said, None if turn.reply is None else turn.reply.answer.text) for turn in conversation.turns]
