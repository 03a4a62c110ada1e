"""A CSV file with the place of every cell, so that a fault in it can be pointed at.

Commas between cells (or another separator), quotation marks around cells that hold separators, quotation marks
(doubled) or line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from topics.errors import InputError, Place
from topics.text_file import place_in

__all__ = ["Cell", "csv_line", "csv_rows"]

_PLAIN = {separator: re.compile(rf"[^{separator}\r\n]*") for separator in ",;\t"}
_BLANK = {",": r"[ \t]*", ";": r"[ \t]*", "\t": " *"}  # white space that may stand around a quoted cell
_QUOTED = {separator: re.compile(rf'{blank}"([^"]*(?:""[^"]*)*)"{blank}') for separator, blank in _BLANK.items()}
_OPENING = {separator: re.compile(rf'{blank}"') for separator, blank in _BLANK.items()}
_LINE_END = re.compile(r"\r\n|\n|\r")
_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^\s|\s$')


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell without its quotation marks and the white space around it; line and column where it begins, from 1."""

    text: str
    line: int
    column: int


def csv_rows(text: str, path: str, separator: str = ",") -> Iterator[tuple[Cell, ...]]:
    """The rows of a CSV text, without empty lines. separator: a comma, a semicolon or a tab.

    Raises InputError for quotation marks that do not pair.
    """
    unquoted, quotes, opening, ends = _PLAIN[separator], _QUOTED[separator], _OPENING[separator], f"{separator}\r\n"
    position, line, line_start = 0, 1, 0
    row: list[Cell] = []
    while position < len(text) or row:
        start, start_line, column = position, line, position - line_start + 1
        quoted = quotes.match(text, position)
        if quoted:
            value = quoted[1].replace('""', '"')
            position = quoted.end()
            for end in _LINE_END.finditer(quoted[0]):
                line, line_start = line + 1, start + end.end()
            if position < len(text) and text[position] not in ends:
                raise InputError(
                    "text after a closing quotation mark",
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


def csv_line(cells: Iterable[str]) -> str:
    """One row as a line of text, with its line end. (The standard writer leaves a lone carriage return unquoted.)"""
    quoted = ('"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell for cell in cells)
    return ",".join(quoted) + "\n"
