"""Export of conversations as trajectories in the Agent Trajectory Interchange Format, version 1.6, one on each line.

    {"schema_version": "ATIF-v1.6", "session_id": "x", "agent": {"name": "B1", "version": "unknown"}, "steps": [
        {"step_id": 1, "source": "user", "message": "Hi"}, {"step_id": 2, "source": "agent", "message": "Yes."}], …}

Steps are numbered from 1 without gaps. The system's reasoning and tool calls are a separate step before the answer.
Results of tools were not recorded, so there are no observations. `extra` has the values that the format cannot
represent, so `recordings.formats.shapes.atif` reads the same conversation back.
"""

import json
from collections.abc import Iterable, Mapping
from os import PathLike

from recordings.conversations.conversation import Conversation, SystemTurn, Turn
from recordings.files.json_text import Json, encode_line
from recordings.formats.messages_export import call_id, conversation_metadata
from recordings.log.exports import write_export

_VERSION = "ATIF-v1.6"


def write_trajectories(
    conversations: Iterable[Conversation],
    path: str | PathLike[str],
    *,
    most_turns: Mapping[tuple[str, str], int] | None = None,
) -> None:
    """Write the conversations to `path`, completely or not at all. `most_turns` is as in `write_messages`. Raises the
    errors of `write_export`."""
    known = most_turns or {}
    lines = [encode_line(_trajectory(one, known.get((one.key.system, one.key.topic), 0))) for one in conversations]
    write_export(path, b"".join(lines))


def _trajectory(one: Conversation, most_turns: int) -> Json:
    steps: list[dict[str, Json]] = []
    for turn in one.turns:
        asked: dict[str, Json] = {"source": "user", "message": turn.said}
        if turn.reply is not None and turn.reply.asked_at:
            asked["timestamp"] = turn.reply.asked_at
        steps.append(asked)
        if turn.reply is not None:
            steps += _answer(turn, turn.reply)
    agent: dict[str, Json] = {"name": one.key.system, "version": "unknown"}
    models = {turn.reply.model for turn in one.turns if turn.reply is not None}
    if len(models) == 1 and all(models):  # else each step names its own
        agent["model_name"] = models.pop()
    return {
        "schema_version": _VERSION,
        "session_id": one.trial_id if one.attempt == 1 else f"{one.trial_id}/{one.attempt}",
        "agent": agent,
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "extra": {"harvest": conversation_metadata(one, most_turns)},
    }


def _answer(turn: Turn, reply: SystemTurn) -> list[dict[str, Json]]:
    answer = reply.answer
    given: dict[str, Json] = {"source": "agent", "message": answer.text}
    if reply.model:
        given["model_name"] = reply.model
    metrics = {f"{kind}_tokens": reply.tokens[kind] for kind in ("prompt", "completion") if kind in reply.tokens}
    if metrics:
        given["metrics"] = metrics
    before: dict[str, Json] = {"source": "agent", "message": ""}
    if answer.thoughts:
        before["reasoning_content"] = answer.thoughts
    if answer.calls:
        before["tool_calls"] = [
            {"tool_call_id": call_id(turn, at), "function_name": call.name, "arguments": _arguments(call.arguments)}
            for at, call in enumerate(answer.calls, 1)
        ]
    return [before, given] if len(before) > 2 else [given]


def _arguments(text: str) -> Json:
    """Return the arguments of a call as an object, which the format requires. Others are its only value."""
    try:
        value = json.loads(text) if text else {}
        encode_line(value)  # it may contain NaN
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {"arguments": value}
