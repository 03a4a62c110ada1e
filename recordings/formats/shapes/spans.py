"""Traces of calls of models as OpenTelemetry's GenAI spans.

    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": …, "startTimeUnixNano": …, "attributes": [
        {"key": "gen_ai.conversation.id", "value": {"stringValue": "c"}},
        {"key": "gen_ai.input.messages", "value": {"stringValue": "[{…}]"}}, …]}]}]}]}

The calls of one conversation are put in order. Most programs send the whole history with each call, so messages that
are there already are not added again. If spans of a whole turn (`invoke_agent`) have messages, the calls of models
within them are left out. What `harvest data export` wrote has its metadata in the root span.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.shapes.call_histories import join_calls
from recordings.formats.shapes.shape import Group, Shape, ShapeOptions, has_keys
from recordings.formats.spans_export import RECORD
from topics.json_value import JsonValue

_CONVERSATION_KEYS = ("gen_ai.conversation.id", "session.id", "gen_ai.session.id")
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"


def _holds_otlp(value: Json) -> bool:
    return has_keys(value, "resourceSpans") or has_keys(value, "resource_spans")


def _group_otlp(values: Iterable[JsonValue], options: ShapeOptions) -> Iterable[Group]:
    found: dict[str, list[JsonValue]] = {}
    for value in values:
        for resource in value["resourceSpans" if value.has_key("resourceSpans") else "resource_spans"].elements():
            scopes = next((key for key in ("scopeSpans", "scope_spans") if resource.has_key(key)), "scopeSpans")
            for scope in resource[scopes].elements():
                for span in scope["spans"].elements():
                    about = _attributes(span)
                    if _INPUT in about or _OUTPUT in about or RECORD in about:
                        name = next((about[key] for key in _CONVERSATION_KEYS if about.get(key)), None)
                        trace = span["traceId"].value if span.has_key("traceId") else ""
                        found.setdefault(str(name or trace), []).append(span)
    return found.values()


def _read_otlp(group: Group, options: ShapeOptions) -> Iterator[Record]:
    spans = [(span, _attributes(span)) for span in group]
    record = next((_record(about[RECORD], span) for span, about in spans if RECORD in about), None)
    spans = [one for one in spans if RECORD not in one[1]]
    whole = [one for one in spans if one[1].get("gen_ai.operation.name") == "invoke_agent"]
    passed: Counter[str] = Counter()
    if whole and len(whole) < len(spans):
        passed["calls of models within a turn"] += len(spans) - len(whole)
        spans = whole
    # Clocks go back now and then, so the spans that an export wrote are in the order of their numbers.
    key = "harvest.turn" if record is not None else ""
    spans.sort(key=lambda one: about if isinstance(about := one[1].get(key), int) else _nanoseconds(one[0]))
    calls = []
    for span, about in spans:
        given = [_plain_message(one) for one in _messages(about.get(_INPUT), span)]
        answered = [_plain_message(one) for one in _messages(about.get(_OUTPUT), span)]
        for answer in answered[-1:]:
            answer["model"] = about.get("gen_ai.response.model") or about.get("gen_ai.request.model")
            answer["usage"] = {key.rpartition(".")[2]: about[key] for key in about if key.startswith("gen_ai.usage.")}
            reasons = about.get("gen_ai.response.finish_reasons")
            answer["finish_reason"] = reasons[0] if isinstance(reasons, list) and reasons else None
        start = _nanoseconds(span)
        for question in given[-1:] if record is None else ():  # a span of ours may begin when the one before ends
            question["timestamp"] = start / 1e9 if start else None
        calls.append((given, answered))
    first = spans[0][1] if spans else {}
    metadata = dict(record or {})
    if record is None:
        name = first.get("gen_ai.agent.name") or first.get("gen_ai.request.model") or first.get("gen_ai.response.model")
        metadata |= {"system": name} if isinstance(name, str) and name else {}
    trace = group[0]["traceId"].value if group[0].has_key("traceId") else ""
    name = next((first[key] for key in _CONVERSATION_KEYS if first.get(key)), trace)
    yield Record({"messages": join_calls(calls), "metadata": metadata, "id": str(name)}, group[0], "", passed)


def _attributes(span: JsonValue) -> dict[str, Any]:
    found = {}
    for one in span["attributes"].elements() if span.has_key("attributes") else ():
        if one.has_key("key") and one.has_key("value"):
            found[one["key"].text()] = _attribute(one["value"].value)
    return found


def _attribute(value: Json) -> Any:
    """Return the value of an OTLP attribute. A whole number may be written as text."""
    if not isinstance(value, dict) or not value:
        return value
    ((kind, held), *_) = value.items()
    if kind == "arrayValue" and isinstance(held, dict) and isinstance(held.get("values"), list):
        return [_attribute(one) for one in held["values"]]
    if kind == "kvlistValue" and isinstance(held, dict) and isinstance(held.get("values"), list):
        return {
            str(one["key"]): _attribute(one["value"])
            for one in held["values"]
            if isinstance(one, dict) and {"key", "value"} <= one.keys()
        }
    if kind == "intValue" and isinstance(held, str) and held.lstrip("-").isdecimal() and len(held) < 20:
        return int(held)
    return held


def _record(text: Any, span: JsonValue) -> Mapping[str, Json]:
    """Return the metadata in the root span of a conversation that `harvest data export` wrote."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise span.error(f"the attribute {RECORD} is not a JSON object")
    return found


def _messages(value: Any, span: JsonValue) -> list[Mapping[str, Any]]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise span.error("the messages of this span are not valid JSON") from None
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise span.error("the messages of this span are not a list of objects")
    return value


def _plain_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a message of the conventions, which has `parts`, to one with `content`."""
    parts = message.get("parts")
    if not isinstance(parts, list):
        return dict(message)
    content: list[Json] = []
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "text":
            content.append({"type": "text", "text": part.get("content")})
        else:
            content.append(part)
    kinds = {one.get("type") if isinstance(one, dict) else "" for one in parts}
    role = "tool" if kinds == {"tool_call_response"} else message.get("role")
    return {"role": role, "content": content, "finish_reason": message.get("finish_reason")}


def _nanoseconds(span: JsonValue) -> int:
    held = span.value if isinstance(span.value, dict) else {}
    start = held.get("startTimeUnixNano", held.get("start_time_unix_nano"))
    text = str(start)
    return int(text) if text.isdecimal() and len(text) < 20 else 0


OTLP = Shape(
    "otlp",
    "OpenTelemetry's GenAI spans as OTLP in JSON: every gen_ai.conversation.id a conversation",
    _holds_otlp,
    _read_otlp,
    _group_otlp,
)
