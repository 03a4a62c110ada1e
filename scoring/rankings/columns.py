"""Text files of columns separated by white space, as exchanged by tools that evaluate ranked lists.

The files may be large (a run of a million lines), so lines are plain lists of strings, and the column of a fault is
computed only for an error.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

from topics.errors import InputError, Place
from topics.shown_names import shorten
from topics.text_file import read_text

# Bytes: ten million lines of a run. A larger file is not a run, and could exhaust the memory.
LARGEST = 512 * 1024 * 1024

_CELL = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class ColumnFile:
    """A file that was read completely: its path as given, its text, and the expected kind for messages."""

    path: str
    text: str
    kind: str

    @classmethod
    def read(cls, path: str | PathLike[str], kind: str) -> "ColumnFile":
        """Read the file at `path`. Raises InputError if it is missing, not a regular file, too large or not UTF-8."""
        return cls(Place.of(path).path, read_text(path, kind, largest=LARGEST), kind)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line number from 1, cells) for every line that is not blank."""
        for number, line in enumerate(self.text.split("\n"), 1):
            cells = line.split()
            if cells:
                yield number, cells

    def fault(
        self, line: int, cell: int, what: str, *, allowed: str | None = None, advice: str | None = None
    ) -> InputError:
        """Return an error at the cell with this index, or the last cell of a shorter line. The error is not raised."""
        found = list(_CELL.finditer(self.text.split("\n")[line - 1]))
        column = found[min(cell, len(found) - 1)].start() + 1 if found else 1
        return InputError(what, place=Place(self.path, line, column), allowed=allowed, advice=advice)

    def empty(self, what: str) -> InputError:
        """Return the error for a file without content."""
        return InputError(f"the file contains no {what}", place=Place(self.path, 1, 1), allowed=self.kind)

    def probability(self, line: int, cell: int, text: str) -> float:
        """Return a number from 0 to 1. Raises InputError at its cell for any other text."""
        value = read_number(text)
        if not 0 <= value <= 1:
            raise self.fault(line, cell, f"{quote_cell(text)} is not a probability", allowed="a number from 0 to 1")
        return value


def read_number(text: str) -> float:
    """Return a decimal number, or NaN for any other text. Python alone also takes `1_0`, and digits of all scripts."""
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


def quote_cell(text: str) -> str:
    """Return a cell in quotation marks for a message, shortened if it is long."""
    return repr(shorten(text, 60))
