"""Annotation sheets: a table for people to fill in, one row for each thing to score by one criterion, and back.

sheet_rows(…)                  the rows, without any score, so that nobody sees what others thought
write_sheet(rows, path)        as `.csv` or `.jsonl`, by the ending of the path
read_sheet(path, …)            the filled-in rows as judgments, each checked against the recording
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from recordings.conversation import Conversation
from recordings.exports import write_export
from recordings.json_text import Json, line, read_lines
from recordings.judgments import Judgment, Target
from scoring.swan.assessment import Assessment
from scoring.swan.item import Item
from scoring.swan.schema import Criterion, Schema
from topics.csv_rows import csv_line, csv_rows
from topics.errors import InputError, Place
from topics.text_file import read_text

__all__ = ["COLUMNS", "Assessed", "read_sheet", "sheet_rows", "write_sheet"]

COLUMNS = (
    "criterion",
    "question",
    "value",
    "note",
    "system",
    "topic",
    "trial",
    "attempt",
    "turn",
    "speaker",
    "start",
    "end",
    "type",
    "act",
    "said",
    "text",
)
_NEEDED = ("criterion", "value")
_ABSENT = ("n/a", "na", "-")
_ENDINGS = (".csv", ".jsonl")
_SCORE = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)
_VALUE = "a number from 0 to 1 (1 is good), n/a where the criterion does not apply, or nothing to leave it out"


@dataclass(frozen=True, slots=True)
class Assessed:
    """A recorded conversation with its items."""

    conversation: Conversation
    assessment: Assessment


Row = Mapping[str, str]


def sheet_rows(assessed: Sequence[Assessed], criteria: Iterable[Criterion]) -> Iterator[Row]:
    """The rows in the order of the conversations, criterion by criterion; for sets one row for each system and topic.

    `said` is the user turn before, `text` what is to be scored.
    """
    chosen = tuple(criteria)
    for one in assessed:
        replies = {turn.number: turn for turn in one.conversation.turns}
        acts = {nugget.span: nugget.act for nugget in one.assessment.nuggets if nugget.type != "E"}
        for criterion in chosen:
            for item in one.assessment.items.get(criterion.name, ()):
                turn = replies[item.turn]
                text = turn.reply.answer.text if turn.reply else ""
                spot = {} if item.start < 0 else {"start": str(item.start), "end": str(item.end)}
                yield {
                    "criterion": criterion.name,
                    "question": criterion.question,
                    "system": one.conversation.key.system,
                    "topic": one.conversation.key.topic,
                    "trial": one.conversation.trial_id,
                    "attempt": str(one.conversation.attempt),
                    "turn": str(item.turn),
                    "speaker": item.speaker,
                    "type": item.type,
                    "act": acts.get((item.turn, item.speaker, item.start, item.end), ""),
                    "said": turn.said,
                    "text": text[item.start : item.end] if spot else text,
                    **spot,
                }
    sets = dict.fromkeys((one.conversation.key.system, one.conversation.key.topic) for one in assessed)
    for criterion in chosen:
        if criterion.level == "set":
            for system, topic in sets:
                yield {"criterion": criterion.name, "question": criterion.question, "system": system, "topic": topic}


def write_sheet(rows: Iterable[Row], path: str | PathLike[str]) -> int:
    """Write the rows and return how many. Raises InputError for another ending than .csv or .jsonl, and as
    `recordings.exports.write_export` does.
    """
    full = [{name: row.get(name, "") for name in COLUMNS} for row in rows]
    if _ending(path) == ".csv":
        lines = [csv_line(COLUMNS), *(csv_line(row.values()) for row in full)]
        data = "".join(lines).encode("utf-8", "backslashreplace")
    else:
        data = b"".join(line(row) for row in full)
    write_export(path, data)
    return len(full)


@dataclass(frozen=True, slots=True)
class _Given:
    """One row as read. places: of its cells, by column."""

    cells: Row
    place: Place
    places: Mapping[str, Place]

    def error(self, column: str, what: str, *, allowed: str | None = None, advice: str | None = None) -> InputError:
        return InputError(what, place=self.places.get(column, self.place), allowed=allowed, advice=advice)

    def number(self, column: str) -> int:
        text = self.cells.get(column, "")
        if not (text.isascii() and text.isdecimal() and len(text) < 12):
            raise self.error(column, f"{column}: {text[:40]!r} is no whole number")
        return int(text)


def read_sheet(path: str | PathLike[str], assessed: Sequence[Assessed], schema: Schema) -> tuple[Judgment, ...]:
    """The rows of a sheet that have a value, as judgments, in the order of the file.

    Raises InputError with file, line and column for the first row that is wrong: a value that is none, a criterion the
    schema does not have or people may not score, a conversation or an item that is not in the recording, words that
    are not those of the recording, the same thing scored twice; and where no row has a value.
    """
    by_trial = {(one.conversation.trial_id, str(one.conversation.attempt)): one for one in assessed}
    sets = {(one.conversation.key.system, one.conversation.key.topic) for one in assessed}
    found: list[Judgment] = []
    seen: dict[tuple[object, ...], Place] = {}
    for row in _rows(path):
        if not row.cells.get("value", ""):
            continue
        value = _value(row)
        try:
            criterion = schema[row.cells.get("criterion", "")]
        except InputError as fault:
            raise row.error("criterion", fault.what, allowed=fault.allowed) from None
        if not criterion.may_score("human"):
            raise row.error("criterion", f"{criterion.name} is not for people to score in the schema {schema.name!r}")
        if criterion.level == "set":
            about: dict[str, str | int] = {name: row.cells.get(name, "") for name in ("system", "topic")}
            if tuple(about.values()) not in sets:
                raise row.error("topic", "there is no finished conversation of this system on this topic here")
        else:
            about = _target(row, criterion, by_trial).about()
        key = (criterion.name, *sorted(about.items()))
        first = seen.setdefault(key, row.place)
        if first is not row.place:
            raise row.error("criterion", f"scored already, in line {first.line}", advice="keep one of the two rows")
        found.append(Judgment(about, criterion.name, value, row.cells.get("note", "")))
    if not found:
        raise InputError(
            "no row of this sheet has a value", place=Place.of(path), advice="fill in the column 'value', then import"
        )
    return tuple(found)


def _target(row: _Given, criterion: Criterion, by_trial: Mapping[tuple[str, str], Assessed]) -> Target:
    trial, attempt = row.cells.get("trial", ""), row.cells.get("attempt", "")
    one = by_trial.get((trial, attempt))
    if one is None:
        raise row.error(
            "trial",
            f"no finished conversation here has the trial {trial[:60]!r}, attempt {attempt[:12]!r}",
            advice="import into the run the sheet was exported from",
        )
    turn = row.number("turn")
    whole = criterion.level == "turn"
    start, end = (-1, -1) if whole else (row.number("start"), row.number("end"))
    items = one.assessment.items[criterion.name]
    item = next((item for item in items if (item.turn, item.start, item.end) == (turn, start, end)), None)
    if item is None or row.cells.get("speaker") not in ("", None, item.speaker):
        what = f"turn {turn} has no reply here" if whole else f"no nugget {criterion.name} looks at has this span"
        raise row.error(
            "turn" if whole else "start", what, advice="export the sheet again: its rows must stay as they are"
        )
    words = _words(one.conversation, item)
    if row.cells.get("text") and _writable(row.cells["text"]).split() != words.split():
        raise row.error(
            "text", "these are not the words of the recording", advice="fill in 'value' and 'note' and nothing else"
        )
    return Target(trial, one.conversation.attempt, turn, item.speaker, start, end)


def _words(conversation: Conversation, item: Item) -> str:
    turn = next(turn for turn in conversation.turns if turn.number == item.turn)
    text = turn.reply.answer.text if turn.reply else ""
    text = text if item.start < 0 else text[item.start : item.end]
    return _writable(text)


def _writable(text: str) -> str:
    """The text as a CSV can hold it: halves of surrogate pairs written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _value(row: _Given) -> Json:
    text = row.cells["value"]
    if text.lower() in _ABSENT:
        return None
    value = float(text) if _SCORE.fullmatch(text) else -1.0
    if not 0 <= value <= 1:
        raise row.error("value", f"value: {text[:40]!r} is no score", allowed=_VALUE)
    return value


