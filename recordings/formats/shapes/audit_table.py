"""The flat table in which audits of assistants are published: a row for each answer.

    system,topic,trial,turn,prompt,answer,country,language
    B1,M002,1,1,When do you open?,At nine.,NO,en

Rows with the same system, topic, trial and attempt are the turns of one conversation, in the order of `turn`. Without a
column `turn`, every row is a conversation. Names of columns are compared without capitals; `--map MEANING=COLUMN` names
a column that is called otherwise. An empty cell of `answer` is an answer without text; a row whose `answered` is `no`
has no answer. `country` and `language` become a part of the topic, because answers differ by them.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.shapes.shape import Group, Refuse, Shape, ShapeOptions, topic_name
from topics.errors import InputError, Place
from topics.json_file import JsonValue
from topics.text_file import decode

# The columns that are read, by their meaning, with other names that published tables have.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "system": ("model", "chatbot", "assistant"),
    "topic": ("topic_id", "template_slug", "prompt_id", "question_id"),
    "trial": ("repetition", "replicate", "run"),
    "attempt": (),
    "turn": ("turn_number",),
    "prompt": ("question", "query", "user"),
    "answer": ("response", "reply", "output"),
    "answered": (),
    "label": (),
    "act": (),
    "state": (),
    "outcome": (),
    "reason": (),
    "id": (),
    "country": ("region",),
    "language": ("lang",),
    "asked_at": ("date", "timestamp", "time"),
    "answered_by": ("model_name",),
    "finish": ("finish_reason",),
}
_NEEDED = ("prompt", "answer")
# Columns that have one value for a whole conversation.
_WHOLE = ("outcome", "reason", "id")


def _holds(value: Json) -> bool:
    return False  # it is no JSON


def is_table(data: bytes) -> bool:
    """Return True if the bytes of a file begin with a header of this table."""
    first = data[:4096].split(b"\n", 1)[0].decode("utf-8-sig", "replace")
    names = {cell.strip().strip('"').casefold() for cell in first.replace(";", ",").replace("\t", ",").split(",")}
    return all(not names.isdisjoint((meaning, *COLUMNS[meaning])) for meaning in _NEEDED)


def _values(data: bytes, path: str, refuse: Refuse) -> Iterator[JsonValue]:
    text = decode(data, path, "a table as CSV")
    first = text.split("\n", 1)[0]
    mark = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    header: Sequence[str] = ()
    line = 1
    try:
        for cells in reader:
            if not header:
                header = [cell.strip() for cell in cells]
                if repeated := next((name for name in header if name and header.count(name) > 1), ""):
                    raise InputError(f"the column {repeated!r} is there twice", place=Place(path, line))
            elif any(cell.strip() for cell in cells):
                if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
                    what = f"the row has {len(cells)} cells, but there are {len(header)} columns"
                    refuse(InputError(what, place=Place(path, line)))
                else:
                    yield JsonValue.at_line(dict(zip(header, cells)), path, line)
            line = reader.line_num + 1
    except csv.Error as fault:
        raise InputError(f"this is not CSV: {fault}", place=Place(path, line)) from None


def _cells(row: JsonValue, options: ShapeOptions) -> dict[str, str]:
    """Return the cells of a row by the meaning of their column."""
    held = row.value if isinstance(row.value, dict) else {}
    by_name = {str(name).casefold(): name for name in held}
    found = {}
    for meaning, others in COLUMNS.items():
        named = options.columns.get(meaning)
        names = (named,) if named is not None else (meaning, *others)
        name = next((by_name[one.casefold()] for one in names if one.casefold() in by_name), None)
        if named is not None and name is None:
            raise InputError(f"there is no column {named!r}", allowed=", ".join(map(repr, held)))
        if name is not None:
            found[meaning] = held[name]
    for meaning in _NEEDED:
        if meaning not in found:
            raise InputError(
                f"there is no column for the {meaning}",
                allowed=", ".join(map(repr, held)),
                advice=f"name it: --map {meaning}=COLUMN",
            )
    return found


def _group(values: Iterable[JsonValue], options: ShapeOptions) -> Iterable[Group]:
    several: dict[tuple[str, ...], list[JsonValue]] = {}
    for place, row in enumerate(values):
        try:
            cells = _cells(row, options)
        except InputError as fault:
            raise InputError(fault.what, place=row.place, allowed=fault.allowed, advice=fault.advice) from None
        keys = ("system", "topic", "country", "language", "trial", "attempt", "id")
        about = tuple(cells.get(key, "") for key in keys) if "turn" in cells else (str(place),)
        several.setdefault(about, []).append(row)
    return several.values()


def _read(group: Group, options: ShapeOptions) -> Iterator[Record]:
    rows = sorted(((row, _cells(row, options)) for row in group), key=lambda one: _number(one[0], one[1], "turn", 1))
    numbers = [_number(row, cells, "turn", 1) for row, cells in rows]
    if len(set(numbers)) < len(numbers):
        raise InputError(
            "two rows are the same turn of the same conversation", advice="give them different trials, or attempts"
        )
    (first, about), *_ = rows
    messages: list[Json] = []
    labels: list[str] = []
    for _, cells in rows:
        acts = [cells["act"]] if cells.get("act") else []
        messages.append({"role": "user", "content": cells["prompt"], "acts": acts, "timestamp": cells.get("asked_at")})
        if cells.get("answered", "").casefold() not in ("no", "false", "0"):
            told = {"model": cells.get("answered_by"), "finish_reason": cells.get("finish")}
            messages.append({"role": "assistant", "content": cells["answer"], **told})
            labels.append(cells.get("label", ""))
    metadata: dict[str, Json] = {key: about[key] for key in _WHOLE if about.get(key)}
    if about.get("system"):
        metadata["system"] = about["system"]
    parts = [about[key] for key in ("topic", "country", "language") if about.get(key)]
    if about.get("topic"):
        metadata["topic"] = topic_name("-".join(parts))
    for key in ("trial", "attempt"):
        if about.get(key):
            metadata[key] = _number(first, about, key, 0)
    states = [cells.get("state", "") for _, cells in rows]
    for key, given in (("labels", labels), ("states", states)):
        if any(given):
            metadata[key] = [one or None for one in given]
    yield Record({"messages": messages, "metadata": metadata}, first, "", Counter())


def _number(row: JsonValue, cells: Mapping[str, str], key: str, default: int) -> int:
    """Return a whole number in a cell. Programs may write it as 2.0."""
    text = cells.get(key, "").strip()
    whole = text.removesuffix(".0")
    if not text:
        return default
    if not whole.isdecimal() or len(whole) > 9:
        raise InputError(f"{text[:40]!r} is not a number of the column for the {key}", place=row.place)
    return int(whole)


TABLE = Shape(
    "table",
    "a flat table of an audit as CSV, a row for each answer: system, topic, trial, prompt, answer, …",
    _holds,
    _read,
    _group,
    _values,
    frozenset({"columns"}),
)
