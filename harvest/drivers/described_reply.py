"""Replies whose parts are found by the paths in an audit, whether they arrive in one body, in events or in messages.

A `DescribedReply` reads one value after the other, and does not know whether the values came as a body, in a stream, by
polling or over a socket. If a part has several paths, the first path that matches is used. Texts of events are joined,
sources and calls are collected, and the last finish, model or session is used.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from harvest.drivers.event_stream import DONE, events_in, is_stream
from harvest.drivers.json_patch import PatchError, apply_patch, is_patch
from harvest.drivers.parts import MisshapenError, Parts
from harvest.drivers.received import RAW_CONTROLS_HINT, Received, error_message, excerpt, join_surrogates, why_not_json
from harvest.drivers.reply_path import NEVER, NO_PATHS, Condition, PartPaths, ReplyPath, first_found, kept_values
from harvest.drivers.sources import NO_SOURCES, OTHER_URLS, has_other_urls, may_contain_urls, urls_in
from harvest.drivers.stream_text import REPEATED, Stretch, compare_kinds
from harvest.drivers.token_counts import count_tokens
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch
from recordings.conversations.conversation import SystemTurn

# The parts, besides the reply's text, for which an audit may give paths.
PARTS = ("refusal", "links", "thoughts", "tools", "offers", "attachments", "finish", "model", "tokens")
STREAM_HINT = (
    "if this API only streams, ask it for its stream: `reply` is then the path of the text in each event, and the "
    "texts are joined"
)
# The note on a stream in which the path of the reply may lead to other things as well.
SEVERAL_EVENTS = "events of several kinds hold the reply, and all of them are the text: name the right ones in `reply`"
# The note on a stream that could be truncated unnoticed.
UNMARKED_END = "nothing but the end of the connection says that the stream was whole"

# Keys of an object that can be a reply, even with empty text.
_TEXT_KEYS = frozenset({"type", "text", "content", "parts"})
_MOST_KINDS = 12  # to list in a message
_NAME_KEYS = ("event", "type")

# The names of an event: the stream's, and the keys `event` and `type` of its value.
EventNames = tuple[str, ...]
# What a reply is read from: one value; events, whose texts are pieces; or messages, whose texts are whole.
Form = Literal["body", "events", "messages"]


@dataclass(frozen=True, slots=True)
class StreamShape:
    """A description of the events of a stream. `names` are the paths of an event's name; by default, its name in the
    stream and its keys `event` and `type` are its names. `ends` are the names of events that end the reply, and `end`
    is a condition that does; without both, the response ends it. `replace` finds texts that replace the text so far,
    `fail` messages of errors, `messages` the ids of the messages that events belong to; `begin` is a condition for an
    event that begins another message. `patch` finds a document, or patches of it, which is read at the end like an
    event `document`. `media_type` is used instead of the declared type unless it is ""."""

    ends: frozenset[str] = frozenset()
    end: Condition = NEVER
    names: tuple[ReplyPath, ...] = ()
    replace: PartPaths = NO_PATHS
    fail: PartPaths = NO_PATHS
    messages: tuple[ReplyPath, ...] = ()
    begin: Condition = NEVER
    patch: PartPaths = NO_PATHS
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Described:
    """A description of a reply. `reply` finds its text, and `parts` the other parts by the names in `PARTS`. `join` is
    the separator between texts. `ended`, `refused` and `fail` are conditions of a closed conversation, a refusal and an
    error. `kept` has the paths of values that later requests use; a None after the paths forgets an earlier value. With
    `raw_controls`, strings may contain control characters. Without `stream`, a stream ends with its connection."""

    reply: PartPaths
    join: str
    parts: Mapping[str, PartPaths] = field(default_factory=lambda: MappingProxyType({}))
    ended: Condition = NEVER
    refused: Condition = NEVER
    fail: Condition = NEVER
    kept: Mapping[str, tuple[ReplyPath | None, ...]] = field(default_factory=lambda: MappingProxyType({}))
    thoughts_apart: bool = True
    raw_controls: bool = False
    stream: StreamShape | None = None

    def read(self, received: Received, live: "DescribedReply | None" = None) -> "DescribedTurn":
        """Read a complete reply whose events `live` may already have read. Raises Unanswered, with the reply as
        evidence, if the bytes cannot be decoded, or with the reason `no-text`, `bad-type`, `bad-json`, `broken-stream`
        or `system-error`."""
        if live is not None and live.is_complete:
            return live.read(received)
        media_type = (self.stream.media_type if self.stream is not None else "") or received.media_type
        return DescribedReply(self, "events" if is_stream(media_type) else "body").read(received, media_type)

    def check(self, value: object) -> None:
        """Raise Unanswered if the value is an error according to `fail`."""
        if self.fail.holds(value):
            said = error_message(value) or json.dumps(value, ensure_ascii=False)
            raise Unanswered("system-error", f"the system reports a failure: {excerpt(said)}")


@dataclass(frozen=True, slots=True)
class DescribedTurn:
    """A system turn, and the values in the reply that later requests use, by name."""

    turn: SystemTurn
    kept: Mapping[str, str | None] = field(default_factory=lambda: MappingProxyType({}))


class DescribedReply:
    """One reply, read value by value. `form` names the kind of the values. Its methods raise Unanswered without
    evidence (`bad-json`, `bad-type`, `system-error`, `no-text`)."""

    def __init__(self, described: Described, form: Form = "events") -> None:
        self._described, self._form = described, form
        self._parts = Parts(streamed=form == "events")
        self._stretches: list[Stretch] = []
        self._kinds: dict[str, None] = {}
        self._addresses: dict[str, None] = {}
        self._said = dict.fromkeys(("finish", "model"), "")
        self._tokens: Mapping[str, int] = MappingProxyType({})
        self._kept: dict[str, str | None] = {}
        self._body: object = None
        self._message: object = None
        self._document: list[object] = []  # the one document, if there is one
        self._answered = self._found_null = self._ended = self._refused = self._apart = False
        self.is_complete = False

    @property
    def characters(self) -> int:
        """The number of characters of text so far."""
        return self._parts.characters

    @property
    def has_begun(self) -> bool:
        """True once a value had a text, even an empty one, or another part of the answer."""
        return self._answered or not self._parts.is_empty

    @property
    def ended(self) -> bool:
        """True if the system closed the conversation."""
        return self._ended

    @property
    def media_type(self) -> str:
        return self._described.stream.media_type if self._described.stream is not None else ""

    @property
    def ends_with_body(self) -> bool:
        stream = self._described.stream
        return stream is not None and not (stream.ends or stream.end.terms)

    @property
    def partial(self) -> str:
        return self._parts.received_text.encode("utf-8", "replace").decode("utf-8")

    def read_event(self, event: str, data: str, watch: Stopwatch | None = None) -> bool:
        """Read an event with its name in the stream, or "", and its data. Returns True if it completes the reply."""
        stream, text, before = self._described.stream, data.strip(), self._parts.characters
        if not text or text == DONE:
            if event == "error":
                raise Unanswered("system-error", "the stream reports an error: without a word")
            ends = stream.ends if stream is not None else {DONE}
            self.is_complete = not ends.isdisjoint((event, text) if text else (event,))
        elif self._described.reply.reads_text:
            self.is_complete = stream is not None and event in stream.ends
            if self._described.reply.paths_in((event,)):
                self._parts.add_text("" if self.is_complete else data)
                self._answered = True
        else:
            value = self._parse(event, data)
            names = self._names(event, value)
            self._check_event(names, value, data)
            if self._patch_document(value, names) and watch is not None:
                watch.mark()
            if not any(one is value for one in self._document):  # an intermediate state is not an event
                self.add(value, names, addressed=may_contain_urls(data))
            self.is_complete = stream is not None and (
                not stream.ends.isdisjoint(names) or stream.end.holds(value) or text in stream.ends
            )
        if watch is not None:
            if self._parts.characters > before:
                watch.piece(self._parts.characters)
            elif self.is_complete and watch.first_seconds is None:
                watch.mark()
        return self.is_complete

    def add_message(self, value: object) -> None:
        """Read a message. Its name is in its key `event` or `type`, or at the path in the options."""
        names = self._names("", value)
        self._check_event(names, value, "")
        self._answered = False
        self.add(value, names)
        if not (self._answered or isinstance(value, Mapping)):
            where = " or ".join(path.text for path in self._described.reply.paths_in(None))
            detail = f"a message is no object and has nothing at {where}: {excerpt(json.dumps(value), 80)}"
            raise Unanswered("bad-type", f"{detail}; `each` must lead to the messages (`reply: $`, if they are texts)")
        self._answered = True

    def add(self, value: object, names: EventNames | None, *, addressed: bool = True) -> None:
        """Read a JSON value: an event with the given names, or a body if `names` is None. `addressed` is False if the
        value cannot contain a URL."""
        described, parts = self._described, self._parts
        described.check(value)
        paths = described.reply.paths_in(names)
        replacing = self._start_event(value, names) if names is not None else ()
        if not described.reply.reads_text:
            begin = len(parts.pieces)
            self._answered = self._take_text(replacing or paths, value) or self._answered
            if not replacing:
                self._stretches.append(Stretch(names or (), begin, len(parts.pieces)))
            self._found_null = self._found_null or (not self._answered and any(path.find(value) for path in paths))
        self._take_parts(value, names)
        if addressed:
            self._addresses |= dict.fromkeys(urls_in(value, NO_SOURCES))

    def read(self, received: Received, media_type: str = "") -> DescribedTurn:
        """Return the turn in a complete reply, if either nothing or everything of it was read before. Raises Unanswered
        with the reply as evidence."""
        described = self._described
        try:
            if self._form == "events" and not self.is_complete:
                marked = any(self.read_event(one.name, one.data) for one in events_in(received.text(), media_type))
                if not marked and described.stream is not None and not self.ends_with_body:
                    raise Unanswered("broken-stream", "the stream ended before the reply was complete")
                if not marked and not received.is_delimited:
                    self._parts.note(UNMARKED_END)
            elif self._form == "body":
                self._read_body(received)
            return self.turn(received.watch)
        except Unanswered as fault:
            if fault.exhibits:
                raise
            begins = f"; it begins: {received.beginning}" if fault.reason == "no-text" else ""
            partial = (self.partial or None) if described.stream is not None else None
            raise received.fault(Unanswered, fault.reason, fault.detail + begins, partial=partial) from None

    def _read_body(self, received: Received) -> None:
        described = self._described
        if described.reply.reads_text:
            self._parts.add_text(received.text())
            self._answered = True
            conditions = (described.ended, described.refused, described.fail)
            if not (described.kept or any(described.parts.values()) or any(one.terms for one in conditions)):
                return
        self._body = received.json(raw_controls=described.raw_controls)
        self.add(self._body, None, addressed=may_contain_urls(received.body))

    def _parse(self, event: str, data: str) -> object:
        try:
            return json.loads(data, strict=not self._described.raw_controls)
        except (ValueError, RecursionError) as error:
            if event == "error":
                raise Unanswered("system-error", f"the stream reports an error: {excerpt(data)}") from None
            way = "`reply: text` joins all events" if "control character" not in str(error) else RAW_CONTROLS_HINT
            detail = f"an event is not JSON ({why_not_json(error)}): {excerpt(data)!r}; {way}"
            raise Unanswered("bad-json", detail) from None

    def _names(self, event: str, value: object) -> EventNames:
        stream = self._described.stream
        if stream is not None and stream.names:
            found = first_found(stream.names, value)
        else:
            found = [event, *(value.get(key) for key in _NAME_KEYS)] if isinstance(value, Mapping) else [event]
        return tuple(dict.fromkeys(name for name in found if isinstance(name, str) and name))

    def _check_event(self, names: EventNames, value: object, data: str) -> None:
        stream = self._described.stream
        said = first_found(stream.fail.paths_in(names), value) if stream is not None else []
        if said or names[:1] == ("error",) or (isinstance(value, Mapping) and value.get("error")):
            text = said[0] if said and isinstance(said[0], str) else error_message(value)
            what = excerpt(text or data or json.dumps(value)) or "without a word"
            raise Unanswered("system-error", f"the stream reports an error: {what}")

    def _start_event(self, value: object, names: EventNames) -> tuple[ReplyPath, ...]:
        """Drop the text so far if the event replaces it. Returns the paths of a text that only this event has."""
        self._kinds |= dict.fromkeys(excerpt(name, 60) for name in names[-1:])
        stream = self._described.stream
        paths = stream.replace.paths_in(names) if stream is not None else ()
        replaces = bool(first_found(paths, value))
        if replaces or (stream is None and any(name.endswith("replace") for name in names)):
            self._parts.forget_text()
            self._stretches.clear()
        if stream is not None and (found := first_found(stream.messages, value)):
            self._apart = self._apart or (self._message is not None and found[0] != self._message)
            self._message = found[0]
        self._apart = self._apart or (stream is not None and bool(self._parts.pieces) and stream.begin.holds(value))
        return paths if replaces else ()

    def _patch_document(self, value: object, names: EventNames) -> bool:
        stream = self._described.stream
        found = first_found(stream.patch.paths_in(names), value) if stream is not None and stream.patch else []
        for one in found:
            try:
                patched = apply_patch(self._document[0] if self._document else {}, one) if is_patch(one) else one
            except PatchError as fault:
                raise Unanswered("bad-patch", f"a patch in the stream cannot be applied: {fault}") from None
            self._document = [patched]
        return bool(found)

    def _take_text(self, paths: Sequence[ReplyPath], value: object) -> bool:
        join = self._described.join if self._form != "events" or self._apart else ""
        for path in paths:
            found = [one for one in path.find(value) if one is not None]
            said = [one for one in found if not isinstance(one, str) or one.strip()]
            if self._apart and not said:
                join = ""
            for one in said if join and said else found:  # no separator around empty texts
                try:
                    self._parts.add_value(one, join)
                except MisshapenError:
                    kind = type(one).__name__
                    raise Unanswered("bad-type", f"the value at {path.text} is {kind}, not text") from None
                join = "" if self._form == "events" else join
            if found:
                self._apart = self._apart and not said
                return True
        return False

    def _take_parts(self, value: object, names: EventNames | None) -> None:
        described, parts = self._described, self._parts
        takers: dict[str, Callable[[object], None]] = {
            "refusal": parts.add_refusal,
            "links": parts.add_sources,
            "thoughts": parts.add_thoughts,
            "tools": parts.add_calls,
            "offers": parts.add_offers,
            "attachments": parts.add_attachments,
        }
        for name, paths in described.parts.items():
            for found in first_found(paths.paths_in(names), value):
                try:
                    if name in takers:
                        takers[name](found)
                    elif name == "tokens" and isinstance(found, Mapping):
                        self._tokens = {**self._tokens, **count_tokens(found)}
                    elif name in self._said and isinstance(found, str) and found:
                        self._said[name] = excerpt(join_surrogates(found), 120)
                except MisshapenError as fault:
                    raise Unanswered("bad-type", f"{name}: {fault}") from None
        self._ended = self._ended or described.ended.holds(value)
        self._refused = self._refused or described.refused.holds(value)
        for name, kept in kept_values(described.kept, value).items():
            if kept is not None or name not in self._kept:
                self._kept[name] = kept

    def turn(self, watch: Stopwatch) -> DescribedTurn:
        """Return the turn that was read."""
        for document in self._document:
            self.add(document, ("document",))
        described, parts, said = self._described, self._parts, self._said
        paths = described.reply.paths_in(None)
        error = self._body.get("error") if isinstance(self._body, Mapping) else None
        if self._form == "events" and not described.reply.by_event:
            several, again = compare_kinds(parts.pieces, self._stretches)
            if again is not None:
                parts.final_text = "".join(parts.pieces[again.begin : again.end]).strip()
                del parts.pieces[again.begin : again.end]
            if several:
                parts.note(SEVERAL_EVENTS if again is None else REPEATED)
        if error and not parts.received_text.strip():  # a body without a word may name an error
            raise Unanswered("system-error", excerpt(error_message(self._body) or repr(error)))
        if self._form == "body" and parts.is_empty:
            _check_readable(paths, self._body)
        # A server that broke off sends null or nothing; in a reply that is known to be complete, that is the text.
        known = bool(said["finish"]) and (self._found_null or self.is_complete)
        answered = self._answered or self._refused or known
        if not answered and not parts.refusals and not any(path.matches_many for path in paths):
            where = " or ".join(dict.fromkeys(path.text for path in paths))
            if self._form == "events" and (events := described.reply.by_event):
                present = ", ".join([*self._kinds][:_MOST_KINDS]) or "none with a name or type"
                where += f" in events called {' or '.join(events)}; the stream has {present}"
            raise Unanswered("no-text", f"the reply has nothing at {where}")
        answer, notes = parts.answer(thoughts_apart=described.thoughts_apart)
        answer = replace(answer, refused=True) if self._refused else answer
        notes = (*notes, OTHER_URLS) if has_other_urls(self._addresses, answer) else notes
        turn = SystemTurn(
            answer,
            watch.asked_at,
            watch.first_seconds,
            watch.seconds,
            finish=said["finish"][:60],
            tokens=MappingProxyType(dict(self._tokens)),
            pieces=watch.pieces,
            ended=self._ended,
            model=said["model"],
            notes=notes,
        )
        return DescribedTurn(turn, MappingProxyType(self._kept))


def _check_readable(paths: Sequence[ReplyPath], value: object) -> None:
    """Raise Unanswered if a path leads to an object without text, which is not an empty answer."""
    for path in paths:
        for found in path.find(value):
            if isinstance(found, Mapping) and _TEXT_KEYS.isdisjoint(found):
                detail = f"the value at {path.text} is an object without text: {excerpt(repr(dict(found)), 80)}"
                raise Unanswered("bad-type", detail)