def _ending(path: str | PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise InputError(
            f"{ending or 'no ending'!r} is no ending of a sheet", place=Place.of(path), allowed=" or ".join(_ENDINGS)
        )
    return ending


def _rows(path: str | PathLike[str]) -> Iterator[_Given]:
    yield from _csv(path) if _ending(path) == ".csv" else _jsonl(path)


def _csv(path: str | PathLike[str]) -> Iterator[_Given]:
    name = Place.of(path).path
    rows = csv_rows(read_text(path, "a CSV table"), name)
    head = next(rows, None)
    if head is None:
        raise InputError("the sheet is empty", place=Place(name, 1, 1), allowed=", ".join(COLUMNS))
    columns: dict[str, int] = {}
    for i, cell in enumerate(head):
        if cell.text in columns:
            raise InputError(f"two columns are called {cell.text!r}", place=Place(name, cell.line, cell.column))
        columns[cell.text] = i
    for needed in _NEEDED:
        if needed not in columns:
            raise InputError(
                f"there is no column {needed!r}", place=Place(name, head[0].line, 1), allowed=", ".join(COLUMNS)
            )
    for row in rows:
        at = Place(name, row[0].line, row[0].column)
        if len(row) > len(head) and any(cell.text for cell in row[len(head) :]):
            extra = row[len(head)]
            raise InputError(
                f"{len(row)} cells in a table of {len(head)} columns",
                place=Place(name, extra.line, extra.column),
                advice="put quotation marks around a cell that holds a comma",
            )
        here = {column: row[i] for column, i in columns.items() if i < len(row)}
        places = {column: Place(name, cell.line, cell.column) for column, cell in here.items()}
        yield _Given({column: cell.text for column, cell in here.items()}, at, places)


def _jsonl(path: str | PathLike[str]) -> Iterator[_Given]:
    read_text(path, "JSON lines")  # says what is wrong with a file that is none
    rows, torn = read_lines(Path(path))
    if torn:
        raise InputError(torn.partition(": ")[2], place=Place.of(path, len(rows) + 1, 1))
    for place, value in rows:
        at = Place(place.path, place.line, 1)
        cells: dict[str, str] = {}
        for column, cell in value.items():
            if isinstance(cell, bool) or not isinstance(cell, (str, int, float, type(None))):
                raise InputError(f"{column}: must be text or a number", place=at)
            cells[column] = "" if cell is None else str(cell).strip()
        places = {column: Place(at.path, at.line, _column(value, column)) for column in value}
        yield _Given(cells, at, places)


def _column(value: Mapping[str, Json], column: str) -> int:
    """Where the key stands in the line as we write it; people who change a line keep its order."""
    before = {}
    for name, cell in value.items():
        if name == column:
            break
        before[name] = cell
    if not before:
        return 2
    return len(json.dumps(before, ensure_ascii=False, separators=(",", ":"))) + 1
