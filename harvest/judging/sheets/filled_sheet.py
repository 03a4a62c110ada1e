"""Filled-in annotation sheets. Each row with a value becomes a judgment, which is checked against the recording."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from harvest.judging.sheets.annotation_sheet import COLUMNS, OPEN_COLUMNS, Assessed, item_texts, set_id
from harvest.judging.sheets.pair_sheet import transcript
from harvest.judging.sheets.sheet_file import SheetRow, escape_text, read_rows, restore_cell, same_words
from recordings.files.json_text import Json
from recordings.judged.judgments import UNSURE, Judgment, Target
from scoring.swan.schema import Criterion, Schema
from topics.errors import InputError, Place

_NEEDED_COLUMNS = ("criterion", "value")
_NOT_APPLICABLE = ("n/a", "na", "-", "not applicable")  # data frames read the first two as missing
_SCORE = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?|0?,[0-9]+|[01],0{1,2}", re.ASCII)
_ALLOWED_VALUES = (
    "a number from 0 to 1 (1 is good), n/a (or 'not applicable') where the criterion does not apply, unsure where you"
    " cannot tell, or nothing to leave it out"
)
_CHANGED_TRIAL = re.compile(r"[0-9]+[.,][0-9]+[eE]\+[0-9]+")


@dataclass(frozen=True, slots=True)
class FilledSheet:
    """The content of a filled-in sheet. `judgments` are the rows with a value, in the order of the file. `empty`
    counts the rows without a value, and `notes` counts the rows that have a note but no value."""

    judgments: tuple[Judgment, ...]
    empty: int
    notes: int


def read_sheet(
    path: str | PathLike[str], assessed: Sequence[Assessed], schema: Schema, *, reasons: bool = False
) -> FilledSheet:
    """Read a filled-in sheet. With `reasons`, every value needs a note. Raises InputError as `judge_rows` does."""
    rows = read_rows(path, (*COLUMNS, *OPEN_COLUMNS), _NEEDED_COLUMNS)
    return judge_rows(rows, path, assessed, schema, reasons=reasons)


def judge_rows(
    rows: Iterable[SheetRow],
    path: str | PathLike[str],
    assessed: Sequence[Assessed],
    schema: Schema,
    *,
    reasons: bool = False,
) -> FilledSheet:
    """Return the judgments in the rows of a sheet. `path` is the file of the rows.

    Raises InputError, with file, line and column, for the first faulty row. A row is faulty if its value is
    invalid, its criterion is unknown or not for people to score, its conversation, item or text is not in the
    recording, or an earlier row scored the same item. Also raises InputError if no row has a value.
    """
    by_trial = {(one.conversation.trial_id, one.conversation.attempt): one for one in assessed}
    keys = [one.conversation.key for one in assessed]
    named_sets = {(escape_text(key.system), escape_text(key.topic)): key for key in keys}
    sets = {set_id(key.system, key.topic): key for key in keys}
    found: list[Judgment] = []
    seen: dict[tuple[object, ...], Place] = {}
    empty = notes = 0
    for row in rows:
        if not row.get("value"):
            empty += any(row.cells.values())
            notes += bool(row.get("note"))
            continue
        criterion = _row_criterion(row, schema)
        value = _row_value(row, criterion)
        if reasons and not row.get("note"):
            raise row.error("note", "a decision must have a reason", advice="give the reason in 'note'")
        about: Mapping[str, str | int]
        if criterion.level == "set":
            if row.get("system"):  # sheets of the first form named it
                key = named_sets.get((restore_cell(row.get("system")), restore_cell(row.get("topic"))))
            else:
                row.require_column("id")
                key = sets.get(restore_cell(row.get("id")))
            if key is None:
                raise row.error(
                    "topic",
                    f"this run has no finished conversation of this system on the topic {row.get('topic')[:60]!r}",
                    advice="do not change these columns",
                )
            about = {"system": key.system, "topic": key.topic}
        else:
            about = _row_target(row, criterion, by_trial).about()
        judged = (criterion.name, *sorted(about.items()))
        first = seen.setdefault(judged, row.place)
        if first is not row.place:
            raise row.error(
                "criterion", f"this row was already scored in line {first.line}", advice="keep one of the two rows"
            )
        found.append(Judgment(about, criterion.name, value, row.get("note")))
    if not found:
        raise InputError(
            "no row of this sheet has a value", place=Place.of(path), advice="fill in the column 'value', then import"
        )
    return FilledSheet(tuple(found), empty, notes)


def _row_criterion(row: SheetRow, schema: Schema) -> Criterion:
    try:
        criterion = schema[restore_cell(row.get("criterion"))]
    except InputError as fault:
        raise row.error(
            "criterion",
            fault.what,
            allowed=fault.allowed,
            advice="give the --schema with which the sheet was written" if row.get("criterion") else None,
        ) from None
    if not criterion.may_score("human"):
        raise row.error("criterion", f"people may not score {criterion.name} in the schema {schema.name!r}")
    return criterion


def _row_target(row: SheetRow, criterion: Criterion, by_trial: Mapping[tuple[str, int], Assessed]) -> Target:
    column = "trial" if "trial" in row.cells and "id" not in row.cells else "id"  # as sheets of the first form had it
    row.require_column(column)
    trial = restore_cell(row.get(column))
    one = by_trial.get((trial, row.number("attempt")))
    if one is None:
        changed = _CHANGED_TRIAL.fullmatch(trial)
        raise row.error(
            column,
            f"this run has no finished conversation of trial {trial[:60]!r}, attempt {row.get('attempt')}",
            advice="open the sheet again with this column as text: the spreadsheet read the trial as a number"
            if changed
            else "import the sheet into the run from which it was exported",
        )
    turn = 0 if criterion.level == "dialogue" else row.number("turn")
    whole = criterion.level != "nugget"
    start, end = (-1, -1) if whole else (row.number("start"), row.number("end"))
    items = one.assessment.items[criterion.name]
    item = next((item for item in items if (item.turn, item.start, item.end) == (turn, start, end)), None)
    if item is None or row.get("speaker") not in ("", item.speaker):
        missing = "no user turn" if criterion.speaker == "user" else "no reply"
        what = (
            f"turn {turn} has {missing} in this run"
            if whole
            else f"no nugget that {criterion.name} scores has this span"
        )
        raise row.error("turn" if whole else "start", what, advice="export the sheet again, and do not change its rows")
    if not item.turn:
        words = transcript(one.conversation)
    else:
        _, words = item_texts({turn.number: turn for turn in one.conversation.turns}, item)
        words = words if item.start < 0 else words[item.start : item.end]
    if row.get("text") and not same_words(row.get("text"), escape_text(words)):
        raise row.error("text", "this text differs from the recording", advice="fill in only 'value' and 'note'")
    return Target(one.conversation.trial_id, one.conversation.attempt, turn, item.speaker, start, end)


def _row_value(row: SheetRow, criterion: Criterion) -> Json:
    text = row.get("value")
    if text.lower() in _NOT_APPLICABLE:
        return None
    if text.lower() == UNSURE:
        return UNSURE
    if criterion.values:
        named = criterion.value_of(restore_cell(text))
        if named is None:
            raise row.error(
                "value",
                f"value: {text[:40]!r} is not a value of {criterion.name}",
                allowed=f"{', '.join(criterion.value_names)}, n/a, unsure, or nothing to leave it out",
            )
        return named
    value = float(text.replace(",", ".")) if _SCORE.fullmatch(text) else -1.0
    if not 0 <= value <= 1:
        raise row.error("value", f"value: {text[:40]!r} is not a score", allowed=_ALLOWED_VALUES)
    return value
