"""Reading chat completions: a whole JSON body, or a stream of chunks, as OpenAI-compatible servers send them.

What counts as the reply is the text of the first choice; a refusal in a field of its own is the reply where there
is no other text. Tool calls, reasoning and further choices are kept as evidence only. `finish` is the server's word:
`length` (cut by the server's own limit) and `content_filter` are replies like any other, even without text.

Anything not shaped like a completion is refused. Read leniently, a proxy's odd error would become an empty answer, and
empty answers are scored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from harvest.drivers.received import Received, error_code, error_message, excerpt, sound_text
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch

__all__ = ["Completion"]

_COUNTS = {"prompt_tokens": "prompt", "completion_tokens": "completion", "total_tokens": "total"}
_DETAILS = {
    ("completion_tokens_details", "reasoning_tokens"): "reasoning",
    ("prompt_tokens_details", "cached_tokens"): "cached",
}
_FAILED = frozenset(
    {"error", "abort", "aborted", "cancelled", "failed", "timeout", "insufficient_system_resource", "network_error"}
)
"""Ends that gateways and servers report where generating failed, not the model's; the last two are DeepSeek's and
Zhipu's."""
_OTHER_ANSWERS = ("refusal", "tool_calls", "function_call")


class Completion:
    """A completion while it comes together. finish: why the system stopped; tokens: counts it reported; model: what it
    calls the model that answered, and its fingerprint."""

    def __init__(self) -> None:
        self._content: list[str] = []
        self._refusal: list[str] = []
        self._characters = 0
        self._chosen = self._said = self._done = self._ends_often = self._in_pieces = False
        self.finish = ""
        self._complaint = self._other = ""
        self.tokens: Mapping[str, int] = MappingProxyType({})
        self._model = self._fingerprint = ""

    @property
    def partial(self) -> str:
        return self._joined().encode("utf-8", "replace").decode("utf-8")

    @property
    def model(self) -> str:
        return f"{self._model} {self._fingerprint}".strip()

    @property
    def whole(self) -> bool:
        """The stream said so, by [DONE] or by the finish_reason of its last piece. Where every piece has one, none says
        that it is the last."""
        return self._done or (bool(self.finish) and not self._ends_often)

    def take(self, event: str, data: str, watch: Stopwatch) -> bool:
        """One event of a stream; True at [DONE]. Raises Unanswered (as `read`)."""
        if data.strip() == "[DONE]":
            self._done = True
            return True
        if not data.strip() and event != "error":
            return False
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            chunk, why = None, "nested too deeply" if isinstance(error, RecursionError) else error
            if event != "error":
                raise Unanswered("bad-json", f"a chunk is not JSON ({why}): {excerpt(data)!r}") from None
        if event == "error":
            said = excerpt(error_message(chunk) or data) or "without a word"
            raise Unanswered("system-error", f"the stream reports an error: {said}")
        before = self._characters
        self._read(chunk, "delta")
        if self._characters > before:
            watch.piece(self._characters)
        return False

    def read(self, received: Received) -> None:
        """A whole body. Raises Unanswered: `bad-json`, `bad-completion`, `system-error`, or bytes that are not text."""
        self._read(received.json(), "message")

    def text(self) -> str:
        """The reply's text. Raises Unanswered where there is no choice at all (`no-choices`), or only one without text,
        refusal, tool call and finish reason (`broken-stream` after [DONE], else `bad-completion`), and where an error
        was the last that came (`system-error`).
        """
        if self._complaint and not self.finish:
            raise Unanswered("system-error", self._complaint)
        if not self._chosen:
            raise Unanswered("no-choices", f"the system sent no choice of a reply{self._other}")
        if not (self._said or self.finish):
            detail = "neither text nor a finish_reason"
            if self._done:
                raise Unanswered("broken-stream", f"the stream ended with {detail}")
            raise Unanswered("bad-completion", f"a choice with {detail}")
        return sound_text(self._joined())

    def _joined(self) -> str:
        return "".join(self._content) or "".join(self._refusal)

    def _read(self, value: object, holder: str) -> None:
        if not isinstance(value, Mapping):
            raise Unanswered("bad-json", f"not a completion but {type(value).__name__}: {excerpt(repr(value))}")
        _check_error(value)
        if isinstance(value.get("usage"), Mapping):
            self.tokens = _tokens(value["usage"])
        self._model = _name(value.get("model")) or self._model
        self._fingerprint = _name(value.get("system_fingerprint")) or self._fingerprint
        choices = value.get("choices")
        if choices is None:
            self._other = _another_api(value) or self._other
            if not self.finish:  # else the reply is whole
                self._complaint = _bare_error(value) or self._complaint
            return
        if not isinstance(choices, list):
            raise _misshapen("choices", choices)
        for choice in choices:
            if not isinstance(choice, Mapping):
                raise _misshapen("a choice", choice)
            if choice.get("index") in (0, None):
                self._choose(choice, holder)
                break

    def _choose(self, choice: Mapping[str, object], holder: str) -> None:
        self._chosen = True
        before = self._characters
        piece = choice.get(holder)
        # Some servers send whole messages in a stream, some of them after its pieces.
        message = piece or choice.get("message")
        if isinstance(message, Mapping):
            content, refusal = _plain(message.get("content")), _plain(message.get("refusal"))
            if self._in_pieces and not piece and (content or refusal):
                if (content or refusal).strip() != self._joined().strip():
                    raise Unanswered("broken-stream", "the message at the end is not what came in pieces")
            else:
                self._add(self._content, content)
                self._add(self._refusal, refusal)
            self._in_pieces = self._in_pieces or (bool(piece) and self._characters > before)
            self._said = self._said or self._characters > 0 or any(message.get(key) for key in _OTHER_ANSWERS)
        elif message is not None or holder == "message" or choice.get("text"):  # a stream's chunks may have no delta
            raise _misshapen(f"a choice's {holder}", message)
        _check_error(choice)
        finish = choice.get("finish_reason")
        if finish is not None and not isinstance(finish, str):
            raise _misshapen("finish_reason", finish)
        if finish and finish.lower() in _FAILED:
            raise Unanswered("system-error", f"the system gave up: finish_reason {finish!r}")
        if self.finish and self._characters > before:
            if not finish:
                raise Unanswered("broken-stream", "text came after the finish_reason: the stream is out of order")
            self._ends_often = True
        if finish:
            self.finish = excerpt(finish, 60)

    def _add(self, parts: list[str], text: str) -> None:
        if text:
            parts.append(text)
            self._characters += len(text)
            self._complaint = ""  # it was none, for the reply went on


