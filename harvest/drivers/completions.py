"""Chat completions as OpenAI-compatible servers send them: a complete JSON body, or a stream of chunks.

The reply is the text of the first choice, or the refusal in its separate field if there is no text. Sources, thoughts,
tool calls and suggestions become parts of the answer but not of its text. Further choices are kept only as evidence. A
finish reason of `length` (cut by the server's limit) or `content_filter` makes an ordinary reply, even without text.

Anything that does not have the shape of a completion is refused. Otherwise a malformed error from a proxy would become
an empty answer, and empty answers are scored.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from harvest.drivers.parts import OTHER_ROLE, OTHER_ROLES, MisshapenError, Parts
from harvest.drivers.received import Received, error_code, error_message, excerpt, join_surrogates, why_not_json
from harvest.drivers.reply_path import ReplyPath
from harvest.drivers.sources import NO_SOURCES, OTHER_URLS, has_other_urls, may_contain_urls, urls_in
from harvest.drivers.stream_text import REPEATED
from harvest.drivers.token_counts import count_tokens
from harvest.systems.driver import Unanswered
from harvest.systems.timing import Stopwatch
from protocols.answer import Answer

# Finish reasons of gateways and servers for a failed generation, not the model's; the last two are DeepSeek's and
# Zhipu's.
_FAILED_FINISHES = frozenset(
    {"error", "abort", "aborted", "cancelled", "failed", "timeout", "insufficient_system_resource", "network_error"}
)
_OTHER_ANSWER_FIELDS = ("refusal", "tool_calls", "function_call")
# The fields of a model's thoughts: DeepSeek and vLLM, OpenRouter and Groq, Ollama, LiteLLM, OpenRouter again;
# Copilot, and gateways with other names.
_THOUGHT_FIELDS = (
    *("reasoning_content", "reasoning", "thinking", "thinking_blocks", "reasoning_details"),
    *("reasoning_text", "reasoning_summary", "thinking_content", "thought", "thoughts"),
)
# The fields of sources, in a message, in a piece of one or in the body; the last is Zhipu's.
_SOURCE_FIELDS = (
    *("annotations", "search_results", "citations", "sources", "references", "web_search"),
    "vertex_ai_grounding_metadata",  # LiteLLM's
)
# Objects of a message that hold such fields: Azure's and LiteLLM's.
_SOURCE_HOLDERS = ("context", "provider_specific_fields")
_READ_FIELDS = frozenset({"role", "name", "content", "refusal", *_THOUGHT_FIELDS, *_SOURCE_FIELDS})
# Words that may be addressed to a user; characters in scripts without blanks.
_LEAST_WORDS, _LEAST_CHARACTERS = 3, 12
_FIELDS_WITHOUT_SOURCES = frozenset({"content", "text", *NO_SOURCES, *_THOUGHT_FIELDS})

SEVERAL_CHOICES = "the system sent several choices; the first is the answer"

_OTHER_APIS = {  # by top-level key: the type of its value, and the API
    "message": (Mapping, "Ollama's native API; its address for chat completions ends in /v1"),
    "response": (str, "Ollama's native API; its address for chat completions ends in /v1"),
    "content": (list, "Anthropic's Messages API"),
    "candidates": (list, "Gemini's native API; its address for chat completions ends in /openai"),
    "output": (list, "OpenAI's Responses API"),
}


class Completion:
    """A completion, collected from a body or from the chunks of a stream. `links` are paths of further sources. With
    `thoughts_apart`, thoughts that are marked up at the beginning of the text are separated from it. `finish` is
    the reason why the system stopped, `tokens` has the counts that the system reported, and `model` is the model's
    name and fingerprint."""

    media_type = ""  # as the server declares it

    def __init__(self, links: Sequence[ReplyPath] = (), *, thoughts_apart: bool = True) -> None:
        self._links, self._thoughts_apart = links, thoughts_apart
        self._parts = Parts(streamed=True)
        self._characters = 0
        self._chosen = self._said = self._done = self._ends_often = self._in_pieces = False
        self._late: list[str] = []
        self._role, self._interrupted = "", False
        self._message = ""
        self._seen: dict[str, object] = {}
        self._addresses: dict[str, None] = {}
        self._unread: dict[str, list[str]] = {}
        self._envelope = _Envelope()
        self.finish = ""
        self._complaint = self._other = ""
        self.tokens: Mapping[str, int] = MappingProxyType({})
        self._model = self._fingerprint = ""

    @property
    def partial(self) -> str:
        return self._parts.received_text.encode("utf-8", "replace").decode("utf-8")

    @property
    def model(self) -> str:
        return f"{self._model} {self._fingerprint}".strip()

    @property
    def ends_with_body(self) -> bool:
        return False

    @property
    def is_complete(self) -> bool:
        """True after `[DONE]`, or after a chunk with a finish_reason unless every chunk has a finish_reason."""
        return self._done or (bool(self.finish) and not self._ends_often)

    def read_event(self, event: str, data: str, watch: Stopwatch) -> bool:
        """Read one event of a stream. Returns True at `[DONE]`. Raises the errors of `read`."""
        if data.strip() == "[DONE]":
            self._done = True
            return True
        if not data.strip() and event != "error":
            return False
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            chunk, why = None, why_not_json(error)
            if event != "error":
                raise Unanswered("bad-json", f"a chunk is not JSON ({why}): {excerpt(data)!r}") from None
        if event == "error":
            said = excerpt(error_message(chunk) or data) or "without a word"
            raise Unanswered("system-error", f"the stream reports an error: {said}")
        before = self._characters
        self._read(chunk, "delta", may_contain_urls(data))
        if self._characters > before:
            watch.piece(self._characters)
        return False

    def read(self, received: Received) -> None:
        """Read a complete body. Raises Unanswered if the bytes cannot be decoded, or with the reason `bad-json`,
        `bad-completion` or `system-error`."""
        self._parts.streamed = False
        self._read(received.json(), "message", may_contain_urls(received.body))

    def answer(self) -> tuple[Answer, tuple[str, ...]]:
        """Return the answer and notes on how it arrived.

        Raises Unanswered with one of these reasons:

            no-choices       the system sent no choice
            broken-stream    after [DONE], a choice has neither text, refusal, tool call nor finish reason; or the
                             pieces of a stream do not form one reply
            bad-completion   without [DONE], a choice has neither text, refusal, tool call nor finish reason
            system-error     the last message was an error
        """
        if self._complaint and not self.finish:
            raise Unanswered("system-error", self._complaint)
        if not self._chosen:
            raise Unanswered("no-choices", f"the system sent no choices{self._other}")
        if not (self._said or self.finish):
            detail = "neither text nor a finish_reason"
            if self._done:
                raise Unanswered("broken-stream", f"the stream ended with {detail}")
            raise Unanswered("bad-completion", f"a choice has {detail}")
        parts, late = self._parts, "".join(self._late).strip()
        parts.final_text = self._message or late
        answer, notes = parts.answer(thoughts_apart=self._thoughts_apart)
        said = parts.said_once
        if late and late != said:
            raise Unanswered("broken-stream", "text came after the finish_reason: the stream is out of order")
        if self._message.strip() not in ("", said, answer.text):
            raise Unanswered("broken-stream", "the final message differs from the pieces before it")
        if late:
            notes = tuple(dict.fromkeys((*notes, REPEATED)))
        notes += tuple(self._unread_fields(answer))
        return answer, (*notes, OTHER_URLS) if has_other_urls(self._addresses, answer) else notes

    def _unread_fields(self, answer: Answer) -> Iterator[str]:
        known = "\n".join((answer.text, answer.refusal, answer.thoughts))
        for field, pieces in self._unread.items():
            words = "".join(pieces).strip()
            unspaced = len(words) >= _LEAST_CHARACTERS and not words.isascii()
            if (unspaced or len(words.split()) >= _LEAST_WORDS) and words not in known:
                yield f"the message holds words in `{field}`, which are no part of the answer"

    def _read(self, value: object, holder: str, addressed: bool) -> None:
        """Read a body or a chunk. `addressed` is False if the value cannot contain a URL."""
        if not isinstance(value, Mapping):
            raise Unanswered("bad-json", f"this is {type(value).__name__}, not a completion: {excerpt(repr(value))}")
        _check_error(value)
        self._count_tokens(value)
        self._count_tokens(value.get("x_groq"))
        self._model = _short_name(value.get("model")) or self._model
        self._fingerprint = _short_name(value.get("system_fingerprint")) or self._fingerprint
        choices = value.get("choices")
        if choices is not None and not isinstance(choices, list):
            raise _shape_error("choices", choices)
        for choice in choices or ():
            if not isinstance(choice, Mapping):
                raise _shape_error("a choice", choice)
            if choice.get("index") in (0, None):
                self._read_choice(choice, holder, value.get("id"))
                break
        if choices and (len(choices) > 1 or choices[0].get("index") not in (0, None)):
            self._parts.note(SEVERAL_CHOICES)
        self._add_sources(value)
        for path in self._links:
            for found in path.find(value):
                self._parts.add_sources(found)
        self._parts.add_offers(value.get("related_questions") or [])
        if addressed:
            self._addresses |= dict.fromkeys(urls_in(value, _FIELDS_WITHOUT_SOURCES))
        if choices is None:
            for key, (kind, name) in _OTHER_APIS.items():
                if isinstance(value.get(key), kind):
                    advice = "Give the address of chat completions, or use the driver http"
                    self._other = f": this looks like {name}. {advice}"
                    break
            if not self.finish:  # otherwise the reply is complete
                # Some servers send an error that is not called one before [DONE]; a message alone may be a notice.
                said = excerpt(error_message(value))
                if value.get("errors") or value.get("error_code") or value.get("object") == "error":
                    raise Unanswered("system-error", said or excerpt(repr(dict(value))))
                self._complaint = said or self._complaint

    def _read_choice(self, choice: Mapping[str, object], holder: str, reply: object) -> None:
        self._chosen = True
        self._count_tokens(choice)  # Moonshot's
        before, pieces = self._characters, len(self._parts.pieces)
        piece = choice.get(holder)
        # Some servers send complete messages in a stream, sometimes after its pieces.
        message = piece or choice.get("message")
        if isinstance(message, Mapping) and self._has_other_role(message):
            message = None
        elif isinstance(message, Mapping):
            try:
                if not piece and self._in_pieces and _message_words(message):
                    self._message = _message_words(message)
                else:
                    self._add_message(message, reply)
                    self._in_pieces = self._in_pieces or (bool(piece) and self._characters > before)
            except MisshapenError as fault:
                raise Unanswered("bad-completion", str(fault)) from None
            self._said = self._said or self._characters > 0 or any(message.get(key) for key in _OTHER_ANSWER_FIELDS)
        elif message is not None or holder == "message" or choice.get("text"):  # a stream's chunks may have no delta
            raise _shape_error(f"a choice's {holder}", message)
        _check_error(choice)
        finish = choice.get("finish_reason")
        if finish is not None and not isinstance(finish, str):
            raise _shape_error("finish_reason", finish)
        if finish and finish.lower() in _FAILED_FINISHES:
            raise Unanswered("system-error", f"the system gave up: finish_reason {finish!r}")
        if self.finish and self._characters > before:
            if finish:
                self._ends_often = True
            else:
                self._late += self._parts.pieces[pieces:]  # correct only if it repeats the pieces
                del self._parts.pieces[pieces:]
        if finish:
            self.finish = excerpt(finish, 60)

    def _count_tokens(self, holder: object) -> None:
        if isinstance(holder, Mapping) and isinstance(usage := holder.get("usage"), Mapping):
            self.tokens = count_tokens(usage)

    def _has_other_role(self, message: Mapping[str, object]) -> bool:
        """Return whether a message or a piece belongs to another role than the assistant. A piece without a role has
        the role named last."""
        self._role = (_short_name(message.get("role")) or self._role).lower()
        if self._role not in OTHER_ROLES:
            return False
        self._interrupted = True
        if any(message.get(key) for key in ("content", "refusal", "audio")):
            self._parts.note(OTHER_ROLE)
        return True

    def _add_message(self, message: Mapping[str, object], reply: object) -> None:
        parts, first = self._parts, len(self._parts.pieces)
        if self._interrupted and message.get("content"):
            self._interrupted, self.finish = False, ""  # of the message before the tool's
            if parts.received_text and not parts.received_text[-1].isspace():
                parts.add_text("\n\n")
        parts.add_content(message.get("content"))
        parts.add_refusal(message.get("refusal"))
        parts.add_speech(message.get("audio"))
        came = parts.characters - self._characters
        if came:
            self._characters = parts.characters
            self._complaint = ""  # not a real end, since the reply went on
        if self._envelope.begins_again(reply, message.get("role"), words=came > 0):
            parts.restarts.add(first)
        for field in _THOUGHT_FIELDS:
            if message.get(field):
                parts.add_thoughts(message[field], field)
        for name, value in message.items():
            if isinstance(value, str) and value and name not in _READ_FIELDS:
                self._unread.setdefault(excerpt(name, 60), []).append(value)
        self._add_sources(message)
        for holder in _SOURCE_HOLDERS:
            if isinstance(inner := message.get(holder), Mapping):
                self._add_sources(inner)
        parts.add_attachments(message.get("images") or [])
        parts.add_calls(message.get("tool_calls") or [])
        ran = message.get("executed_tools")  # Groq's, with different numbers
        for place, call in enumerate(ran if isinstance(ran, list) else ()):
            if isinstance(call, Mapping):
                parts.add_calls({**call, "index": f"executed {call.get('index', place)}"})
        if isinstance(called := message.get("function_call"), Mapping):
            parts.add_calls({"index": "function_call", **called})

    def _add_sources(self, holder: Mapping[str, object]) -> None:
        for field in _SOURCE_FIELDS:
            found = holder.get(field)
            if found and self._seen.get(field) != found:  # some servers send all of them with every piece
                self._seen[field] = found
                self._parts.add_sources(found)


class _Envelope:
    def __init__(self) -> None:
        self._reply: object = None
        self._alike = self._bare = 0
        self._again = False

    def begins_again(self, reply: object, role: object, *, words: bool) -> bool:
        """Return whether this is the first piece with text since the reply's id changed or its role was repeated. A
        server that gives every piece its own id or role makes no such changes."""
        if reply and self._reply and reply != self._reply:
            self._again = self._again or self._alike > 1
            self._alike = 0
        if role and self._bare:
            self._again, self._bare = True, 0
        self._reply, self._alike = reply or self._reply, self._alike + 1
        if not words:
            return False
        self._bare += not role
        again, self._again = self._again, False
        return again


def _message_words(message: Mapping[str, object]) -> str:
    whole = Parts()
    whole.add_content(message.get("content"))
    whole.add_refusal(message.get("refusal"))
    whole.add_speech(message.get("audio"))
    return whole.received_text


def _check_error(holder: Mapping[str, object]) -> None:
    if holder.get("error"):
        code = excerpt(error_code(holder), 60)
        detail = error_message(holder) or excerpt(repr(holder["error"]))
        raise Unanswered("system-error", f"{code}: {excerpt(detail)}" if code else excerpt(detail))


def _shape_error(what: str, value: object) -> Unanswered:
    return Unanswered("bad-completion", f"{what} cannot be {type(value).__name__}: {excerpt(repr(value), 80)}")


def _short_name(value: object) -> str:
    return excerpt(join_surrogates(value), 120) if isinstance(value, str) else ""
