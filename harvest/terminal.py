"""Terminal output of untrusted text. Every character is shown, and no character can control the terminal."""

import os
import re
import shutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from topics.decimals import INTERVAL

if TYPE_CHECKING:
    from rich.console import Console

    from harvest.console import PeopleConsole

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_CONTROLS_IN_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


# White space and the word after it. An interval is a part of one word.
_WORDS = re.compile(rf"(\s*)((?:{INTERVAL.pattern}|\S)+)")


class LastingStream:
    """A stream that ignores write errors, so that a run continues after its terminal is gone. Everything except
    writing is delegated to `stream`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def printable(text: str, *, line: bool = False) -> str:
    """Return `text` with control characters as symbols (ESC as ␛) and direction marks as codes. With `line`, tabs and
    line ends become symbols, too."""

    def picture(found: re.Match[str]) -> str:
        code = ord(found[0])
        if code < 0x20:
            return chr(0x2400 + code)
        return "\u2421" if code == 0x7F else f"<U+{code:04X}>"

    return (_CONTROLS if line else _CONTROLS_IN_LINES).sub(picture, text)


def wrap_lines(text: str, width: int | None, hang: int = 0) -> str:
    """Wrap the lines of `text` between words at `width` columns. If `width` is None, `text` is returned unchanged.
    Line breaks and indentation are kept. Continuation lines are indented by `hang` more columns. An interval is not
    broken, nor a word longer than a line, such as an address, so that it can be copied. Wide characters (漢字) count as
    two columns."""
    if width is None:
        return text
    return "\n".join(folded for line in text.split("\n") for folded in _fold_line(line, width, hang))


def _fold_line(line: str, width: int, hang: int) -> list[str]:
    if _text_width(line := line.expandtabs()) <= width:
        return [line]
    indent = re.match(r"\s*", line)[0]  # type: ignore[index]  # it always matches
    if len(indent) > width // 2:
        indent = ""
    found: list[str] = []
    for gap, word in _WORDS.findall(line):
        longer = found[-1] + gap + word if found else indent + word
        if found and _text_width(longer) > width:
            found.append(indent + " " * hang + word)
        else:
            found[-1:] = [longer]
    return found


# Characters of one column: Latin scripts, and the symbols for control characters.
_NARROW_TEXT = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2400-\u2426]*")


def _text_width(text: str) -> int:
    if _NARROW_TEXT.fullmatch(text):
        return len(text)
    from rich.cells import cell_len  # late: most commands print nothing of the kind

    return cell_len(text)


def terminal_width(stream: TextIO) -> int | None:
    """Return the width of the terminal behind a stream, or None if there is no terminal or its width is unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except OSError:
        return None


def prose_width() -> int:
    """Return the width for sentences on standard output: the terminal's width, or 80 columns without a terminal."""
    return shutil.get_terminal_size().columns


def print_message(text: str) -> None:
    """Print a message for people on standard error, wrapped between words if standard error is a terminal."""
    click.echo(wrap_lines(printable(text), terminal_width(sys.stderr)), err=True)


def people_console(*, file: TextIO | None = None, stderr: bool = False, soft_wrap: bool = False) -> "PeopleConsole":
    """Return a `PeopleConsole` for figures and sentences."""
    from harvest.console import PeopleConsole  # late: it takes a while, and not every command prints that way

    return PeopleConsole(printable, file=file, stderr=stderr, soft_wrap=soft_wrap)


def live_console() -> "Console":
    """Return a `LiveConsole` on standard error that shows the progress of a run."""
    from harvest.console import LiveConsole  # late, as above

    return LiveConsole(printable, file=cast(TextIO, LastingStream(sys.stderr)))
