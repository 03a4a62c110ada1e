"""Output that is safe for CI services, in which no text of a system becomes a command to the service.

A CI service may read commands in the lines that a step prints. GitHub's runner executes a line that begins with `::`,
and `##[` anywhere (the older form, which is still supported). Azure's agent executes `##vso[` anywhere.
"""

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TextIO, cast

# Each is set by a service whose commands are known here.
_VARIABLES = ("GITHUB_ACTIONS", "TF_BUILD")

_LINE = re.compile(r"(?:\A|(?<=[\r\n]))[^\S\r\n]*:(?=:)")
_BRACKET = re.compile(r"(?<=##)\[|(?<=##vso)\[", re.IGNORECASE)
_COMMAND_START = re.compile(r"(?:##(?:v|vs|vso)?|#)?\Z", re.IGNORECASE)


class EscapingStream:
    """A stream that writes no commands. `::` at the start of a line is written as `: :`, `##[` as `## [`, and
    `##vso[` as `##vso [`. With `as_json`, the text is JSON and must keep its value, so the bracket is escaped
    instead; no line of JSON begins with `::`. Everything except writing is delegated to `stream`."""

    def __init__(self, stream: TextIO, *, as_json: bool = False) -> None:
        self.stream, self._as_json = stream, as_json
        self._last = ""
        """The end of the line so far: a possible start of a command, after a dash if the line is not empty."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    @property
    def buffer(self) -> Any:
        """Raise AttributeError, because nothing may bypass `write`."""
        raise AttributeError("buffer")

    def write(self, text: str) -> int:
        whole = self._last + text  # a command may be written in pieces
        safe = _BRACKET.sub(r"\\u005b", whole) if self._as_json else _BRACKET.sub(" [", _LINE.sub(r"\g<0> ", whole))
        self.stream.write(safe[len(self._last) :])
        line = whole[max(whole.rfind("\n"), whole.rfind("\r")) + 1 :].lstrip()
        begun = _COMMAND_START.search(line)
        self._last = line if line in ("", ":") else "-" + (begun[0] if begun else "")
        return len(text)


def underlying_stream(stream: TextIO) -> TextIO:
    """Return the original stream, on which intended commands can be written."""
    while isinstance(stream, EscapingStream):
        stream = stream.stream
    return stream


@contextlib.contextmanager
def escape_output(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[None]:
    """Within the block, disarm standard output and error if a CI service reads them. `arguments` are the arguments of
    Harvest's command, which show whether the command prints JSON."""
    with contextlib.ExitStack() as stack:
        if any(environment.get(name) for name in _VARIABLES):
            asked = {*arguments, *pairwise(arguments)}
            as_json = not asked.isdisjoint(("--json", "--format=json", ("--format", "json")))
            if not _is_file(sys.stdout):
                out = EscapingStream(sys.stdout, as_json=as_json)
                stack.enter_context(contextlib.redirect_stdout(cast(TextIO, out)))
            if not _is_file(sys.stderr):
                stack.enter_context(contextlib.redirect_stderr(cast(TextIO, EscapingStream(sys.stderr))))
        yield


def _is_file(stream: TextIO) -> bool:
    """Return True if the stream writes to a file, which no service reads and which should get the exact output."""
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False
