"""The conversations in a JSON file of any program, each converted to a record of the first of these shapes.

{"messages": [{"role": "user", "content": "…"}, …], "metadata": {…}}   one in each line, several in a list, or alone
{"conversations": [{"from": "human", "value": "…"}, …]}                ShareGPT; `conversation` in WildChat, LMSYS
[{"role": "user", "content": "…"}, …]                                  the messages alone
{"train": [CONVERSATION, …], "test": [CONVERSATION, …], …}             an object with lists of any of these
{"mapping": {…}, "current_node": "…"}                                  ChatGPT: `recordings.formats.chatgpt`
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recordings.files.json_text import Json
from recordings.formats.chatgpt import conversation_id, is_chatgpt, paths_of, records_of_paths
from recordings.formats.message_lists import LISTS, are_messages, find_conversation, find_message_lists, is_part_name
from recordings.formats.message_metadata import is_id_key
from recordings.formats.message_sides import Judged, words_by_side
from topics.errors import InputError, Place
from topics.json_value import JsonValue

_MOST_COMPARED = 500


@dataclass(frozen=True, slots=True)
class Record:
    """One conversation of a file. `value` is an object with a list of `messages`, and `at` the object's place in the
    file. `topic` is used if neither the conversation nor the caller names a topic. `passed` counts the parts left out,
    by kind. `judged` are judgments of the whole conversation. `assumed` is a sentence on the assumptions made for
    missing information, or "" without assumptions."""

    value: Mapping[str, Any]
    at: JsonValue
    topic: str = ""
    passed: Counter[str] = field(default_factory=Counter)
    judged: Sequence[Judged] = ()
    assumed: str = ""

    def without_value(self) -> "Record":
        """Return the record with its place alone. The values of a long file would fill the memory."""
        return Record({}, self.at.without_value(), self.topic, self.passed, self.judged, self.assumed)

    def add_place(self, fault: InputError) -> InputError:
        """Return the error with the place of the record. Computing the place is slow, so it is done only here."""
        return InputError(fault.what, place=record_place(self.at), allowed=fault.allowed, advice=fault.advice)


def record_place(at: JsonValue) -> Place:
    """Return the line of a JSON value in its file. The column is added if the value is inside another value."""
    return at.place if at.loc else Place(at.path, at.line)


def conversations_in(value: JsonValue, unread: list[str], *, alone: bool = True) -> Sequence[JsonValue]:
    """Return the conversations in a JSON value: the value itself, the elements of a list, or all conversations that an
    object contains by name, in lists, or in inner objects.

    Some of the conversations may be unreadable. Keys of an object that contain anything else are added to `unread`.
    `alone` is True if the file contains only this value. Otherwise an object with several conversations counts as one
    record, and its lists are parts of one conversation (see `recordings.formats.message_lists`).
    """
    found = value.value
    if isinstance(found, list) and found and not are_messages(found):
        return value.elements()
    if not isinstance(found, dict) or _has_messages(found):
        return [value]
    inside: list[JsonValue] = []
    others: list[str] = []
    open_ = [("", value)]
    for name, at in open_:  # grows while it is gone through
        for key in at.keys():  # noqa: SIM118
            path, one = f"{name}{key}", at[key]
            if _holds_conversations(one.value) or (isinstance(one.value, dict) and is_conversation(one.value)):
                inside.append(one)
            elif isinstance(one.value, dict) and one.value:
                open_.append((f"{path}.", one))
            elif one.value not in (None, [], {}, ""):
                others.append(path)
    named = [one for one in inside if isinstance(one.value, dict)]
    if len(inside) == 1 and named and is_chatgpt(named[0].value):
        return named
    if any(one.said for one in find_message_lists(found, {one.loc for one in inside})):  # such as a prompt
        return [value]
    if len(inside) > 1 and any(is_part_name(*one.loc) for one in inside):
        return [value]
    if len(inside) == len(named) and not (len(named) > 1 and alone and _are_separate(found, named)):
        return [value]
    several = [each for one in inside for each in (one.elements() if isinstance(one.value, list) else [one])]
    if (not alone or any(map(is_id_key, found))) and _has_continuation(several):  # the steps of one conversation
        return [value]
    unread += others
    return several


def _are_separate(found: Mapping[str, Any], named: Sequence[JsonValue]) -> bool:
    """Return True if the conversations named in an object are separate: the object is not a record, each conversation
    has both sides, and no conversation is the beginning of another."""
    for one in named:
        holder: Any = found
        for key in one.loc[:-1]:
            holder = holder[key]
        if any(is_id_key(key) for key in holder):
            return False
    said = [_spoken_words(one.value) for one in named]
    return all(
        {side for side, _ in words} == {"user", "assistant"} for words in said if words
    ) and not _has_continuation(named)


def _has_continuation(several: Sequence[JsonValue]) -> bool:
    """Return True if one conversation is the beginning of another. More than `_MOST_COMPARED` are not compared."""
    if len(several) > _MOST_COMPARED:
        return False
    said = [words for one in several if (words := _spoken_words(one.value))]
    lengths = {len(words) for words in said}
    begun = {tuple(words[:length]) for words in said for length in lengths if length < len(words)}
    return any(tuple(words) in begun for words in said)


def _spoken_words(value: Json) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        value = next((value[key] for key in LISTS if are_messages(value.get(key))), None)
    return words_by_side(value) if isinstance(value, list) and are_messages(value) else []


def records_of(value: JsonValue) -> tuple[Sequence[Record], InputError | None]:
    """Return a conversation as records and an error on the parts left out. There are several records if answers branch.
    Raises InputError, without a place, if the value is not a conversation."""
    found = value.value
    if isinstance(found, list) and found:
        return [Record({"messages": found}, value)], None
    if isinstance(found, dict):
        if is_chatgpt(found):
            paths, fault = paths_of(found)
            several = fault is not None or len(paths) > 1
            rows = zip(records_of_paths(found, paths, several=several), paths, strict=True)
            return [Record(row, value, conversation_id(found), path.passed) for row, path in rows], fault
        if whole := find_conversation(found):
            return [Record(whole, value)], None
    raise InputError(
        "the record has no 'messages'",
        allowed='{"messages": [{"role": "user", "content": …}, {"role": "assistant", "content": …}, …]}',
        advice="write each conversation like this, one per line; for other formats see docs/importing.md",
    )


def _holds_conversations(value: Json) -> bool:
    return isinstance(value, list) and any(map(is_conversation, value))


def is_conversation(value: Json) -> bool:
    """Return True if a value is a conversation. An object without messages counts if it has the key `messages` and
    contains no other conversations."""
    if not isinstance(value, dict):
        return are_messages(value) if isinstance(value, list) else False
    if is_chatgpt(value) or _has_messages(value):
        return True
    return "messages" in value and not any(map(_holds_conversations, value.values()))


def _has_messages(value: Mapping[str, Any]) -> bool:
    return any(are_messages(value.get(key)) for key in LISTS)
