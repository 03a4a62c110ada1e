"""The flat table in which audits of assistants are published: a row for each answer.

    system,topic,trial,turn,prompt,answer,country,language
    B1,M002,1,1,When do you open?,At nine.,NO,en

Rows with the same system, topic, trial and attempt are the turns of one conversation, in the order of `turn`. Without a
column `turn`, every row is a conversation. Names of columns are compared without capitals; `--map MEANING=COLUMN` names
a column that is called otherwise. An empty cell of `answer` is an answer without text; a row whose `answered` is `no`
has no answer. `country`, `language` and `template` become a part of the topic, because answers differ by them. Without
a column for the topic, the question is the topic. `sources` is a list, with `;` or lines between; or each source has a
column (`source_1`, `citation 2`). Parquet, and objects with these keys in JSON, are read as CSV is. In files of
`harvest data export`, `links` and `parts` are JSON, as in the metadata of messages.
"""

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from protocols.answer import Source
from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.parquet_rows import PARQUET_MARK, parquet_rows
from recordings.formats.shapes.shape import Group, Refuse, Shape, ShapeOptions, json_values, topic_name
from topics.addresses import canonical_host
from topics.csv_rows import declared_separator, decode_table, is_utf16
from topics.domains import has_known_suffix
from topics.errors import InputError, Place
from topics.json_value import JsonValue
from topics.links import links_in
from topics.regular_file import open_regular, read_blocks
from topics.text_file import refuse_binary

# The columns that are read, by their meaning, with other names that published tables have.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "system": ("model", "chatbot", "assistant", "tool", "platform"),
    "topic": ("topic_id", "template_slug", "prompt_id", "question_id"),
    "trial": ("repetition", "replicate", "run"),
    "attempt": (),
    "turn": ("turn_number",),
    "prompt": ("question", "query", "user", "instruction", "prompt_text", "question_text"),
    "answer": ("response", "reply", "output", "completion", "answer_text", "response_text"),
    "answered": (),
    "label": (),
    "act": (),
    "state": (),
    "outcome": (),
    "reason": (),
    "id": (),
    "country": ("region", "market", "location"),
    "language": ("lang", "locale"),
    "template": ("template_id", "wording", "variant"),
    "sources": ("citations", "urls", "references"),
    "asked_at": ("date", "timestamp", "time"),
    "answered_by": ("model_name",),
    "finish": ("finish_reason",),
}
# Columns of these names are read only in a table that `harvest data export` wrote, which has all of them.
_OWN = (
    *("links", "parts", "first_seconds", "seconds", "detail", "missing", "played_by", "member", "session", "place"),
    *("worker", "started_at", "ended_at", "pressed", "attached"),
)
_LONGEST_CELL = 2**31 - 1  # characters: an answer may be longer than the library's usual limit
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NEEDED = ("prompt", "answer")
# Columns that have one value for a whole conversation: texts and numbers.
_WHOLE = ("outcome", "reason", "detail", "id", "member", "session", "worker", "started_at", "ended_at")
_TOPIC = ("topic", "country", "language", "template")
_NUMBERS = ("trial", "attempt", "missing", "place")
# The keys of parts of an answer for columns that have one value.
_PARTS = {"asked_at": "asked_at", "answered_by": "model", "finish": "finish"}


# Columns with one source each, such as `source_1` and `Citation 2`.
_ONE_SOURCE = re.compile(r"(?:source|citation|url|reference|link)s?[ _.-]?\d{1,3}", re.IGNORECASE)
# Between the sources in a cell. A `;` may also be within an address: before a parameter, or at the end of `&amp;`.
_BETWEEN_SOURCES = re.compile(r"\s*(?:;(?![\w.-]+=)|[\n\r|]|<br\s*/?>)\s*", re.IGNORECASE)
# What begins a numbered or marked line, and what cells hold where there was no source.
_MARK = re.compile(r"\A\s*(?:\[\d{1,3}\]:?|\d{1,3}[.)]|[-*•–])\s+")
# A site without `https://`, which tables often have, unless it is the name of a file.
_BARE_SITE = re.compile(r"((?:[\w-]+\.)+(?!(?:md|mov|py|rs|sh|zip)$)[^\W\d_][\w-]+)\.?(?:[/?]\S*)?", re.IGNORECASE)
_NOTHING = frozenset({"", "-", "–", "—", "n/a", "na", "nan", "nil", "none", "null", "no source", "no sources"})


