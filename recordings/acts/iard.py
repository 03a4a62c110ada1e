"""IARD: dialogues of two people about films, in which one recommends; the intents of both sides are annotated.

    {"474": {"accepted_recommendation": [13], "dialogue_info": {
        "S1": {"role": "seeker", "worker_id": 1, "top-level intent/action": ["AskForRec"], "sub-intent/action": …}, …}}}

Source: W. Cai, L. Chen, "Predicting User Intents and Satisfaction with Dialogue-based Conversational Recommendations",
UMAP 2020. The seeker takes the user's side. An utterance may have several intents; here it has one act. At the level
`top` this is the set of its top-level intents, such as `AddDetails+GiveFeedback`; OTH (greetings, thanks, other talk)
is left out of a set that has another intent. At the level `sub` it is the first sub-intent that is not OTH.

Answers are the recommender's top-level actions in the same way. The recommender's words before the seeker's first
utterance are left out, because the user of a system opens the conversation. Every dialogue counts as ended by the
seeker, because the file does not say who closed it. The seeker's `worker_id` is the person; without it the person is
unknown. The score is 1 if a recommendation was accepted, else 0.
"""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Literal

from recordings.acts.dialogue import ActTurn, Dialogue
from recordings.files.json_text import Json
from topics.errors import InputError, Place
from topics.json_file import read_json_value

Level = Literal["top", "sub"]
_TOP, _SUB = "top-level intent/action", "sub-intent/action"
_OTHER = "OTH"


def is_iard(value: Json) -> bool:
    """True if a JSON value has the form of the file."""
    first = next(iter(value.values()), None) if isinstance(value, dict) else None
    return isinstance(first, dict) and "dialogue_info" in first


def read_iard(path: str | PathLike[str], *, level: Level = "top") -> tuple[Dialogue, ...]:
    """Read the dialogues in the file at `path`. Raises InputError, naming dialogue and utterance."""
    place = Place.of(path)
    return dialogues_in_iard(read_json_value(path).value, place, level=level)


def dialogues_in_iard(value: Json, place: Place, *, level: Level = "top") -> tuple[Dialogue, ...]:
    """Return the dialogues in the file's JSON value. Raises InputError, naming dialogue and utterance."""
    if not isinstance(value, dict) or not is_iard(value):
        raise InputError("not the IARD file", place=place, allowed='{"474": {"dialogue_info": {…}}, …}')
    return tuple(_dialogue(str(name), row, place, level) for name, row in value.items())


def _dialogue(name: str, row: Json, place: Place, level: Level) -> Dialogue:
    if not isinstance(row, dict) or not isinstance(row.get("dialogue_info"), dict):
        raise InputError(f"dialogue {name} has no 'dialogue_info'", place=place)
    turns: list[ActTurn] = []
    person = ""
    waiting = False
    for number, said in row["dialogue_info"].items():
        where = f"dialogue {name}, utterance {number}"
        if not isinstance(said, dict) or said.get("role") not in ("seeker", "recommender"):
            raise InputError(f"{where} has no role", place=place, allowed="seeker, recommender")
        if said["role"] == "seeker":
            if waiting:
                raise InputError(f"{where}: the seeker speaks twice in a row", place=place)
            intents = _intents(said, _TOP if level == "top" else _SUB, where, place)
            words = said.get("utterance_text")
            act = "+".join(sorted(set(intents))) if level == "top" else intents[0]
            turns.append(ActTurn(act, said=words if isinstance(words, str) else ""))
            worker = said.get("worker_id")
            if isinstance(worker, bool) or not isinstance(worker, (int, str, type(None))):
                raise InputError(
                    f"{where}: 'worker_id' is neither a number nor text",
                    place=place,
                    allowed='17, "w17", or null where not known',
                )
            person, waiting = person if worker is None else str(worker) or person, True
        elif waiting:
            answer = "+".join(sorted(set(_intents(said, _TOP, where, place))))
            turns[-1], waiting = replace(turns[-1], answer=answer), False
        elif turns:
            raise InputError(f"{where}: the recommender speaks twice in a row", place=place)
    if not turns:
        raise InputError(f"dialogue {name}: the seeker has no utterance", place=place)
    accepted = bool(row.get("accepted_recommendation"))
    return Dialogue(id=name, turns=tuple(turns), ended=True, person=person, system="iard", score=float(accepted))


def _intents(said: dict[str, Json], key: str, where: str, place: Place) -> Sequence[str]:
    """Return at least one intent, in the order of the file; OTH only if there is no other."""
    found = said.get(key)
    if not isinstance(found, list) or not found or not all(isinstance(intent, str) and intent for intent in found):
        raise InputError(f"{where} has no {key!r}", place=place, allowed='["GiveFeedback", …]')
    return [intent for intent in found if intent != _OTHER] or [_OTHER]