def _check_error(holder: Mapping[str, object]) -> None:
    """Raises Unanswered for an error object, which may stand in the body, in a chunk or in a choice."""
    if holder.get("error"):
        code = excerpt(error_code(holder), 60)
        detail = error_message(holder) or excerpt(repr(holder["error"]))
        raise Unanswered("system-error", f"{code}: {excerpt(detail)}" if code else excerpt(detail))


def _bare_error(value: Mapping[str, object]) -> str:
    """What may be an error that is not called one, as some servers send before [DONE], and may be a notice: it has no
    choices, and a message. "" for neither. Raises Unanswered where its name or its code says that it is an error."""
    said = excerpt(error_message(value))
    if value.get("errors") or value.get("error_code") or value.get("object") == "error":
        raise Unanswered("system-error", said or excerpt(repr(dict(value))))
    return said


_OTHER_APIS = {  # by a key at the top, what it holds
    "message": (Mapping, "Ollama's native API; its address for chat completions ends in /v1"),
    "response": (str, "Ollama's native API; its address for chat completions ends in /v1"),
    "content": (list, "Anthropic's Messages API"),
    "candidates": (list, "Gemini's native API; its address for chat completions ends in /openai"),
    "output": (list, "OpenAI's Responses API"),
}


def _another_api(value: Mapping[str, object]) -> str:
    """Whose reply this looks like, to follow what is wrong; "" where nobody's."""
    for key, (kind, name) in _OTHER_APIS.items():
        if isinstance(value.get(key), kind):
            return f": this looks like {name}. Give the address of chat completions, or take the driver http"
    return ""


def _misshapen(what: str, value: object) -> Unanswered:
    return Unanswered("bad-completion", f"{what} cannot be {type(value).__name__}: {excerpt(repr(value), 80)}")


def _plain(content: object) -> str:
    """The text of a content: a string, or a list of parts of which those with text count."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(_part(part) for part in content)
    raise _misshapen("content", content)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise _misshapen("a part of the content", part)
    if part.get("type", "text") not in ("text", "output_text"):
        return ""
    text = part.get("text")
    if text is not None and not isinstance(text, str):
        raise _misshapen("the text of a part", text)
    return text or ""


def _name(value: object) -> str:
    return excerpt(sound_text(value), 120) if isinstance(value, str) else ""


def _tokens(usage: Mapping[str, object]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for key, name in _COUNTS.items():
        _count(found, name, usage.get(key))
    for (holder, key), name in _DETAILS.items():
        details = usage.get(holder)
        if isinstance(details, Mapping):
            _count(found, name, details.get(key))
    return MappingProxyType(found)


def _count(found: dict[str, int], name: str, value: object) -> None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        found[name] = value
