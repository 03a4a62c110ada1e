"""Tool calls as APIs send them, complete or in the pieces of a stream.

{"name", "arguments"}, {"name", "input"}, {"name", "args"}       a program; Anthropic; Gemini
{"type": "function", "function": {"name", "arguments"}}          chat completions
{"type": "custom", "custom": {"name", "input"}}                  free-form calls, whose input is any text
{"type": "web_search_call", "action": {…}}                       Responses: the type is the name
{"toolUse": {…}}, {"functionCall": {…}}, {"executableCode": {…}}  Bedrock; Gemini
{"type": "TOOL_CALL_START", "toolCallId", "toolCallName"}        AG-UI, whose TOOL_CALL_ARGS have the "delta"
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from harvest.drivers.received import excerpt, join_surrogates
from protocols.answer import ToolCall

# The note on an answer with a tool call without a readable name.
UNKNOWN_CALL = "a tool call has a shape that is not known: see the evidence"

# Keys for a call in a part without a type.
WRAPPERS = ("functionCall", "toolUse", "executableCode")
_CALL_KEYS = ("function", "custom", *WRAPPERS)
_CALL_TYPE_ENDINGS = ("_call", "tool_use")
# Types that only mark a call.
_PLAIN_TYPES = frozenset(
    {"", "function", "custom", "tool_use", "tool_call", "function_call", "input_json_delta"}
    | {"TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_CHUNK"}
)
_OTHER_TYPES = frozenset({"text", "output_text", "message", "thinking", "reasoning", "redacted_thinking", "refusal"})
_RESULT_TYPE_ENDINGS = ("text_delta", "thinking_delta", "signature_delta", "citations_delta", "_result", "_output")
_KEYS_WITHOUT_CALLS = frozenset({"index", "text", "content", "reasoningContent"})
_NAME_KEYS = ("name", "tool_name", "toolCallName")
_INPUT_KEYS = ("arguments", "input", "args", "parameters", "partial_json", "delta")
_OUTER_KEYS = frozenset({"type", "id", "call_id", "index", "status", "name"})
_LONGEST = 4096


def is_call(item: Mapping[str, object]) -> bool:
    """Return whether the type or a key of a part marks it as a tool call."""
    kind = item.get("type")
    typed = isinstance(kind, str) and bool(kind) and (kind in _PLAIN_TYPES or kind.endswith(_CALL_TYPE_ENDINGS))
    return typed or any(isinstance(item.get(key), Mapping) for key in WRAPPERS)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A call, or a piece of a call. `kind` replaces a missing name, and `input` is None if the piece has no input."""

    name: str
    kind: str
    input: str | None

    @classmethod
    def from_item(cls, item: Mapping[str, object]) -> "_Piece":
        kind = _string_or_empty(item.get("type"))
        held = next((key for key in (*_CALL_KEYS, kind) if isinstance(item.get(key), Mapping)), "")
        inner = item.get(held)
        holder: Mapping[str, object] = inner if isinstance(inner, Mapping) else item
        name = next(
            (found for one in (holder, item) for key in _NAME_KEYS if (found := _string_or_empty(one.get(key)))), ""
        )
        given = next((holder[key] for key in _INPUT_KEYS if holder.get(key) is not None), None)
        if kind in _PLAIN_TYPES or _is_other(kind):
            kind = held if held in WRAPPERS and given is None else ""
        if given is None and kind and not name:  # a special type with its own fields
            given = {
                key: value for key, value in holder.items() if key not in _OUTER_KEYS and value is not None
            } or None
        if given is not None and not isinstance(given, str):
            try:
                given = json.dumps(given, ensure_ascii=False)
            except (TypeError, ValueError, RecursionError):
                given = ""
        return cls(name, kind, given)


