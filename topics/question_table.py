"""Topics as a table: `questions.csv`, a row for each question.

    id,question,question:de,type,party
    Q1,Who may vote?,Wer darf wählen?,rights,
    Q2,What does it want?,Was will sie?,party,The Greens

`id` and `question` are needed. A column `NAME:LANGUAGE` translates the column `NAME`. Translations may also be rows:
with a column `language`, further rows with the same id translate the first one. All other columns are texts of the
topic (`topic.fields.party`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from topics.csv_rows import Cell, decode_table, read_table
from topics.document import Document
from topics.errors import InputError, Place, suggestion
from topics.names import name_fault
from topics.regular_file import read_bytes
from topics.text_file import LARGEST
from topics.topic import ID_SIGNS, LANGUAGE_TAG, QUESTION, TopicSet
from topics.topic_file import FORMAT, read_topics
from topics.yaml_values import LaterMarks, Loc, Marks

ENDINGS = (".csv", ".tsv")
_LANGUAGE = "language"
# The columns that are a topic's own keys; `request` is what topic files call a question.
_OWN = ("id", "type", "cluster", "subject", "asks_for")
_OTHER_NAMES = {"request": QUESTION, "prompt": QUESTION, "lang": _LANGUAGE}
_KNOWN = frozenset({QUESTION, _LANGUAGE, *_OWN, *_OTHER_NAMES})
_TAG = re.compile(LANGUAGE_TAG)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column by its name, without the language of its texts, which is "" for those that are not translations."""

    name: str
    language: str
    cell: Cell


def read_questions(path: str | PathLike[str]) -> TopicSet:
    """Read a table of questions as a topic set that is called as the file. Raises InputError, with its place, for the
    first fault."""
    where = Place.of(path).path
    text = decode_table(read_bytes(path, "a table of questions", largest=LARGEST), where, "a table of questions as CSV")
    value = _read_rows(text, where, _Unkept())
    stem = "-".join(re.findall(r"\w+", Path(path).stem))[:40]  # hyphens for what a name cannot have
    value["name"] = stem if stem and not name_fault(stem, ID_SIGNS) else "questions"

    @cache
    def places() -> Marks:
        marks: dict[Loc, tuple[int, int]] = {}
        _read_rows(text, where, marks)
        return marks

    return read_topics(Document(where, value, LaterMarks(places), {}))


class _Unkept(dict[Loc, tuple[int, int]]):
    """The places of a table without a fault, for which nobody asks."""

    def __setitem__(self, *_: object) -> None:
        pass

    def setdefault(self, _: Loc, place: tuple[int, int] = (1, 1)) -> tuple[int, int]:
        return place


def _read_rows(text: str, where: str, marks: dict[Loc, tuple[int, int]]) -> dict[str, Any]:
    """Return the value of a topic file, without its name, and add the place of each part to `marks`."""
    table = read_table(text, where, _KNOWN)
    columns = _read_head(table.head, where)
    marks[()] = marks["name",] = marks["topics",] = 1, 1
    topics: dict[str, dict[str, Any]] = {}
    first: dict[str, tuple[int, Cell]] = {}
    for row in table.rows:
        if len(row) > len(columns) and (beyond := next((cell for cell in row[len(columns) :] if cell.text), None)):
            raise _error(where, beyond, f"the row has more cells than the {len(columns)} columns of its table")
        given = {(column.name, column.language): cell for column, cell in zip(columns, row) if column.name}
        name = given.get(("id", ""))
        if name is None or not name.text:
            raise _error(where, row[0], "the row has no id", advice="give each question an id, such as Q1")
        number, earlier = first.setdefault(name.text, (len(topics), name))
        loc: Loc = ("topics", number)
        if earlier is name:
            topics[name.text] = _make_topic(given, loc, marks, where)
        elif (_LANGUAGE, "") not in given:
            what = f"the id {name.text!r} is already that of line {earlier.line}"
            advice = "rename one; for translations as rows, add a column `language`"
            raise _error(where, name, what, advice=advice)
        _add_translations(topics[name.text], given, loc, marks, where)
    types = dict.fromkeys(str(topic["type"]) for topic in topics.values())
    marks["types",] = 1, 1
    for number, topic in enumerate(topics.values()):
        marks.setdefault(("types", topic["type"]), marks.get(("topics", number, "type"), (1, 1)))
    return {"format": FORMAT, "types": {name: {} for name in types}, "topics": tuple(topics.values())}


