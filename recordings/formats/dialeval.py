"""Helpdesk dialogues of the NTCIR tasks STC-3 and DialEval, with their annotations.

    [{id, turns: [{sender, utterances: [text, …]}], annotations: [{nugget: [type, …], quality: {A, E, S: level}}]}]

This is the organisers' form; a `*.jsonl` file has one dialogue in each line. A turn is a block: everything that one
side says before the other speaks. The customer is the user, and the helpdesk is the system. Each dialogue is a separate
topic, because each customer has a different problem and because intervals resample dialogues.

Annotators have no names, and differ between dialogues. The first annotators of all dialogues become the layer
`annotator 01`, the second annotators `annotator 02`, and so on. Their nugget types are judgments of turns by the
criteria of the schema `dialeval-nuggets`. Their quality levels from -2 to 2 become scores from 0 to 1 by the criteria
of `dialeval-quality`.

Source: Z. Zeng, S. Kato, T. Sakai, I. Kang, "Overview of the NTCIR-15 Dialogue Evaluation Task (DialEval-1)", 2020.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.formats.transcript_turns import IMPORT_RULE, state_name
from recordings.judged.judgments import Judgment, Layer, Target
from recordings.log.header import trial_identity
from topics.counting import pluralize
from topics.errors import InputError
from topics.json_file import read_json
from topics.json_value import JsonValue
from topics.topic import check_topic_id

NUGGET_CRITERIA = {"customer": "Customer nugget", "helpdesk": "Helpdesk nugget"}
NUGGET_TYPES = {"customer": ("CNUG0", "CNUG", "CNUG*", "CNaN"), "helpdesk": ("HNUG", "HNUG*", "HNaN")}
QUALITIES = {"A": "Accomplishment", "E": "Effectiveness", "S": "Satisfaction"}
_SPEAKERS = {"customer": "user", "helpdesk": "system"}
_LEVELS = (-2, -1, 0, 1, 2)  # of DialEval's three qualities


@dataclass(frozen=True, slots=True)
class Helpdesk:
    """Helpdesk dialogues read from files. `conversations` are in the order of the files, and the topic of a
    conversation is the dialogue's id. `layers` are of the kind `human`, one for each position in the lists of
    annotators. `warnings` are sentences on parts that were left out."""

    conversations: tuple[Conversation, ...]
    layers: tuple[Layer, ...]
    warnings: tuple[str, ...]


@dataclass
class _Exchange:
    user: str
    reply: SystemTurn | None = None


def read_helpdesk(files: Sequence[Path], *, system: str = "") -> Helpdesk:
    """Read the dialogues in the files. `system` names the helpdesk; "" uses the name of the file. Raises InputError,
    with file:line:column, for a repeated dialogue, for two blocks of one side in a row, and for wrong numbers, types or
    levels."""
    outcome = Outcome("completed", IMPORT_RULE, "the file does not say how the conversation ended")
    conversations: list[Conversation] = []
    said: dict[int, list[Judgment]] = {}
    seen: dict[tuple[str, str], str] = {}
    unknown: Counter[str] = Counter()
    for file in files:
        about = system or file.stem
        for dialogue in (one for value in read_json(file) for one in _dialogues(value)):
            name = _name(dialogue["id"])
            if (about, name) in seen:
                first = seen[about, name]
                raise dialogue["id"].error(f"dialogue {name!r} of {about} is repeated (first in {first})")
            seen[about, name] = str(file)
            senders, exchanges, numbers = _exchanges(dialogue["turns"])
            identity = trial_identity(None, name, {"name": about}, 1)
            turns = tuple(
                Turn(number, state_name([], number), said_by.user, said_by.reply)
                for number, said_by in enumerate(exchanges, 1)
            )
            key = TrialKey(about, name, 1)
            conversations.append(Conversation(key, identity, 1, turns, outcome, session=name, user="imported"))
            dialogue.refuse_misspelt_keys(("id", "turns", "annotations"))
            for place, one in enumerate(dialogue["annotations"].elements() if dialogue.has_key("annotations") else ()):
                mine = said.setdefault(place, [])
                one.refuse_misspelt_keys(("nugget", "quality"))
                if one.has_key("nugget"):
                    mine += _types(one["nugget"], identity, senders, numbers)
                if one.has_key("quality"):
                    mine += _qualities(one["quality"], identity, unknown)
    named = ", ".join(file.name for file in files)
    layers = (
        Layer("human", f"annotator {place + 1:02}", "", named, judgments=tuple(judgments))
        for place, judgments in sorted(said.items())
        if judgments
    )
    warnings = [
        f"{pluralize(count, 'judgment')} by the question {question!r}, which DialEval does not have, left out"
        for question, count in unknown.items()
    ]
    return Helpdesk(tuple(conversations), tuple(layers), tuple(warnings))


def _dialogues(value: JsonValue) -> Sequence[JsonValue]:
    found = value.elements() if isinstance(value.value, list) else [value]
    for one in found:
        if not (one.has_key("id") and one.has_key("turns")):
            raise one.error(
                "this is not a DialEval dialogue",
                allowed='{"id": …, "turns": [{"sender": …, "utterances": […]}], "annotations": […]}',
                advice="to read counts of annotators without texts, use: harvest metrics helpdesk eval"
                if one.has_key("dialogues")
                else None,
            )
    return found


def _name(at: JsonValue) -> str:
    name = str(at.value) if isinstance(at.value, int) and not isinstance(at.value, bool) else at.text()
    try:
        check_topic_id(name)
    except InputError as fault:
        raise at.error(fault.what, allowed=fault.allowed) from None
    return name


def _exchanges(turns: JsonValue) -> tuple[list[str], list[_Exchange], list[int]]:
    """Return the sender of each block, the exchanges, and for each block the number of its exchange. If the helpdesk
    speaks first, the customer's text in the first exchange is empty."""
    senders: list[str] = []
    exchanges: list[_Exchange] = []
    numbers: list[int] = []
    for turn in turns.elements():
        sender = turn["sender"].text(tuple(_SPEAKERS))
        if senders and senders[-1] == sender:
            raise turn.error(f"the {sender} has two turns in a row", advice="join them into one turn")
        text = _text(turn["utterances"])
        if sender == "customer":
            exchanges.append(_Exchange(text))
        else:
            exchanges = exchanges or [_Exchange("")]
            exchanges[-1].reply = SystemTurn(Answer.of(text))
        senders.append(sender)
        numbers.append(len(exchanges))
    if not senders:
        raise turns.error("the dialogue has no turns", advice="leave it out")
    return senders, exchanges, numbers


