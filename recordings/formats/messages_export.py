"""Export of conversations as messages, one in each line, which `recordings.formats.messages` can read back."""

from collections.abc import Iterable, Mapping
from os import PathLike

from recordings.conversations.answer_parts import choice_row, offer_row, reply_row
from recordings.conversations.conversation import Conversation, Turn
from recordings.files.json_text import Json, encode_line
from recordings.formats.transcript_heading import links_outside_text
from recordings.log.exports import write_export
from topics.sent_files import file_row


def write_messages(
    conversations: Iterable[Conversation],
    path: str | PathLike[str],
    *,
    most_turns: Mapping[tuple[str, str], int] | None = None,
) -> None:
    """Write the conversations to `path`, completely or not at all. `most_turns` is the protocol's maximum number of
    user turns by (system, topic). Raises the errors of `write_export`."""
    known = most_turns or {}
    data = b"".join(messages_line(one, known.get((one.key.system, one.key.topic), 0)) for one in conversations)
    write_export(path, data)


def messages_line(conversation: Conversation, most_turns: int = 0) -> bytes:
    """Return one conversation as a line, with the metadata that `recordings.formats.messages.read_messages` needs."""
    messages: list[Json] = []
    for turn in conversation.turns:
        messages.append({"role": "user", "content": turn.said})
        if turn.reply is None:
            continue
        calls = [
            {"id": call_id(turn, at), "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for at, call in enumerate(turn.reply.answer.calls, 1)
        ]
        if calls:  # before the answer, as in logs of agents; what the tools returned was not recorded
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "assistant", "content": turn.reply.answer.text})
    return encode_line({"messages": messages, "metadata": conversation_metadata(conversation, most_turns)})


def call_id(turn: Turn, place: int) -> str:
    """Return an id for the tool call at `place` (from 1) of a turn, because other programs need one."""
    return f"call_{turn.number}_{place}"


def conversation_metadata(conversation: Conversation, most_turns: int = 0) -> dict[str, Json]:
    """Return everything about a conversation that its messages do not contain, with the keys that
    `recordings.formats.message_metadata` reads. Formats that allow values of other programs carry it, so that an import
    gives the same record. `most_turns` is the protocol's maximum number of user turns, 0 if unknown."""
    outcome = conversation.outcome
    metadata: dict[str, Json] = {
        "system": conversation.key.system,
        "topic": conversation.key.topic,
        "trial": conversation.key.trial,
        "attempt": conversation.attempt,
        "id": conversation.trial_id,
        "labels": [turn.label for turn in conversation.turns if turn.reply is not None],
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
    if outcome is not None and outcome.choice is not None:
        metadata["end_choice"] = choice_row(outcome.choice)
    if conversation.member:
        metadata["member"] = conversation.member
    if most_turns:
        metadata["most_turns"] = most_turns
    for key, values in (
        ("users", [turn.user for turn in conversation.turns]),
        ("acts", [turn.act for turn in conversation.turns]),
        ("worded", [turn.worded for turn in conversation.turns]),
        ("choices", [choice_row(turn.choice) if turn.choice else None for turn in conversation.turns]),
        ("pressed", [offer_row(turn.pressed) if turn.pressed else None for turn in conversation.turns]),
        ("attached", [[file_row(one) for one in turn.attached] or None for turn in conversation.turns]),
        ("sessions", [turn.session for turn in conversation.turns]),
        ("links", links_outside_text(conversation.turns)),
        ("parts", [reply_row(turn.reply) or None if turn.reply else None for turn in conversation.turns]),
    ):
        if any(value is not None and value != "" for value in values):
            metadata[key] = list(values)
    return metadata
