"""Conversations as OpenAI-style messages: JSONL, one conversation a line.

    {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}],
     "metadata": {"system": "B1", "topic": "M002", "trial": 1, "labels": ["o"], "outcome": "completed"}}

Texts, links, labels and outcomes come back exactly, and with them every figure that needs no judgments by people or
models. Files by others may also have contents in parts of text, system prompts (kept as metadata of the import), a
greeting before the first user turn (read as a turn with empty user words), several messages of one side in a row
(joined by a line end), and a refusal in place of a content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from protocols.answer import Answer
from recordings.conversation import Conversation, SystemTurn, TrialKey, Turn
from recordings.exports import write_export
from recordings.header import trial_identity
from recordings.imported_names import check_system_name
from recordings.json_text import Json, line
from recordings.message_metadata import Metadata
from recordings.transcript_heading import own_links
from recordings.transcript_turns import imported_route, state_name, topic_names
from topics.errors import InputError, Place
from topics.json_file import json_lines
from topics.regular_file import read_bytes
from topics.text_file import decode
from topics.topic import TopicSet, check_topic_id

__all__ = ["Messages", "messages_line", "read_messages", "write_messages"]

_USER, _ASSISTANT, _PROMPT = ("user",), ("assistant",), ("system", "developer")


@dataclass(frozen=True, slots=True)
class Messages:
    """What a file holds. prompts: system prompts by (system, topic, trial). most_turns: user turns that the protocol
    could take at most, by (system, topic), where the file says so. warnings: sentences for the person who imports."""

    conversations: tuple[Conversation, ...]
    prompts: Mapping[TrialKey, tuple[str, ...]]
    most_turns: Mapping[tuple[str, str], int]
    warnings: tuple[str, ...] = ()


def read_messages(
    path: str | PathLike[str], *, system: str = "", topic: str = "", topics: TopicSet | None = None
) -> Messages:
    """The conversations in the file at `path`.

    system, topic: of lines whose metadata does not say. A line without a trial gets the next number of its system
    and topic. topics: names of topics that are allowed. Raises InputError with file:line.
    """
    text = decode(read_bytes(path), fspath(path), "JSON lines")
    conversations: list[Conversation] = []
    prompts: dict[TrialKey, tuple[str, ...]] = {}
    most_turns: dict[tuple[str, str], int] = {}
    ignored: dict[str, None] = {}
    counted: Counter[tuple[str, str]] = Counter()
    seen: dict[tuple[TrialKey, int], int] = {}
    for value in json_lines(text, fspath(path)):
        number = value.line
        reader = _Line(value.value, Place.of(path, number))
        conversation = reader.conversation(system, topic, topics, counted)
        name = (conversation.key, conversation.attempt)
        if name in seen:
            key = conversation.key
            what = f"{key.system}, {key.topic}, trial {key.trial} comes a second time (first in line {seen[name]})"
            raise reader.error(what, advice="give the conversations different trial numbers in their metadata")
        seen[name] = number
        conversations.append(conversation)
        if reader.prompts:
            prompts[conversation.key] = tuple(reader.prompts)
        if most := reader.metadata.most_turns:
            about = (conversation.key.system, conversation.key.topic)
            most_turns[about] = max(most, most_turns.get(about, 0))
        ignored |= dict.fromkeys(reader.metadata.ignored)
    if not conversations:
        raise InputError("no conversation in this file", place=Place.of(path, 1))
    said = f"{fspath(path)}: nothing reads these keys, so what they say is not recorded: {', '.join(ignored)}"
    return Messages(tuple(conversations), prompts, most_turns, (said,) if ignored else ())


class _Line:
    def __init__(self, value: Json, place: Place) -> None:
        self.place = place
        self.prompts: list[str] = []
        if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
            raise self.error("a line that has no 'messages'", allowed='{"messages": [{"role": …, "content": …}, …]}')
        self.messages: list[Any] = value["messages"]
        self.metadata = Metadata.of(value, place)

    def error(self, what: str, *, allowed: str | None = None, advice: str | None = None) -> InputError:
        return InputError(what, place=self.place, allowed=allowed, advice=advice)

    def conversation(
        self, system: str, topic: str, topics: TopicSet | None, counted: Counter[tuple[str, str]]
    ) -> Conversation:
        told = self.metadata
        system, topic = told.text("system") or system, told.text("topic") or topic
        if not system or not topic:
            lacking = "system" if not system else "topic"
            raise self.error(f"the {lacking} is not known", advice=f"give --{lacking}, or metadata.{lacking}")
        told.checked(check_system_name, system)
        known = None
        if topics is None:
            told.checked(check_topic_id, topic)
        else:
            known = next((one for one in topics.topics if one.id == topic), None)
            if known is None:
                raise self.error(
                    f"topic {topic!r} is not in the topic set {topics.name!r}", allowed=topic_names(topics)
                )
        counted[system, topic] += 1
        key = TrialKey(system, topic, told.count("trial", counted[system, topic]))
        said = self._sides()
        answers = sum(answer is not None for _, answer in said)
        labels, states = told.labels(len(said), answers), told.of_turns("states", len(said))
        users, acts = told.of_turns("users", len(said)), told.of_turns("acts", len(said))
        links = told.links(len(said), answers)
        outcome = told.outcome(len(said), answers, labels)
        turns = []
        for number, (question, answer) in enumerate(said, 1):
            state = state_name(states, number)
            label = labels[number - 1] if number <= len(labels) else ""
            last = f"stop:{outcome.kind if outcome else 'interrupted'}"
            target = last if number == len(said) else state_name(states, number + 1)
            found = links[number - 1] if number <= len(links) else None
            reply = None
            if answer is not None:
                reply = SystemTurn(Answer.of(answer) if found is None else Answer(answer, found))
            routed = reply is not None and label not in ("", "-")
            route = imported_route(number, state, label, target) if routed else None
            user, act = ("".join(one[number - 1 : number]) for one in (users, acts))
            turns.append(Turn(number, state, question, reply, route, user, act))
        identity = trial_identity(None, known or topic, {"name": system}, key.trial)
        return Conversation(
            key=key,
            trial_id=told.text("id") or identity,
            attempt=told.count("attempt", 1),
            turns=tuple(turns),
            outcome=outcome,
            session=told.text("session"),
            place=told.count("place", 1),
            user=told.text("user", "imported"),
            worker=told.text("worker"),
            started_at=told.time("started_at"),
            ended_at=told.time("ended_at"),
        )

    def _sides(self) -> list[tuple[str, str | None]]:
        """(said, answered) for every turn."""
        turns: list[tuple[str, str | None]] = []
        for i, message in enumerate(self.messages):
            role = message.get("role") if isinstance(message, dict) else None
            where = f"message {i + 1}"
            if role in _PROMPT:
                self.prompts.append(self._content(message, where))
            elif role in _USER:
                text = self._content(message, where)
                if turns and turns[-1][1] is None:
                    turns[-1] = (f"{turns[-1][0]}\n{text}", None)
                else:
                    turns.append((text, None))
            elif role in _ASSISTANT:
                text = self._content(message, where)
                question, answer = turns.pop() if turns else ("", None)
                turns.append((question, text if answer is None else f"{answer}\n{text}"))
            else:
                allowed = ", ".join(_PROMPT + _USER + _ASSISTANT)
                raise self.error(f"{where} has the role {role!r}", allowed=allowed, advice="leave such messages out")
        return turns

    def _content(self, message: Mapping[str, Any], where: str) -> str:
        content = message.get("content")
        if content is None and isinstance(message.get("refusal"), str):
            return str(message["refusal"])
        if isinstance(content, str):
            return content
        if isinstance(content, list):
            texts: list[str] = []
            for part in content:
                match part:
                    case str(text) | {"type": "text" | "input_text" | "output_text", "text": str(text)}:
                        texts.append(text)
                    case {"type": "refusal", "refusal": str(text)}:
                        texts.append(text)
                    case _:
                        raise self.error(f"{where} has a part that is not text", allowed='{"type": "text", "text": …}')
            return "".join(texts)
        raise self.error(f"{where} has no content", allowed="text, or a list of parts of text")


def write_messages(
    conversations: Iterable[Conversation],
    path: str | PathLike[str],
    *,
    most_turns: Mapping[tuple[str, str], int] | None = None,
) -> None:
    """Write the conversations to `path`, whole or not at all. most_turns: user turns that the protocol could take at
    most, by (system, topic). Raises as `write_export` does."""
    known = most_turns or {}
    data = b"".join(messages_line(one, known.get((one.key.system, one.key.topic), 0)) for one in conversations)
    write_export(path, data)


def messages_line(conversation: Conversation, most_turns: int = 0) -> bytes:
    """One conversation as a line. The metadata hold everything that `read_messages` needs to give it back."""
    messages = []
    for turn in conversation.turns:
        messages.append({"role": "user", "content": turn.said})
        if turn.reply is not None:
            messages.append({"role": "assistant", "content": turn.reply.answer.text})
    outcome = conversation.outcome
    metadata: dict[str, Json] = {
        "system": conversation.key.system,
        "topic": conversation.key.topic,
        "trial": conversation.key.trial,
        "attempt": conversation.attempt,
        "id": conversation.trial_id,
        "labels": [turn.label or "-" for turn in conversation.turns],
        "states": [turn.state for turn in conversation.turns],
        "outcome": outcome.kind if outcome else "interrupted",
        "reason": outcome.reason if outcome else "",
        "detail": outcome.detail if outcome else "",
        "session": conversation.session,
        "place": conversation.place,
        "user": conversation.user,
        "worker": conversation.worker,
        "started_at": conversation.started_at,
        "ended_at": conversation.ended_at,
    }
    if outcome is not None and outcome.missing is not None:
        metadata["missing"] = outcome.missing
    if most_turns:
        metadata["most_turns"] = most_turns
    for key, values in (
        ("users", [turn.user for turn in conversation.turns]),
        ("acts", [turn.act for turn in conversation.turns]),
        ("links", own_links(conversation.turns)),
    ):
        if any(value is not None and value != "" for value in values):
            metadata[key] = list(values)
    return line({"messages": messages, "metadata": metadata})
