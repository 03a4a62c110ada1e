"""The files of annotation sheets, `.csv`, `.tsv` or `.jsonl`, written for spreadsheets and read back from them.

Spreadsheets execute a cell that begins with `=`, and change a cell that looks like a number, a date or a truth
value. Such text is written with an apostrophe before it, which is removed when the sheet is read. A CSV or TSV file
begins with a byte order mark, because Excel would otherwise misread accents.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path

from recordings.files.json_text import encode_line
from recordings.log.exports import write_export
from topics.csv_rows import Cell, csv_line, decode_table, read_table
from topics.errors import InputError, Place
from topics.json_file import read_json_text
from topics.json_value import JsonValue
from topics.regular_file import read_bytes

Row = Mapping[str, str]

# Bytes of a sheet, written or read. People do not fill in more, and a spreadsheet does not open it.
LARGEST = 64 * 2**20

# Characters from which a cell may have been cut short: spreadsheets allow 32,767.
LONGEST_CELL = 32_000

# Columns with our whole numbers, or for annotators to fill in; no apostrophe is put before them.
NUMBERS = frozenset({"trial", "attempt", "turn", "start", "end", "value"})

_ENDINGS = (".csv", ".tsv", ".jsonl")
_SEPARATORS = {",": "a comma", ";": "a semicolon"}
_CHANGED_BY_SPREADSHEETS = re.compile(
    r"""'*(?:[\t\r]|\s*(?:
      [=+\-@\uff1d\uff0b\uff0d\uff20]  # a formula, also in the wide characters of East Asian keyboards
    | (?!(?:0|[1-9][0-9]{0,14})\s*\Z)[0-9][0-9.,:/%eE\s+-]*\Z  # 1.10, 3E5, 1-2, 007 would come back as another number
    | (?i:true|false)\s*\Z
    ))""",
    re.VERBOSE,
)
_ZERO_DECIMALS = re.compile(r"[.,]0+\Z")  # data frames write whole numbers like this if one in the column is missing
_CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")


def protect_cell(cell: str) -> str:
    """Put an apostrophe before a cell that spreadsheets would change. `restore_cell` removes it."""
    return f"'{cell}" if _CHANGED_BY_SPREADSHEETS.match(cell) else cell


def restore_cell(cell: str) -> str:
    """Return the cell without the apostrophe that `protect_cell` added."""
    return cell[1:] if cell.startswith("'") and _CHANGED_BY_SPREADSHEETS.match(cell) else cell


def escape_text(text: str) -> str:
    """Escape lone surrogates and control characters, which a sheet cannot contain."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text.encode("utf-8", "backslashreplace").decode())


def same_words(cell: str, words: str) -> bool:
    """Return whether a cell contains `words`, ignoring white space and the end of a cell that was cut off."""
    if cell.split() == protect_cell(words).split():  # white space behind the apostrophe is gone
        return True
    for told in (cell, restore_cell(cell)):
        if told.split() == words.split():
            return True
        if len(cell) >= LONGEST_CELL and " ".join(words.split()).startswith(" ".join(escape_text(told).split())):
            return True
    return False


def write_rows(rows: Iterable[Row], columns: Sequence[str], path: str | PathLike[str]) -> int:
    """Write the rows and return their number. Raises InputError for another extension than `sheet_ending` allows and
    for a sheet too large to read back, and the errors of `recordings.log.exports.write_export`."""
    separator = {".csv": ",", ".tsv": "\t"}.get(sheet_ending(path))
    pieces: list[bytes] = [] if separator is None else ["\ufeff".encode(), csv_line(columns, separator).encode()]
    size, count = 0, 0
    for row in rows:
        count += 1
        cells = {name: escape_text(row.get(name, "")) for name in columns}
        if separator is not None:
            told = (cell if name in NUMBERS else protect_cell(cell) for name, cell in cells.items())
            pieces.append(csv_line(told, separator).encode())
        else:
            pieces.append(encode_line(cells))
        size += len(pieces[-1])
        if size > LARGEST - 4096:
            raise InputError(
                f"the sheet would be larger than {LARGEST // 2**20} MiB",
                place=Place.of(path),
                advice="use fewer criteria, or a sample: --criterion NAME, --sample N",
            )
    write_export(path, b"".join(pieces))
    return count


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row as read. `cells` are by column, without surrounding white space, and `place` is the beginning of the
    row. `where` returns the position of the cell in a column. If the row has no such cell, it returns the
    position of the row."""

    cells: Row
    place: Place
    where: Callable[[str], Place]

    def error(self, column: str, what: str, *, allowed: str | None = None, advice: str | None = None) -> InputError:
        return InputError(what, place=self.where(column), allowed=allowed, advice=advice)

    def get(self, column: str) -> str:
        return self.cells.get(column, "")

    def require_column(self, column: str) -> None:
        """Raise InputError if the sheet does not have the column."""
        if column not in self.cells:
            raise self.error(
                column,
                f"the sheet has no column {column!r}, which identifies the row",
                advice="use the sheet with all its original columns",
            )

    def number(self, column: str) -> int:
        self.require_column(column)
        given = self.get(column)
        text = _ZERO_DECIMALS.sub("", given)
        if not (text.isascii() and text.isdecimal() and len(text) < 12):
            raise self.error(
                column,
                f"{column}: {given[:40]!r} is not a whole number",
                advice="do not change this column",
            )
        return int(text)


def read_rows(path: str | PathLike[str], columns: Sequence[str], needed: Sequence[str]) -> Iterator[SheetRow]:
    """Yield the rows of a sheet in order. Columns that are not in `columns` are ignored. Columns in `needed` are
    required. A CSV file may be separated by commas, semicolons or tabs, and may have any line endings. Its encoding
    is UTF-8, with or without a byte order mark, or UTF-16 with a byte order mark. Raises InputError, with file,
    line and column, for any other file."""
    ending = sheet_ending(path)
    place = Place.of(path)
    data = read_bytes(
        path,
        "a sheet of ours",
        largest=LARGEST,
        advice="hand the rows in in several files, each with the row of column names",
    )
    text = decode_table(data, place.path, "a sheet", "save it from the spreadsheet as 'CSV UTF-8'")
    yield from (
        _jsonl_rows(text, path, needed) if ending == ".jsonl" else _csv_rows(text, Place.of(path).path, columns, needed)
    )


def sheet_ending(path: str | PathLike[str]) -> str:
    """Return the extension, `.csv`, `.tsv` or `.jsonl`. Raises InputError for any other extension."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise InputError(
            f"a sheet cannot have the extension {ending!r}" if ending else "the name of the sheet has no extension",
            place=Place.of(path),
            allowed=", ".join(_ENDINGS),
            advice="rename the file; a spreadsheet saves such a file as 'CSV UTF-8'",
        )
    return ending