@dataclass(slots=True)
class _Call:
    identity: str = ""
    name: str = ""
    kind: str = ""
    inputs: list[str] = field(default_factory=list)

    def add_piece(self, piece: _Piece) -> None:
        self.kind = self.kind or piece.kind
        if piece.name.startswith(self.name):
            self.name = piece.name  # the same name, which some servers send with every piece
        else:
            self.name += piece.name
        if piece.input:
            if self.inputs == ["{}"]:
                self.inputs.clear()  # Anthropic's stand-in for the input that follows
            self.inputs.append(piece.input)

    @property
    def input(self) -> str:
        """The input: the joined pieces, or only the last piece if it repeats the earlier pieces. A repetition is
        assumed only if the last piece is a JSON object and the joined pieces are not."""
        whole = "".join(self.inputs)
        if len(self.inputs) < 2 or _is_object(whole) or not _is_object(self.inputs[-1]):
            return whole
        grows = all(later.startswith(earlier) for earlier, later in pairwise(self.inputs))
        return self.inputs[-1] if grows or self.inputs[-1] == "".join(self.inputs[:-1]) else whole


class StreamedCalls:
    """A collector of the calls in a stream, which assigns each piece to its call by an index and an id. Some servers
    give every call the index 0 or no index, and some give every piece its own id. So a piece with a new id starts a
    new call only if it also has a name."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[object, _Call] = {}
        self._unread = False

    def add_calls(self, value: object) -> None:
        """Add a call, a piece of a call, or a list of calls and pieces. A string is the name of a tool."""
        items = value if isinstance(value, list) else [value]
        for place, item in enumerate(items):
            if isinstance(item, str) and item.strip():
                self._calls.append(_Call(name=item))
            elif isinstance(item, Mapping) and item:
                self._add_item(item, (place, len(items)))
            elif item:
                self._unread = True

    def read_calls(self) -> tuple[list[ToolCall], bool]:
        """Return the calls, and whether any call could not be read."""
        named = [
            (excerpt(join_surrogates(one.name or one.kind), _LONGEST), join_surrogates(one.input))
            for one in self._calls
        ]
        found = [ToolCall(name, given) for name, given in named if name or given]
        return found, self._unread or any(not call.name for call in found)

    def _add_item(self, item: Mapping[str, object], counted: tuple[int, int]) -> None:
        piece, identity = _Piece.from_item(item), _string_or_empty(item.get("id", item.get("toolCallId")))
        if not (piece.name or piece.kind or piece.input):
            # The first piece of a streamed call can be only an id; a text among the calls is not a call.
            typed = _string_or_empty(item.get("type"))
            if not identity or _is_other(typed):
                nested = any(isinstance(value, (Mapping, list)) for value in item.values())
                self._unread = self._unread or (nested and not typed and _KEYS_WITHOUT_CALLS.isdisjoint(item))
                return
        index = item.get("index") if isinstance(item.get("index"), (int, str)) else None
        call = self._continued_call(piece, index, identity)
        if index is None and counted[1] > 1 and not (piece.name or piece.kind or identity):
            call = self._at.get(counted, call)  # calls that grow side by side, in their order
        if call is None:
            call = _Call(identity)
            self._calls.append(call)
        call.identity = call.identity or identity
        self._at[counted if index is None else index] = call
        call.add_piece(piece)

    def _continued_call(self, piece: _Piece, index: object, identity: str) -> _Call | None:
        if index is None:
            same = (one for one in reversed(self._calls) if identity and one.identity == identity)
            call = next(same, self._calls[-1] if self._calls else None)
        else:
            call = self._at.get(index)
        if call is None:
            return None
        alike = bool(identity) and identity == call.identity
        if not (piece.name or piece.kind):
            return call
        if identity and call.identity and not alike:
            return None
        counted = alike or index is not None
        if (piece.name, piece.kind) != (call.name, call.kind):
            # A name may come in pieces, before anything else of its call.
            return call if counted and not call.inputs else None
        if alike or not _is_object(piece.input or ""):
            return call if counted or piece.input else None
        # A call that has all its arguments is over, unless they are said again.
        begun = "".join(call.inputs)
        return None if _is_object(begun) and not (counted and piece.input == begun) else call


def _is_other(kind: str) -> bool:
    return kind in _OTHER_TYPES or kind.endswith(_RESULT_TYPE_ENDINGS)


def _is_object(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _string_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""
