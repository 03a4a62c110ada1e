"""Reading a reply by the paths that an audit gives: from one JSON value, or joined over the events of a stream.

Of several paths for one thing, the first that matches counts. In a stream they are tried on each event: texts are
joined, sources and calls add up, and of a session, a model or an end the last counts. An event that is called a
replacement (Dify's `message_replace`) takes the place of the text before it.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harvest.drivers.completions import count_tokens
from harvest.drivers.event_stream import events_in, is_stream
from harvest.drivers.parts import MisshapenError, Parts
from harvest.drivers.received import Received, error_message, excerpt, sound_text
from harvest.drivers.reply_path import ReplyPath
from harvest.drivers.sources import BESIDE, NO_SOURCES, addresses_in, holds_others, may_hold_addresses
from harvest.systems.driver import Unanswered
from protocols.answer import Answer
from recordings.conversations.conversation import SystemTurn

WHOLE_BODY = "text"
# What an audit may give paths for besides the reply's text.
PARTS = ("refusal", "links", "thoughts", "tools", "offers", "attachments", "finish", "model", "tokens")
STREAMS = (
    "if this API only streams, ask it for its stream: `reply` is then the path of the text in each event, and the "
    "texts are joined"
)
# The note on a stream whose cut nobody would see.
UNMARKED = "nothing but the end of the connection says that the stream was whole"


@dataclass(frozen=True, slots=True)
class DescribedTurn:
    """session: the id that the reply names; None where it names none."""

    turn: SystemTurn
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """Where the parts of a reply are. reply: paths, or `text` for the whole body. parts: paths by `PARTS`."""

    reply: tuple[str, ...]
    join: str
    parts: Mapping[str, tuple[ReplyPath, ...]]
    ended: tuple[ReplyPath, ...] = ()
    session: tuple[ReplyPath, ...] = ()
    thoughts_apart: bool = True

    def read(self, received: Received) -> DescribedTurn:
        """Raises Unanswered: `no-text`, `bad-type`, `bad-json`, `system-error`, or bytes that are not text."""
        streamed = is_stream(received.media_type)
        parts = Parts(streamed=streamed)
        values = self._values(received, parts, streamed=streamed)
        paths = [ReplyPath.parse(path) for path in self.reply if path != WHOLE_BODY]
        answered = WHOLE_BODY in self.reply
        for event, value in values:
            if event.endswith("replace"):
                parts.forget_text()
            answered = _take_reply(parts, paths, value, "" if streamed else self.join, received) or answered
            self._take_parts(parts, value, received)
        if not parts.said.strip():
            _check_error(received, values)
        if not answered and any(path.find(value) for path in paths for _, value in values):
            # A null is what a server sends that broke off; of a reply that is known to have ended, it is the text.
            answered = any(any(_first(self.parts.get("finish", ()), value)) for _, value in values)
        if not answered and not parts.refusals and not any(path.many for path in paths):
            where = " or ".join(path.text for path in paths)
            detail = f"nothing at {where}; the answer begins: {received.beginning}"
            raise received.fault(Unanswered, "no-text", detail)
        if streamed and not received.delimited and b"[DONE]" not in received.body[-200:]:
            parts.note(UNMARKED)
        answer, notes = parts.answer(thoughts_apart=self.thoughts_apart)
        if may_hold_addresses(received.body):
            beside = dict.fromkeys(address for _, value in values for address in addresses_in(value, NO_SOURCES))
            notes = (*notes, BESIDE) if holds_others(beside, answer) else notes
        return self._turn(received, values, answer, notes)

    def _values(self, received: Received, parts: Parts, *, streamed: bool) -> list[tuple[str, object]]:
        """The JSON values of the reply, each with the name of its event; none where only text is read."""
        only_text = set(self.reply) == {WHOLE_BODY}
        if not streamed:
            if only_text:
                parts.take_text(received.text())
                others = self.ended or self.session or any(self.parts.values())
                return [("", received.json())] if others else []
            return [("", received.json())]
        found = []
        for event in events_in(received.text(), received.media_type):
            if only_text:
                parts.take_text(event.data)
                continue
            try:
                value = json.loads(event.data)
            except (ValueError, RecursionError) as error:
                if event.name == "error":
                    said = excerpt(event.data) or "without a word"
                    raise received.fault(Unanswered, "system-error", f"the stream reports an error: {said}") from None
                detail = f"an event is not JSON ({error}): {excerpt(event.data)!r}; `reply: text` joins what they hold"
                raise received.fault(Unanswered, "bad-json", detail) from None
            name = event.name or next(
                (str(value[key]) for key in ("event", "type") if isinstance(value, Mapping) and value.get(key)), ""
            )
            if name == "error" or (isinstance(value, Mapping) and value.get("error")):
                said = excerpt(error_message(value) or event.data) or "without a word"
                raise received.fault(Unanswered, "system-error", f"the stream reports an error: {said}")
            found.append((name, value))
        return found

    def _take_parts(self, parts: Parts, value: object, received: Received) -> None:
        takers: dict[str, Callable[[object], None]] = {
            "refusal": parts.take_refusal,
            "links": parts.take_sources,
            "thoughts": parts.take_thoughts,
            "tools": parts.take_calls,
            "offers": parts.take_offers,
            "attachments": parts.take_attachments,
        }
        for name, take in takers.items():
            for found in _first(self.parts.get(name, ()), value):
                try:
                    take(found)
                except MisshapenError as fault:
                    raise received.fault(Unanswered, "bad-type", f"{name}: {fault}") from None

    def _turn(
        self, received: Received, values: Sequence[tuple[str, object]], answer: Answer, notes: tuple[str, ...]
    ) -> DescribedTurn:
        said = dict.fromkeys(("finish", "model"), "")
        tokens: Mapping[str, int] = MappingProxyType({})
        session, ended = None, False
        for _, value in values:
            for name in said:
                found = [one for one in _first(self.parts.get(name, ()), value) if isinstance(one, str) and one]
                said[name] = excerpt(sound_text(found[-1]), 120) if found else said[name]
            for one in _first(self.parts.get("tokens", ()), value):
                tokens = count_tokens(one) if isinstance(one, Mapping) else tokens
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
            tokens=tokens,
            ended=ended,
            model=said["model"],
            notes=notes,
        )
        return DescribedTurn(turn, session)


def session_id(path: ReplyPath, value: object) -> str | None:
    """The id at the path; None where there is none."""
    found = path.find(value)
    first = found[0] if found else None
    if isinstance(first, int) and not isinstance(first, bool):
        return str(first)
    return first if isinstance(first, str) and first else None


def _first(paths: Iterable[ReplyPath], value: object) -> list[object]:
    """What the first path that matches finds, without nulls."""
    for path in paths:
        found = [one for one in path.find(value) if one is not None]
        if found:
            return found
    return []


def _check_error(received: Received, values: Sequence[tuple[str, object]]) -> None:
    """Raises Unanswered where a body without a word names an error."""
    for _, body in values:
        if isinstance(body, Mapping) and body.get("error"):
            said = excerpt(error_message(body) or repr(body["error"]))
            raise received.fault(Unanswered, "system-error", said)


def _take_reply(parts: Parts, paths: Sequence[ReplyPath], value: object, join: str, received: Received) -> bool:
    """Whether the reply is in this value."""
    for path in paths:
        found = [one for one in path.find(value) if one is not None]
        for one in found:
            try:
                parts.take_value(one, join)
            except MisshapenError:
                kind = type(one).__name__
                raise received.fault(Unanswered, "bad-type", f"the value at {path.text} is {kind}, not text") from None
        if found:
            return True
    return False
