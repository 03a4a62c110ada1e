"""Dialogues of the Dialogue Breakdown Detection Challenges, with the annotations of each system turn.

    dialogue-id, turns: [{turn-index, speaker, utterance, annotations: [{breakdown}, …]}]    the organisers' *.log.json
    subset, dialogues: [{id, turns: [{i, s, u, c: [O, T, X], cr: [O, T, X]}]}]               compact, one system a file

Annotators call a system turn O (not a breakdown), T (possibly a breakdown) or X (a breakdown). If the most frequent of
the three counts as a breakdown, the label is `x`, else `o`. Ties go to O before T before X, as in the challenge. The
counts of annotators are kept as a layer of judgments.

A system turn before the first user turn answers nothing. If nobody annotated such a turn, it is left out and counted.
Compact files may lack texts and unannotated turns; the text of these turns is empty, and nothing else changes.

Source: R. Higashinaka et al., "Overview of Dialogue Breakdown Detection Challenge 3", DSTC6 2017.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

from protocols.answer import Answer
from protocols.labels import NOT_USEFUL, USEFUL
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.files.errors import StoreError
from recordings.files.json_text import Json, encode_line
from recordings.formats.transcript_turns import IMPORT_RULE, imported_route, state_name
from recordings.judged.judgments import Judgment, Layer, Target
from recordings.log.exports import write_export
from recordings.log.header import trial_identity
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.identity import content_hash
from topics.json_file import read_json_value
from topics.json_value import JsonValue
from topics.topic import check_topic_id

Counts = Literal["workshop", "revised"]
Breakdown = Literal["B", "PB+B"]
COUNTS: tuple[Counts, ...] = get_args(Counts)
BREAKDOWNS: tuple[Breakdown, ...] = get_args(Breakdown)

# The topic of dialogues that were about nothing in particular.
TOPIC = "dbdc"

# The criterion of judgments that count the annotators who chose O, T and X.
CRITERION = "annotators"

_ANNOTATED = ("O", "T", "X")
_KEYS = {"workshop": "c", "revised": "cr"}
_SYSTEM = "S"


@dataclass(frozen=True, slots=True)
class Dialogues:
    """Dialogues read from files of the challenges. `conversations` are in the order of the files. The trial of a
    conversation is its number among the dialogues of its system, and the session is the dialogue's id. `layers` has at
    most one layer, of the kind `human`. `warnings` are sentences on parts that were left out."""

    conversations: tuple[Conversation, ...]
    layers: tuple[Layer, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _AnnotatedTurn:
    """A turn of one side. `counts` has the numbers of O, T and X; it is None if nobody annotated the turn. `again`
    has those of the annotation that was not asked for."""

    text: str
    counts: tuple[int, ...] | None
    again: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ChallengeTurn:
    """A turn as in the file. `speaker` is S or U, and `number` the index in the file. `counts` has the numbers of O, T
    and X; it is None if nobody annotated the turn. `again` has those of the other annotation, if the file has both."""

    speaker: str
    number: int
    text: str
    counts: tuple[int, ...] | None
    again: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class SpokenDialogue:
    """All turns of a dialogue, including openings by the system. `system` is the subset or folder of the file.
    `has_texts` is False if the file has no texts, not even empty ones."""

    name: str
    system: str
    turns: tuple[ChallengeTurn, ...]
    has_texts: bool


@dataclass
class _Exchange:
    user: str
    system: _AnnotatedTurn | None = None


def read_dialogues(
    files: Sequence[Path], *, system: str = "", topic: str = "", counts: Counts = "workshop", breakdown: Breakdown = "B"
) -> Dialogues:
    """Read the dialogues in the files. Raises InputError with file:line:column.

    `system` names the system of all dialogues; "" uses the compact file's subset, or the folder of a log. `topic` is
    the topic of all dialogues; "" stands for `TOPIC`. `counts` selects the annotation of compact files from which
    labels are made. With `breakdown="PB+B"`, a possible breakdown (T) counts as a breakdown.
    """
    check_topic_id(topic or TOPIC)
    conversations: list[Conversation] = []
    judgments: list[Judgment] = []
    seen: dict[tuple[str, str], str] = {}
    numbers: Counter[str] = Counter()
    openings = 0
    for file in files:
        for name, at, own, turns in _dialogues(file, counts):
            about = system or own
            if (about, name) in seen:
                raise at.error(
                    f"dialogue {name!r} of {about} is repeated (first in {seen[about, name]})",
                    advice="give each file once",
                )
            seen[about, name] = str(file)
            numbers[about] += 1
            exchanges, left_out = _exchanges(turns, at)
            openings += left_out
            key = TrialKey(about, topic or TOPIC, numbers[about])
            identity = trial_identity(None, key.topic, {"name": about}, key.trial)
            conversations.append(_conversation(key, identity, name, exchanges, breakdown))
            for number, exchange in enumerate(exchanges, 1):
                if exchange.system is not None and exchange.system.counts is not None:
                    value = dict(zip(_ANNOTATED, exchange.system.counts, strict=True))
                    judgments.append(Judgment(Target(identity, 1, number).about(), CRITERION, dict(value)))
    named = ", ".join(file.name for file in files)
    layer = Layer("human", "DBDC annotators", counts, named, judgments=tuple(judgments))
    warnings = []
    if openings:
        warnings.append(
            f"{pluralize(openings, 'opening turn')} of systems, before the user said anything and not annotated, "
            "left out"
        )
    return Dialogues(tuple(conversations), (layer,) if judgments else (), tuple(warnings))


def spoken_dialogues(files: Sequence[Path], *, counts: Counts = "workshop") -> Iterator[SpokenDialogue]:
    """Read the dialogues in the files turn by turn. `counts` and the errors are as in `read_dialogues`."""
    for file in files:
        for name, _, system, turns in _dialogues(file, counts):
            numbers = [at["i" if at.has_key("i") else "turn-index"].index() for _, _, at in turns]
            spoken = [
                ChallengeTurn(speaker, number, said.text, said.counts, said.again)
                for (speaker, said, _), number in zip(turns, numbers, strict=True)
            ]
            has_texts = any(at.has_key("u") or at.has_key("utterance") for _, _, at in turns)
            yield SpokenDialogue(name, system, tuple(spoken), has_texts)


def _conversation(
    key: TrialKey, identity: str, name: str, exchanges: Sequence[_Exchange], breakdown: Breakdown
) -> Conversation:
    outcome = Outcome("completed", IMPORT_RULE, "the file does not say how the conversation ended")
    turns = []
    for number, exchange in enumerate(exchanges, 1):
        state = state_name([], number)
        target = f"stop:{outcome.kind}" if number == len(exchanges) else state_name([], number + 1)
        reply = exchange.system
        route = None
        if reply is not None and reply.counts is not None:
            most = _ANNOTATED[reply.counts.index(max(reply.counts))]  # the first of equals
            route = imported_route(
                number, state, NOT_USEFUL if most == "X" or (most == "T" and breakdown == "PB+B") else USEFUL, target
            )
        told = None if reply is None else SystemTurn(Answer.of(reply.text))
        turns.append(Turn(number, state, exchange.user, told, route))
    return Conversation(key, identity, 1, tuple(turns), outcome, session=name, user="imported")


def _exchanges(turns: Sequence[tuple[str, _AnnotatedTurn, JsonValue]], at: JsonValue) -> tuple[list[_Exchange], int]:
    found: list[_Exchange] = []
    left_out = 0
    for speaker, said, place in turns:
        if speaker != _SYSTEM:
            found.append(_Exchange(said.text))
        elif found and found[-1].system is None:
            found[-1].system = said
        elif found and said.text:
            raise place.error("the system has two turns in a row", advice="leave this dialogue out")
        elif found or said.counts is not None:  # the user's turn is not in the file, or there was none
            found.append(_Exchange("", said))
        else:
            left_out += 1
    if not found:
        raise at.error("the dialogue has no turns", advice="leave it out")
    return found, left_out


def _dialogues(
    file: Path, counts: Counts
) -> Iterator[tuple[str, JsonValue, str, list[tuple[str, _AnnotatedTurn, JsonValue]]]]:
    value = read_json_value(file)
    if value.has_key("dialogues"):
        system = value["subset"].text() if value.has_key("subset") else file.stem
        for dialogue in value["dialogues"].elements():
            yield (
                dialogue["id"].text(),
                dialogue,
                system,
                [_read_compact(one, counts) for one in dialogue["turns"].elements()],
            )
    elif value.has_key("dialogue-id"):
        turns = [_read_official(one) for one in value["turns"].elements()]
        yield value["dialogue-id"].text(), value, file.resolve().parent.name, turns
    else:
        raise value.error(
            "this is not a DBDC file",
            allowed='{"dialogue-id": …, "turns": […]} as in *.log.json, or {"subset": …, "dialogues": […]}',
        )


def _read_compact(turn: JsonValue, counts: Counts) -> tuple[str, _AnnotatedTurn, JsonValue]:
    speaker = turn["s"].text(("S", "U"))
    text = turn["u"].value if turn.has_key("u") else ""
    annotated = again = None
    if turn.has_key("c") or turn.has_key("cr"):
        annotated = _read_counts(turn[_KEYS[counts]])
        other = _KEYS["revised" if counts == "workshop" else "workshop"]
        # Nobody annotated the turn again if the value is null or all counts are 0.
        given = turn[other].value if turn.has_key(other) else None
        again = _read_counts(turn[other]) if given and given != [0] * len(_ANNOTATED) else None
    return speaker, _AnnotatedTurn(_check_words(turn, text), annotated, again), turn


def _read_counts(at: JsonValue) -> tuple[int, ...]:
    found = tuple(one.index() for one in at.elements())
    if len(found) != len(_ANNOTATED) or not sum(found):
        raise at.error("these are not the numbers of annotators who chose O, T and X", allowed="[O, T, X], not all 0")
    return found


def _read_official(turn: JsonValue) -> tuple[str, _AnnotatedTurn, JsonValue]:
    speaker = turn["speaker"].text(("S", "U"))
    given = turn["annotations"].elements() if turn.has_key("annotations") else []
    said = [one["breakdown"].text(_ANNOTATED) for one in given]
    annotated = tuple(said.count(label) for label in _ANNOTATED) if said else None
    return speaker, _AnnotatedTurn(_check_words(turn, turn["utterance"].value), annotated), turn


def _check_words(turn: JsonValue, text: object) -> str:
    if not isinstance(text, str):
        raise turn.error("the utterance is not text")
    return text


# Numbers of annotators who chose O, T and X.
AnnotatorCounts = Mapping[str, int]


def annotator_counts(layers: Iterable[Layer]) -> dict[Target, AnnotatorCounts]:
    """Return the newest counts of annotators for each system turn. The layers must be ordered from the oldest."""
    found: dict[Target, AnnotatorCounts] = {}
    for layer in layers:
        for judgment in layer.judgments:
            target = Target.from_judgment(judgment)
            if judgment.criterion == CRITERION and target is not None and isinstance(judgment.value, dict):
                found[target] = {key: value for key, value in judgment.value.items() if isinstance(value, int)}
    return found


def write_dialogues(
    conversations: Iterable[Conversation],
    folder: str | PathLike[str],
    counts: Mapping[Target, AnnotatorCounts] | None = None,
) -> int:
    """Write each conversation as FOLDER/SYSTEM/TOPIC-TRIAL.log.json, and return the number of files.

    The files have the official form of the challenges, which `read_dialogues` reads. The counts of annotators for O, T
    and X are written as that many annotations. Turns without counts have no annotations, as in files to which a
    detector is applied. Raises InputError if `folder` exists, and the errors of `write_export`.
    """
    top = Path(folder)
    if top.exists():
        raise InputError("this folder already exists", place=Place(str(top)), advice="give the name of a new folder")
    written = 0
    for one in conversations:
        key = one.key
        attempt = f"-{one.attempt}" if one.attempt > 1 else ""
        path = top / _file_name(key.system) / f"{_file_name(key.topic)}-{key.trial}{attempt}.log.json"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StoreError(path.parent, fault) from fault
        turns: list[Json] = []
        for turn in one.turns:
            turns.append(_turn(len(turns), "U", turn.said, {}))
            if turn.reply is not None:
                said = (counts or {}).get(Target(one.trial_id, one.attempt, turn.number), {})
                turns.append(_turn(len(turns), "S", turn.reply.answer.text, said))
        name = one.session or f"{key.topic}/{key.trial}"
        write_export(path, encode_line({"dialogue-id": name, "speaker-id": "", "group-id": key.system, "turns": turns}))
        written += 1
    return written


def _turn(number: int, speaker: str, text: str, counts: AnnotatorCounts) -> dict[str, Json]:
    annotations: list[Json] = [
        {"breakdown": label, "comment": "", "annotator-id": f"{label}{i + 1}"}
        for label, times in counts.items()
        for i in range(times)
    ]
    return {"turn-index": number, "speaker": speaker, "time": "", "utterance": text, "annotations": annotations}


def _file_name(name: str) -> str:
    """Return the name itself if every operating system accepts it as a file name. Otherwise replace invalid characters
    and add a hash, so that different names stay different."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", name).strip(".")
    return plain if plain == name and len(name) < 100 else f"{plain[:90]}-{content_hash('harvest-file', name, size=4)}"
