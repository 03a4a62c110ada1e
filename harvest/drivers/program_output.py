"""The output of programs: finding the end of a reply, and reading the reply as text or JSON."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from harvest.drivers.parts import MisshapenError, Parts
from harvest.drivers.received import excerpt, why_not_json
from harvest.drivers.sources import NO_SOURCES, has_other_urls, urls_in
from harvest.drivers.token_counts import count_tokens
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch
from recordings.conversations.conversation import SystemTurn

# The note on an answer whose program gave addresses where nothing reads them.
OTHER_KEYS = "the program gave addresses under keys other than `links` and `sources`; they are no part of the answer"

# The note on an answer that a terminal would not show whole.
OVERWRITTEN = "text before a carriage return, which a terminal writes over, is left out; the evidence has it"

_LINE_BREAK = b"\n"
# Colours, movements of the cursor and titles of windows, which a terminal obeys and does not show.
_TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])")
_OVERWRITTEN = re.compile(r"(?m)^[^\n]*\r(?!$)")
_LINE_END = re.compile(rb"\r*(?:\n|\Z)")  # or what may become one


class EndMark:
    """A search for the end of a reply in the output. The search reads each byte about once."""

    def __init__(self, end: str | None, prompt: str | None) -> None:
        self._end = end.encode() if end is not None else None
        self._prompt = prompt.encode() if prompt is not None else None
        self._from = 0

    def reset(self) -> None:
        self._from = 0

    def find(self, output: bytearray) -> tuple[int, int] | None:
        """Return the lengths in bytes of the reply without and with its end mark, or None if the mark is missing."""
        if self._prompt is not None:
            before = len(output) - len(self._prompt)
            if output.endswith(self._prompt) and (before == 0 or output[before - 1 : before] == _LINE_BREAK):
                return before, len(output)
            return None
        if self._end is None:
            line_end = output.find(_LINE_BREAK, self._from)
            self._from = len(output) if line_end < 0 else line_end
            return (line_end, line_end + 1) if line_end >= 0 else None
        while (start := output.find(self._end, self._from)) >= 0:
            self._from = start
            rest = _LINE_END.match(output, start + len(self._end))
            if rest is not None and (start == 0 or output[start - 1 : start] == _LINE_BREAK):
                return (start, rest.end()) if rest[0].endswith(_LINE_BREAK) else None
            self._from = start + 1
        self._from = max(0, len(output) - len(self._end) + 1)
        return None


def decode_leniently(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _decode_line(raw: bytes) -> str:
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")  # PowerShell begins its output with one
    except UnicodeDecodeError as error:
        raise Unanswered("not-utf8", f"byte {error.start} of the reply is not UTF-8: {error.reason}") from None


def text_turn(raw: bytes, watch: Stopwatch, *, thoughts_apart: bool) -> SystemTurn:
    """Read a reply in text as a terminal shows it: without control codes, and without overwritten parts of lines, such
    as a progress bar. Raises Unanswered with the reason `not-utf8`."""
    text = _TERMINAL_CODES.sub("", _decode_line(raw)).replace("\r\n", "\n").removesuffix("\n").removesuffix("\r")
    shown, overwritten = _OVERWRITTEN.subn("", text)
    turn = turn_of_text(shown, watch, thoughts_apart=thoughts_apart)
    return replace(turn, notes=(*turn.notes, OVERWRITTEN)) if overwritten else turn


def json_turn(raw: bytes, watch: Stopwatch, *, thoughts_apart: bool) -> SystemTurn:
    """Read a reply in JSON. Raises Unanswered with the reason `not-utf8`, or any error of `turn_of_fields`."""
    line = _decode_line(raw)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Unanswered("bad-json", f"a line is not JSON ({why_not_json(error)}): {excerpt(line)!r}") from None
    if not isinstance(value, Mapping):
        raise Unanswered("bad-json", f"a line is not a JSON object: {excerpt(line)!r}")
    return turn_of_fields(value, watch, thoughts_apart=thoughts_apart)


_LIST_FIELDS = ("links", "sources", "tools", "offers", "attachments")
_FIELDS = frozenset({"text", "refusal", "thoughts", "finish", "tokens", "ended", "model", "error", *_LIST_FIELDS})


def turn_of_text(text: str, watch: Stopwatch, *, thoughts_apart: bool) -> SystemTurn:
    """Return a turn with `text` as its reply."""
    parts = Parts()
    parts.add_text(text)
    answer, notes = parts.answer(thoughts_apart=thoughts_apart)
    return SystemTurn(answer, watch.asked_at, watch.first_seconds, watch.seconds, notes=notes)


def turn_of_fields(value: Mapping[str, object], watch: Stopwatch, *, thoughts_apart: bool) -> SystemTurn:
    """Return the turn that an object describes. Raises Unanswered with the reason `bad-type` if the object has no
    text, `bad-json` if a field that must be a list is not a list, and `system-error` if the object reports an
    `error`."""
    if value.get("error"):
        raise Unanswered("system-error", f"the program reports: {excerpt(str(value['error']))}")
    if not ("text" in value or value.get("refusal")):
        raise Unanswered("bad-type", f'a line has no text at "text": {excerpt(repr(dict(value)))}')
    for key in _LIST_FIELDS:
        if value.get(key) is not None and not isinstance(value[key], list):
            raise Unanswered("bad-json", f'"{key}" is not a list: {excerpt(repr(value[key]))}')
    parts = Parts()
    try:
        parts.add_content(value.get("text"))
        parts.add_refusal(value.get("refusal"))
    except MisshapenError as fault:
        raise Unanswered("bad-type", f'a line has no text at "text": {fault}') from None
    parts.add_sources(value.get("links"))
    parts.add_sources(value.get("sources"))
    parts.add_thoughts(value.get("thoughts"))
    parts.add_calls(value.get("tools") or [])
    parts.add_offers(value.get("offers") or [])
    parts.add_attachments(value.get("attachments") or [])
    answer, notes = parts.answer(thoughts_apart=thoughts_apart)
    if has_other_urls(urls_in({key: value[key] for key in value.keys() - _FIELDS}, NO_SOURCES), answer):
        notes += (OTHER_KEYS,)
    tokens = value.get("tokens")
    return SystemTurn(
        answer,
        asked_at=watch.asked_at,
        first_seconds=watch.first_seconds,
        seconds=watch.seconds,
        finish=excerpt(str(value.get("finish") or ""), 60),
        tokens=count_tokens(tokens, others=True) if isinstance(tokens, Mapping) else MappingProxyType({}),
        ended=value.get("ended") is True,
        model=excerpt(str(value.get("model") or ""), 120),
        notes=notes,
    )
