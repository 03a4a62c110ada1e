"""Events as lines of `trials-<worker>.jsonl`, written and read.

Each file begins with an `opened` line (format, worker, process, software, time), then one event a line. Readers take
any 1.x, refuse other versions, and pass over keys they do not know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

import msgspec

from protocols.answer import PARTS, Answer, Attachment, Offer, Source, ToolCall
from protocols.choice import Choice
from protocols.route import Evidence, Route
from recordings.conversation import Outcome, SystemTurn, TrialKey
from recordings.errors import RunError
from recordings.events import Answered, Asked, Event, Failed, Routed, TrialEnded, TrialStarted
from recordings.json_text import Json, line
from topics.errors import Place
from topics.links import Link

__all__ = [
    "FORMAT",
    "check_format",
    "choice_from",
    "choice_row",
    "decode",
    "encode",
    "event_line",
    "parts_row",
    "with_parts",
]

FORMAT = "harvest-events/1"


_ENCODER = msgspec.json.Encoder()


def event_line(row: dict[str, Any]) -> bytes:
    """The line of an event's row, with its end. Raises ValueError for NaN and infinities, TypeError for no JSON."""
    try:
        data = _ENCODER.encode(row)
    except (TypeError, ValueError):  # a half of a surrogate pair, or no value of ours
        return line(row)
    # It writes NaN and infinities as null, without a word.
    return line(row) if b"null" in data else data + b"\n"


def encode(event: Event) -> dict[str, Any]:
    """The JSON object of `event`, keys in the order in which people read them."""
    match event:
        case TrialStarted():
            row = {
                "event": "trial-started",
                "id": event.trial_id,
                "system": event.key.system,
                "topic": event.key.topic,
                "trial": event.key.trial,
                "attempt": event.attempt,
                "session": event.session,
                "place": event.place,
                "user": event.user,
                "at": event.at,
                "hashes": dict(event.hashes),
            }
            if event.goes_on_from:
                row["goes_on_from"] = event.goes_on_from
            if event.member:
                row["member"] = event.member
            if event.worker:
                row["worker"] = event.worker
            if event.original_attempt:
                row["original_attempt"] = event.original_attempt
            return row
        case Asked():
            row = {
                "event": "asked",
                "id": event.trial_id,
                "attempt": event.attempt,
                "turn": event.turn,
                "state": event.state,
                "text": event.text,
                "at": event.at,
            }
            if event.user:
                row["user"] = event.user
            if event.act:
                row["act"] = event.act
            if event.worded:
                row["worded"] = event.worded
            if event.choice is not None:
                row["choice"] = choice_row(event.choice)
            if event.session:
                row["session"] = event.session
            return row
        case Answered():
            row = {"event": "turn", "id": event.trial_id, "attempt": event.attempt, "turn": event.turn}
            row.update(_encode_reply(event.reply))
            return row
        case Routed():
            return {
                "event": "route",
                "id": event.trial_id,
                "attempt": event.attempt,
                "turn": event.route.turn,
                "state": event.route.state,
                "label": event.route.label,
                "rule": event.route.rule,
                "version": event.route.version,
                "evidence": [
                    {"start": piece.start, "end": piece.end, "quote": piece.quote, "note": piece.note}
                    for piece in event.route.evidence
                ],
                "target": event.route.target,
            }
        case Failed():
            return {
                "event": "failed",
                "id": event.trial_id,
                "attempt": event.attempt,
                "turn": event.turn,
                "reason": event.reason,
                "detail": event.detail,
                "partial": event.partial,
                "evidence": dict(event.evidence),
                "at": event.at,
            }
        case TrialEnded():
            row = {
                "event": "trial-ended",
                "id": event.trial_id,
                "attempt": event.attempt,
                "outcome": event.outcome.kind,
                "reason": event.outcome.reason,
                "detail": event.outcome.detail,
                "at": event.at,
                "redacted": event.redacted,
            }
            if event.outcome.missing is not None:
                row["missing"] = event.outcome.missing
            if event.outcome.choice is not None:
                row["choice"] = choice_row(event.outcome.choice)
            return row