def _text(utterances: JsonValue) -> str:
    if isinstance(utterances.value, str):
        return utterances.text()
    said = [one.text() for one in utterances.elements()]
    if not said:
        raise utterances.error("the turn has no text", advice="leave it out, with its annotations")
    return "\n".join(said)


def _types(at: JsonValue, trial: str, senders: Sequence[str], numbers: Sequence[int]) -> list[Judgment]:
    given = at.elements()
    if len(given) != len(senders):
        raise at.error(
            f"the list has {pluralize(len(given), 'type')}, but the dialogue has {pluralize(len(senders), 'turn')}",
            allowed="one type for each turn, in order",
        )
    return [
        Judgment(
            Target(trial, 1, number, _SPEAKERS[sender]).about(), NUGGET_CRITERIA[sender], one.text(NUGGET_TYPES[sender])
        )
        for one, sender, number in zip(given, senders, numbers, strict=True)
    ]


def _qualities(at: JsonValue, trial: str, unknown: Counter[str]) -> list[Judgment]:
    found = []
    for question in at.keys():  # noqa: SIM118  no mapping
        level = at[question].value
        if question not in QUALITIES:
            unknown[question] += 1
            continue
        written = {str(one): one for one in _LEVELS}
        if isinstance(level, bool) or str(level) not in written:
            raise at[question].error(f"{level!r:.40} is not a level", allowed=", ".join(written))
        found.append(Judgment({"trial": trial, "attempt": 1}, QUALITIES[question], (written[str(level)] + 2) / 4))
    return found
