"""Event lines read straight into typed values: several times faster than by way of dictionaries.

It takes a line only where it is exactly what `recordings.event_lines` would take, without a word. Everything else,
damaged, of another version or merely odd, is left to that module, which says what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from protocols.answer import Answer
from protocols.route import Evidence, Route
from recordings.conversation import Outcome, SystemTurn, TrialKey
from recordings.events import Answered, Asked, Event, Failed, Routed, TrialEnded, TrialStarted
from topics.links import Link

__all__ = ["decode_line"]

_Count = Annotated[int, Meta(ge=0)]
_Number = Annotated[int, Meta(ge=1)]
_Seconds = Annotated[float, Meta(gt=-1e12, lt=1e12)]


class _Line(Struct, tag_field="event", gc=False):
    id: str
    attempt: _Number


class _Started(_Line, tag="trial-started"):
    system: str
    topic: str
    trial: _Number
    session: str = ""
    place: _Count = 1
    user: str = "scripted"
    at: str = ""
    hashes: dict[str, str] = {}  # msgspec makes a new one each time
    worker: str = ""
    original_attempt: _Count = 0
    goes_on_from: _Count = 0


class _Asked(_Line, tag="asked"):
    turn: _Number
    text: str
    state: str = ""
    at: str = ""
    user: str = ""
    act: str = ""


class _Turn(_Line, tag="turn"):
    turn: _Number
    text: str
    links: tuple[Link, ...] = ()
    links_left_out: _Count = 0
    asked_at: str = ""
    first_seconds: _Seconds | None = None
    seconds: _Seconds | None = None
    finish: str = ""
    tokens: dict[str, int] = {}
    pieces: tuple[tuple[_Seconds, int], ...] = ()
    evidence: dict[str, str] = {}
    ended: bool = False
    sends: _Count = 1
    sent_as: str = ""
    model: str = ""


class _Route(_Line, tag="route"):
    turn: _Number
    label: str
    state: str = ""
    rule: str = ""
    version: str = ""
    evidence: tuple[Evidence, ...] = ()
    target: str = ""


class _Failed(_Line, tag="failed"):
    reason: str
    detail: str = ""
    partial: str = ""
    evidence: dict[str, str] = {}
    at: str = ""
    turn: _Count = 0


class _Ended(_Line, tag="trial-ended"):
    outcome: str
    reason: str = ""
    detail: str = ""
    missing: _Count | UnsetType = UNSET
    at: str = ""
    redacted: _Count = 0


_DECODER = msgspec.json.Decoder(_Started | _Asked | _Turn | _Route | _Failed | _Ended)


def decode_line(data: bytes) -> Event | None:
    """The event of a line without its end; None where the line is not plainly one."""
    try:
        data.decode()  # what stands under unknown keys is not looked at otherwise
        row = _DECODER.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if isinstance(row, _Route) and any(one.start < -1 or one.end < -1 for one in row.evidence):
        return None
    return _EVENTS[type(row)](row)


def _started(row: _Started) -> TrialStarted:
    return TrialStarted(
        row.id,
        TrialKey(row.system, row.topic, row.trial),
        row.attempt,
        row.session,
        row.place,
        row.user,
        row.at,
        row.hashes,
        row.worker,
        row.original_attempt,
        row.goes_on_from,
    )


def _asked(row: _Asked) -> Asked:
    return Asked(row.id, row.attempt, row.turn, row.state, row.text, row.at, row.user, row.act)


def _answered(row: _Turn) -> Answered:
    reply = SystemTurn(
        Answer(row.text, row.links, row.links_left_out),
        row.asked_at,
        row.first_seconds,
        row.seconds,
        row.finish,
        row.tokens,
        row.pieces,
        row.evidence,
        row.ended,
        row.sends,
        row.sent_as,
        row.model,
    )
    return Answered(row.id, row.attempt, row.turn, reply)


def _routed(row: _Route) -> Routed:
    route = Route(row.turn, row.state, row.label, row.rule, row.version, row.evidence, row.target)
    return Routed(row.id, row.attempt, route)


def _failed(row: _Failed) -> Failed:
    return Failed(row.id, row.attempt, row.reason, row.detail, row.partial, row.evidence, row.at, row.turn)


def _ended(row: _Ended) -> TrialEnded:
    missing = None if row.missing is UNSET else row.missing
    return TrialEnded(row.id, row.attempt, Outcome(row.outcome, row.reason, row.detail, missing), row.at, row.redacted)


_EVENTS: dict[type, Callable[[Any], Event]] = {
    _Started: _started,
    _Asked: _asked,
    _Turn: _answered,
    _Route: _routed,
    _Failed: _failed,
    _Ended: _ended,
}
