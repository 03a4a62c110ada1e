"""Search for the list of messages in a record that is its conversation.

Logs of models have several lists of messages: `input` and `output`, `prompt`, `chosen` and `rejected`, a request and
its response. Each list is a part or another version of one conversation. If the lists were read as separate
conversations, the conversation would count twice, or a question would lose its answer. So a list that is contained in
another list of the record is dropped. If more than one list is left, the record is refused.
"""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recordings.files.json_text import Json
from recordings.formats.message_sides import is_message, words_by_side
from topics.errors import InputError

# Keys under which programs keep the messages of a conversation.
LISTS = ("messages", "conversation", "conversations")

_ANSWER_WORDS = frozenset(
    ("response", "responses", "completion", "completions", "output", "outputs", "reply", "replies", "chosen")
)
# Words in the names of parts or versions of a conversation.
_PART_WORDS = _ANSWER_WORDS | {
    *("input", "inputs", "prompt", "prompts", "request", "requests", "query", "question", "answer", "answers"),
    *("rejected", "preferred", "dispreferred", "expected", "reference", "ideal", "target", "candidate", "candidates"),
    *("generation", "generations", "before", "after", "winner", "loser", "positive", "negative", "choices"),
}
# Lists and single messages of a record that are compared with one another: each with each.
_MOST_LISTS = 200


@dataclass(frozen=True, slots=True)
class MessageList:
    """A list of messages in a record. `path` has the keys that lead to the list, and `owner` is the object that
    contains it. `said` has the side and the text of each message."""

    path: tuple[str | int, ...]
    messages: Sequence[Json]
    owner: Mapping[str, Any]
    said: list[tuple[str, str]] = field(repr=False)

    @property
    def name(self) -> str:
        return ".".join(map(str, self.path))

    @property
    def is_own(self) -> bool:
        """True if the list is in the record itself, under a key for conversations."""
        return len(self.path) == 1 and self.path[0] in LISTS

    @property
    def is_answered(self) -> bool:
        return bool(self.said) and self.said[-1][0] == "assistant"


def are_messages(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and is_message(value[0])


def is_part_name(*names: str | int) -> bool:
    """Return True if the keys name a part of a conversation, such as `input` or `model_output`."""
    return bool(_PART_WORDS & _words(*names))


def find_conversation(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the record as an object with `messages`, or None if it has no messages. Values next to the messages, and
    in the objects on the path to them, become members of the object, so that the record's id is kept. Raises
    InputError, without a place, if it is unclear which list is the conversation."""
    every = [one for one in find_message_lists(record) if one.said]
    if len(every) > _MOST_LISTS:
        every = [one for one in every if all(isinstance(key, str) for key in one.path)][:_MOST_LISTS]
    left = [one for i, one in enumerate(every) if not _is_contained(one, i, every)]
    own = sorted((one for one in left if one.is_own), key=lambda one: LISTS.index(str(one.path[0])))
    if not left:
        # No list has any words; prefer one that is not empty.
        empty = sorted((key for key in LISTS if isinstance(record.get(key), list)), key=lambda key: not record[key])
        if not empty:
            return None
        return {**{one: record[one] for one in record if one != empty[0]}, "messages": record[empty[0]]}
    chosen = own[0] if own else left[0]
    answers = [one for one in left if one is not chosen and any(side == "assistant" for side, _ in one.said)]
    if (not own and len(left) > 1) or (answers and not chosen.is_answered):
        names = ", ".join(one.name for one in left[:8])
        raise _refusal(f"the record has several lists of messages, and no list contains all the others: {names}")
    begun = [one for one in every if one is not chosen and chosen.said[: len(one.said)] == one.said]
    if not own and not begun and (chosen.path[-1] not in LISTS or is_part_name(*chosen.path[:-1])):
        if chosen.path[-1] not in LISTS and not is_part_name(*chosen.path):
            return None
        raise _refusal(f"the list of messages {chosen.name} is only a part of the conversation in this record")
    if not chosen.is_answered and (name := _outside_answer_key(record, chosen, every)):
        raise _refusal(f"the messages of this record end with the user, but {name!r} outside them may be the answer")
    return _lift_fields(record, chosen, begun)


def find_message_lists(record: Mapping[str, Any], without: Container[tuple[str | int, ...]] = ()) -> list[MessageList]:
    """Return every list of messages in the record, and every message outside a list, in order of depth. Paths in
    `without` are skipped."""
    found: list[MessageList] = []
    open_: list[tuple[tuple[str | int, ...], Json, Mapping[str, Any]]] = [((), record, record)]
    for path, value, owner in open_:  # grows while it is gone through
        if path in without:
            continue
        if isinstance(value, dict):
            if path and is_message(value) and {"content", "value"} & value.keys():
                found.append(MessageList(path, [value], owner, words_by_side([value])))
            else:
                open_ += [((*path, key), one, value) for key, one in value.items() if isinstance(one, (dict, list))]
        elif isinstance(value, list):
            if are_messages(value):
                found.append(MessageList(path, value, owner, words_by_side(value)))
            else:
                open_ += [((*path, at), one, owner) for at, one in enumerate(value) if isinstance(one, (dict, list))]
    return found


def _is_contained(one: MessageList, at: int, every: Sequence[MessageList]) -> bool:
    """Return True if another list contains all messages of this list in a row. Of equal lists, the first is kept."""
    length = len(one.said)
    return any(
        other is not one
        and length <= len(other.said)
        and (length < len(other.said) or i < at)
        and any(other.said[start : start + length] == one.said for start in range(len(other.said) - length + 1))
        for i, other in enumerate(every)
    )


def _outside_answer_key(record: Mapping[str, Any], chosen: MessageList, every: Sequence[MessageList]) -> str:
    """Return a key outside the messages whose name suggests a further answer, or "" if there is no such key."""
    known = {one.path[0] for one in every}
    answers = [text for side, text in chosen.said if side == "assistant"]
    beside = {key: value for holder in (record, chosen.owner) for key, value in holder.items() if key not in known}
    for key, value in beside.items():
        if _words(key) & _ANSWER_WORDS and isinstance(value, (str, dict, list)) and value and value not in answers:
            return key
    return ""


def _lift_fields(record: Mapping[str, Any], chosen: MessageList, begun: Sequence[MessageList]) -> Mapping[str, Any]:
    gone = {chosen.path, *(one.path for one in begun)}
    around: dict[str, Any] = {}

    def add_field(value: Mapping[str, Any], path: tuple[str | int, ...]) -> None:
        for key, one in value.items():
            here = (*path, key)
            if here in gone or (path and value is chosen.owner):
                continue
            if isinstance(one, dict) and any(way[: len(here)] == here for way in gone):
                add_field(one, here)
            else:
                around[".".join(map(str, here))] = one

    add_field(record, ())
    if around.get("messages"):
        around["messages[]"] = around["messages"]  # which is reported as unused
    if len(chosen.path) > 1:
        own = {key: one for key, one in chosen.owner.items() if key != chosen.path[-1]}
        if isinstance(own.get("metadata"), dict) and isinstance(around.get("metadata"), dict):
            own["metadata"] = {**around["metadata"], **own["metadata"]}
        around |= own
    return {**around, "messages": chosen.messages}


def _words(*names: str | int) -> frozenset[str]:
    return frozenset(
        word.casefold() for name in names if isinstance(name, str) for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)
    )


def _refusal(what: str) -> InputError:
    return InputError(
        what,
        allowed='one list with the whole conversation: {"messages": [{"role": "user", "content": …}, …]}',
        advice="write each conversation in this form, one per line",
    )
