"""Events and their parts after redaction, as a run stores them."""

import dataclasses
import operator
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from protocols.answer import Answer
from recordings.events.event_lines import encode
from recordings.events.events import Event
from recordings.files.json_text import strings_in
from recordings.secrets.redaction import Redactor
from topics.links import Link

_Event = TypeVar("_Event", bound=Event)


def redacted_events(events: Sequence[_Event], redactor: Redactor) -> list[tuple[_Event, dict[str, Any]]]:
    """Return the redacted events, as the run stores them, each with its row. All are searched in one pass, and one by
    one only if that finds something."""
    rows = [encode(event) for event in events]
    if redactor.leaves_unchanged(strings_in(value for row in rows for value in row.values())):
        return list(zip(events, rows))
    return [redacted_event(event, redactor) for event in events]


def redacted_event(event: _Event, redactor: Redactor) -> tuple[_Event, dict[str, Any]]:
    """Return the redacted event, as the run stores it, and its row. Most events are unchanged."""
    row = encode(event)
    if redactor.leaves_unchanged(strings_in(row.values())):
        return event, row
    clean: _Event = redacted_value(event, redactor)
    return clean, encode(clean)


def redacted_value(value: Any, redactor: Redactor) -> Any:
    """Return a redacted frozen dataclass or JSON value, as the run stores it."""
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, tuple) and len(value) > 1 and all(type(item) is Link for item in value):
        texts = [part for link in value for part in (link.text, link.href)]
        cleaned = redactor.texts(texts)
        return value if cleaned == texts else tuple(map(Link, cleaned[::2], cleaned[1::2]))
    if isinstance(value, tuple):
        items = [redacted_value(item, redactor) for item in value]
        return value if all(map(operator.is_, items, value)) else tuple(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        # The places of an answer's sources are those of its text, which redaction makes longer or shorter.
        placed: Any = value.with_text(redactor.text(value.text)) if isinstance(value, Answer) else value
        clean = {name: redacted_value(getattr(placed, name), redactor) for name in _fields(type(value))}
        changed = {name: item for name, item in clean.items() if item is not getattr(placed, name)}
        return dataclasses.replace(placed, **changed) if changed else placed
    return redactor.value(value)


@cache
def _fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(entry.name for entry in dataclasses.fields(kind))
