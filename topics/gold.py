"""Gold tables: which entities are relevant to which topic, and to which groups they belong.

A gold table is a CSV file with the columns topic, entity, grade, title, and one column for each attribute set:

    topic,entity,grade,title,RATINGS,ORIGIN
    M002,https://www.imdb.com/title/tt0088763/,L2,Back to the Future,1.3M,United States

An entity is a URL of the kind that its topic asks for, stored under its canonical key. Attribute cells contain values
as found, names of groups, or vectors; an empty cell is an unknown group. A row without a grade is yet to be judged.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from topics.attributes import AttributeSet
from topics.counting import pluralize
from topics.csv_rows import Cell, Table, csv_line, decode_table, read_table
from topics.errors import InputError, Place, suggestion
from topics.regular_file import read_bytes
from topics.shown_names import shorten
from topics.topic import Topic, TopicSet

_COLUMNS = ("topic", "entity", "grade", "title")
_NO_ENTRIES: "Mapping[str, GoldEntry]" = MappingProxyType({})
_GRADE = re.compile(r"[Ll]?([0-9])(?:[.,]0+)?", re.ASCII)  # a data frame writes 2.0 if a grade of the column is missing
# In bytes, as for every text file of Harvest.
_LARGEST = 16 * 2**20


@dataclass(frozen=True, slots=True)
class GoldEntry:
    """The judgment of one entity for one topic.

    `entity` is its canonical key. `grade` is 0 for not relevant, 1 for relevant and 2 for highly relevant. `groups`
    has the membership vectors by attribute set, except unknown vectors, and `raw` their original values, for writing.
    `place` is the place of the grade, or None if the entry is not from a file.
    """

    topic: str
    entity: str
    grade: int
    title: str = ""
    groups: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))
    raw: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    place: Place | None = field(default=None, compare=False, repr=False)


class GoldTable:
    """Entries by topic and entity, in file order. `skipped` counts the rows for topics that were left out of the set.
    `waiting` has topic and entity of the rows without a grade. Raises ValueError if two entries for one entity differ
    in grade or group; entries that agree are merged, with the first title."""

    def __init__(self, entries: Iterable[GoldEntry] = (), *, skipped: int = 0) -> None:
        self._topics: dict[str, dict[str, GoldEntry]] = {}
        self.skipped = skipped
        self.waiting: frozenset[tuple[str, str]] = frozenset()
        for entry in entries:
            self._merge_entry(entry)

    def get(self, topic_id: str, entity_key: str) -> GoldEntry | None:
        """Return the entry for an entity by its canonical key, or None if the entity is not judged for this topic."""
        return self._topics.get(topic_id, {}).get(entity_key)

    def of(self, topic_id: str) -> Mapping[str, GoldEntry]:
        """Return the entries for a topic by canonical key. A topic without entries gives {}."""
        return self._topics.get(topic_id, _NO_ENTRIES)

    def entries(self, topic_id: str) -> tuple[GoldEntry, ...]:
        """Return all entries for a topic."""
        return tuple(self._topics.get(topic_id, {}).values())

    @property
    def topics(self) -> tuple[str, ...]:
        """The ids of all topics with entries."""
        return tuple(self._topics)

    def __len__(self) -> int:
        return sum(map(len, self._topics.values()))

    def __iter__(self) -> Iterator[GoldEntry]:
        for entries in self._topics.values():
            yield from entries.values()

    def __eq__(self, other: object) -> bool:
        return self._topics == other._topics if isinstance(other, GoldTable) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<GoldTable: {pluralize(len(self), 'entity')} of {pluralize(len(self._topics), 'topic')}>"

    def _merge_entry(self, entry: GoldEntry) -> None:
        entries = self._topics.setdefault(entry.topic, {})
        known = entries.get(entry.entity)
        if known is None:
            entries[entry.entity] = entry
            return
        if known.grade != entry.grade:
            raise ValueError(f"{entry.entity} already has grade L{known.grade}, but L{entry.grade} here")
        for name, vector in entry.groups.items():
            if known.groups.get(name, vector) != vector:
                before = format_vector(known.groups[name])
                raise ValueError(f"{entry.entity} already has {name} {before}, but a different value here")
        entries[entry.entity] = replace(
            known,
            title=known.title or entry.title,
            groups=MappingProxyType({**entry.groups, **known.groups}),
            raw=MappingProxyType({**entry.raw, **known.raw}),
        )


def read_gold(path: str | PathLike[str], topics: TopicSet) -> GoldTable:
    """Read the gold table in the CSV file at `path`. Raises InputError, with line and column, for the first fault."""
    data = read_bytes(path, "a CSV table", largest=_LARGEST)
    return parse_gold(decode_table(data, Place.of(path).path, "a CSV table"), topics, Place.of(path).path)


def gold_table(text: str, topics: TopicSet, path: str) -> Table:
    """Read the raw rows of a gold table written by any program. Raises InputError."""
    return read_table(text, path, {name.casefold() for name in (*_COLUMNS, *topics.attributes)})


def parse_gold(text: str, topics: TopicSet, path: str) -> GoldTable:
    """Read the gold table in a CSV text. Error messages refer to the text as `path`. Raises InputError. A file with
    only a header, as written by `harvest judge pool --gold`, is a table without judgments."""
    found = gold_table(text, topics, path)
    header = found.head
    if not header:
        raise InputError("the file is empty", place=Place(path, 1, 1), allowed=f"a header: {','.join(_COLUMNS)},…")
    reader = _Reader(path, topics, _read_columns(header, topics, path))
    table = GoldTable()
    for row in found.rows:
        entry = reader.entry(row)
        if entry is None:
            continue
        try:
            table._merge_entry(entry)
        except ValueError as fault:
            raise reader.error(row[0], str(fault), advice="keep only the correct row") from None
    table.skipped, table.waiting = reader.skipped, frozenset(reader.waiting)
    return table


def _read_columns(header: tuple[Cell, ...], topics: TopicSet, path: str) -> tuple[str, ...]:
    known = (*_COLUMNS, *topics.attributes)
    names: list[str] = []
    for cell in header:
        place = Place(path, cell.line, cell.column)
        if not cell.text:  # a data frame's index, or a column that a spreadsheet added
            names.append("")
            continue
        if cell.text not in known:
            separated = len(header) == 1 and any(mark in cell.text for mark in ";\t|")
            raise InputError(
                f"unknown column {cell.text!r}{suggestion(cell.text, known)}",
                place=place,
                allowed=", ".join(known),
                advice="separate the columns by commas" if separated else None,
            )
        if cell.text in names:
            raise InputError(f"column {cell.text!r} occurs twice", place=place)
        names.append(cell.text)
    for name in ("topic", "entity", "grade"):
        if name not in names:
            raise InputError(f"the header has no column {name!r}", place=Place(path, header[0].line, header[0].column))
    return tuple(names)


class _Reader:
    def __init__(self, path: str, topics: TopicSet, columns: tuple[str, ...]) -> None:
        self.path, self.topics, self.columns = path, topics, columns
        self.by_id = {topic.id: topic for topic in topics.topics}
        self.left_out = frozenset(topics.left_out)
        self.skipped = 0
        self.waiting: set[tuple[str, str]] = set()

    def error(self, cell: Cell, what: str, *, allowed: str | None = None, advice: str | None = None) -> InputError:
        return InputError(what, place=Place(self.path, cell.line, cell.column), allowed=allowed, advice=advice)

    def entry(self, row: tuple[Cell, ...]) -> GoldEntry | None:
        if len(row) < len(self.columns) or any(cell.text for cell in row[len(self.columns) :]):
            last = row[min(len(row), len(self.columns) + 1) - 1]
            raise self.error(
                last,
                f"the row has {len(row)} cells, but the header has {len(self.columns)}",
                advice="put cells that contain commas in quotation marks",
            )
        cells = dict(zip(self.columns, row))
        topic = self.by_id.get(cells["topic"].text)
        if topic is None:
            if cells["topic"].text in self.left_out:
                self.skipped += 1
                return None
            raise self.error(
                cells["topic"],
                f"unknown topic {cells['topic'].text!r}{suggestion(cells['topic'].text, self.by_id)}",
                allowed=f"the topics of {self.topics.name}",
            )
        if not cells["grade"].text:
            self.waiting.add((topic.id, self.entity(cells["entity"], topic)))
            return None
        grade = _GRADE.fullmatch(cells["grade"].text)
        if grade is None:
            raise self.error(
                cells["grade"], f"{cells['grade'].text!r} is not a grade", allowed="L0, L1, L2, or 0, 1, 2"
            )
        entity = self.entity(cells["entity"], topic)
        groups: dict[str, tuple[float, ...]] = {}
        raw: dict[str, str] = {}
        for name, cell in cells.items():
            if not name or name in _COLUMNS or not cell.text:
                continue
            groups[name] = self.membership(cell, name, topic)
            raw[name] = cell.text
        title = " ".join(cells["title"].text.split()) if "title" in cells else ""
        place = Place(self.path, cells["grade"].line, cells["grade"].column)
        return GoldEntry(topic.id, entity, int(grade[1]), title, MappingProxyType(groups), MappingProxyType(raw), place)

    def entity(self, cell: Cell, topic: Topic) -> str:
        if not cell.text:
            raise self.error(cell, "the entity is missing")
        kind = topic.type.url
        if kind is None:
            return " ".join(cell.text.split())
        key = kind.key(cell.text)
        if key is None and "{id}" in kind.identity:  # it may be an identifier alone (`tt0088763`)
            whole = kind.identity.replace("{id}", cell.text)
            key = whole if kind.key(whole) == whole else None
        if key is None:
            raise self.error(
                cell,
                f"{shorten(cell.text, 100)!r} is not a URL of the kind {kind.name} that topic {topic.id} asks for",
                allowed=kind.identity or "an http(s) URL with the host of a public site",
            )
        return key

    def membership(self, cell: Cell, name: str, topic: Topic) -> tuple[float, ...]:
        if name not in topic.type.attributes:
            raise self.error(
                cell,
                f"{name} does not apply to topics of the type {topic.type.name}; the cell must be empty",
                allowed=", ".join(topic.type.attributes) or "no attributes",
            )
        try:
            return self.topics.attributes[name].membership(cell.text)
        except ValueError as fault:
            raise self.error(cell, f"{name}: {fault}") from None


def write_gold(table: GoldTable, path: str | PathLike[str], topics: TopicSet) -> None:
    """Write `table` as a CSV file that `read_gold` reads as an equal table. Replaces the file atomically."""
    used = {name for entry in table for name in entry.groups}
    names = [name for name in topics.attributes if name in used]
    lines = [csv_line((*_COLUMNS, *names))]
    for entry in table:
        values = (_write_memberships(entry, topics.attributes[name]) for name in names)
        lines.append(csv_line((entry.topic, entry.entity, f"L{entry.grade}", " ".join(entry.title.split()), *values)))
    part = Path(f"{Place.of(path).path}.{os.getpid()}.part")  # two processes may write the same table
    part.write_text("".join(lines), encoding="utf-8", newline="")
    part.replace(path)


def _write_memberships(entry: GoldEntry, attribute: AttributeSet) -> str:
    vector, raw = entry.groups.get(attribute.name), entry.raw.get(attribute.name)
    if vector is None:
        return ""
    if raw:
        try:
            if attribute.membership(raw) == vector:
                return raw
        except ValueError:  # read under another attribute set
            pass
    return format_vector(vector)


def format_vector(shares: tuple[float, ...]) -> str:
    """Return a membership vector as text, with exact fractions where possible: `(0,2/3,0,0,0,1/3,0,0)`."""
    written = []
    for share in shares:
        simple = Fraction(share).limit_denominator(1000)
        written.append(str(simple) if float(simple) == share else format(Decimal(repr(share)), "f"))
    return f"({','.join(written)})"
