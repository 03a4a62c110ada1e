"""Export of conversations as OpenTelemetry's GenAI spans: a trace for each conversation, with a span for each turn.

The root span of a trace is the conversation. Its children are the calls of the system, which follow the semantic
conventions for agents (`invoke_agent`). The values are those of the recording, so secrets are redacted. An invalid
attempt has the status ERROR. Ids of traces and spans are made from the identity of the attempt: the same attempt has
the same ids in every export.

Source: OpenTelemetry, semantic conventions for generative AI, `docs/gen-ai` (status: development); OTLP 1.x in JSON.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TypeAlias

from recordings.conversations.conversation import Conversation, SystemTurn, Turn
from recordings.files.json_text import Json, encode_line
from recordings.files.times import unix_seconds
from recordings.formats.messages_export import call_id, conversation_metadata
from recordings.log.exports import write_export
from topics.identity import content_hash

# The attribute of a root span with everything that other attributes do not contain. The import reads it.
RECORD = "harvest.record"
# The name of the service and of the scope that the spans are from.
SCOPE = "harvest"

Attribute: TypeAlias = str | int | float | list[str]


@dataclass(frozen=True, slots=True)
class Span:
    """A span. `trace` and `id` have 32 and 16 hexadecimal digits; `parent` is the id of its parent, "" for a root.
    `start` and `end` are in nanoseconds since 1970; 0 if unknown. `error` describes the failure, or is "" without a
    failure."""

    name: str
    trace: str
    id: str
    parent: str
    start: int
    end: int
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    error: str = ""

    @property
    def is_root(self) -> bool:
        return not self.parent


def write_spans(
    conversations: Iterable[Conversation],
    path: str | PathLike[str],
    *,
    most_turns: Mapping[tuple[str, str], int] | None = None,
) -> None:
    """Write the spans of the conversations to `path` as OTLP in JSON, with one object for each conversation on a line
    of its own, completely or not at all. `most_turns` is as in `write_messages`. Raises the errors of `write_export`.
    """
    known = most_turns or {}
    lines = []
    for one in conversations:
        spans = [_otlp(span) for span in conversation_spans(one, known.get((one.key.system, one.key.topic), 0))]
        resource = {"attributes": [_attribute("service.name", SCOPE)]}
        scoped = [{"scope": {"name": SCOPE}, "spans": spans}]
        lines.append(encode_line({"resourceSpans": [{"resource": resource, "scopeSpans": scoped}]}))
    write_export(path, b"".join(lines))


def conversation_spans(one: Conversation, most_turns: int = 0) -> Iterator[Span]:
    """Yield the span of each turn of a conversation, and then the root. A turn without a time is placed at the end of
    the turn before. `most_turns` is the protocol's maximum number of user turns, 0 if unknown."""
    name = one.trial_id if one.attempt == 1 else f"{one.trial_id}/{one.attempt}"
    trace, root = content_hash("trace", name), content_hash("span", name, size=8)
    about: dict[str, Attribute] = {
        "gen_ai.conversation.id": _clean(name),
        "gen_ai.agent.name": _clean(one.key.system),
        "harvest.topic": one.key.topic,
        "harvest.trial": one.key.trial,
        "harvest.attempt": one.attempt,
    }
    error = one.outcome.why if one.outcome is not None and not one.outcome.valid else ""
    began = now = _nanoseconds(one.started_at)
    for turn in one.turns:
        start = (_nanoseconds(turn.reply.asked_at) if turn.reply else 0) or now
        end = start + round(1e9 * ((turn.reply.seconds or 0) if turn.reply else 0))
        own = content_hash("span", [name, turn.number], size=8)
        failed = error if turn.reply is None else ""
        attributes = {"gen_ai.operation.name": "invoke_agent", **about, **_turn_attributes(turn), **_failure(failed)}
        yield Span(_clean(f"invoke_agent {one.key.system}"), trace, own, root, start, end, attributes, _clean(failed))
        began, now = began or start, max(now, end)
    attributes = {**about, "harvest.outcome": one.outcome.kind if one.outcome else "interrupted", **_failure(error)}
    attributes[RECORD] = _text(conversation_metadata(one, most_turns))
    end = max(now, _nanoseconds(one.ended_at))
    yield Span(f"conversation {one.key.topic}", trace, root, "", began, end, attributes, _clean(error))


def _turn_attributes(turn: Turn) -> dict[str, Attribute]:
    asked = [{"role": "user", "parts": [{"type": "text", "content": turn.said}]}]
    found: dict[str, Attribute] = {
        "harvest.turn": turn.number,
        "harvest.state": _clean(turn.state),
        "gen_ai.input.messages": _text(asked),
    }
    if turn.label:
        found["harvest.label"] = turn.label
    reply = turn.reply
    if reply is None:
        return found
    found["gen_ai.output.messages"] = _text([_output_message(turn, reply)])
    if reply.model:
        found["gen_ai.response.model"] = _clean(reply.model)
    if reply.finish:
        found["gen_ai.response.finish_reasons"] = [_clean(reply.finish)]
    if reply.first_seconds is not None:
        found["gen_ai.response.time_to_first_chunk"] = reply.first_seconds
    for key, kind in (("input", "prompt"), ("output", "completion")):
        if kind in reply.tokens:
            found[f"gen_ai.usage.{key}_tokens"] = reply.tokens[kind]
    return found


def _failure(error: str) -> dict[str, Attribute]:
    return {"error.type": _clean(error)} if error else {}


def _output_message(turn: Turn, reply: SystemTurn) -> Json:
    answer = reply.answer
    parts: list[Json] = [{"type": "reasoning", "content": answer.thoughts}] if answer.thoughts else []
    for at, call in enumerate(answer.calls, 1):
        parts.append({"type": "tool_call", "id": call_id(turn, at), "name": call.name, "arguments": call.arguments})
    parts.append({"type": "text", "content": answer.text})
    return {"role": "assistant", "parts": parts, "finish_reason": reply.finish or "unknown"}


def _nanoseconds(written: str) -> int:
    """Return the nanoseconds since 1970 of a time, in whole microseconds; 0 for an earlier time or no time."""
    return max(0, round(1e6 * seconds) * 1000) if (seconds := unix_seconds(written)) > 0 else 0


def _clean(text: str) -> str:
    """Return a text with U+FFFD for lone surrogates, which no attribute can contain."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(value: Json) -> str:
    """Return a value as JSON text, in which lone surrogates are escaped."""
    return encode_line(value).decode().rstrip("\n")


def _otlp(span: Span) -> Json:
    row: dict[str, Json] = {"traceId": span.trace, "spanId": span.id}
    if span.parent:
        row["parentSpanId"] = span.parent
    row |= {
        "name": span.name,
        "kind": 1 if span.is_root else 3,  # internal, client
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": [_attribute(key, value) for key, value in span.attributes.items()],
    }
    if span.error:
        row["status"] = {"code": 2, "message": span.error}
    return row


def _attribute(key: str, value: Attribute) -> Json:
    match value:
        case str():
            held: Json = {"stringValue": value}
        case int():
            held = {"intValue": str(value)}
        case float():
            held = {"doubleValue": value}
        case _:
            held = {"arrayValue": {"values": [{"stringValue": one} for one in value]}}
    return {"key": key, "value": held}
