"""The turns of the two sides in the messages of a log. Everything except text is left out.

Logs of assistants with tools contain tool calls, their results, reasoning and pictures. These parts are left out and
counted by kind, because a user does not see them as an answer.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recordings.files.json_text import Json
from topics.errors import InputError

_USER_ROLES = ("user", "human", "prompter")
_ASSISTANT_ROLES = ("assistant", "gpt", "chatgpt", "bing", "bard", "model", "bot", "chatbot", "ai")
_PROMPT_ROLES = ("system", "developer")
_SIDE_ROLES = (*_USER_ROLES, *_ASSISTANT_ROLES, *_PROMPT_ROLES)
# Roles, and types of messages and of parts, by which one side speaks to a program or to itself.
_TOOL_TYPES = (
    *("tool", "tools", "tool_call", "tool_calls", "tool_use", "tool_result", "tool_results", "tool_response"),
    *("function", "function_call", "function_call_output", "function_response"),
    *("ipython", "environment", "observation", "reasoning"),
)
# Keys under which a message without text has other content.
_NON_TEXT_KEYS = ("tool_calls", "function_call", "audio", "reasoning", "reasoning_content", "thinking")
# Characters with which a part begins if it continues the words of the one before.
_AFTER_WORDS = frozenset(".,;:!?)]}»”’%…。、，！？：；）」』】")
_KNOWN_KEYS = frozenset(
    ("role", "from", "content", "value", "refusal", "type", "id", "name", "tool_call_id", "status", *_NON_TEXT_KEYS)
)


@dataclass(slots=True)
class Sides:
    """The turns in a list of messages.

    `turns` are pairs of the user's text and the answer; only the last answer may be missing. `prompts` are the system
    prompts. `last` is the side that spoke last (`user`, `assistant` or ""), even if its message was not text. `passed`
    counts the parts that were left out, by kind. `unread` has the unused keys of messages.
    """

    turns: list[tuple[str, str | None]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    last: str = ""
    passed: Counter[str] = field(default_factory=Counter)
    unread: dict[str, None] = field(default_factory=dict)


def split_sides(messages: Sequence[Json]) -> Sides:
    """Return the turns in a list of messages. Raises InputError for an unknown role or missing content."""
    found = Sides()
    turns = found.turns
    for i, message in enumerate(messages, 1):
        role = _role(message)
        if role in _TOOL_TYPES or not isinstance(message, dict):
            if not isinstance(message, dict):
                raise InputError(f"message {i} is not an object", allowed='{"role": "user", "content": "…"}')
            found.passed["tool messages"] += role != "reasoning"
            found.passed["messages of reasoning"] += role == "reasoning"
            continue
        found.unread |= {f"messages[].{key}": None for key in message.keys() - _KNOWN_KEYS if message[key] is not None}
        if role not in _SIDE_ROLES:
            allowed = ", ".join((*_PROMPT_ROLES, *_USER_ROLES, *_ASSISTANT_ROLES, "tool"))
            raise InputError(
                f"message {i} has the unknown role {role!r}", allowed=allowed, advice="leave such messages out"
            )
        text = _read_content(message, f"message {i}", found.passed)
        if role in _PROMPT_ROLES:
            found.prompts.append(text or "")
        elif role in _USER_ROLES:
            if text is None:
                content = message.get("content")
                if not isinstance(content, list) or all(part["type"] in _TOOL_TYPES for part in content):
                    continue
                text = ""  # a picture, say: the user did speak
            found.last = "user"
            if turns and turns[-1][1] is None:
                turns[-1] = (f"{turns[-1][0]}\n{text}", None)
            else:
                turns.append((text, None))
        else:
            found.last = "assistant"
            if text is not None:
                question, answer = turns.pop() if turns else ("", None)
                turns.append((question, text if answer is None else f"{answer}\n{text}"))
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
            found.append((side, _read_content(message, "", Counter()) or ""))
        except InputError:  # of no notation that is read: the same only as itself
            found.append((side, repr(message.get("content"))))
    return found


def _role(message: Json) -> object:
    if not isinstance(message, dict):
        return None
    role = message.get("role", message.get("from", message.get("type")))
    return role.casefold() if isinstance(role, str) else role


def _read_content(message: Mapping[str, Any], where: str, passed: Counter[str]) -> str | None:
    content = message.get("content", message.get("value"))
    if content in (None, "") and isinstance(message.get("refusal"), str):
        return str(message["refusal"])
    if content in (None, "") and any(message.get(key) for key in _NON_TEXT_KEYS):
        passed["messages without text"] += 1
        return None
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InputError(f"{where} has no content", allowed="text, or a list of text parts")
    texts: list[str] = []
    for part in content:
        match part:
            case str(text) | {"type": "text" | "input_text" | "output_text", "text": str(text)}:
                texts.append(text)
            case {"type": "refusal", "refusal": str(text)}:
                texts.append(text)
            case {"type": str(kind)} if kind:
                passed[f"parts {kind}"] += 1
            case _:
                raise InputError(f"{where} has a part without a type", allowed='{"type": "text", "text": …}')
    return _join_texts(texts) if texts or not content else None


def _join_texts(texts: Sequence[str]) -> str:
    """Join the text parts of a message with line breaks. Parts that continue a sentence, as in answers with sources,
    begin or end with white space or punctuation and are joined without a break."""
    found = ""
    for text in texts:
        goes_on = not found or not text or found[-1].isspace() or text[0].isspace() or text[0] in _AFTER_WORDS
        found = f"{found}{text}" if goes_on else f"{found}\n{text}"
    return found
