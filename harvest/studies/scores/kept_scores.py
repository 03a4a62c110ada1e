"""Read the scores stored in a run's `scores.json`, one row at a time, because the file may have many rows."""

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, Raw, Struct
from msgspec.json import decode

from recordings.acts.dialogue import Dialogue
from recordings.files.errors import RunError
from recordings.files.json_text import encode_line, parse_value
from topics.errors import InputError, Place
from topics.regular_file import read_inside


class KeptScores(Struct):
    """The scores stored with a run. `rows` are the undecoded rows of the file, `settings` and `seed` were used to
    compute the rows, and `notes` are the notes of the table. `asked` has the requested measures and row names,
    or None in files of earlier versions. `selection` describes the effect of lost attempts. `others` has the
    keys of the file that Harvest does not write."""

    rows: list[Raw]
    format: Any = None
    settings: Any = None
    seed: Any = None
    notes: Any = None
    asked: Any = None
    selection: Any = None
    others: tuple[str, ...] = ()

    def read_rows(self, run: Path) -> Iterator[dict[str, Any]]:
        """Yield each row as a dictionary. Raises InputError for an invalid row."""
        for number, row in enumerate(self.rows, 1):
            try:
                value = decode(row)
            except MsgspecError:
                value = parse_value(bytes(row), _scores_place(run))
            if not isinstance(value, dict):
                raise _no_score(number, run)
            if bytes(row).count(b'":') > len(value):
                _refuse_twice(bytes(row), number, run)
            yield value


_KEYS = KeptScores.__struct_fields__[:-1]


def _refuse_twice(row: bytes, number: int, run: Path) -> None:
    def refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise InputError(
                f"row {number} has the key {twice!r} twice", place=_scores_place(run), advice=_rewrite_advice(run)
            )
        return dict(pairs)

    json.loads(row, object_pairs_hook=refuse_repeated_keys)


def kept_scores(run: Path) -> KeptScores | None:
    """Return the scores stored with a run, or None if there are none. Raises InputError for an invalid file."""
    place = _scores_place(run)
    try:
        data = read_inside(run, "scores.json")  # symbolic links are not followed
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise InputError(
            f"the file cannot be read: {fault.strerror}", place=place, advice=_rewrite_advice(run)
        ) from None
    try:
        found = decode(data, type=KeptScores)
        found.others = tuple(decode(data, type=dict[str, Raw]).keys() - set(_KEYS))
        return found
    except (MsgspecError, ValueError):  # no such file, or a half of a surrogate pair in a name
        try:
            value = parse_value(data, place)
        except RunError as fault:
            raise InputError(fault.what, place=fault.place, advice=_rewrite_advice(run)) from None
    rows = value.get("rows") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(rows, list):
        raise InputError("this file has no scores", place=place, advice=_rewrite_advice(run))
    found = KeptScores([Raw(encode_line(row)) for row in rows], others=tuple(value.keys() - set(_KEYS)))
    for key in _KEYS[1:]:
        setattr(found, key, value.get(key))
    return found


@dataclass(frozen=True, slots=True)
class _Score:
    """A row about a whole conversation. `dialogue` is the conversation's id among dialogues."""

    dialogue: str
    measure: str
    value: float

    @classmethod
    def from_row(cls, row: Mapping[str, Any], number: int, run: Path) -> "_Score | None":
        """Return the score in a row, or None if the row is undefined or not about a whole conversation."""
        match row:
            case {"trial": None} | {"topic": None} | {"value": None} | {"turn": int()} | {"entity": str()}:
                return None
            case {
                "system": str(system),
                "topic": str(topic),
                "trial": int(trial),
                "measure": str(measure),
                "value": int(score) | float(score),
            } if not isinstance(score, bool) and math.isfinite(score):
                return cls(f"{system}/{topic}/{trial}", measure, float(score))
        raise _no_score(number, run)


def with_kept_scores(dialogues: Sequence[Dialogue], run: Path, measure: str) -> list[Dialogue]:
    """Return the dialogues of a run with their stored scores of `measure`. The score is NaN if a dialogue has none.
    Raises InputError if the run has no stored scores of this measure."""
    if not run.is_dir():
        raise InputError(
            f"--measure {measure} reads the stored scores of a run, but this is a file",
            place=Place(str(run)),
            advice="name the folder of a run that `harvest score RUN --keep` has scored, or leave --measure out",
        )
    kept = kept_scores(run)
    if kept is None:
        raise InputError("there is no such file", place=_scores_place(run), advice=_rewrite_advice(run))
    scores, known = dict[str, float](), set[str]()
    for number, row in enumerate(kept.read_rows(run), 1):
        one = _Score.from_row(row, number, run)
        if one:
            known.add(one.measure)
            if one.measure == measure:
                scores[one.dialogue] = one.value
    if not scores:
        allowed = ", ".join(sorted(known)) or "none, because no score is of a conversation"
        raise InputError(
            f"the file has no scores of {measure!r} for conversations", place=_scores_place(run), allowed=allowed
        )
    return [replace(one, score=scores.get(one.id, float("nan"))) for one in dialogues]


def _no_score(number: int, run: Path) -> InputError:
    return InputError(
        f"row {number} is not a score",
        place=_scores_place(run),
        allowed='{"system": "B1", "topic": "M002", "trial": 1, "measure": "R", "value": 0.5, …}',
        advice=f"the file was changed; {_rewrite_advice(run)}",
    )


def _scores_place(run: Path) -> Place:
    return Place(str(run / "scores.json"))


def _rewrite_advice(run: Path) -> str:
    return f"{shlex.join(['harvest', 'score', str(run), '--keep'])} writes it again"