def _holds(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    names = {str(name).casefold() for name, cell in value.items() if not isinstance(cell, list | dict)}
    return _has_needed(names)


def _has_needed(names: set[str]) -> bool:
    return all(not names.isdisjoint((meaning, *COLUMNS[meaning])) for meaning in _NEEDED)


def is_table(data: bytes) -> bool:
    """Return True if the bytes of a file begin with a header of this table."""
    opening = data[:4096].decode("utf-16" if is_utf16(data) else "utf-8-sig", "replace")
    first = declared_separator(opening)[1].lstrip().split("\n", 1)[0].strip()
    names = {cell.strip().strip('"').casefold() for cell in first.replace(";", ",").replace("\t", ",").split(",")}
    return _has_needed(names)


def _values(data: bytes, path: str, refuse: Refuse) -> Iterator[JsonValue]:
    if data.startswith(PARQUET_MARK) or _is_json(data):
        rows = parquet_rows(data, path) if data.startswith(PARQUET_MARK) else json_values(data, path, refuse)
        for row in rows:
            if isinstance(row.value, dict):
                yield row.with_value({str(name): _cell_text(cell) for name, cell in row.value.items()})
            else:
                refuse(row.error("this is not a row of a table", allowed='{"prompt": …, "answer": …}'))
        return
    text = decode_table(data, path, "a table as CSV")
    del data  # a large file would be in memory twice
    yield from _rows(lines_of(text), path, refuse)


def _stream(path: str, refuse: Refuse) -> Iterator[JsonValue] | None:
    """Return the rows of a table that is CSV in UTF-8, read as they are asked for. None stands for all other files."""
    decoder, opening = codecs.getincrementaldecoder("utf-8")(), b""
    try:
        for block in read_blocks(path):
            opening = opening or block
            if b"\0" in block:
                return None
            decoder.decode(block)
        decoder.decode(b"", final=True)
        refuse_binary(opening, path, "")
    except (UnicodeDecodeError, InputError):
        return None  # what is wrong is said when it is read whole
    return None if _is_json(opening) else _rows(_lines_in(path), path, refuse)


def _is_json(data: bytes) -> bool:
    return data[:100].lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))


