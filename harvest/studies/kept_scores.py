"""The scores that a run keeps in its scores.json, given to the dialogues they are of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recordings.acts.dialogue import Dialogue
from recordings.json_text import parse_value
from topics.errors import InputError, Place
from topics.regular_file import read_inside

__all__ = ["with_kept_scores"]

_KEEP = "harvest score RUN --keep writes one"


@dataclass(frozen=True, slots=True)
class _Score:
    """A row of scores.json that is of a whole conversation. dialogue: its id among dialogues."""

    dialogue: str
    measure: str
    value: float

    @classmethod
    def of(cls, row: object, where: str, path: Path) -> _Score | None:
        """None for a row of something else, and for a score that is undefined."""
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
        raise InputError(
            f"{where} is not a score",
            place=Place(str(path)),
            allowed='{"system": "B1", "topic": "M002", "trial": 1, "measure": "R", "value": 0.5, …}',
            advice=f"the file was changed; {_KEEP} again",
        )


def with_kept_scores(dialogues: Sequence[Dialogue], run: Path, measure: str) -> list[Dialogue]:
    """The dialogues of a run with the scores of `measure` that stand in its scores.json."""
    if not run.is_dir():
        raise InputError(
            f"--measure {measure} takes scores from a run, and this is a file: it has none",
            place=Place(str(run)),
            advice="name the folder of a run that `harvest score RUN --keep` has scored, or leave --measure out",
        )
    path = run / "scores.json"
    value = parse_value(_kept(run, path), Place(str(path)))
    rows = value.get("rows") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        raise InputError("not a file of scores", place=Place(str(path)), advice=_KEEP)
    whole = [_Score.of(row, f"row {number}", path) for number, row in enumerate(rows, 1)]
    scores = {one.dialogue: one.value for one in whole if one and one.measure == measure}
    if not scores:
        known = ", ".join(sorted({one.measure for one in whole if one})) or "none of conversations"
        raise InputError(f"no scores of {measure!r} for conversations", place=Place(str(path)), allowed=known)
    return [replace(one, score=scores.get(one.id, float("nan"))) for one in dialogues]


def _kept(run: Path, path: Path) -> bytes:
    """Of the run itself: a link is not followed, wherever it leads."""
    try:
        return read_inside(run, path.name)
    except FileNotFoundError:
        raise InputError("no such file", place=Place(str(path)), advice=_KEEP) from None
    except OSError as fault:
        raise InputError(f"cannot be read: {fault.strerror}", place=Place(str(path)), advice=_KEEP) from None
