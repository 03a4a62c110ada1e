"""The figures that a run keeps in `scores.json`, computed again from its recording and compared to the last bit."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harvest.studies.scorecard import gather_material, score_material
from recordings.run_folder import Run, read
from scoring.notation import parse
from scoring.settings import SETTINGS
from scoring.table import ScoreTable
from topics.errors import InputError, Place
from topics.regular_file import read_inside

__all__ = ["kept_figures", "rescored"]

_PLACE = ("measure", "system", "topic", "topic_type", "trial", "turn", "entity", "position")


def kept_figures(run: Path) -> int | None:
    """How many figures the run keeps; None where it keeps none."""
    found = _kept(run)
    return None if found is None else len(found["rows"])


def rescored(run: Path) -> Iterator[str]:
    """A sentence for each figure that is not what the recording gives. Raises RunError for a run that cannot be read,
    InputError for a file of scores that is none."""
    kept = _kept(run)
    if kept is None:
        return
    recorded = read(run)
    if not recorded.conversations and any(row.get("n") for row in kept["rows"]):
        yield "it holds figures, and no conversation is recorded here"
        return
    again = _again(recorded, kept)
    rows = {_place(row): row for row in (one.as_json() for one in again.rows)}
    for row in kept["rows"]:
        now = rows.get(_place(row))
        if now is None:
            yield f"{_named(row)}: the recording gives no such figure"
            continue
        for key in ("value", "low", "high", "n", *sorted(row.keys() - {*_PLACE, "value", "low", "high", "n"})):
            if row.get(key) != now.get(key):
                yield f"{_named(row)}: {key} is {row.get(key)!r}, and the recording gives {now.get(key)!r}"


def _kept(run: Path) -> dict[str, Any] | None:
    place = Place(str(run / "scores.json"))
    advice = f"{shlex.join(['harvest', 'score', str(run), '--keep'])} writes it again"
    try:
        found = json.loads(read_inside(run, "scores.json"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as fault:
        raise InputError(f"cannot be read: {fault}", place=place, advice=advice) from None
    if not isinstance(found, dict) or not isinstance(found.get("rows"), list):
        raise InputError("this holds no scores", place=place, advice=advice)
    return found


def _again(run: Run, kept: Mapping[str, Any]) -> ScoreTable:
    """With the settings and the seed of then, and every measure that was asked for then."""
    material = gather_material([run])
    asked = {str(row.get("measure")): None for row in kept["rows"]}
    settings = kept.get("settings")
    changes = {name: settings[name] for name in SETTINGS if isinstance(settings, dict) and name in settings}
    seed = kept.get("seed")
    plain = score_material(material, changes=changes, seed=seed if isinstance(seed, int) else 0)
    usual = {row.measure for row in plain.rows}
    others = [parse(name) for name in asked if name not in usual]
    if not others:
        return plain
    return score_material(material, changes=changes, seed=seed if isinstance(seed, int) else 0, measures=others)


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in _PLACE)


def _named(row: Mapping[str, Any]) -> str:
    turn = f" S{row['turn']}" if row.get("turn") else ""
    where = [str(row.get("system") or "")]
    where += [str(row[key]) for key in ("topic_type", "topic") if row.get(key)]
    where += [f"trial {row['trial']}"] if row.get("trial") else []
    return f"{row.get('measure')}{turn}, {', '.join(where)}"
