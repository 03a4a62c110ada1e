"""Event lines read straight into typed values: several times faster than by way of dictionaries.

It takes a line only where it is exactly what `recordings.events.event_lines` would take, without a word. Everything
else, damaged, of another version or merely odd, is left to that module, which says what is wrong and where. What a
turn's lines hold becomes a value of its own only where somebody looks at it.
"""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from protocols.answer import Answer, Attachment, Offer, Source, ToolCall
from protocols.choice import Choice
from protocols.route import Evidence, Route
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Event, Failed, Routed, TrialEnded, TrialStarted
from topics.links import Link

_Count = Annotated[int, Meta(ge=0)]
_Number = Annotated[int, Meta(ge=1)]
_Place = Annotated[int, Meta(ge=-1)]
_Share = Annotated[float, Meta(ge=0, le=1)]
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
    member: str = ""


class ChoiceLine(Struct, gc=False):
    """A `protocols.choice.Choice` in a line."""

    probability: _Share | None = None
    leaving: dict[str, _Share] = {}
    took: str = ""
    coverage: _Share | None = None
    noise: dict[str, tuple[_Count, _Count]] = {}
    refused: dict[str, _Count] = {}
    meant: str = ""

    def choice(self) -> Choice:
        return Choice(self.probability, self.leaving, self.took, self.coverage, self.noise, self.refused, self.meant)


def _choice(line: ChoiceLine | None) -> Choice | None:
    return None if line is None else line.choice()


class AskedLine(_Line, tag="asked"):
    """A line of `recordings.events.events.Asked`."""

    turn: _Number
    text: str
    state: str = ""
    at: str = ""
    user: str = ""
    act: str = ""
    worded: str = ""
    choice: ChoiceLine | None = None
    session: str = ""


class _Source(Struct, gc=False):
    href: str
    title: str = ""
    start: _Place = -1
    end: _Place = -1
    place: str = "beside"


class _Call(Struct, gc=False):
    name: str
    arguments: str = ""


class _Offer(Struct, gc=False):
    title: str
    value: str = ""
    kind: str = "reply"


class _Attachment(Struct, gc=False):
    name: str
    type: str = ""
    size: _Count | None = None


class TurnLine(_Line, tag="turn"):
    """A line of `recordings.events.events.Answered`."""

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
    sources: tuple[_Source, ...] = ()
    thoughts: str = ""
    calls: tuple[_Call, ...] = ()
    offers: tuple[_Offer, ...] = ()
    attachments: tuple[_Attachment, ...] = ()
    refused: bool = False
    refusal: str = ""
    notes: tuple[str, ...] = ()

    def answer(self) -> Answer:
        return Answer(
            self.text,
            self.links,
            self.links_left_out,
            tuple([Source(one.href, one.title, one.start, one.end, one.place) for one in self.sources]),
            self.thoughts,
            tuple([ToolCall(one.name, one.arguments) for one in self.calls]),
            tuple([Offer(one.title, one.value, one.kind) for one in self.offers]),
            tuple([Attachment(one.name, one.type, one.size) for one in self.attachments]),
            self.refused,
            self.refusal,
        )

    def reply(self) -> SystemTurn:
        return SystemTurn(
            self.answer(),
            self.asked_at,
            self.first_seconds,
            self.seconds,
            self.finish,
            self.tokens,
            self.pieces,
            self.evidence,
            self.ended,
            self.sends,
            self.sent_as,
            self.model,
            self.notes,
        )


class _Piece(Struct, gc=False):
    start: _Place
    end: _Place
    quote: str
    note: str = ""


class RouteLine(_Line, tag="route"):
    """A line of `recordings.events.events.Routed`."""

    turn: _Number
    label: str
    state: str = ""
    rule: str = ""
    version: str = ""
    evidence: tuple[_Piece, ...] = ()
    target: str = ""

    def route(self) -> Route:
        pieces = tuple([Evidence(one.start, one.end, one.quote, one.note) for one in self.evidence])
        return Route(self.turn, self.state, self.label, self.rule, self.version, pieces, self.target)


class _Failed(_Line, tag="failed"):
    reason: str
    detail: str = ""
    partial: str = ""
    evidence: dict[str, str] = {}
    at: str = ""
    turn: _Count = 0


class EndedLine(_Line, tag="trial-ended"):
    """A line of `recordings.events.events.TrialEnded`."""

    outcome: str
    reason: str = ""
    detail: str = ""
    missing: _Count | UnsetType = UNSET
    at: str = ""
    redacted: _Count = 0
    choice: ChoiceLine | None = None

    def ended(self) -> Outcome:
        missing = None if self.missing is UNSET else self.missing
        return Outcome(self.outcome, self.reason, self.detail, missing, _choice(self.choice))


# One line, as it stands in the file.
Line = _Started | AskedLine | TurnLine | RouteLine | _Failed | EndedLine

_DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def decode_line(data: bytes) -> Event | None:
    """The event of a line without its end; None where the line is not plainly one."""
    try:
        data.decode()  # what stands under unknown keys is not looked at otherwise
        return event_of(_DECODER.decode(data))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def decode_lines(data: bytes, count: int) -> list[Line] | None:
    """What this count of whole lines with their ends holds, several times faster than one after the other; None where
    one of them is not plainly an event."""
    try:
        data.decode()
        rows = _DECODER.decode_lines(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return rows if len(rows) == count else None  # empty lines are passed over


def event_of(row: Line) -> Event:
    """The event that a line records."""
    return _EVENTS[type(row)](row)


def _read_started(row: _Started) -> TrialStarted:
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
        row.member,
    )


def _read_asked(row: AskedLine) -> Asked:
    return Asked(
        *(row.id, row.attempt, row.turn, row.state, row.text, row.at),
        *(row.user, row.act, row.worded),
        _choice(row.choice),
        row.session,
    )


def _read_answered(row: TurnLine) -> Answered:
    return Answered(row.id, row.attempt, row.turn, row.reply())


def _read_routed(row: RouteLine) -> Routed:
    return Routed(row.id, row.attempt, row.route())


def _read_failed(row: _Failed) -> Failed:
    return Failed(row.id, row.attempt, row.reason, row.detail, row.partial, row.evidence, row.at, row.turn)


def _read_ended(row: EndedLine) -> TrialEnded:
    return TrialEnded(row.id, row.attempt, row.ended(), row.at, row.redacted)


_EVENTS: dict[type, Callable[[Any], Event]] = {
    _Started: _read_started,
    AskedLine: _read_asked,
    TurnLine: _read_answered,
    RouteLine: _read_routed,
    _Failed: _read_failed,
    EndedLine: _read_ended,
}