def _read_head(head: Sequence[Cell], path: str) -> tuple[_Column, ...]:
    columns: dict[tuple[str, str], _Column] = {}
    for number, cell in enumerate(head):
        name, colon, language = (part.strip() for part in cell.text.partition(":"))
        if colon and not _TAG.fullmatch(language):
            what = f"the column {cell.text!r} has no language behind its colon"
            raise _error(path, cell, what, allowed="a code such as de or pt-BR: question:de")
        known = name.casefold().replace(" ", "_")
        name = known if known in _KNOWN else name
        column = _Column(_OTHER_NAMES.get(name, name), language, cell)
        if colon and column.name in ("id", "type", "cluster", _LANGUAGE):
            raise _error(path, cell, f"the column {name!r} is the same in all languages, so it has no translations")
        # Languages that differ in capitals alone are one; columns without a name are not read.
        twin = columns.setdefault((column.name, language.casefold() if name else str(number)), column)
        if twin is not column:
            raise _error(path, cell, f"the columns {twin.cell.text!r} and {cell.text!r} hold the same")
    names = {column.name for column in columns.values()}
    for needed in ("id", QUESTION):
        if needed not in names:
            seen = [column.cell.text for column in columns.values() if column.cell.text]
            raise InputError(
                f"the table has no column {needed!r}{suggestion(needed, seen)}",
                place=Place(path, 1, 1),
                allowed=f"id, {QUESTION}, {QUESTION}:de, type, subject, asks_for, cluster, language, and columns of "
                "your own",
                advice="name the column so in the first line",
            )
    for column in columns.values():
        if column.language and column.name != QUESTION and (column.name, "") not in columns:
            what = f"there is no column {column.name!r} that {column.cell.text!r} could translate"
            raise _error(path, column.cell, what + suggestion(column.name, sorted(names - {column.name})))
    return tuple(columns.values())


_Given = Mapping[tuple[str, str], Cell]


def _make_topic(given: _Given, loc: Loc, marks: dict[Loc, tuple[int, int]], path: str) -> dict[str, Any]:
    topic: dict[str, Any] = {"fields": {}, "translations": {}}
    id_cell = given["id", ""]
    for inside in ((), ("fields",), ("translations",)):
        marks[*loc, *inside] = id_cell.line, id_cell.column
    for (name, language), cell in given.items():
        if not language and name not in (QUESTION, _LANGUAGE):
            way: Loc = (name,) if name in _OWN else ("fields", name)
            marks[*loc, *way] = cell.line, cell.column
            if cell.text:
                (topic if name in _OWN else topic["fields"])[name] = cell.text
    topic.setdefault("type", QUESTION)
    question = given.get((QUESTION, ""))
    if question is None:  # each question is in a column with its language
        question = next((cell for (name, _), cell in given.items() if name == QUESTION and cell.text), None)
    if question is None or not question.text:
        what = f"the question {id_cell.text!r} has no words"
        raise _error(path, question or id_cell, what, advice="write what is asked")
    marks[*loc, "request"] = question.line, question.column
    topic["request"] = question.text
    return topic


def _add_translations(
    topic: dict[str, Any], given: _Given, loc: Loc, marks: dict[Loc, tuple[int, int]], path: str
) -> None:
    for own, language, cell in _translations(given, path):
        texts = topic["translations"].setdefault(language, {})
        if own in texts:
            what = f"the {own} of {topic['id']!r} in {language!r} occurs twice"
            raise _error(path, cell, what, advice="remove one")
        texts[own] = cell.text
        marks.setdefault((*loc, "translations", language), (cell.line, cell.column))
        marks[*loc, "translations", language, own] = cell.line, cell.column


def _translations(given: _Given, path: str) -> Iterator[tuple[str, str, Cell]]:
    """Yield the name, the language and the cell of each text in a row that has a language."""
    of_row = given.get((_LANGUAGE, ""))
    if of_row is not None and not _TAG.fullmatch(of_row.text):
        what = f"{of_row.text!r} is not the code of a language" if of_row.text else "the row has no language"
        raise _error(path, of_row, what, allowed="a code such as de or pt-BR")
    for (name, language), cell in given.items():
        if name in ("id", "type", "cluster", _LANGUAGE) or not cell.text:
            continue
        if language or of_row is not None:
            yield name, language or (of_row.text if of_row is not None else ""), cell


def _error(path: str, cell: Cell, what: str, *, allowed: str = "", advice: str = "") -> InputError:
    return InputError(what, place=Place(path, cell.line, cell.column), allowed=allowed or None, advice=advice or None)
