"""What a shape of files is: how it is recognised, and how its JSON values become conversations as messages.

A shape returns records as in `recordings.formats.messages`: an object with `messages` and `metadata`. So identity,
numbering, outcomes and the treatment of steps are the same for every shape. Messages may have these further keys:
`acts` (what the user did), `judged` (judgments of the turn, as `Judged`), `sources` (as `Source`), `model`,
`finish_reason`, `usage` and `timestamp`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.salvaged_text import SalvagedText
from topics.errors import InputError
from topics.identity import content_hash
from topics.json_value import JsonValue
from topics.topic import check_topic_id

# Errors within a list whose place is searched: each search reads the file again, and no more are printed.
MOST_PLACED = 20
# Called with the error of a part of a file that cannot be read.
Refuse: TypeAlias = Callable[[InputError], object]
# The JSON values that belong to one conversation, or to several that are read together; at least one.
Group: TypeAlias = Sequence[JsonValue]
# What other files say about the conversations, by keys of the shape's own.
Beside: TypeAlias = Mapping[tuple[str, str], Json]


@dataclass(frozen=True, slots=True)
class ShapeOptions:
    """What the caller says about the files. `user` is the speaker who is the user, "" if the file or the shape decides.
    `columns` has the name of a table's column by its meaning. `beside` has what other files say, as the shape reads it
    (`Shape.beside`)."""

    user: str = ""
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    beside: Beside = field(default_factory=lambda: MappingProxyType({}))


def json_values(data: bytes, path: str, refuse: Refuse) -> Iterator[JsonValue]:
    """Yield the values in a file that is JSON: each line, each element of a list, or the only value."""
    text = SalvagedText.decode(data, path, "JSON")
    damaged = 0
    for value in text.values(refuse, lambda one: isinstance(one, dict)):
        for one in value.elements() if isinstance(value.value, list) else [value]:
            try:
                text.check(one)
            except InputError as fault:
                damaged += 1
                at = one if damaged <= MOST_PLACED else one.without_columns()
                refuse(fault if fault.place else at.error(fault.what, advice=fault.advice))
            else:
                yield one


def _each(values: Iterable[JsonValue], options: ShapeOptions) -> Iterator[Group]:
    return ([value] for value in values)


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of files. `about` describes it for `harvest data import --help`.

    `holds` returns True for a JSON value of the file, or an element of its list, that only this shape has. `read`
    converts a group of values to records, and raises InputError, with or without a place, if it cannot. `group` puts
    values that belong together into a group; by default, each value is a group. `values` yields the values in the bytes
    of a file; by default, the file is JSON, and the elements of a list are values. `stream` yields those of the file at
    a path as they are asked for, so that a large file is never in memory, or returns None if that cannot be. `options`
    names the fields of `ShapeOptions` that have an effect. `beside` reads what files beside the conversations say of
    them, among those that the caller names or in their folders.
    """

    name: str
    about: str
    holds: Callable[[Json], bool]
    read: Callable[[Group, ShapeOptions], Iterable[Record]]
    group: Callable[[Iterable[JsonValue], ShapeOptions], Iterable[Group]] = _each
    values: Callable[[bytes, str, Refuse], Iterable[JsonValue]] = json_values
    stream: Callable[[str, Refuse], Iterable[JsonValue] | None] = lambda path, refuse: None
    options: frozenset[str] = frozenset()
    beside: Callable[[Sequence[Path]], Beside] = lambda files: {}


@lru_cache(maxsize=4096)  # a question comes again in every cell of a design
def topic_name(name: str) -> str:
    """Return an id of another program as the id of a topic. If it cannot be one, its other characters are replaced and
    a hash is added, so that different ids remain different."""
    try:
        check_topic_id(name)
    except InputError:
        plain = re.sub(r"[^A-Za-z0-9]+", "-", name[:40]).strip("-")
        return f"{plain or 'topic'}-{content_hash('imported-topic', name, size=4)}"
    return name


def id_text(value: JsonValue) -> str:
    """Return the text of an id, which may be a whole number. Raises InputError for any other value."""
    found = value.value
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else value.text()


def has_keys(value: Json, *keys: str) -> bool:
    return isinstance(value, dict) and all(key in value for key in keys)
