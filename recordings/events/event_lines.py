"""Events as lines of `trials-<worker>.jsonl`, written and read.

Each file begins with an `opened` line (format, worker, process, software, time), then one event a line. Readers accept
any 1.x, refuse other versions, and ignore unknown keys.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from recordings.conversations.answer_parts import choice_row, parts_row
from recordings.conversations.conversation import SystemTurn
from recordings.events.events import Answered, Asked, Event, Failed, Routed, TrialEnded, TrialStarted
from recordings.events.line_fields import read_as
from recordings.events.typed_lines import LINES
from recordings.files.errors import RunError
from recordings.files.json_text import Json, line
from topics.errors import Place

FORMAT = "harvest-events/1"


_ENCODER = msgspec.json.Encoder()


def event_line(row: dict[str, Any]) -> bytes:
    """Return an event's row as a line with its end. Raises ValueError for NaN and infinities, TypeError for values
    outside JSON."""
    try:
        data = _ENCODER.encode(row)
    except (TypeError, ValueError):  # a half of a surrogate pair, or no value of ours
        return line(row)
    # It writes NaN and infinities as null, without a word.
    return line(row) if b"null" in data else data + b"\n"


def encode(event: Event) -> dict[str, Any]:
    """Return the JSON object of `event`, with keys in the order in which people read them."""
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


def decode(row: Mapping[str, Json], place: Place) -> Event | None:
    """Return the event of a line; None if its kind is unknown (a later 1.x). Raises RunError with the place."""
    kind = row.get("event")
    if not isinstance(kind, str):
        raise RunError("a line without an event", place=place, allowed=", ".join(LINES))
    form = LINES.get(kind)
    if form is None:
        return None
    try:
        return msgspec.convert(row, form).event()
    except (msgspec.ValidationError, UnicodeEncodeError):  # an odd line, or half a surrogate pair in a key
        return read_as(form, row, place).event()


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
