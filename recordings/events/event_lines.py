"""Events as lines of `trials-<worker>.jsonl`, written and read.

Each file begins with an `opened` line (format, worker, process, software, time), then one event a line. Readers take
any 1.x, refuse other versions, and pass over keys they do not know.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from protocols.choice import Choice
from protocols.route import Evidence, Route
from recordings.conversations.answer_parts import answer_of, choice_of, choice_row, parts_row
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Event, Failed, Routed, TrialEnded, TrialStarted
from recordings.files.errors import RunError
from recordings.files.json_text import Json, line
from recordings.files.line_fields import MISSING, LineFields, object_of
from topics.errors import Place

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


def _decode_started(row: LineFields) -> TrialStarted:
    return TrialStarted(
        trial_id=row.text("id", MISSING),
        key=TrialKey(row.text("system", MISSING), row.text("topic", MISSING), row.count("trial", MISSING, least=1)),
        attempt=row.count("attempt", MISSING, least=1),
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


def _decode_choice(row: LineFields) -> Choice | None:
    return None if row.absent("choice") else choice_of(row.inner("choice"))


def _decode_asked(row: LineFields) -> Asked:
    turn = row.count("turn", MISSING, least=1)
    return Asked(
        *_attempt(row),
        turn,
        row.text("state"),
        row.text("text", MISSING),
        row.text("at"),
        row.text("user"),
        row.text("act"),
        row.text("worded"),
        _decode_choice(row),
        row.text("session"),
    )


def _decode_answered(row: LineFields) -> Answered:
    pieces: list[tuple[float, int]] = []
    for piece in row.rows("pieces"):
        match piece:
            case [int() | float() as seconds, int() as characters]:
                pieces.append((row.finite(seconds, "pieces"), characters))
            case _:
                raise RunError("'pieces' holds something that is not [seconds, characters]", place=row.place)
    reply = SystemTurn(
        answer=answer_of(row),
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
    return Answered(*_attempt(row), row.count("turn", MISSING, least=1), reply)


def _decode_routed(row: LineFields) -> Routed:
    pieces = [LineFields(object_of(piece, row.place), row.place) for piece in row.rows("evidence")]
    route = Route(
        turn=row.count("turn", MISSING, least=1),
        state=row.text("state"),
        label=row.text("label", MISSING),
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


def _decode_failed(row: LineFields) -> Failed:
    return Failed(
        *_attempt(row),
        reason=row.text("reason", MISSING),
        detail=row.text("detail"),
        partial=row.text("partial"),
        evidence=row.texts("evidence"),
        at=row.text("at"),
        turn=row.count("turn"),
    )


def _decode_ended(row: LineFields) -> TrialEnded:
    missing = row.count("missing") if "missing" in row.values else None
    outcome = Outcome(
        row.text("outcome", MISSING), row.text("reason"), row.text("detail"), missing, _decode_choice(row)
    )
    return TrialEnded(*_attempt(row), outcome, row.text("at"), row.count("redacted"))


def _attempt(row: LineFields) -> tuple[str, int]:
    return row.text("id", MISSING), row.count("attempt", MISSING, least=1)


_DECODERS: Mapping[str, Callable[[LineFields], Event]] = {
    "trial-started": _decode_started,
    "asked": _decode_asked,
    "turn": _decode_answered,
    "route": _decode_routed,
    "failed": _decode_failed,
    "trial-ended": _decode_ended,
}


def decode(row: Mapping[str, Json], place: Place) -> Event | None:
    """The event of a line; None where its kind is not known here (a later 1.x). Raises RunError with the place."""
    kind = row.get("event")
    if not isinstance(kind, str):
        raise RunError("a line without an event", place=place, allowed=", ".join(_DECODERS))
    decoder = _DECODERS.get(kind)
    return decoder(LineFields(row, place)) if decoder else None


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
