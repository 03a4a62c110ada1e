"""One line of a terminal, edited key by key.

    ← →, ctrl-A, ctrl-E, Home, End       move
    backspace, Delete                    take out a character; ctrl-W a word, ctrl-U and ctrl-K all before and after
    Enter                                the line is said
    ctrl-D                               the end, where the line is empty

The row shows the part around the cursor; a line that was entered is shown whole. A terminal that marks what is pasted
(bracketed paste) gives it as it is: its line breaks are part of the turn. Other control characters stay in the line for
`without_controls`, and are shown as pictures.
"""

from __future__ import annotations

import os
import re
from typing import Final

from harvest.terminal import shown, wrapped

__all__ = ["Ended", "LineEditor", "without_controls"]

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1bO[ -~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_PARTIAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
_CONTROLS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
_LEFT, _RIGHT = ("\x1b[D", "\x1bOD", "\x02"), ("\x1b[C", "\x1bOC", "\x06")
_HOME, _END = ("\x1b[H", "\x1bOH", "\x1b[1~", "\x01"), ("\x1b[F", "\x1bOF", "\x1b[4~", "\x05")
_BACK: Final = ("\x7f", "\x08")


class Ended:
    """In the place of a line: ctrl-D on an empty one."""


def without_controls(text: str) -> str:
    """`text` without control characters and what steers a terminal; line breaks and tabs stay."""
    return _CONTROLS.sub("", text)


class LineEditor:
    """terminal: its file descriptor, open for reading and writing. refused: ctrl-D was pressed where a line stands."""

    def __init__(self, terminal: int) -> None:
        self._terminal, self.refused = terminal, False
        self._before, self._after = "", ""
        self._waiting, self._pasting, self._breaking = "", False, False
        self._marks = os.environ.get("TERM", "dumb") != "dumb"
        self._drawn = 0
        if self._marks:
            self._write("\x1b[?2004h")

    def close(self) -> None:
        if self._marks:
            self._write("\x1b[?2004l")

    def feed(self, typed: str) -> list[str | Ended]:
        """What was entered by these keys: lines, and ends."""
        found: list[str | Ended] = []
        typed, self._waiting, at = self._waiting + typed, "", 0
        plain: list[str] = []
        while at < len(typed):
            sequence = _SEQUENCE.match(typed, at)
            if sequence is None and typed[at] == "\x1b" and _PARTIAL.match(typed, at):
                self._waiting = typed[at:]
                break
            key = sequence[0] if sequence else typed[at]
            at += len(key)
            if len(key) == 1 and key >= " " and key != "\x7f":
                plain.append(key)
                self._breaking = False
                continue
            self._before += "".join(plain)
            plain.clear()
            entered = self._press(key)
            if entered is not None:
                found.append(entered)
        self._before += "".join(plain)
        self.show()
        return found

    def _press(self, key: str) -> str | Ended | None:
        again, self._breaking = self._breaking and key == "\n", key == "\r"
        if again:
            return None
        if key in (_PASTE, _PASTED):
            self._pasting = key == _PASTE
        elif self._pasting:
            self._before += "\n" if key in ("\r", "\n") else key
        elif key in ("\r", "\n"):
            return self._entered()
        elif key == "\x04":
            if not self._before + self._after:
                return Ended()
            self.refused = True
        else:
            self._edit(key)
        return None

    def _edit(self, key: str) -> None:
        before, after = self._before, self._after
        if key in _LEFT:
            before, after = before[:-1], before[-1:] + after
        elif key in _RIGHT:
            before, after = before + after[:1], after[1:]
        elif key in _HOME:
            before, after = "", before + after
        elif key in _END:
            before, after = before + after, ""
        elif key in _BACK:
            before = before[:-1]
        elif key == "\x1b[3~":
            after = after[1:]
        elif key == "\x15":
            before = ""
        elif key == "\x0b":
            after = ""
        elif key == "\x17":
            before = re.sub(r"\S*\s*\Z", "", before)
        elif not key.startswith("\x1b") or len(key) == 1:  # a key that does nothing here leaves nothing
            before += key
        self._before, self._after = before, after

    def _entered(self) -> str:
        line = (self._before + self._after).strip("\n")
        self._before = self._after = ""
        self.show()
        self._write(wrapped(shown(without_controls(line)), self._columns()) + "\n")
        return line

    def show(self) -> None:
        """Draw the row: what stands around the cursor, and the cursor in its place."""
        from rich.cells import cell_len, set_cell_size

        width = max(10, self._columns() - 2)
        before, after = (_row(part) for part in (self._before[-2 * width :], self._after[: 2 * width]))
        while cell_len(before) > width * 3 // 4:
            before = before[1:]
        row = before + set_cell_size(after, width - cell_len(before)).rstrip()
        blank = " " * max(0, self._drawn - cell_len(row))
        if self._drawn or row:
            self._write(f"\r{row}{blank}\r{before}")
        self._drawn = cell_len(row)

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._terminal).columns or 80
        except OSError:
            return 80

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data:
            try:
                data = data[os.write(self._terminal, data) :]
            except OSError:  # it has gone, or is open for reading only: nobody sees the row
                return


def _row(text: str) -> str:
    return shown(text.replace("\n", "⏎").replace("\t", " "), line=True)
