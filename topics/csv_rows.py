"""CSV files with the position of every cell, for error messages.

Cells are quoted if they contain separators, quotation marks (doubled) or line ends. `read_table` also accepts the
output of spreadsheets and data frames: semicolons or tabs, a line `sep=;`, UTF-16, and empty rows.
"""

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from topics.errors import InputError, Place
from topics.text_file import decode, place_in

_PLAIN = {separator: re.compile(rf"[^{separator}\r\n]*") for separator in ",;\t"}
_BLANK = {",": r"[ \t]*", ";": r"[ \t]*", "\t": " *"}  # white space allowed around a quoted cell
_QUOTED = {separator: re.compile(rf'{blank}"([^"]*+(?:""[^"]*+)*+)"{blank}') for separator, blank in _BLANK.items()}
_OPENING = {separator: re.compile(rf'{blank}"') for separator, blank in _BLANK.items()}
_LINE_END = re.compile(r"\r\n|\n|\r")
_NEEDS_QUOTES = {separator: re.compile(rf'[{separator}"\r\n]|^\s|\s$') for separator in ",;\t"}
_DECLARED = re.compile(r'"?sep=([,;\t])"?[,;\t]*(?=\r|\n|\Z)')
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell without quotation marks and surrounding white space. Line and column are those of its start, from 1."""

    text: str
    line: int
    column: int


def csv_rows(text: str, path: str, separator: str = ",") -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of a CSV text except empty lines. Raises InputError for unbalanced quotation marks."""
    unquoted, quotes, opening, ends = _PLAIN[separator], _QUOTED[separator], _OPENING[separator], f"{separator}\r\n"
    position, line, line_start = 0, 1, 0
    row: list[Cell] = []
    while position < len(text) or row:
        if not row:
            # Most lines have no quotation mark; their cells need no search each.
            ended = _LINE_END.search(text, position)
            plain_line = text[position : ended.start() if ended else len(text)]
            if '"' not in plain_line:
                column = 1
                for value in plain_line.split(separator):
                    row.append(Cell(value.strip(), line, column))
                    column += len(value) + 1
                if len(row) > 1 or row[0].text:
                    yield tuple(row)
                row = []
                position = line_start = ended.end() if ended else len(text)
                line += 1
                continue
        start, start_line, column = position, line, position - line_start + 1
        quoted = quotes.match(text, position)
        if quoted:
            value = quoted[1].replace('""', '"')
            position = quoted.end()
            for end in _LINE_END.finditer(quoted[0]):
                line, line_start = line + 1, start + end.end()
            if position < len(text) and text[position] not in ends:
                raise InputError(
                    "text follows a closing quotation mark",
                    place=place_in(text, path, position),
                    advice='write a quotation mark inside a quoted cell twice: ""',
                )
        elif opening.match(text, position):
            raise InputError(
                "a quotation mark is never closed",
                place=Place(path, line, column),
                advice="close it, or remove it",
            )
        else:
            plain = unquoted.match(text, position)
            assert plain is not None
            value, position = plain[0], plain.end()
        row.append(Cell(value.strip(), start_line, column))
        if text.startswith(separator, position):
            position += 1
            continue
        if len(row) > 1 or row[0].text:
            yield tuple(row)
        row = []
        ended = _LINE_END.match(text, position)
        if ended:
            position = line_start = ended.end()
            line += 1


def csv_line(cells: Iterable[str], separator: str = ",") -> str:
    """Return a row as a line with its line end. (The standard writer leaves a lone carriage return unquoted.)"""
    marks = _NEEDS_QUOTES[separator]
    quoted = ('"' + cell.replace('"', '""') + '"' if marks.search(cell) else cell for cell in cells)
    return separator.join(quoted) + "\n"


@dataclass(frozen=True, slots=True)
class Table:
    """A table read from CSV: the first row as `head`, () for an empty file, and the later rows that are not blank."""

    head: tuple[Cell, ...]
    rows: Iterator[tuple[Cell, ...]]
    separator: str


def is_utf16(data: bytes) -> bool:
    """Return True if the data begin with the UTF-16 mark that spreadsheets write."""
    return data.startswith(_UTF16)


def decode_table(data: bytes, path: str, kind: str, advice: str = "save it as UTF-8") -> str:
    """Decode the text of a table in UTF-8, or in UTF-16 with its byte order mark. Raises InputError for other data."""
    if is_utf16(data):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as fault:
            raise InputError(
                f"the file is incomplete UTF-16: {fault.reason}", place=Place(path), advice=advice
            ) from None
    try:
        return decode(data, path, kind)
    except InputError as fault:
        raise InputError(fault.what, place=fault.place, allowed=fault.allowed, advice=advice) from None


def read_table(text: str, path: str, known: Container[str]) -> Table:
    """Read a table row by row. A separator that the text does not declare is chosen to separate most of the `known`
    column names (in lower case). Raises InputError as `csv_rows` does, also while iterating over the rows."""
    separator, text = declared_separator(text)
    separator = separator or _find_separator(text, path, known)
    rows = (row for row in csv_rows(text, path, separator) if any(cell.text for cell in row))
    return Table(next(rows, ()), rows, separator)


def declared_separator(text: str) -> tuple[str, str]:
    """Return the separator that a first line `sep=;` declares, or "", and the text with this line made blank: lines and
    columns are still those of the file."""
    declared = _DECLARED.match(text)
    return (declared[1], text[declared.end() :].rjust(len(text))) if declared else ("", text)


def _find_separator(text: str, path: str, known: Container[str]) -> str:
    def columns(separator: str) -> int:
        try:
            head = next(csv_rows(text, path, separator), ())
        except InputError:  # a quoted name that is followed by a different separator
            return 0
        return sum(cell.text.casefold() in known for cell in head)

    return max(_PLAIN, key=columns)
