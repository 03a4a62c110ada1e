"""The conversations in a JSON file, whichever program wrote it; each becomes a record in the first shape.

{"messages": [{"role": "user", "content": "…"}, …], "metadata": {…}}   one on each line, several in a list, or alone
{"conversations": [{"from": "human", "value": "…"}, …]}                ShareGPT; `conversation` in WildChat and LMSYS
[{"role": "user", "content": "…"}, …]                                  the messages alone
{"train": [CONVERSATION, …], "test": [CONVERSATION, …], …}             an object with lists of any of these
{"mapping": {…}, "current_node": "…"}                                  ChatGPT's export, see `recordings.chatgpt`
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recordings.chatgpt import is_chatgpt, paths_of
from recordings.json_text import Json
from topics.errors import InputError, Place
from topics.json_file import JsonValue

_LISTS = ("messages", "conversation", "conversations")
"""Keys under which programs keep the messages of a conversation."""


@dataclass(frozen=True, slots=True)
class Record:
    """One conversation as a file has it. value: an object with `messages`, a list. at: where it is in the file. topic:
    what it is about if neither it nor the caller says so.
    """

    value: Mapping[str, Any]
    at: JsonValue
    topic: str = ""

    def placed(self, fault: InputError) -> InputError:
        """The fault with the place of the record, which is looked for only now."""
        return InputError(fault.what, place=place_of(self.at), allowed=fault.allowed, advice=fault.advice)


def place_of(at: JsonValue) -> Place:
    """Its line; in a list, also its column."""
    return at.place if at.loc else Place(at.path, at.line)


def conversations_in(value: JsonValue, unread: list[str]) -> Sequence[JsonValue]:
    """The conversations of a JSON value: its elements, all that an object holds by name or in lists, also in objects
    within it, or itself. It is not yet known whether they can be read. unread: gets the keys of an object under which
    something else is."""
    found = value.value
    if isinstance(found, list) and found and not _are_messages(found):
        return value.elements()
    if not isinstance(found, dict) or _is_conversation(found):
        return [value]
    inside: list[JsonValue] = []
    others: list[str] = []
    open_ = [("", value)]
    for name, at in open_:  # grows while it is gone through
        keys = at.keys()
        for key in keys:
            path, one = f"{name}{key}", at[key]
            if isinstance(one.value, list) and any(map(_is_conversation, one.value)):
                inside += one.elements()
            elif isinstance(one.value, dict) and one.value:
                if _is_conversation(one.value):
                    inside.append(one)
                else:
                    open_.append((f"{path}.", one))
            elif one.value not in (None, [], {}, ""):
                others.append(path)
    if not inside:
        return [value]
    unread += others
    return inside


def records_of(value: JsonValue) -> Sequence[Record]:
    """One conversation as records: several if its answers branch. Raises InputError, without a place, for
    what is no conversation."""
    found = value.value
    if isinstance(found, list) and found:
        return [Record({"messages": found}, value)]
    if isinstance(found, dict):
        if is_chatgpt(found):
            return [Record(one, value, topic) for one, topic in paths_of(found)]
        for key in _LISTS:
            if isinstance(found.get(key), list):
                return [Record({**{one: found[one] for one in found if one != key}, "messages": found[key]}, value)]
    raise InputError(
        "a record that has no 'messages'",
        allowed='{"messages": [{"role": "user", "content": …}, {"role": "assistant", "content": …}, …]}',
        advice="write each conversation so, one a line; docs/recordings.md names the other shapes that are read",
    )


def _is_conversation(value: Json) -> bool:
    if isinstance(value, dict):
        return is_chatgpt(value) or "messages" in value or any(_are_messages(value.get(key)) for key in _LISTS)
    return _are_messages(value)


def _are_messages(value: Json) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and bool({"role", "from"} & first.keys())
