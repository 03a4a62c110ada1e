"""The lines of a file of events, declared as types and decoded directly into them.

This is several times faster than reading dictionaries. `recordings.events.event_lines` handles lines that are damaged,
unusual or of another version: it reads the same declarations field by field and reports each error with its place. The
lines of a turn are converted to values of `protocols` only when they are needed.
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from protocols.answer import Answer, Attachment, Offer, Source, ToolCall
from protocols.route import Choice, Evidence, Route
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Event, Failed, Routed, Sent, Spent, TrialEnded, TrialStarted
from topics.links import Link
from topics.sent_files import SentFile

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

    def event(self) -> TrialStarted:
        key = TrialKey(self.system, self.topic, self.trial)
        return TrialStarted(
            *(self.id, key, self.attempt, self.session, self.place, self.user, self.at, self.hashes),
            *(self.worker, self.original_attempt, self.goes_on_from, self.member),
        )


class ChoiceLine(Struct, gc=False):
    probability: _Share | None = None
    leaving: dict[str, _Share] = {}
    took: str = ""
    coverage: _Share | None = None
    noise: dict[str, tuple[_Count, _Count]] = {}
    refused: dict[str, int] = {}
    meant: str = ""

    def choice(self) -> Choice:
        return Choice(self.probability, self.leaving, self.took, self.coverage, self.noise, self.refused, self.meant)


class OfferLine(Struct, gc=False):
    title: str
    value: str = ""
    kind: str = "reply"

    def offer(self) -> Offer:
        return Offer(self.title, self.value, self.kind)


class FileLine(Struct, gc=False):
    name: str
    type: str = ""
    size: _Count = 0
    sha256: str = ""

    def file(self) -> SentFile:
        return SentFile(self.name, self.type, self.size, self.sha256)


class AskedLine(_Line, tag="asked"):
    turn: _Number
    text: str
    state: str = ""
    at: str = ""
    user: str = ""
    act: str = ""
    worded: str = ""
    choice: ChoiceLine | None = None
    session: str = ""
    pressed: OfferLine | None = None
    attached: tuple[FileLine, ...] = ()

    def event(self) -> Asked:
        choice = None if self.choice is None else self.choice.choice()
        pressed = None if self.pressed is None else self.pressed.offer()
        return Asked(
            *(self.id, self.attempt, self.turn, self.state, self.text, self.at),
            *(self.user, self.act, self.worded, choice, self.session, pressed),
            tuple([one.file() for one in self.attached]),
        )


class _Source(Struct, gc=False):
    href: str
    title: str = ""
    start: _Place = -1
    end: _Place = -1
    place: str = "beside"
    text: str = ""


class _Call(Struct, gc=False):
    name: str
    arguments: str = ""


class _Attachment(Struct, gc=False):
    name: str
    type: str = ""
    size: _Count | None = None


class TurnLine(_Line, tag="turn"):
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
    offers: tuple[OfferLine, ...] = ()
    attachments: tuple[_Attachment, ...] = ()
    refused: bool = False
    refusal: str = ""
    notes: tuple[str, ...] = ()
    greeting: str = ""
    greeting_offers: tuple[OfferLine, ...] = ()

    def event(self) -> Answered:
        return Answered(self.id, self.attempt, self.turn, self.reply())

    def answer(self) -> Answer:
        return Answer(
            self.text,
            self.links,
            self.links_left_out,
            tuple([Source(one.href, one.title, one.start, one.end, one.place, one.text) for one in self.sources]),
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
            self.greeting,
            tuple([one.offer() for one in self.greeting_offers]),
        )


class _Piece(Struct, gc=False):
    start: _Place = -1
    end: _Place = -1
    quote: str = ""
    note: str = ""


class RouteLine(_Line, tag="route"):
    turn: _Number
    label: str
    state: str = ""
    rule: str = ""
    version: str = ""
    evidence: tuple[_Piece, ...] = ()
    target: str = ""

    def event(self) -> Routed:
        return Routed(self.id, self.attempt, self.route())

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

    def event(self) -> Failed:
        return Failed(self.id, self.attempt, self.reason, self.detail, self.partial, self.evidence, self.at, self.turn)


class _Sent(_Line, tag="sent"):
    to: str = ""

    def event(self) -> Sent:
        return Sent(self.id, self.attempt, self.to)


class _Spent(_Line, tag="spent"):
    tokens: dict[str, int] = {}
    received: bool = True

    def event(self) -> Spent:
        return Spent(self.id, self.attempt, self.tokens, self.received)


class EndedLine(_Line, tag="trial-ended"):
    outcome: str
    reason: str = ""
    detail: str = ""
    missing: _Count | UnsetType = UNSET
    at: str = ""
    redacted: _Count = 0
    choice: ChoiceLine | None = None

    def event(self) -> TrialEnded:
        return TrialEnded(self.id, self.attempt, self.ended(), self.at, self.redacted)

    def ended(self) -> Outcome:
        missing = None if self.missing is UNSET else self.missing
        choice = None if self.choice is None else self.choice.choice()
        return Outcome(self.outcome, self.reason, self.detail, missing, choice)


# One line of a file of events.
Line = _Started | AskedLine | TurnLine | RouteLine | _Failed | _Sent | _Spent | EndedLine

# The type of a line by the kind of its event.
LINES: Mapping[str, type[Line]] = {
    str(form.__struct_config__.tag): form
    for form in (_Started, AskedLine, TurnLine, RouteLine, _Failed, _Sent, _Spent, EndedLine)
}

_DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def decode_line(data: bytes) -> Event | None:
    """Return the event in a line (without its line end), or None if the line must be read field by field."""
    try:
        data.decode()  # the decoder does not check text under unknown keys
        return _DECODER.decode(data).event()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def decode_lines(data: bytes, count: int) -> list[Line] | None:
    """Return the events in `count` complete lines with their line ends, or None if a line must be read field by field.
    This is several times faster than decoding the lines separately."""
    try:
        data.decode()
        rows = _DECODER.decode_lines(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return rows if len(rows) == count else None  # the decoder skips empty lines
