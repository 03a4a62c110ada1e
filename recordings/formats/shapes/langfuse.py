"""Traces and observations exported from Langfuse.

    {"session_id": "s", "timestamp": …, "input": [{"role": "user", "content": "Hi"}], "output": "Yes"}

Each session, or else each trace, is a conversation, in the order of times. Of the observations of a trace, only the
calls of models (`GENERATION`) count, because the steps around them repeat their input and output. Inputs and outputs
may be texts, messages, or JSON as text.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recordings.files.json_text import Json
from recordings.files.times import parse_foreign_time, unix_seconds
from recordings.formats.message_shapes import Record
from recordings.formats.shapes.call_histories import join_calls
from recordings.formats.shapes.shape import Group, Shape, ShapeOptions
from topics.errors import InputError
from topics.json_value import JsonValue

_SESSION_KEYS = ("session_id", "sessionId")
_NAME_KEYS = (*_SESSION_KEYS, "traceId", "trace_id", "id")
_TIME_KEYS = ("timestamp", "startTime", "start_time", "createdAt")
_HOLDERS = (
    *("messages", "choices", "message", "input", "output", "question", "query", "prompt", "text", "answer", "response"),
    *("result", "completion"),
)
_CALL = "GENERATION"


def _holds(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and {"input", "output"} <= value.keys()
        and not value.keys().isdisjoint((*_SESSION_KEYS, "traceId", "trace_id"))
    )


def _name(trace: Json) -> str:
    held = trace if isinstance(trace, dict) else {}
    return next((str(held[key]) for key in _NAME_KEYS if isinstance(held.get(key), str | int) and held[key]), "")


def _group(values: Iterable[JsonValue], options: ShapeOptions) -> Iterable[Group]:
    found: dict[str, list[JsonValue]] = {}
    for at, value in enumerate(values):
        found.setdefault(_name(value.value) or f"{at}", []).append(value)
    return found.values()


def _read(group: Group, options: ShapeOptions) -> Iterator[Record]:
    traces = [one.value for one in group if isinstance(one.value, dict)]
    if not traces:
        raise InputError("this is not a trace", allowed='{"session_id": …, "input": …, "output": …}')
    passed: Counter[str] = Counter()
    calls = [trace for trace in traces if trace.get("type") == _CALL]
    if calls and len(calls) < len(traces):
        passed["steps around the calls of models"] += len(traces) - len(calls)
        traces = calls
    stamped = [(_time(one), one) for one in traces]
    stamped.sort(key=lambda one: unix_seconds(one[0]) if one[0] else 0.0)
    said = []
    for stamp, trace in stamped:
        given, answered = _messages(trace.get("input"), "user"), _messages(trace.get("output"), "assistant")
        if not answered and not given:
            raise InputError("neither the input nor the output of this trace is text or messages")
        for question in given[-1:]:
            question.setdefault("timestamp", stamp)
        for answer in answered[-1:]:
            answer.setdefault("model", trace.get("model"))
            answer.setdefault("usage", trace.get("usage", trace.get("usageDetails")))
        said.append((given, answered))
    model = next((one["model"] for _, one in stamped if one.get("model")), None)
    metadata = {"system": model} if isinstance(model, str) and model else {}
    line = {"messages": join_calls(said), "metadata": metadata, "id": _name(traces[0])}
    yield Record(line, group[0], "", passed)


def _time(trace: Mapping[str, Any]) -> str:
    return next(filter(None, (parse_foreign_time(trace.get(key)) for key in _TIME_KEYS)), "")


def _messages(value: Json, role: str) -> list[dict[str, Any]]:
    """Return the input or output of a trace as messages. What is neither text nor messages gives none."""
    if isinstance(value, str):
        if value.lstrip().startswith(("{", "[")):
            try:
                inner = _messages(json.loads(value), role)
            except (ValueError, RecursionError):
                inner = []
            if inner:
                return inner
        return [{"role": role, "content": value}] if value else []
    if isinstance(value, dict):
        if "content" in value or "tool_calls" in value:
            return [{"role": role, **value}]
        return next((_messages(value[key], role) for key in _HOLDERS if key in value), [])
    return [found for one in value for found in _messages(one, role)] if isinstance(value, list) else []


LANGFUSE = Shape(
    "langfuse", "traces or observations from Langfuse: every session a conversation", _holds, _read, _group
)
