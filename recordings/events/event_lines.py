"""Events written to and read from the lines of `trials-<worker>.jsonl`.

Each file begins with an `opened` line (format, worker, process, software, time), followed by one event in each line.
Readers accept any version 1.x, refuse other versions, and ignore unknown keys.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, inspect

from protocols.answer import PARTS, Offer
from protocols.route import Choice
from recordings.conversations.answer_parts import REPLY_KEYS, choice_row, offer_row, parts_row
from recordings.conversations.conversation import SystemTurn
from recordings.events.events import Answered, Asked, Event, Failed, Routed, Sent, Spent, TrialEnded, TrialStarted
from recordings.events.typed_lines import LINES, ChoiceLine, FileLine, OfferLine, TurnLine
from recordings.files.errors import RunError
from recordings.files.json_text import Json, encode_line
from topics.errors import Place
from topics.links import Link
from topics.sent_files import SentFile, file_row

FORMAT = "harvest-events/1"


_ENCODER = msgspec.json.Encoder()


def event_line(row: dict[str, Any]) -> bytes:
    """Encode a row as a line with its line end. Raises ValueError for NaN, and TypeError for values outside JSON."""
    try:
        data = _ENCODER.encode(row)
    except (TypeError, ValueError):  # a half of a surrogate pair, or no value of ours
        return encode_line(row)
    # It silently writes NaN and infinities as null. `find` takes half the time of `in`.
    return encode_line(row) if data.find(b"null") >= 0 and not _is_finite(row.values()) else data + b"\n"


def _is_finite(values: Iterable[Json]) -> bool:
    for value in values:
        if value is None or type(value) is str or type(value) is int:  # these first, because they are quick
            continue
        if isinstance(value, float):
            if not math.isfinite(value):
                return False
        elif isinstance(value, (dict, list, tuple)) and not _is_finite(
            value.values() if isinstance(value, dict) else value
        ):
            return False
    return True


def encode(event: Event) -> dict[str, Any]:
    """Return the JSON object of `event`, with its keys in a readable order."""
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
            if event.pressed is not None:
                row["pressed"] = offer_row(event.pressed)
            if event.attached:
                row["attached"] = [file_row(one) for one in event.attached]
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
        case Sent():
            row = {"event": "sent", "id": event.trial_id, "attempt": event.attempt}
            return {**row, "to": event.to} if event.to else row
        case Spent():
            row = {"event": "spent", "id": event.trial_id, "attempt": event.attempt, "tokens": dict(event.tokens)}
            return row if event.received else {**row, "received": False}
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
        **({"links_left_out": answer.links_left_out} if answer.links_left_out else {}),
        **parts_row(answer),
        "asked_at": reply.asked_at,
        "first_seconds": reply.first_seconds,
        "seconds": reply.seconds,
        "finish": reply.finish,
        "tokens": dict(reply.tokens) if reply.tokens else {},  # a frozen mapping is slow to copy
        "pieces": [[seconds, characters] for seconds, characters in reply.pieces],
        "evidence": dict(reply.evidence) if reply.evidence else {},
        "ended": reply.ended,
        "sends": reply.sends,
    }
    if reply.sent_as:
        row["sent_as"] = reply.sent_as
    if reply.model:
        row["model"] = reply.model
    if reply.notes:
        row["notes"] = list(reply.notes)
    if reply.greeting:
        row["greeting"] = reply.greeting
    if reply.greeting_offers:
        row["greeting_offers"] = [offer_row(offer) for offer in reply.greeting_offers]
    return row


def decode(row: Mapping[str, Json], place: Place) -> Event | None:
    """Return the event in a line, or None for an unknown kind, which a later version 1.x may add. Raises RunError."""
    kind = row.get("event")
    if not isinstance(kind, str):
        raise RunError("the line has no event", place=place, allowed=", ".join(LINES))
    form = LINES.get(kind)
    if form is None:
        return None
    try:
        return msgspec.convert(row, form).event()
    except (msgspec.ValidationError, UnicodeEncodeError):  # an odd line, or half a surrogate pair in a key
        return read_as(form, row, place).event()


def check_format(found: Json, expected: str, place: Place) -> None:
    """Raise RunError if the name or the major version of a format differs from `expected` (`name/major`)."""
    name, _, major = expected.partition("/")
    text = found if isinstance(found, str) else ""
    found_name, _, version = text.partition("/")
    if found_name != name:
        raise RunError(f"this is not {name} (format: {found!r})", place=place, allowed=f"format {expected}")
    if version.partition(".")[0] != major:
        raise RunError(
            f"this version of Harvest cannot read format version {version!r}",
            place=place,
            allowed=f"{expected} and its minor versions",
            advice="read it with the version of Harvest that wrote it, or a later one",
        )


_Row = TypeVar("_Row", bound=Struct)

# By the type of a field: the JSON types allowed for it, and their name in messages.
_KINDS: Mapping[type[inspect.Type], tuple[Any, str]] = {
    inspect.StrType: ((str,), "text"),
    inspect.BoolType: ((bool,), "true or false"),
    inspect.IntType: ((int,), "a whole number"),
    inspect.FloatType: ((int, float), "a number or null"),
    inspect.DictType: ((dict,), "an object"),
    inspect.StructType: ((dict,), "an object"),
    inspect.DataclassType: ((dict,), "an object"),
    inspect.VarTupleType: ((list,), "a list"),
}
_PAIRS = {"pieces": "[seconds, characters]", "noise": "[units, units changed]"}


def read_as(form: type[_Row], values: Mapping[str, Json], place: Place) -> _Row:
    """Return the JSON object `values` as a struct of the type `form`, ignoring undeclared keys. Raises RunError, with
    the place, if a field is missing or has another type."""
    found = {}
    for field in _fields(form):
        if field.name in values:
            found[field.name] = _check_value(values[field.name], field.type, field.name, place)
        elif field.required:
            raise RunError(f"the event has no {field.name!r}", place=place)
    return form(**found)


@cache
def _fields(form: type[Struct]) -> tuple[inspect.Field, ...]:
    declared = inspect.type_info(form)
    assert isinstance(declared, inspect.StructType)
    return declared.fields


def _check_value(value: Any, kind: inspect.Type, key: str, place: Place, verb: str = "is") -> Any:
    """Return `value` as the declared type. `verb` begins the error message: "is" for the value of `key`, or "contains
    something that is" for an item in that value."""
    if isinstance(kind, inspect.UnionType):  # with null, each of them
        if value is None:
            return None
        kind = next(one for one in kind.types if not isinstance(one, inspect.NoneType))
    if isinstance(kind, inspect.TupleType):
        kinds = kind.item_types
        whole = isinstance(value, list) and len(value) == len(kinds)
        if not whole or not all(isinstance(one, _KINDS[type(of)][0]) for one, of in zip(value, kinds)):
            raise RunError(f"{key!r} contains something that is not {_PAIRS[key]}", place=place)
        return tuple(_check_value(one, of, key, place) for one, of in zip(value, kinds))
    allowed, called = _KINDS[type(kind)]
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        raise RunError(f"{key!r} {verb} not {called}", place=place)
    match kind:
        case inspect.IntType(ge=least) if least is not None and value < least:
            raise RunError(f"{key!r} must be at least {least}, not {value}", place=place)
        case inspect.FloatType(gt=low, lt=high) if low is not None and high is not None:
            if not low < value < high:  # JSON can write numbers that no float can hold
                raise RunError(f"{key!r} is not a valid number of seconds", place=place)
            return float(value)
        case inspect.FloatType():
            if not 0 <= value <= 1:
                raise RunError(f"{key!r} must be a probability, not {value}", place=place, allowed="0 to 1")
            return float(value)
        case inspect.DictType(value_type=inspect.FloatType() as of):
            # Probabilities by name; null has always been read as 0.
            return {name: 0.0 if item is None else _check_value(item, of, name, place) for name, item in value.items()}
        case inspect.DictType(value_type=of):
            return {
                name: _check_value(item, of, key, place, "contains something that is") for name, item in value.items()
            }
        case inspect.VarTupleType(item_type=of):
            return tuple(_check_value(item, of, key, place, "contains something that is") for item in value)
        case inspect.StructType(cls=form):
            return read_as(form, value, place)
        case inspect.DataclassType():  # the only one is a link
            if "href" not in value:
                raise RunError("the event has no 'href'", place=place)
            return Link(
                *(_check_value(value.get(name, ""), inspect.StrType(), name, place) for name in ("text", "href"))
            )
    return value


def offer_from(row: Mapping[str, Json], place: Place) -> Offer:
    """Return the offer that `offer_row` wrote. Raises RunError with the place in the file."""
    return read_as(OfferLine, row, place).offer()


def file_from(row: Mapping[str, Json], place: Place) -> SentFile:
    """Return the file that `file_row` wrote. Raises RunError with the place in the file."""
    return read_as(FileLine, row, place).file()


def choice_from(row: Mapping[str, Json], place: Place) -> Choice:
    """Return the choice that `choice_row` wrote. Raises RunError with the place in the file."""
    return read_as(ChoiceLine, row, place).choice()


def restore_reply(reply: SystemTurn, row: Mapping[str, Json], place: Place) -> SystemTurn:
    """Return the reply with the parts and figures that `reply_row` wrote, and with the text and links of `reply`.
    Raises RunError with the place in the file."""
    known = {key: row[key] for key in (*PARTS, *REPLY_KEYS) if key in row}
    answer = reply.answer
    found = read_as(TurnLine, {"id": "", "attempt": 1, "turn": 1, "text": answer.text, **known}, place).reply()
    given = replace(found.answer, links=answer.links, links_left_out=answer.links_left_out)
    return replace(found, answer=given)
