"""Recovery of lists in which some records are not JSON: a stray quotation mark, a NaN, a repeated key, a missing end.

`mend_records` finds the end of each record of the list, and the beginning of the next record after a bad record. Bad
records are replaced by blanks, so that the remaining text keeps its lines and columns. Only lists of complete records
are repaired, also within objects: a conversation that lost one of its messages would be a different conversation.
"""

import re
from collections.abc import Callable

from topics.errors import InputError
from topics.json_file import value_at
from topics.text_file import Lines

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\s*[\[,]?\s*")
_FIRST_KEY = re.compile(r'\{[ \t\r\n]*"((?:[^"\\]|\\.)*)"[ \t\r\n]*:')
_NEXT_INLINE = re.compile(r"[}\]][ \t\r\n]*,[ \t\r\n]*(?=[{\[])")
_NEXT_ANYWHERE = re.compile(r"[,\n][ \t\r\n]*(?=[{\[])")
_TRUNCATED_ADVICE = "the text is truncated: write the file again, or use a copy"


def mend_records(
    text: str, path: str, line: int, is_record: Callable[[object], bool]
) -> tuple[str, list[InputError]] | None:
    """Return the text as valid JSON without bad records, and the error of each bad record, in order. Returns None if
    the text is not a list of records or an object with such a list. The text begins on line `line` of the file.
    `is_record` returns True for a complete record."""
    mending = _Mending(text, path, line, is_record)
    try:
        end = mending.value(0)
    except (_LostError, RecursionError):  # a text may be nested as deeply as Python can go
        return None
    if text[end:].strip() or not (mending.edits or mending.faults):
        return None
    return mending.result(), mending.faults


class _LostError(Exception):
    """Raised if the fault is not in a record of a list."""


class _Mending:
    """One pass through a text. `edits` are (start, end, replacement). `ends` are the brackets missing at its end."""

    def __init__(self, text: str, path: str, line: int, is_record: Callable[[object], bool]) -> None:
        self.text, self.path, self.is_record = text, path, is_record
        self.lines = Lines(text, path, line)
        self.edits: list[tuple[int, int, str]] = []
        self.faults: list[InputError] = []
        self.ends = ""

    def result(self) -> str:
        pieces, at = [], 0
        for start, end, instead in self.edits:
            kept = re.sub(r"[^\r\n]", " ", self.text[start:end])
            pieces += [self.text[at:start], instead + kept[len(instead) :]]
            at = end
        return "".join((*pieces, self.text[at:], self.ends))

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int) -> int:
        at = self.skip(at)
        _, end, fault = value_at(self.text, at, self.path, lines=self.lines)
        if fault is None:
            return end
        if self.text.startswith("[", at):
            return self.records(at + 1)
        if self.text.startswith("{", at):
            return self.members(at + 1)
        raise _LostError

    def members(self, at: int) -> int:
        keys: set[object] = set()
        while True:
            at = self.skip(at)
            key, end, fault = value_at(self.text, at, self.path, lines=self.lines)
            colon = self.skip(end)
            if fault is not None or not isinstance(key, str) or key in keys or not self.text.startswith(":", colon):
                raise _LostError
            keys.add(key)
            at = self.skip(self.value(colon + 1))
            if at == len(self.text) and self.faults:  # the list before it was cut off, and its fault is recorded
                self.ends += "}"
                return at
            if self.text.startswith("}", at):
                return at + 1
            if not self.text.startswith(",", at):
                raise _LostError
            at += 1

    def records(self, at: int) -> int:
        """Read the rest of a list and return its end. Raises _LostError if the list contains no record."""
        found, comma, cut_in_record = False, -1, False
        while True:
            at = self.skip(at)
            if at == len(self.text) or self.text.startswith("]", at):
                break
            value, end, fault = value_at(self.text, at, self.path, lines=self.lines)
            after = self.skip(end) if end >= 0 else -1
            if fault is None and not self.is_properly_ended(after, end):
                fault, end = self.fault("not valid JSON: Expecting ',' delimiter", after), -1
            if fault is not None:
                following = after if end >= 0 and self.is_properly_ended(after, end) else self.next_start(at)
                if following < 0:
                    following, cut_in_record = len(self.text), True
                    if self.text[at:].partition("\n")[2].strip("]} \t\r\n"):
                        told = "the rest of the list cannot be separated from it and is left out too"
                        fault = InputError(f"{fault.what} ({told})", place=fault.place, advice=fault.advice)
                self.faults.append(fault)
                self.edits.append((at, following, ""))
                at = following
                if self.text.startswith(",", at):
                    self.edits.append((at, at + 1, ""))
                    at += 1
                continue
            found = found or self.is_record(value)
            comma = -1
            at = after
            if self.text.startswith(",", at):
                comma, at = at, at + 1
            elif at < len(self.text) and self.text[at] in "{[":  # only the comma is missing
                self.edits.append((end, min(end + 1, at), ","))
                comma = end
        if not found:
            raise _LostError
        if comma >= 0:  # nothing is left after it
            written = [one for one in self.edits if one[0] == comma and one[2]]
            self.edits = [one for one in self.edits if one not in written]
            if not written:
                self.edits = sorted([*self.edits, (comma, comma + 1, "")])
        if at == len(self.text):
            if not cut_in_record:
                self.faults.append(self.fault("not valid JSON: the list is not closed", at, _TRUNCATED_ADVICE))
            self.ends += "]"
            return at
        return at + 1

    def is_properly_ended(self, at: int, end: int) -> bool:
        """Return True if a list continues or ends after a value that ended at `end`. A comma may be missing."""
        return at == len(self.text) or self.text[at] in ",]" or (self.text[at] in "{[" and self.text[end - 1] in "}]")

    def next_start(self, start: int) -> int:
        text, opening = self.text, self.text[start]
        indent = self.lines.place(start).column - 1
        if _INDENT.fullmatch(text, start - indent, start) and opening in "{[":  # records begin lines of equal indent
            key = self.first_key(start)
            begins = re.compile(rf"\n[ \t,]{{{indent}}}(?={re.escape(opening)})")
            for found in begins.finditer(text, start):
                if self.first_key(found.end()) == key or self.holds_record(found.end()):
                    return found.end()
        elsewhere = _NEXT_INLINE if opening in "{[" else _NEXT_ANYWHERE
        for found in elsewhere.finditer(text, start):
            if self.holds_record(found.end()):
                return found.end()
        return -1

    def first_key(self, at: int) -> str | None:
        found = _FIRST_KEY.match(self.text, at)
        return found[1] if found else None

    def holds_record(self, at: int) -> bool:
        value, end, fault = value_at(self.text, at, self.path, lines=self.lines)
        return fault is None and self.is_record(value) and self.is_properly_ended(self.skip(end), end)

    def fault(self, what: str, at: int, advice: str = "correct it there") -> InputError:
        return InputError(what, place=self.lines.place(at), advice=advice)