def _encode_reply(reply: SystemTurn) -> dict[str, Any]:
    answer = reply.answer
    row: dict[str, Any] = {
        "text": answer.text,
        "links": [{"text": link.text, "href": link.href} for link in answer.links],
    }
    if answer.links_left_out:
        row["links_left_out"] = answer.links_left_out
    row.update(parts_row(answer))
    row.update(
        asked_at=reply.asked_at,
        first_seconds=reply.first_seconds,
        seconds=reply.seconds,
        finish=reply.finish,
        tokens=dict(reply.tokens),
        pieces=[[seconds, characters] for seconds, characters in reply.pieces],
        evidence=dict(reply.evidence),
        ended=reply.ended,
        sends=reply.sends,
    )
    if reply.sent_as:
        row["sent_as"] = reply.sent_as
    if reply.model:
        row["model"] = reply.model
    if reply.notes:
        row["notes"] = list(reply.notes)
    return row


def parts_row(answer: Answer) -> dict[str, Any]:
    """What came with the text of an answer, by the keys of a line; a part that it lacks has no key."""
    row: dict[str, Any] = {}
    if answer.sources:
        row["sources"] = [_without_defaults(source, "href") for source in answer.sources]
    if answer.thoughts:
        row["thoughts"] = answer.thoughts
    if answer.calls:
        row["calls"] = [_without_defaults(call, "name") for call in answer.calls]
    if answer.offers:
        row["offers"] = [_without_defaults(offer, "title") for offer in answer.offers]
    if answer.attachments:
        row["attachments"] = [_without_defaults(attachment, "name") for attachment in answer.attachments]
    if answer.refused:
        row["refused"] = True
    return row


def choice_row(choice: Choice) -> dict[str, Any]:
    """A choice by the keys of a line; what is not known has none."""
    row: dict[str, Any] = {}
    if choice.probability is not None:
        row["probability"] = choice.probability
    if choice.leaving:
        row["leaving"] = dict(choice.leaving)
    if choice.took:
        row["took"] = choice.took
    if choice.coverage is not None:
        row["coverage"] = choice.coverage
    if choice.noise:
        row["noise"] = {kind: list(units) for kind, units in choice.noise.items()}
    if choice.refused:
        row["refused"] = dict(choice.refused)
    if choice.meant:
        row["meant"] = choice.meant
    return row


def choice_from(row: Mapping[str, Json], place: Place) -> Choice:
    """The choice that `choice_row` wrote. Raises RunError with the place."""
    return _choice(_Row(row, place))


def with_parts(answer: Answer, row: Mapping[str, Json], place: Place) -> Answer:
    """The answer with what `parts_row` wrote of it. Raises RunError with the place."""
    parts = {key: row[key] for key in PARTS if key in row}
    read = _answer(_Row({"text": answer.text, **parts}, place))
    return replace(read, links=answer.links, links_left_out=answer.links_left_out)


def _without_defaults(part: Source | ToolCall | Offer | Attachment, first: str) -> dict[str, Any]:
    values = {entry.name: (getattr(part, entry.name), entry.default) for entry in fields(part)}
    return {name: value for name, (value, default) in values.items() if name == first or value != default}


