"""The turns of the two sides in the messages of a log.

Logs of assistants with tools contain tool calls, their results, reasoning and pictures. A user does not see these as
the answer: tool calls, thoughts and attachments are kept as a part of the answer that follows or precedes them in the
same turn. Results of tools, and the user's actions besides speaking, are left out and counted by kind.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from protocols.answer import Answer
from recordings.conversations.conversation import SystemTurn
from recordings.files.json_text import Json
from recordings.files.times import parse_foreign_time
from recordings.formats.message_steps import CALL_TYPES, STEP_KEYS, THOUGHT_TYPES, Steps, are_sources, count_tokens
from topics.errors import InputError

_USER_ROLES = ("user", "human", "prompter")
_ASSISTANT_ROLES = ("assistant", "gpt", "chatgpt", "bing", "bard", "model", "bot", "chatbot", "ai")
_PROMPT_ROLES = ("system", "developer")
_SIDE_ROLES = (*_USER_ROLES, *_ASSISTANT_ROLES, *_PROMPT_ROLES)
# Roles, and types of messages and of parts, by which a program answers one side.
_RESULT_TYPES = (
    *("tool", "tools", "tool_result", "tool_results", "tool_response", "tool_call_response"),
    *("function", "function_call_output", "function_response", "ipython", "environment", "observation"),
)
_STEP_TYPES = (*CALL_TYPES, *THOUGHT_TYPES)
# Keys under which a message without text has other content.
_NON_TEXT_KEYS = (*STEP_KEYS, "audio")
_TIME_KEYS = ("timestamp", "created_at", "create_time")
# Characters with which a part begins if it continues the words of the one before.
_AFTER_WORDS = frozenset(".,;:!?)]}»”’%…。、，！？：；）」』】")
_KNOWN_KEYS = frozenset(
    (
        *("role", "from", "content", "value", "refusal", "type", "id", "name", "tool_call_id", "status"),
        *("acts", "judged", "model", "finish_reason", "usage", *_NON_TEXT_KEYS, *_TIME_KEYS),
    )
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgment in a file: of a turn of one speaker, or of the whole conversation if `turn` is 0. The other fields are
    as in `recordings.judged.judgments`."""

    criterion: str
    value: Json
    author: str
    kind: str = "human"
    turn: int = 0
    speaker: str = "system"
    note: str = ""


@dataclass(slots=True)
class SpokenTurn:
    """A user's text and what came after it. `answer` is None if the system said nothing. `acts` has the user's actions,
    and `steps` the system's actions besides speaking. The other fields are as in a `SystemTurn`."""

    said: str
    answer: str | None = None
    acts: list[str] = field(default_factory=list)
    steps: Steps = field(default_factory=Steps)
    refused: bool = False
    asked_at: str = ""
    model: str = ""
    finish: str = ""
    tokens: Counter[str] = field(default_factory=Counter)

    def reply(self) -> SystemTurn | None:
        """Return the reply with all that its messages say about it; None if there is no answer."""
        if self.answer is None:
            return None
        answer = Answer.of(self.answer, sources=self.steps.sources)
        if self.refused or len(self.steps):
            answer = replace(
                answer,
                thoughts="\n".join(self.steps.thoughts),
                calls=tuple(self.steps.calls),
                attachments=tuple(self.steps.attachments),
                refused=self.refused,
            )
        return SystemTurn(answer, self.asked_at, finish=self.finish, tokens=dict(self.tokens), model=self.model)


@dataclass(slots=True)
class Sides:
    """The turns in a list of messages, of which only the last may lack an answer.

    `prompts` are the system prompts. `last` is the side that spoke last (`user`, `assistant` or ""), even if its
    message was not text. `roles` counts the messages by role, and `passed` the parts that were left out by kind.
    `unread` has the unused keys of messages. `judged` are judgments of turns.
    """

    turns: list[SpokenTurn] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    last: str = ""
    roles: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    unread: dict[str, None] = field(default_factory=dict)
    judged: list[Judged] = field(default_factory=list)

    @property
    def words(self) -> list[tuple[str, str | None]]:
        """The user's text and the answer of each turn."""
        return [(turn.said, turn.answer) for turn in self.turns]

    def add_question(self, message: Mapping[str, Any], where: str) -> None:
        text, others = _read_content(message, where)
        for part in others:
            self.passed[f"parts {part['type']}"] += 1
        if text is None:
            if not others:
                self.passed["messages without text"] += 1
            if all(part["type"] in (*_RESULT_TYPES, *_STEP_TYPES) for part in others):
                return
            text = ""  # a picture, say: the user did speak
        self.last = "user"
        if self.turns and self.turns[-1].answer is None:
            self.turns[-1].said += f"\n{text}"
        else:
            self.turns.append(SpokenTurn(text))
        turn, acts = self.turns[-1], message.get("acts")
        turn.acts += [one for one in (acts if isinstance(acts, list) else ()) if isinstance(one, str) and one]
        written = [message[key] for key in _TIME_KEYS if message.get(key)]
        asked_at = next(filter(None, map(parse_foreign_time, written)), "")
        if written and not asked_at:
            self.passed[f"times that cannot be read or may be several, such as {str(written[0])[:40]!r}"] += 1
        turn.asked_at = turn.asked_at or asked_at
        self._add_judged(message, "user")

    def add_answer(self, message: Mapping[str, Any], where: str) -> None:
        text, others = _read_content(message, where)
        self.last = "assistant"
        if text is not None and not self.turns:
            self.turns.append(SpokenTurn(""))
        self.add_steps(message, others)
        if not self.turns:
            return
        if text is None and not others and not any(message.get(key) for key in STEP_KEYS):
            self.passed["messages without text"] += 1
        turn = self.turns[-1]
        if text is not None:
            turn.answer = text if turn.answer is None else f"{turn.answer}\n{text}"
            turn.refused |= bool(_text(message.get("refusal"))) or _has_refusal(message.get("content"))
        turn.model = _text(message.get("model")) or turn.model
        turn.finish = _text(message.get("finish_reason")) or turn.finish
        turn.tokens.update(count_tokens(message.get("usage")))
        self._add_judged(message, "system")

    def add_steps(self, message: Mapping[str, Any], parts: Sequence[Mapping[str, Any]] = ()) -> None:
        steps = Steps()
        steps.add_message(message, parts, self.passed)
        if self.turns:
            self.turns[-1].steps.extend(steps)
        elif len(steps):
            self.passed["steps before the first turn"] += len(steps)

    def _add_judged(self, message: Mapping[str, Any], speaker: str) -> None:
        given = message.get("judged")
        for one in given if isinstance(given, list) else ():
            if isinstance(one, Judged):
                self.judged.append(replace(one, turn=len(self.turns), speaker=speaker))


