"""Export of conversations as dialogues of DialogueKit, with the acts of both sides.

`recordings.formats.shapes.annotated_acts` reads them back. The acts of the system are people's judgments by the
criterion `act`, and `satisfaction` is the criterion of this name, as an import has them.
"""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike

from recordings.conversations.conversation import Conversation
from recordings.files.json_text import Json, encode_document
from recordings.formats.messages_export import conversation_metadata
from recordings.judged.judgments import Layer, Target
from recordings.log.exports import write_export

# The criteria of judgments that have a place in a dialogue.
ACT, SATISFACTION = "act", "satisfaction"


def write_dialoguekit(
    conversations: Iterable[Conversation],
    path: str | PathLike[str],
    *,
    layers: Iterable[Layer] = (),
    most_turns: Mapping[tuple[str, str], int] | None = None,
) -> None:
    """Write the conversations to `path` as a list of dialogues, completely or not at all. `layers` has judgments of
    turns; of several of one turn, the last counts. `most_turns` is as in `write_messages`. Raises the errors of
    `write_export`."""
    judged: dict[tuple[Target, str], Json] = {}
    for layer in layers:
        for judgment in layer.judgments if layer.kind == "human" else ():
            target = Target.from_judgment(judgment)
            if target is not None and judgment.criterion in (ACT, SATISFACTION):
                judged[target, judgment.criterion] = judgment.value
    known = most_turns or {}
    dialogues = [_dialogue(one, judged, known.get((one.key.system, one.key.topic), 0)) for one in conversations]
    write_export(path, encode_document(dialogues))


def _dialogue(one: Conversation, judged: Mapping[tuple[Target, str], Json], most_turns: int) -> Json:
    said: list[Json] = []
    for turn in one.turns:
        asked: dict[str, Json] = {"participant": "USER", "utterance": turn.said, "dialogue_acts": _acts(turn.act)}
        if turn.reply is not None and turn.reply.asked_at:
            asked["timestamp"] = turn.reply.asked_at
        said.append(asked)
        if turn.reply is None:
            continue
        target = Target(one.trial_id, one.attempt, turn.number)
        act, satisfaction = judged.get((target, ACT)), judged.get((target, SATISFACTION))
        answered: dict[str, Json] = {
            "participant": "AGENT",
            "utterance": turn.reply.answer.text,
            "dialogue_acts": _acts(act if isinstance(act, str) else ""),
        }
        if isinstance(satisfaction, int | float):
            answered["satisfaction"] = satisfaction
        said.append(answered)
    return {
        "conversation_id": one.trial_id if one.attempt == 1 else f"{one.trial_id}/{one.attempt}",
        "agent": {"id": one.key.system, "type": "AGENT"},
        "user": {"id": one.member or one.user, "type": "USER"},
        "conversation": said,
        "metadata": {"harvest": conversation_metadata(one, most_turns)},
    }


def _acts(names: str) -> Sequence[Json]:
    """Return the intents in the name of an act, which has several as `AddDetails+GiveFeedback`."""
    return [{"intent": name, "slot_values": []} for name in names.split("+") if name]
