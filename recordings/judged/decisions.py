"""Decisions that people make one at a time, each written to disk before it counts, in a run's `decisions/` folder.

    decisions/000001.jsonl, …   a file for each process that recorded decisions, append-only; each line makes or takes
                                back a decision; if a file cannot be written, the process continues in a new file
    decisions/000001.chain, …   hashes of the lines of that file (`recordings.log.chain`)
    decisions/lock              held while a process records decisions

Every line has an id made by its author's program; lines with the same id are one decision. A later decision on the same
thing replaces an earlier decision, whose line stays in the file. `recordings.judged.judgments.read_layers` returns
decisions as layers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from recordings.events.event_lines import check_format
from recordings.files.errors import RunError
from recordings.files.evidence import inner_folder
from recordings.files.json_text import Json, read_lines
from topics.errors import Place
from topics.regular_file import list_entries

FORMAT = "harvest-decisions/1"
FOLDER = "decisions"


@dataclass(frozen=True, slots=True)
class Decision:
    """One person's decision.

    `id` is made by the program of the person (`by`) and never used twice. `version` is the version of the guideline.
    `about` names one or more things that are judged together, each as in the `about` of a judgment. `value` is a JSON
    value. `note` is in the person's own words. `at` is the time in UTC, ISO 8601. `adjudicates` is True if the person
    chose between other people's decisions.
    """

    id: str
    by: str
    version: str
    about: tuple[Mapping[str, str | int], ...]
    criterion: str
    value: Json
    note: str = ""
    at: str = ""
    adjudicates: bool = False


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of a run. `standing` has the decisions that are in force, in the order in which they were made.
    `ids` has the id of every line, even if the line takes back a decision or was taken back."""

    standing: tuple[Decision, ...] = ()
    ids: frozenset[str] = frozenset()


def read_decisions(run: str | PathLike[str]) -> Decisions:
    """Read all decisions of a run, even while decisions are being made. An incomplete line of a killed process is
    ignored, because it was never acknowledged. Raises RunError, with file and line, for an invalid decision."""
    inner_folder(Path(run), FOLDER, FOLDER)
    made: dict[str, Decision] = {}
    ids: set[str] = set()
    for file in list_entries(run, FOLDER, "*.jsonl"):
        rows, _ = read_lines(file, file.parent)
        for number, (place, row) in enumerate(rows):
            if number == 0:
                check_format(row.get("format"), FORMAT, place)
                continue
            known = str(row.get("id") or "")
            if not known:
                raise RunError("a decision must have an 'id'", place=place)
            if known in ids:
                continue
            ids.add(known)
            if "undo" in row:
                made.pop(str(row["undo"]), None)
            else:
                made[known] = _decision(known, row, place)
    return Decisions(tuple(made.values()), frozenset(ids))


def _decision(known: str, row: Mapping[str, Any], place: Place) -> Decision:
    texts: dict[str, str] = {}
    for key in ("by", "version", "criterion", "note", "at"):
        text = row.get(key, "")
        if not isinstance(text, str) or (not text and key in ("by", "criterion")):
            raise RunError(f"{key!r} of a decision cannot be {str(text)[:40]!r}", place=place, allowed="text")
        texts[key] = text
    about = row.get("about")
    if not isinstance(about, list) or not about or not all(map(is_target, about)) or "value" not in row:
        raise RunError("a decision must have 'about' (a list of objects) and 'value'", place=place)
    adjudicates = row.get("adjudicates", False)
    if not isinstance(adjudicates, bool):
        raise RunError(
            f"'adjudicates' of a decision cannot be {str(adjudicates)[:40]!r}", place=place, allowed="true, false"
        )
    return Decision(known, about=tuple(about), value=row["value"], adjudicates=adjudicates, **texts)


def is_target(about: object) -> bool:
    """Return True for an object that names a single thing, with text or whole numbers as its values."""
    return isinstance(about, dict) and all(
        isinstance(item, (str, int)) and not isinstance(item, bool) for item in about.values()
    )