def split_sides(messages: Sequence[Json]) -> Sides:
    """Return the turns in a list of messages. Raises InputError for an unknown role or missing content."""
    found = Sides()
    for i, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            raise InputError(f"message {i} is not an object", allowed='{"role": "user", "content": "…"}')
        role = _role(message)
        if role in _RESULT_TYPES:
            found.passed["tool messages"] += 1
            found.roles["tool"] += 1
            continue
        if role in _STEP_TYPES:
            found.add_steps(message)
            found.roles["assistant"] += 1
            continue
        found.unread |= {
            f"messages[].{key}": None
            for key in message.keys() - _KNOWN_KEYS
            if message[key] is not None and not (key == "sources" and are_sources(message[key]))
        }
        if role in _PROMPT_ROLES:
            text, others = _read_content(message, f"message {i}")
            found.passed.update(f"parts {part['type']}" for part in others)
            found.prompts.append(text or "")
            found.roles["system"] += 1
        elif role in _USER_ROLES:
            found.add_question(message, f"message {i}")
            found.roles["user"] += 1
        elif role in _ASSISTANT_ROLES:
            found.add_answer(message, f"message {i}")
            found.roles["assistant"] += 1
        else:
            allowed = ", ".join((*_PROMPT_ROLES, *_USER_ROLES, *_ASSISTANT_ROLES, "tool"))
            raise InputError(
                f"message {i} has the unknown role {role!r}", allowed=allowed, advice="leave such messages out"
            )
    return found


def is_message(message: Json) -> bool:
    """Return True if a value has the form of a message, which names its speaker."""
    return isinstance(message, dict) and (bool({"role", "from"} & message.keys()) or _role(message) in _SIDE_ROLES)


def words_by_side(messages: Sequence[Json]) -> list[tuple[str, str]]:
    """Return the side (`user` or `assistant`) and the text of each message, for comparing lists of messages. Messages
    with other roles are left out."""
    found: list[tuple[str, str]] = []
    for message in messages:
        side = "user" if _role(message) in _USER_ROLES else "assistant" if _role(message) in _ASSISTANT_ROLES else ""
        if not side or not isinstance(message, dict):
            continue
        try:
            found.append((side, _read_content(message, "")[0] or ""))
        except InputError:  # of no notation that is read: the same only as itself
            found.append((side, repr(message.get("content"))))
    return found


def _role(message: Json) -> object:
    if not isinstance(message, dict):
        return None
    role = message.get("role", message.get("from", message.get("type")))
    return role.casefold() if isinstance(role, str) else role


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _has_refusal(content: Json) -> bool:
    return isinstance(content, list) and any(isinstance(one, dict) and one.get("type") == "refusal" for one in content)


def _read_content(message: Mapping[str, Any], where: str) -> tuple[str | None, list[Mapping[str, Any]]]:
    """Return the text of a message, None if it has none, and its parts that are not text. Each part has a type."""
    content = message.get("content", message.get("value"))
    if content in (None, "") and isinstance(message.get("refusal"), str):
        return str(message["refusal"]), []
    if content in (None, "") and any(message.get(key) for key in _NON_TEXT_KEYS):
        return None, []
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        raise InputError(f"{where} has no content", allowed="text, or a list of text parts")
    texts: list[str] = []
    others: list[Mapping[str, Any]] = []
    for part in content:
        match part:
            case str(text) | {"type": "text" | "input_text" | "output_text", "text": str(text)}:
                texts.append(text)
            case {"type": "refusal", "refusal": str(text)}:
                texts.append(text)
            case {"type": str(kind)} if kind:
                others.append(part)
            case _:
                raise InputError(f"{where} has a part without a type", allowed='{"type": "text", "text": …}')
    return (_join_texts(texts) if texts or not content else None), others


def _join_texts(texts: Sequence[str]) -> str:
    """Join the text parts of a message with line breaks. Parts that continue a sentence, as in answers with sources,
    begin or end with white space or punctuation and are joined without a break."""
    found = ""
    for text in texts:
        goes_on = not found or not text or found[-1].isspace() or text[0].isspace() or text[0] in _AFTER_WORDS
        found = f"{found}{text}" if goes_on else f"{found}\n{text}"
    return found