class _Row:
    """The fields of one line, checked as they are taken."""

    def __init__(self, values: Mapping[str, Json], place: Place) -> None:
        self.values, self.place = values, place

    def _take(self, key: str, kinds: tuple[type, ...], called: str, default: Any) -> Any:
        value = self.values.get(key, default)
        if value is _MISSING:
            raise RunError(f"the event has no {key!r}", place=self.place)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise RunError(f"{key!r} is not {called}", place=self.place)
        return value

    def text(self, key: str, default: Any = "") -> str:
        return str(self._take(key, (str,), "text", default))

    def count(self, key: str, default: Any = 0, *, least: int = 0) -> int:
        value = int(self._take(key, (int,), "a whole number", default))
        if value < least:
            raise RunError(f"{key!r} is {value}, less than {least}", place=self.place)
        return value

    def absent(self, key: str) -> bool:
        return self.values.get(key) is None

    def flag(self, key: str) -> bool:
        return bool(self._take(key, (bool,), "true or false", False))

    def seconds(self, key: str) -> float | None:
        value = self._take(key, (int, float, type(None)), "a number or null", None)
        return None if value is None else self.finite(value, key)

    def finite(self, value: int | float, key: str) -> float:
        if not -_MOST_SECONDS < value < _MOST_SECONDS:  # JSON can write numbers that no float can hold
            raise RunError(f"{key!r} is not a number of seconds that can have passed", place=self.place)
        return float(value)

    def rows(self, key: str) -> list[Any]:
        return list(self._take(key, (list,), "a list", []))

    def objects(self, key: str) -> list[_Row]:
        return [_Row(_object(value, self.place), self.place) for value in self.rows(key)]

    def sentences(self, key: str) -> tuple[str, ...]:
        value = self.rows(key)
        if not all(isinstance(item, str) for item in value):
            raise RunError(f"{key!r} holds something that is not text", place=self.place)
        return tuple(value)

    def texts(self, key: str) -> Mapping[str, str]:
        value: dict[str, str] = self._take(key, (dict,), "an object", {})
        if not all(isinstance(item, str) for item in value.values()):
            raise RunError(f"{key!r} holds something that is not text", place=self.place)
        return value

    def share(self, key: str) -> float | None:
        value = self._take(key, (int, float, type(None)), "a number or null", None)
        if value is not None and not 0 <= value <= 1:
            raise RunError(f"{key!r} is {value}, and not a probability", place=self.place, allowed="0 to 1")
        return None if value is None else float(value)

    def inner(self, key: str) -> _Row:
        return _Row(self._take(key, (dict,), "an object", {}), self.place)

    def counts(self, key: str) -> Mapping[str, int]:
        value: dict[str, int] = self._take(key, (dict,), "an object", {})
        if not all(isinstance(item, int) and not isinstance(item, bool) for item in value.values()):
            raise RunError(f"{key!r} holds something that is not a whole number", place=self.place)
        return value


_MISSING = object()
_MOST_SECONDS = 1e12


def _started(row: _Row) -> TrialStarted:
    return TrialStarted(
        trial_id=row.text("id", _MISSING),
        key=TrialKey(row.text("system", _MISSING), row.text("topic", _MISSING), row.count("trial", _MISSING, least=1)),
        attempt=row.count("attempt", _MISSING, least=1),
        session=row.text("session"),
        place=row.count("place", 1),
        user=row.text("user", "scripted"),
        at=row.text("at"),
        hashes=row.texts("hashes"),
        worker=row.text("worker"),
        original_attempt=row.count("original_attempt"),
        goes_on_from=row.count("goes_on_from"),
        member=row.text("member"),
    )


def _choice(row: _Row) -> Choice:
    leaving, noise = row.inner("leaving"), row.inner("noise")
    units: dict[str, tuple[int, int]] = {}
    for kind, pair in noise.values.items():
        match pair:
            case [int() as could, int() as did] if could >= 0 and did >= 0:
                units[kind] = could, did
            case _:
                raise RunError("'noise' holds something that is not [units, units changed]", place=row.place)
    return Choice(
        row.share("probability"),
        {reason: leaving.share(reason) or 0.0 for reason in leaving.values},
        row.text("took"),
        row.share("coverage"),
        units,
        row.counts("refused"),
        row.text("meant"),
    )


def _chosen(row: _Row) -> Choice | None:
    return None if row.absent("choice") else _choice(row.inner("choice"))


def _asked(row: _Row) -> Asked:
    turn = row.count("turn", _MISSING, least=1)
    return Asked(
        *_attempt(row),
        turn,
        row.text("state"),
        row.text("text", _MISSING),
        row.text("at"),
        row.text("user"),
        row.text("act"),
        row.text("worded"),
        _chosen(row),
        row.text("session"),
    )


def _answered(row: _Row) -> Answered:
    pieces: list[tuple[float, int]] = []
    for piece in row.rows("pieces"):
        match piece:
            case [int() | float() as seconds, int() as characters]:
                pieces.append((row.finite(seconds, "pieces"), characters))
            case _:
                raise RunError("'pieces' holds something that is not [seconds, characters]", place=row.place)
    reply = SystemTurn(
        answer=_answer(row),
        asked_at=row.text("asked_at"),
        first_seconds=row.seconds("first_seconds"),
        seconds=row.seconds("seconds"),
        finish=row.text("finish"),
        tokens=row.counts("tokens"),
        pieces=tuple(pieces),
        evidence=row.texts("evidence"),
        ended=row.flag("ended"),
        sends=row.count("sends", 1),
        sent_as=row.text("sent_as"),
        model=row.text("model"),
        notes=row.sentences("notes"),
    )
    return Answered(*_attempt(row), row.count("turn", _MISSING, least=1), reply)


