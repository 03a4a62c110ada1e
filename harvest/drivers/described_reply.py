"""Replies whose parts are found by the paths in an audit, in one JSON value or in the events of a stream.

If a part has several paths, the first path that matches is used. In a stream, the paths are applied to each event:
texts are joined, sources and calls are collected, and the last session, model or end is used. If an event's name marks
a replacement (Dify's `message_replace`), the event replaces the text received before it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from harvest.drivers.event_stream import events_in, is_stream
from harvest.drivers.parts import MisshapenError, Parts
from harvest.drivers.received import Received, error_message, excerpt, join_surrogates
from harvest.drivers.sources import NO_SOURCES, OTHER_URLS, has_other_urls, may_contain_urls, urls_in
from harvest.drivers.stream_text import REPEATED, stream_text
from harvest.systems.driver import Unanswered
from protocols.answer import Answer
from recordings.conversations.conversation import SystemTurn
from topics.document import validation_error

# Of OpenAI and Anthropic, Bedrock, Gemini and Ollama.
_COUNT_NAMES = {
    "prompt_tokens": "prompt",
    "input_tokens": "prompt",
    "inputTokens": "prompt",
    "promptTokenCount": "prompt",
    "prompt_eval_count": "prompt",
    "completion_tokens": "completion",
    "output_tokens": "completion",
    "outputTokens": "completion",
    "candidatesTokenCount": "completion",
    "eval_count": "completion",
    "total_tokens": "total",
    "totalTokens": "total",
    "totalTokenCount": "total",
    "thoughtsTokenCount": "reasoning",
    "cachedContentTokenCount": "cached",
    "cache_read_input_tokens": "cached",
}
_COUNT_DETAILS = {
    ("completion_tokens_details", "reasoning_tokens"): "reasoning",
    ("output_tokens_details", "reasoning_tokens"): "reasoning",
    ("prompt_tokens_details", "cached_tokens"): "cached",
    ("input_tokens_details", "cached_tokens"): "cached",
}


def count_tokens(usage: Mapping[str, object], *, others: bool = False) -> Mapping[str, int]:
    """Return the counts in a `usage` object by their common names (`prompt`, `completion`, `total`, …). With `others`,
    counts with unknown names are included under their own names."""
    found: dict[str, int] = {}
    for key in (*_COUNT_NAMES, *(usage if others else ())):
        _add_count(found, _COUNT_NAMES.get(key, key), usage.get(key))
    for (holder, key), name in _COUNT_DETAILS.items():
        details = usage.get(holder)
        if isinstance(details, Mapping):
            _add_count(found, name, details.get(key))
    return MappingProxyType(found)


def _add_count(found: dict[str, int], name: str, value: object) -> None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        found[name] = value


_PATH_STEP = re.compile(
    r"\.(?P<name>[^.\[\]'\"*\s]+)|\[(?P<index>-?[0-9]{1,9})\]|\[(?P<every>\*)\]"
    r"|\['(?P<single>[^']*)'\]|\[\"(?P<double>[^\"]*)\"\]"
)


@dataclass(frozen=True, slots=True)
class ReplyPath:
    """A parsed path to a value in a reply. `steps` are pairs of a kind (`name`, `index` or `every`) and a value."""

    text: str
    steps: tuple[tuple[str, str | int], ...]

    @classmethod
    def parse(cls, text: str) -> ReplyPath:
        """Parse a path. Raises ValueError, which quotes the text from the first invalid step on."""
        if not text.startswith("$"):
            raise ValueError(f"{text!r} is not a path: it must start with $, as in $.message.text")
        steps: list[tuple[str, str | int]] = []
        at = 1
        while at < len(text):
            match = _PATH_STEP.match(text, at)
            if match is None:
                raise ValueError(f"{text!r} is not a path: {text[at:]!r} is not a step (.name, [0], [*] or ['name'])")
            kind = str(match.lastgroup)
            value = match[kind]
            steps.append(("index", int(value)) if kind == "index" else ("every" if kind == "every" else "name", value))
            at = match.end()
        return cls(text, tuple(steps))

    @property
    def matches_many(self) -> bool:
        """True if the path can match several values."""
        return any(kind == "every" for kind, _ in self.steps)

    def find(self, value: object) -> list[object]:
        """Return the values at the path, in order. The list is empty if a name or an index is missing."""
        found = [value]
        for kind, step in self.steps:
            found = [inner for outer in found for inner in _values_inside(outer, kind, step)]
        return found


def _values_inside(value: object, kind: str, step: str | int) -> Sequence[object]:
    if isinstance(value, Mapping):
        if kind == "every":
            return list(value.values())
        return [value[step]] if kind == "name" and step in value else []
    if isinstance(value, list):
        if kind == "every":
            return value
        if isinstance(step, int) and -len(value) <= step < len(value):
            return [value[step]]
    return []


def check_path(text: str) -> str:
    """Return the path unchanged. Refuses the option if the path is invalid."""
    try:
        ReplyPath.parse(text)
    except ValueError as fault:
        raise validation_error(str(fault)) from None
    return text


def as_tuple(value: object) -> object:
    """Return a single string, or a list from a resolved audit, as a tuple."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Path = Annotated[str, AfterValidator(check_path)]
