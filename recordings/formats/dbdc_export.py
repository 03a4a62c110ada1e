"""Export dialogues in the official form of the Dialogue Breakdown Detection Challenges: a `*.log.json` file for each,
in a folder for each system. `recordings.formats.dbdc` reads them back. Counts of annotators for O, T and X become that
number of annotations; other turns have none, as in files that a detector is applied to."""

import re
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from recordings.conversations.conversation import Conversation
from recordings.files.errors import StoreError
from recordings.files.json_text import Json, line
from recordings.formats.dbdc import CRITERION
from recordings.judged.judgments import Layer, Target
from recordings.log.exports import write_export
from topics.errors import InputError, Place
from topics.identity import content_hash

# Numbers of annotators who chose O, T and X.
Counts = Mapping[str, int]


def annotator_counts(layers: Iterable[Layer]) -> dict[Target, Counts]:
    """Return the newest counts of annotators by system turn. The layers are ordered from the oldest."""
    found: dict[Target, Counts] = {}
    for layer in layers:
        for judgment in layer.judgments:
            target = Target.of(judgment)
            if judgment.criterion == CRITERION and target is not None and isinstance(judgment.value, dict):
                found[target] = {key: value for key, value in judgment.value.items() if isinstance(value, int)}
    return found


def write_dialogues(
    conversations: Iterable[Conversation],
    folder: str | PathLike[str],
    counts: Mapping[Target, Counts] | None = None,
) -> int:
    """Write each conversation as FOLDER/SYSTEM/TOPIC-TRIAL.log.json, and return how many there are. Raises InputError
    if `folder` exists, and as `write_export` does."""
    top = Path(folder)
    if top.exists():
        raise InputError("this exists already", place=Place(str(top)), advice="give the name of a new folder")
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
        write_export(path, line({"dialogue-id": name, "speaker-id": "", "group-id": key.system, "turns": turns}))
        written += 1
    return written


def _turn(number: int, speaker: str, text: str, counts: Counts) -> dict[str, Json]:
    annotations: list[Json] = [
        {"breakdown": label, "comment": "", "annotator-id": f"{label}{i + 1}"}
        for label, times in counts.items()
        for i in range(times)
    ]
    return {"turn-index": number, "speaker": speaker, "time": "", "utterance": text, "annotations": annotations}


def _file_name(name: str) -> str:
    """Return the name itself if it is a valid file name on every system; else with a hash that keeps names apart."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", name).strip(".")
    return plain if plain == name and len(name) < 100 else f"{plain[:90]}-{content_hash('harvest-file', name, size=4)}"
