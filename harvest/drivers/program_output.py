"""The output of programs: where a reply ends, and what a line of JSON means."""

import json
import re
from collections.abc import Mapping

from harvest.drivers.received import excerpt
from harvest.drivers.stated_turn import turn_of_fields, turn_of_text
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch
from recordings.conversations.conversation import SystemTurn

_LINE = b"\n"
_LINE_END = re.compile(rb"\r*(?:\n|\Z)")  # or what may become one


class Mark:
    """Finds the end of a reply in the output, reading each byte about once."""

    def __init__(self, end: str | None, prompt: str | None) -> None:
        self._end = end.encode() if end is not None else None
        self._prompt = prompt.encode() if prompt is not None else None
        self._from = 0

    def reset(self) -> None:
        self._from = 0

    def find(self, output: bytearray) -> tuple[int, int] | None:
        """Return (length of the reply, length with its end mark) in bytes, or None while the reply is incomplete."""
        if self._prompt is not None:
            before = len(output) - len(self._prompt)
            if output.endswith(self._prompt) and (before == 0 or output[before - 1 : before] == _LINE):
                return before, len(output)
            return None
        if self._end is None:
            line_end = output.find(_LINE, self._from)
            self._from = len(output) if line_end < 0 else line_end
            return (line_end, line_end + 1) if line_end >= 0 else None
        while (start := output.find(self._end, self._from)) >= 0:
            self._from = start
            rest = _LINE_END.match(output, start + len(self._end))
            if rest is not None and (start == 0 or output[start - 1 : start] == _LINE):
                return (start, rest.end()) if rest[0].endswith(_LINE) else None
            self._from = start + 1
        self._from = max(0, len(output) - len(self._end) + 1)
        return None


def readable(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _decode_line(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unanswered("not-utf8", f"byte {error.start} of the reply is not UTF-8: {error.reason}") from None


def text_turn(raw: bytes, watch: Stopwatch, *, thoughts_apart: bool) -> SystemTurn:
    text = _decode_line(raw).replace("\r\n", "\n").removesuffix("\n").removesuffix("\r")
    return turn_of_text(text, watch, thoughts_apart=thoughts_apart)


def json_turn(raw: bytes, watch: Stopwatch, *, thoughts_apart: bool) -> SystemTurn:
    """Read a reply in JSON. Raises Unanswered: `bad-json`, `bad-type`, `not-utf8`, `system-error` (the program's own
    `error`)."""
    line = _decode_line(raw)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Unanswered("bad-json", f"a line is not JSON ({error}): {excerpt(line)!r}") from None
    if not isinstance(value, Mapping):
        raise Unanswered("bad-json", f"a line is not a JSON object: {excerpt(line)!r}")
    return turn_of_fields(value, watch, thoughts_apart=thoughts_apart)
