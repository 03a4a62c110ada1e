"""Dialogues whose acts people annotated: DialogueKit (UserSimCRS, MovieBot) and IARD.

    [{"conversation ID": "1", "agent": {"id": "A"}, "conversation": [                                    DialogueKit
        {"participant": "USER", "utterance": "Hi", "dialogue_acts": [{"intent": "GREET", "slot_values": []}]}, …]}]
    {"474": {"accepted_recommendation": [13], "dialogue_info": {"S1": {"role": "seeker", …}, …}}}               IARD

The user's act is the act of a turn: several intents form a set, such as `AddDetails+GiveFeedback`. The system's act
becomes a judgment of the turn by the criterion `act`. Earlier versions of DialogueKit write `conversation ID`, or an
`intent` beside the utterance.

Source: W. Cai, L. Chen, "Predicting User Intents and Satisfaction with Dialogue-based Conversational
Recommendations", UMAP 2020 (IARD).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from recordings.files.json_text import Json
from recordings.formats.message_shapes import Record
from recordings.formats.message_sides import Judged
from recordings.formats.shapes.shape import Group, Shape, ShapeOptions, has_keys, id_text, json_values, topic_name
from topics.json_value import JsonValue

_TOP, _SUB = "top-level intent/action", "sub-intent/action"
_OTHER = "OTH"
_ROLES = {"USER": "user", "AGENT": "assistant"}
_IDS = ("conversation_id", "conversation ID")


def _holds_dialoguekit(value: Json) -> bool:
    turns = value.get("conversation") if isinstance(value, dict) else None
    return isinstance(turns, list) and bool(turns) and has_keys(turns[0], "participant", "utterance")


def _read_dialoguekit(group: Group, options: ShapeOptions) -> Iterator[Record]:
    (dialogue,) = group
    passed: Counter[str] = Counter()
    metadata: dict[str, Json] = {}
    names = {}
    for key in ("agent", "user"):
        if dialogue.has_key(key) and dialogue[key].value not in (None, {}):
            one = dialogue[key]
            names[key] = id_text(one["id"] if one.has_key("id") else one)  # version 0.1.1 writes the id alone
    if "agent" in names:
        metadata["system"] = names["agent"]
    roles = {**_ROLES, **{name: _ROLES[key.upper()] for key, name in names.items() if name not in _ROLES}}
    messages: list[Json] = []
    for turn in dialogue["conversation"].elements():
        participant = turn["participant"].text()
        role = roles.get(participant)
        if role is None:
            raise turn["participant"].error(f"{participant[:40]!r} is not a participant", allowed="USER, AGENT")
        intents = _intents_dialoguekit(turn, passed)
        judged = [Judged("act", _one_act(intents), "annotator")] if intents and role == "assistant" else []
        satisfaction = turn["satisfaction"].value if turn.has_key("satisfaction") else None
        if isinstance(satisfaction, int | float) and satisfaction != -1:
            judged.append(Judged("satisfaction", satisfaction, "annotator"))
        messages.append(
            {
                "role": role,
                "content": turn["utterance"].value,
                "timestamp": turn["timestamp"].value if turn.has_key("timestamp") else None,
                "acts": intents if role == "user" else [],
                "judged": judged,
            }
        )
    own = next((key for key in _IDS if dialogue.has_key(key)), "")
    line: dict[str, Json] = {"messages": messages, "metadata": {**metadata, **_harvest(dialogue)}}
    if own:
        line["id"] = id_text(dialogue[own])
    yield Record(line, dialogue, "", passed)


def _harvest(dialogue: JsonValue) -> dict[str, Json]:
    """Return the metadata that `harvest data export` wrote with the dialogue."""
    held = dialogue["metadata"].value if dialogue.has_key("metadata") else None
    found = held.get("harvest") if isinstance(held, dict) else None
    return dict(found) if isinstance(found, dict) else {}


def _intents_dialoguekit(turn: JsonValue, passed: Counter[str]) -> list[str]:
    found = []
    if turn.has_key("dialogue_acts") and turn["dialogue_acts"].value is not None:
        for act in turn["dialogue_acts"].elements():
            found.append(_intent_name(act["intent"]))
            slots = act["slot_values"].value if act.has_key("slot_values") else None
            if isinstance(slots, list | dict) and slots:
                passed["values of slots"] += len(slots)
    elif turn.has_key("intent") and turn["intent"].value is not None:
        found.append(_intent_name(turn["intent"]))
    return found


def _intent_name(intent: JsonValue) -> str:
    return intent["label"].text() if intent.has_key("label") else intent.text()


def _one_act(acts: Sequence[str]) -> str:
    return "+".join(sorted(set(acts)))


def _holds_iard(value: Json) -> bool:
    first: Any = next(iter(value.values()), None) if isinstance(value, dict) else None
    return has_keys(first, "dialogue_info")


def _group_iard(values: Iterable[JsonValue], options: ShapeOptions) -> Iterator[Group]:
    for value in values:
        for name in value.keys():  # noqa: SIM118  no mapping
            yield [value[name]]


def _read_iard(group: Group, options: ShapeOptions) -> Iterator[Record]:
    (dialogue,) = group
    name = str(dialogue.loc[-1])
    info, messages = dialogue["dialogue_info"], []
    for number in info.keys():  # noqa: SIM118  no mapping
        said = info[number]
        role = said["role"].text(("seeker", "recommender"))
        acts = _intents_iard(said, _TOP)
        judged = [Judged("sub-act", _one_act(_intents_iard(said, _SUB)), "IARD")] if said.has_key(_SUB) else []
        if role == "recommender":
            judged.append(Judged("act", _one_act(acts), "IARD"))
        user = {"role": "user", "acts": acts} if role == "seeker" else {"role": "assistant"}
        messages.append({**user, "content": said["utterance_text"].value, "judged": judged})
    accepted = dialogue["accepted_recommendation"].value if dialogue.has_key("accepted_recommendation") else None
    whole = [Judged("accepted", 1 if accepted else 0, "IARD")]
    line = {"messages": messages, "metadata": {"topic": topic_name(name)}, "id": name}
    yield Record(line, dialogue, "", Counter(), tuple(whole))


def _intents_iard(said: JsonValue, key: str) -> list[str]:
    """Return the intents of an utterance. OTH (greetings, thanks) is left out if there is another one."""
    found = [one.text() for one in said[key].elements()] if said.has_key(key) else []
    return [one for one in found if one != _OTHER] or found


DIALOGUEKIT = Shape(
    "dialoguekit",
    "dialogues of DialogueKit and UserSimCRS, with the acts of both sides",
    _holds_dialoguekit,
    _read_dialoguekit,
)
IARD = Shape(
    "iard",
    "IARD: people who recommend films to each other, with the acts of both sides, every dialogue a topic",
    _holds_iard,
    _read_iard,
    _group_iard,
    json_values,
)
