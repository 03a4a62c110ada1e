"""The system's actions between a question and its answer, as logs write them: tool calls, thoughts and attachments."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from protocols.answer import Attachment, Source, ToolCall
from recordings.files.json_text import Json

# Types of messages and of parts.
CALL_TYPES = ("tool_call", "tool_calls", "tool_use", "function_call")
THOUGHT_TYPES = ("reasoning", "thinking", "thoughts")
_FILE_TYPES = {
    "image_url": "image",
    "image": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "file": "file",
    "document": "file",
    "input_file": "file",
}
_THOUGHT_KEYS = ("reasoning_content", "reasoning", "thinking")
# Keys of a message under which logs keep steps.
STEP_KEYS = ("tool_calls", "function_call", *_THOUGHT_KEYS)
_NAME_KEYS = ("name", "function_name", "tool_name")
_INPUT_KEYS = ("arguments", "input", "args", "parameters")
_LONGEST_NAME = 200
_LARGEST_COUNT = 10**12


@dataclass(slots=True)
class Steps:
    """The system's actions besides speaking, in order. `sources` has the sources that the log itself names."""

    calls: list[ToolCall] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)

    def add_message(self, message: Mapping[str, Any], parts: Iterable[Mapping[str, Any]], passed: Counter[str]) -> None:
        """Add the steps of one message and of its parts that are not text. Other parts are counted in `passed`."""
        kind = message.get("type", message.get("role", message.get("from")))
        if kind in ("function_call", "tool_call"):  # the message is the call
            self._add_call(_parsed(message.get("value", message.get("content"))) or message)
        for thought in (message.get(key) for key in (*_THOUGHT_KEYS, *(["summary"] if kind == "reasoning" else []))):
            self._add_thought(thought)
        given = message.get("tool_calls")
        for call in (*(given if isinstance(given, list) else ()), message.get("function_call")):
            self._add_call(call)
        if are_sources(sources := message.get("sources")):
            self.sources += sources
        for part in parts:
            kind = part["type"]
            if kind in CALL_TYPES:
                self._add_call(part)
            elif kind in THOUGHT_TYPES:
                self._add_thought(next((part[key] for key in ("text", *THOUGHT_TYPES, "content") if key in part), ""))
            elif kind in _FILE_TYPES:
                self.attachments.append(Attachment(_file_name(part, kind), _FILE_TYPES[kind]))
            else:
                passed[f"parts {kind}"] += 1

    def extend(self, other: "Steps") -> None:
        self.calls += other.calls
        self.thoughts += other.thoughts
        self.attachments += other.attachments
        self.sources += other.sources

    def __len__(self) -> int:
        return len(self.calls) + len(self.thoughts) + len(self.attachments)

    def _add_call(self, call: Json) -> None:
        if not isinstance(call, dict):
            return
        inner = call.get("function")
        holder = inner if isinstance(inner, dict) else call
        name = next((holder[key] for key in _NAME_KEYS if isinstance(holder.get(key), str) and holder[key]), "")
        name = name or (inner if isinstance(inner, str) else "")
        given = next((holder[key] for key in _INPUT_KEYS if holder.get(key) is not None), "")
        if name or given:
            text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            self.calls.append(ToolCall(name[:_LONGEST_NAME], text))

    def _add_thought(self, thought: Json) -> None:
        for one in thought if isinstance(thought, list) else [thought]:
            if isinstance(one, dict):
                one = next((one[key] for key in ("text", "content", "summary") if isinstance(one.get(key), str)), "")
            if isinstance(one, str) and one:
                self.thoughts.append(one)


def are_sources(value: Json) -> TypeGuard[list[Source]]:
    return isinstance(value, list) and all(isinstance(one, Source) for one in value)


def count_tokens(usage: Json) -> dict[str, int]:
    """Return the numbers of tokens in a log's object of usage, by the names of a recording."""
    found: dict[str, int] = {}
    for key, value in usage.items() if isinstance(usage, dict) else ():
        name = _TOKEN_NAMES.get(key)
        if name and isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST_COUNT:
            found[name] = value
    return found


_TOKEN_NAMES = {
    "prompt_tokens": "prompt",
    "input_tokens": "prompt",
    "promptTokens": "prompt",
    "input": "prompt",
    "completion_tokens": "completion",
    "output_tokens": "completion",
    "completionTokens": "completion",
    "output": "completion",
    "total_tokens": "total",
    "totalTokens": "total",
    "total": "total",
    "reasoning_tokens": "reasoning",
}


def _file_name(part: Mapping[str, Any], kind: str) -> str:
    for key in (kind, "url", "image_url", "image", "file", "source", "filename", "file_name", "name"):
        value = part.get(key)
        if isinstance(value, dict):
            value = next((value[one] for one in ("filename", "url", "name") if isinstance(value.get(one), str)), "")
        if isinstance(value, str) and value and not value.startswith("data:"):
            return value[:_LONGEST_NAME]
    return _FILE_TYPES[kind]


def _parsed(text: Json) -> Json:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return None