def _csv_rows(text: str, name: str, columns: Sequence[str], needed: Sequence[str]) -> Iterator[SheetRow]:
    table = read_table(text, name, columns)
    head, separator = table.head, table.separator
    if not head:
        raise InputError("the sheet is empty", place=Place(name, 1, 1), allowed=", ".join(columns))
    at = _column_places(head, name)
    for one in needed:
        if one not in at:
            raise InputError(
                f"the sheet has no column {one!r}",
                place=Place(name, head[0].line, 1),
                allowed=", ".join(columns),
                advice="keep the first row as it was written; separate cells with commas, semicolons or tabs",
            )
    unended = not text.endswith(("\n", "\r"))
    for row, following in pairwise((*table.rows, ())):
        # Every row that we wrote ends with an id, and spreadsheets keep the cells after the last one that is filled in.
        whole = len(row) >= len(head) and (row[-1].text or head[-1].text.casefold() != "id")
        if not whole and ((unended and not following) or any(at[one] >= len(row) for one in needed)):
            last = row[-1]
            raise InputError(
                f"the row is incomplete: it has {len(row)} of {len(head)} cells",
                place=Place(name, last.line, last.column),
                advice="part of the sheet is missing: give the complete file",
            )
        if len(row) > len(head) and any(cell.text for cell in row[len(head) :]):
            extra = row[len(head)]
            raise InputError(
                f"the row has {len(row)} cells, but the table has {len(head)} columns",
                place=Place(name, extra.line, extra.column),
                advice=f"put quotation marks around a cell that contains {_SEPARATORS.get(separator, 'a tab')}",
            )
        yield _read_row({column: row[i] for column, i in at.items() if i < len(row)}, row[0], name)


def _read_row(here: Mapping[str, Cell], first: Cell, name: str) -> SheetRow:
    def where(column: str) -> Place:
        cell = here.get(column, first)
        return Place(name, cell.line, cell.column)

    return SheetRow({column: cell.text for column, cell in here.items()}, Place(name, first.line, first.column), where)


def _column_places(head: Sequence[Cell], name: str) -> dict[str, int]:
    """Return the index of each column by its name in lower case. Spreadsheets may add columns without a name."""
    columns: dict[str, int] = {}
    for i, cell in enumerate(head):
        known = cell.text.casefold()
        if known in columns:
            raise InputError(
                f"two columns are called {cell.text!r}",
                place=Place(name, cell.line, cell.column),
                advice="remove one of the columns",
            )
        if known:
            columns[known] = i
    return columns


def _jsonl_rows(text: str, path: str | PathLike[str], needed: Sequence[str]) -> Iterator[SheetRow]:
    for value in read_json_text(text, str(Path(path).with_suffix(".jsonl"))):
        cells = {column: _cell_text(value[column]) for column in value.keys()}  # noqa: SIM118  no mapping
        for one in needed:
            value[one]  # raises the error for a missing key
        yield _given_line(cells, value)


def _given_line(cells: Row, value: JsonValue) -> SheetRow:
    def where(column: str) -> Place:
        return (value[column] if value.has_key(column) else value).place

    return SheetRow(cells, Place(value.path, value.line), where)


def _cell_text(value: JsonValue) -> str:
    if isinstance(value.value, bool) or not isinstance(value.value, (str, int, float, type(None))):
        raise value.error(f"{value.loc[-1]} must be text or a number")
    return "" if value.value is None else str(value.value).strip()
