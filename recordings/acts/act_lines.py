"""Files of acts, `harvest-acts/1`: a heading, and one dialogue on each line.

    {"format": "harvest-acts/1", "source": "…"}
    {"id": "474", "turns": [["ask", "x"], ["refine", "o"]], "ended": true, "person": "17", "system": "B1", "score": 0.5}

A turn is [act, what the answer was]; null where no answer came. `id`, `turns` and `ended` are needed; `person`,
`system`, `topic`, `draws` (text) and `score` (a number) may be left out.
"""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from recordings.acts.dialogue import ActTurn, Dialogue
from recordings.files.json_text import Json, line, read_lines
from topics.errors import InputError, Place

FORMAT = "harvest-acts/1"
_TEXTS = ("person", "system", "topic", "draws")
_KEYS = ("id", "turns", "ended", *_TEXTS, "score")


def read_act_lines(path: str | PathLike[str]) -> tuple[Dialogue, ...]:
    """The dialogues in the file. Raises InputError, naming the line, for anything that is not of this form."""
    rows, torn = read_lines(Path(path))
    if torn:
        raise InputError(torn, advice="write the complete file again")
    if not rows or rows[0][1].get("format") != FORMAT:
        raise InputError(
            "not a file of acts", place=Place.of(path, 1), allowed=f'a first line {{"format": "{FORMAT}"}}'
        )
    dialogues = []
    seen: dict[str, Place] = {}
    for place, row in rows[1:]:
        dialogue = _dialogue(row, place)
        if dialogue.id in seen:
            raise InputError(f"dialogue {dialogue.id!r} is already at line {seen[dialogue.id].line}", place=place)
        seen[dialogue.id] = place
        dialogues.append(dialogue)
    return tuple(dialogues)


def write_act_lines(path: str | PathLike[str], dialogues: Iterable[Dialogue], *, source: str = "") -> None:
    """Write the dialogues, with what they were made of in the heading. Raises FileExistsError where the file exists."""
    data = [line({"format": FORMAT, "source": source})]
    for dialogue in dialogues:
        row: dict[str, Json] = {
            "id": dialogue.id,
            "turns": [[turn.act, turn.answer] for turn in dialogue.turns],
            "ended": dialogue.ended,
        }
        named = {key: str(getattr(dialogue, key)) for key in _TEXTS}
        row.update({name: value for name, value in named.items() if value})
        if not math.isnan(dialogue.score):
            row["score"] = dialogue.score
        data.append(line(row))
    with Path(path).open("xb") as file:
        file.writelines(data)


def _dialogue(row: Mapping[str, Json], place: Place) -> Dialogue:
    unknown = next((key for key in row if key not in _KEYS), None)
    if unknown is not None:
        raise InputError(f"unknown key {unknown!r}", place=place, allowed=", ".join(_KEYS))
    name, turns, ended, score = row.get("id"), row.get("turns"), row.get("ended"), row.get("score")
    if not isinstance(name, str) or not name:
        raise InputError("no 'id'", place=place, allowed="text, not empty")
    if not isinstance(turns, list) or not turns:
        raise InputError(f"dialogue {name!r} has no turns", place=place, allowed='[["act", "answer"], …], at least one')
    if not isinstance(ended, bool):
        raise InputError(f"dialogue {name!r}: 'ended' is not a truth value", place=place, allowed="true, false")
    if isinstance(score, bool) or not isinstance(score, (int, float, type(None))):
        raise InputError(
            f"dialogue {name!r}: 'score' is not a number", place=place, allowed="a number, or leave it out"
        )
    texts = {key: row.get(key, "") for key in _TEXTS}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise InputError(f"dialogue {name!r}: {key!r} is not text", place=place, advice="put it in quotation marks")
    return Dialogue(
        id=name,
        turns=tuple(_turn(turn, f"dialogue {name!r}, turn {number}", place) for number, turn in enumerate(turns, 1)),
        ended=ended,
        score=math.nan if score is None else float(score),
        **{key: str(value) for key, value in texts.items()},
    )


def _turn(value: Json, where: str, place: Place) -> ActTurn:
    match value:
        case [str(act), str() | None as answer] if act and answer != "":
            return ActTurn(act, answer)
    raise InputError(f"{where} is not [act, answer]", place=place, allowed='["ask", "o"], or ["ask", null]')