def _answer(row: _Row) -> Answer:
    return Answer(
        row.text("text", _MISSING),
        tuple(Link(link.text("text"), link.text("href", _MISSING)) for link in row.objects("links")),
        row.count("links_left_out"),
        tuple(
            Source(
                one.text("href", _MISSING),
                one.text("title"),
                one.count("start", -1, least=-1),
                one.count("end", -1, least=-1),
                one.text("place", "beside"),
            )
            for one in row.objects("sources")
        ),
        row.text("thoughts"),
        tuple(ToolCall(one.text("name", _MISSING), one.text("arguments")) for one in row.objects("calls")),
        tuple(
            Offer(one.text("title", _MISSING), one.text("value"), one.text("kind", "reply"))
            for one in row.objects("offers")
        ),
        tuple(
            Attachment(one.text("name", _MISSING), one.text("type"), None if one.absent("size") else one.count("size"))
            for one in row.objects("attachments")
        ),
        row.flag("refused"),
    )


def _routed(row: _Row) -> Routed:
    pieces = [_Row(_object(piece, row.place), row.place) for piece in row.rows("evidence")]
    route = Route(
        turn=row.count("turn", _MISSING, least=1),
        state=row.text("state"),
        label=row.text("label", _MISSING),
        rule=row.text("rule"),
        version=row.text("version"),
        evidence=tuple(
            Evidence(
                start=piece.count("start", -1, least=-1),
                end=piece.count("end", -1, least=-1),
                quote=piece.text("quote"),
                note=piece.text("note"),
            )
            for piece in pieces
        ),
        target=row.text("target"),
    )
    return Routed(*_attempt(row), route)


def _failed(row: _Row) -> Failed:
    return Failed(
        *_attempt(row),
        reason=row.text("reason", _MISSING),
        detail=row.text("detail"),
        partial=row.text("partial"),
        evidence=row.texts("evidence"),
        at=row.text("at"),
        turn=row.count("turn"),
    )


def _ended(row: _Row) -> TrialEnded:
    missing = row.count("missing") if "missing" in row.values else None
    outcome = Outcome(row.text("outcome", _MISSING), row.text("reason"), row.text("detail"), missing, _chosen(row))
    return TrialEnded(*_attempt(row), outcome, row.text("at"), row.count("redacted"))


def _attempt(row: _Row) -> tuple[str, int]:
    return row.text("id", _MISSING), row.count("attempt", _MISSING, least=1)


def _object(value: Json, place: Place) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise RunError("a list holds something that is not an object", place=place)
    return value


_DECODERS: Mapping[str, Callable[[_Row], Event]] = {
    "trial-started": _started,
    "asked": _asked,
    "turn": _answered,
    "route": _routed,
    "failed": _failed,
    "trial-ended": _ended,
}


def decode(row: Mapping[str, Json], place: Place) -> Event | None:
    """The event of a line; None where its kind is not known here (a later 1.x). Raises RunError with the place."""
    kind = row.get("event")
    if not isinstance(kind, str):
        raise RunError("a line without an event", place=place, allowed=", ".join(_DECODERS))
    decoder = _DECODERS.get(kind)
    return decoder(_Row(row, place)) if decoder else None


def check_format(found: Json, expected: str, place: Place) -> None:
    """Refuse a format of another name or another major version than `expected` (`name/major`, minor ignored)."""
    name, _, major = expected.partition("/")
    text = found if isinstance(found, str) else ""
    found_name, _, version = text.partition("/")
    if found_name != name:
        raise RunError(f"this is not {name} (format: {found!r})", place=place, allowed=f"format {expected}")
    if version.partition(".")[0] != major:
        raise RunError(
            f"format version {version!r} is not known to this Harvest",
            place=place,
            allowed=f"{expected} and its minor versions",
            advice="read it with the version of Harvest that wrote it, or a later one",
        )