def _lines_in(path: str) -> Iterator[str]:
    with open_regular(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        yield from text


def _rows(lines: Iterator[str], path: str, refuse: Refuse) -> Iterator[JsonValue]:
    csv.field_size_limit(_LONGEST_CELL)
    mark, first = declared_separator(next(lines, ""))
    if not mark:
        mark = max(",;\t", key=first.count)
    reader = csv.reader(chain((first,), lines), delimiter=mark, strict=True)
    header: Sequence[str] = ()
    line = 1
    try:
        for cells in reader:
            if not header and any(cell.strip() for cell in cells):
                header = [cell.strip() for cell in cells]
                if repeated := [
                    name for name, times in Counter(map(str.casefold, header)).items() if name and times > 1
                ]:
                    raise InputError(f"the column {repeated[0]!r} occurs twice", place=Place(path, line))
            elif header and any(cell.strip() for cell in cells):
                if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
                    what = f"the row has {len(cells)} cells, but there are {len(header)} columns"
                    refuse(InputError(what, place=Place(path, line)))
                else:
                    yield JsonValue.at_line(dict(zip(header, cells)), path, line)
            line = reader.line_num + 1
    except csv.Error as fault:
        raise InputError(f"this is not CSV: {fault}", place=Place(path, line)) from None


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a table with their ends. (As an io.StringIO, it would need four bytes for each character.)"""
    return (line[0] for line in _LINE.finditer(text))


def _cell_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False)
    return "" if cell is None else str(cell)


def _cells(row: JsonValue, options: ShapeOptions) -> dict[str, str]:
    """Return the cells of a row by the meaning of their column."""
    held: dict[str, str] = row.value if isinstance(row.value, dict) else {}
    named = _columns_of(tuple(held), tuple(options.columns.items()))
    found = {meaning: held[names[0]] for meaning, names in named.items()}
    for meaning, (first, *others) in named.items():
        for other in others:
            if held[other].strip() != held[first].strip() and not held.keys() >= set(_OWN):
                raise InputError(
                    f"the columns {first!r} and {other!r} both name the {meaning}, and differ",
                    advice=f"name the one that counts: --map {meaning}={first}",
                )
    if held.keys() >= set(_OWN):
        # Its systems are called by their cells, and `parts` has its sources.
        found = {name: cell for name, cell in found.items() if name not in (*_TOPIC[1:], "sources")}
        found |= {name: held[name] for name in _OWN}
    else:
        each = [cell for name, cell in held.items() if _ONE_SOURCE.fullmatch(str(name)) and cell.strip()]
        if each:
            found["sources"] = "\n".join((found.get("sources", ""), *each))
    for meaning in _NEEDED:
        if meaning not in found:
            raise InputError(
                f"there is no column for the {meaning}",
                allowed=", ".join(map(repr, held)),
                advice=f"name it: --map {meaning}=COLUMN",
            )
    return found


@lru_cache(maxsize=64)
def _columns_of(names: tuple[str, ...], mapped: tuple[tuple[str, str], ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the columns of each meaning that is there: those that the caller names, or all that are called so."""
    by_name = {name.casefold(): name for name in names}
    chosen, found = dict(mapped), {}
    for meaning, others in COLUMNS.items():
        known = (chosen[meaning],) if meaning in chosen else (meaning, *others)
        # A column that has another meaning by the caller's word does not have this one, too.
        there = [by_name[one.casefold()] for one in known if one.casefold() in by_name]
        if meaning in chosen and not there:
            raise InputError(f"there is no column {chosen[meaning]!r}", allowed=", ".join(map(repr, names)))
        there = [one for one in there if meaning in chosen or one.casefold() not in map(str.casefold, chosen.values())]
        if there:
            found[meaning] = tuple(there)
    return found


def _group(values: Iterable[JsonValue], options: ShapeOptions) -> Iterable[Group]:
    several: dict[tuple[str, ...], list[JsonValue]] = {}
    for place, row in enumerate(values):
        try:
            cells = _cells(row, options)
        except InputError as fault:
            raise InputError(fault.what, place=row.place, allowed=fault.allowed, advice=fault.advice) from None
        keys = ("system", *_TOPIC, "trial", "attempt", "id")
        about = tuple(cells.get(key, "") for key in keys) if "turn" in cells else (str(place),)
        several.setdefault(about, []).append(row)
    groups = list(several.values())[::-1]
    several.clear()
    while groups:  # each is let go of once it is read
        yield groups.pop()


def _read(group: Group, options: ShapeOptions) -> Iterator[Record]:
    rows = sorted(((row, _cells(row, options)) for row in group), key=lambda one: _number(one[0], one[1], "turn", 1))
    numbers = [_number(row, cells, "turn", 1) for row, cells in rows]
    for (earlier, _), (row, _), one, number in zip(rows, rows[1:], numbers, numbers[1:]):
        if one == number:
            lines = f", as is line {earlier.place.line}" if earlier.place and earlier.place.line else ""
            raise InputError(
                f"this row is turn {number} of its conversation{lines}",
                place=row.place,
                advice="give them different trials, or attempts",
            )
    (first, about), *_ = rows
    messages: list[Json] = []
    labels: list[str] = []
    links: list[Json] = []
    parts: list[Json] = []
    for row, cells in rows:
        acts = [cells["act"]] if cells.get("act") else []
        messages.append({"role": "user", "content": cells["prompt"], "acts": acts, "timestamp": cells.get("asked_at")})
        if cells.get("answered", "").casefold() not in ("no", "false", "0"):
            told = {"model": cells.get("answered_by"), "finish_reason": cells.get("finish")}
            message: dict[str, Any] = {"role": "assistant", "content": cells["answer"], **told}
            if sources := read_sources(cells.get("sources", "")):
                message["sources"] = sources
            messages.append(message)
            labels.append(cells.get("label", ""))
            links.append(_json(row, cells, "links", list))
            parts.append(_parts(row, cells))
        else:
            parts.append(None)
    metadata: dict[str, Json] = {key: about[key] for key in _WHOLE if about.get(key)}
    if about.get("system"):
        metadata["system"] = about["system"]
    # Without a column for it, the question is the topic, unless the caller names one for all.
    asked = "-".join(
        about[key] for key in ("prompt" if not about.get("topic") else "topic", *_TOPIC[1:]) if about.get(key)
    )
    if about.get("topic"):
        metadata["topic"] = topic_name(asked)
    if about.get("played_by"):
        metadata["user"] = about["played_by"]
    for key in _NUMBERS:
        if about.get(key):
            metadata[key] = _number(first, about, key, 0)
    states = [cells.get("state", "") for _, cells in rows]
    for key, given in (("labels", labels), ("states", states)):
        if any(given):
            metadata[key] = [one or None for one in given]
    pressed = [_json(row, cells, "pressed", dict) for row, cells in rows]
    attached = [_json(row, cells, "attached", list) for row, cells in rows]
    for name, held in (("links", links), ("parts", parts), ("pressed", pressed), ("attached", attached)):
        if any(one is not None for one in held):
            metadata[name] = held
    yield Record({"messages": messages, "metadata": metadata}, first, topic_name(asked) if asked else "", Counter())


def read_sources(cell: str) -> list[Source]:
    """Return the sources in a cell: a list in JSON, or texts with `;`, `|` or line ends between. Text that is not an
    address is a title, and so is the text before an address, or the text of its link. A site may be written without
    `https://`. A cell such as `None` has no source.
    """
    opening = cell.lstrip()
    try:
        texts = json.loads(cell) if opening.startswith("[") else _BETWEEN_SOURCES.split(cell)
    except (ValueError, RecursionError):
        quoted = re.findall(r"""'([^']*)'|"([^"]*)\"""", cell) if opening[1:].lstrip().startswith(("'", '"')) else ()
        texts = ["".join(pair) for pair in quoted] or _BETWEEN_SOURCES.split(cell)
    found: dict[str, Source] = {}
    for one in texts:
        if isinstance(one, dict):
            one = one.get("url") or one.get("href") or one.get("title")
        text = _MARK.sub("", "" if one is None else f"{one} ").strip()
        if text.casefold() in _NOTHING:
            continue
        links = links_in(text, www=True)
        titles = [link.text if link.text != link.href else "" for link in links]
        if len(links) == 1 and not titles[0]:
            titles = [re.split(r"<?(?:https?://|www\.)", text, maxsplit=1, flags=re.IGNORECASE)[0].rstrip(" \t:–—-")]
        site = None if links else _BARE_SITE.fullmatch(text)
        host = canonical_host(site[1]) if site else None
        alone = Source(f"https://{text}" if host and has_known_suffix(host) else "", title=text)
        for source in [Source(link.href, title=title) for link, title in zip(links, titles)] or [alone]:
            found.setdefault(source.href or source.title, source)
    return list(found.values())


def _json(row: JsonValue, cells: Mapping[str, str], key: str, kind: type) -> Any:
    """Return the value of a cell that `harvest data export` wrote as JSON; None if it is empty."""
    text = cells.get(key, "")
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        value = text
    if value is not None and not isinstance(value, kind):
        called = "a list" if kind is list else "an object"
        raise InputError(f"{text[:40]!r} in the column {key} is not {called} in JSON", place=row.place)
    return value


def _parts(row: JsonValue, cells: Mapping[str, str]) -> Mapping[str, Json] | None:
    """Return what came with an answer and what was measured, as in a recording, in a table that `harvest data export`
    wrote; else None."""
    if "parts" not in cells:
        return None
    found = _json(row, cells, "parts", dict) or {}
    found |= {name: cells[key] for key, name in _PARTS.items() if cells.get(key)}
    for key in ("first_seconds", "seconds"):
        if text := cells[key].strip():
            try:
                found[key] = float(text)
            except ValueError:
                raise InputError(f"{text[:40]!r} in the column {key} is not a number", place=row.place) from None
    return found or None


def _number(row: JsonValue, cells: Mapping[str, str], key: str, default: int) -> int:
    """Return a whole number in a cell. Programs may write it as 2.0."""
    text = cells.get(key, "").strip()
    whole = text.removesuffix(".0")
    if not text:
        return default
    if not whole.isdecimal() or len(whole) > 9:
        raise InputError(f"the {key} {text[:40]!r} is not a whole number", place=row.place, allowed="1, 2, 3, …")
    return int(whole)


TABLE = Shape(
    "table",
    "a flat table of an audit as CSV, a row for each answer: system, topic, trial, prompt, answer, …",
    _holds,
    _read,
    _group,
    _values,
    options=frozenset({"columns"}),
    stream=_stream,
)