# An option that is one path, or a list of them.
Paths = Annotated[tuple[Path, ...], BeforeValidator(as_tuple)]


WHOLE_BODY = "text"
# The parts, besides the reply's text, for which an audit may give paths.
PARTS = ("refusal", "links", "thoughts", "tools", "offers", "attachments", "finish", "model", "tokens")
STREAM_HINT = (
    "if this API only streams, ask it for its stream: `reply` is then the path of the text in each event, and the "
    "texts are joined"
)
# The note on a stream in which the path of the reply may lead to other things as well.
SEVERAL_EVENTS = "events of several kinds hold the reply, and all of them are the text: choose with `events`"
# The note on a stream that could be truncated unnoticed.
UNMARKED_END = "nothing but the end of the connection says that the stream was whole"

# Keys of an object that can be a reply, even with empty text.
_TEXT_KEYS = frozenset({"type", "text", "content", "parts"})
_MOST_KINDS = 12  # to list in a message

# The names of an event: the stream's, and the keys `event` and `type` of its value.
EventNames = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The pieces of text from `begin` up to, but not including, `end`, all from one event."""

    names: EventNames
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class DescribedTurn:
    """A system turn with the session id in its reply, or None if the reply has no id."""

    turn: SystemTurn
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """The paths to the parts of a reply. `reply` has the paths of the text, or `text` for the whole body. `parts` has
    the paths of other parts by the names in `PARTS`. `events` has the names or types of the stream events that can
    contain the reply; if it is empty, every event can."""

    reply: tuple[str, ...]
    join: str
    parts: Mapping[str, tuple[ReplyPath, ...]]
    ended: tuple[ReplyPath, ...] = ()
    session: tuple[ReplyPath, ...] = ()
    thoughts_apart: bool = True
    events: tuple[str, ...] = ()

    def read(self, received: Received) -> DescribedTurn:
        """Read a reply. Raises Unanswered if the bytes cannot be decoded, or with the reason `no-text`, `bad-type`,
        `bad-json` or `system-error`."""
        streamed = is_stream(received.media_type)
        parts = Parts(streamed=streamed)
        values = self._read_values(received, parts, streamed=streamed)
        paths = [ReplyPath.parse(path) for path in self.reply if path != WHOLE_BODY]
        answered = WHOLE_BODY in self.reply
        stretches: list[_Stretch] = []
        chosen = [value for names, value in values if not streamed or self._holds_reply(names)]
        for names, value in values:
            if any(name.endswith("replace") for name in names):
                parts.forget_text()
                stretches.clear()
            if not streamed or self._holds_reply(names):
                begin = len(parts.pieces)
                answered = _take_reply(parts, paths, value, "" if streamed else self.join, received) or answered
                stretches.append(_Stretch(names, begin, len(parts.pieces)))
            self._take_parts(parts, value, received)
        if not streamed:
            self._check_readable(parts, paths, values, received)
        else:
            _compare_kinds(parts, stretches)
        for _, value in values if not parts.received_text.strip() else ():  # a body without a word may name an error
            if isinstance(value, Mapping) and value.get("error"):
                said = excerpt(error_message(value) or repr(value["error"]))
                raise received.fault(Unanswered, "system-error", said)
        if not answered and any(path.find(value) for path in paths for value in chosen):
            # A server that broke off sends null; in a reply that is known to be complete, null is the text.
            answered = any(any(_first_found(self.parts.get("finish", ()), value)) for _, value in values)
        if not answered and not parts.refusals and not any(path.matches_many for path in paths):
            where = " or ".join(path.text for path in paths)
            if streamed and self.events:
                kinds = dict.fromkeys(excerpt(names[-1], 60) for names, _ in values if names)
                present = ", ".join([*kinds][:_MOST_KINDS]) or "none with a name or type"
                where += f" in events called {' or '.join(self.events)}; the stream has {present}"
            detail = f"the reply has nothing at {where}; it begins: {received.beginning}"
            raise received.fault(Unanswered, "no-text", detail)
        if streamed and not received.is_delimited and b"[DONE]" not in received.body[-200:]:
            parts.note(UNMARKED_END)
        answer, notes = parts.answer(thoughts_apart=self.thoughts_apart)
        if may_contain_urls(received.body):
            beside = dict.fromkeys(address for _, value in values for address in urls_in(value, NO_SOURCES))
            notes = (*notes, OTHER_URLS) if has_other_urls(beside, answer) else notes
        return self._make_turn(received, values, answer, notes)

    def _check_readable(
        self,
        parts: Parts,
        paths: Sequence[ReplyPath],
        values: Sequence[tuple[EventNames, object]],
        received: Received,
    ) -> None:
        """Raise Unanswered if a path leads to an object without text, which is not an empty answer."""
        for path in paths if parts.is_empty else ():
            for _, value in values:
                for found in path.find(value):
                    if isinstance(found, Mapping) and _TEXT_KEYS.isdisjoint(found):
                        detail = f"the value at {path.text} is an object without text: {excerpt(repr(dict(found)), 80)}"
                        raise received.fault(Unanswered, "bad-type", detail)

    def _holds_reply(self, names: EventNames) -> bool:
        return not self.events or not set(names).isdisjoint(self.events)

    def _read_values(self, received: Received, parts: Parts, *, streamed: bool) -> list[tuple[EventNames, object]]:
        """Return the JSON values of the reply with the names of their events, or [] if only text is read."""
        only_text = set(self.reply) == {WHOLE_BODY}
        if not streamed:
            if only_text:
                parts.add_text(received.text())
                others = self.ended or self.session or any(self.parts.values())
                return [((), received.json())] if others else []
            return [((), received.json())]
        found = []
        for event in events_in(received.text(), received.media_type):
            if only_text:
                if self._holds_reply((event.name,)):
                    parts.add_text(event.data)
                continue
            try:
                value = json.loads(event.data)
            except (ValueError, RecursionError) as error:
                if event.name == "error":
                    said = excerpt(event.data) or "without a word"
                    raise received.fault(Unanswered, "system-error", f"the stream reports an error: {said}") from None
                detail = f"an event is not JSON ({error}): {excerpt(event.data)!r}; `reply: text` joins all events"
                raise received.fault(Unanswered, "bad-json", detail) from None
            inner = [value.get(key) for key in ("event", "type")] if isinstance(value, Mapping) else []
            names = tuple(dict.fromkeys(name for name in (event.name, *inner) if isinstance(name, str) and name))
            if names[:1] == ("error",) or (isinstance(value, Mapping) and value.get("error")):
                said = excerpt(error_message(value) or event.data) or "without a word"
                raise received.fault(Unanswered, "system-error", f"the stream reports an error: {said}")
            found.append((names, value))
        return found

    def _take_parts(self, parts: Parts, value: object, received: Received) -> None:
        takers: dict[str, Callable[[object], None]] = {
            "refusal": parts.add_refusal,
            "links": parts.add_sources,
            "thoughts": parts.add_thoughts,
            "tools": parts.add_calls,
            "offers": parts.add_offers,
            "attachments": parts.add_attachments,
        }
        for name, take in takers.items():
            for found in _first_found(self.parts.get(name, ()), value):
                try:
                    take(found)
                except MisshapenError as fault:
                    raise received.fault(Unanswered, "bad-type", f"{name}: {fault}") from None

    def _make_turn(
        self, received: Received, values: Sequence[tuple[EventNames, object]], answer: Answer, notes: tuple[str, ...]
    ) -> DescribedTurn:
        said = dict.fromkeys(("finish", "model"), "")
        tokens: Mapping[str, int] = MappingProxyType({})
        session, ended = None, False
        for _, value in values:
            for name in said:
                found = [one for one in _first_found(self.parts.get(name, ()), value) if isinstance(one, str) and one]
                said[name] = excerpt(join_surrogates(found[-1]), 120) if found else said[name]
            for one in _first_found(self.parts.get("tokens", ()), value):
                tokens = {**tokens, **count_tokens(one)} if isinstance(one, Mapping) else tokens
            for path in self.session:
                session = session_id(path, value) or session
            ended = ended or any(found is True for path in self.ended for found in path.find(value))
        watch = received.watch
        turn = SystemTurn(
            answer,
            watch.asked_at,
            watch.first_seconds,
            watch.seconds,
            finish=said["finish"][:60],
            tokens=MappingProxyType(dict(tokens)),
            ended=ended,
            model=said["model"],
            notes=notes,
        )
        return DescribedTurn(turn, session)


def session_id(path: ReplyPath, value: object) -> str | None:
    """Return the session id at the path, or None if the value is neither text nor an integer."""
    found = path.find(value)
    first = found[0] if found else None
    if isinstance(first, int) and not isinstance(first, bool):
        return str(first)
    return first if isinstance(first, str) and first else None


def _first_found(paths: Iterable[ReplyPath], value: object) -> list[object]:
    for path in paths:
        found = [one for one in path.find(value) if one is not None]
        if found:
            return found
    return []


def _compare_kinds(parts: Parts, stretches: Sequence[_Stretch]) -> None:
    """Add a note if events of several kinds contain text. If the last event with text is the only event of its kind
    and repeats the complete text, the text of that event replaces the earlier pieces."""
    texts = [(one, "".join(parts.pieces[one.begin : one.end])) for one in stretches]
    said = [one for one, text in texts if text.strip()]
    kinds = Counter(one.names for one in said)
    if len(kinds) < 2:
        return
    last = said[-1]
    whole, before = "".join(parts.pieces[last.begin : last.end]).strip(), parts.pieces[: last.begin]
    found = stream_text(before)
    possible = {one.strip() for one in ("".join(before), found.text, found.once)}
    if len(kinds) == 2 and kinds[last.names] == 1 and whole in possible:
        del parts.pieces[last.begin : last.end]
        parts.final_text = whole
        parts.note(REPEATED)
        return
    parts.note(SEVERAL_EVENTS)


def _take_reply(parts: Parts, paths: Sequence[ReplyPath], value: object, join: str, received: Received) -> bool:
    for path in paths:
        found = [one for one in path.find(value) if one is not None]
        said = [one for one in found if not isinstance(one, str) or one.strip()]
        for one in said if join and said else found:  # no separator around empty texts
            try:
                parts.add_value(one, join)
            except MisshapenError:
                kind = type(one).__name__
                raise received.fault(Unanswered, "bad-type", f"the value at {path.text} is {kind}, not text") from None
        if found:
            return True
    return False
