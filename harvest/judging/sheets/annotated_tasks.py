"""Judgments that people made in Label Studio or Potato, as rows of sheets, one sheet for each annotator.

    [{"data": {"id": "TRIAL:2"}, "annotations": [{"completed_by": 1, "was_cancelled": false, "result": [
        {"from_name": "Correctness", "type": "choices", "value": {"choices": ["yes"]}}]}]}]                 Label Studio
    {"user_id": "anna", "instance_id_to_label_to_value": {
        "TRIAL:2": [[{"schema": "Correctness", "name": "yes"}, true]]}}                         Potato's user_state.json

A task is identified as in `harvest.judging.validation_rows`: TRIAL, TRIAL:TURN or TRIAL:TURN:START-END. The name of a
control or scheme is the name of a criterion. A label on a paragraph of a dialogue is about the turn of that paragraph.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

from harvest.judging.sheets.annotation_sheet import Assessed
from harvest.judging.sheets.sheet_file import SheetRow
from recordings.files.json_text import Json
from topics.json_file import read_json_value
from topics.json_value import JsonValue

_TASK_ID = re.compile(
    r"(?P<trial>.+?)(?:#(?P<attempt>\d{1,9}))?(?::(?P<turn>\d{1,9})(?::(?P<start>\d+)-(?P<end>\d+))?)?"
)
_POTATO = "instance_id_to_label_to_value"
# Keys of a value that hold what an annotator chose, with those that label a paragraph.
_CHOSEN = ("choices", "rating", "number", "text", "paragraphlabels", "labels")
_TRUE = (True, "true", "True", 1)
_ALLOWED = 'the JSON export of Label Studio ([{"data": …, "annotations": […]}]), or user_state.json of Potato'


def is_export(path: str | PathLike[str]) -> bool:
    """Return True if a file is an export of such a tool, by its ending. Sheets have others."""
    return Path(path).suffix.lower() == ".json"


def read_tasks(path: str | PathLike[str], assessed: Sequence[Assessed]) -> Mapping[str, Sequence[SheetRow]]:
    """Return the rows of each annotator, by name, and skip cancelled annotations. Raises InputError, with file, line
    and column, if the file is of neither tool, or if a task has no id of `assessed`."""
    attempts: dict[str, int] = {}
    for one in assessed:
        attempts[one.conversation.trial_id] = max(one.conversation.attempt, attempts.get(one.conversation.trial_id, 0))
    value = read_json_value(path)
    found: dict[str, list[SheetRow]] = {}
    if value.has_key(_POTATO):
        name = value["user_id"].text() if value.has_key("user_id") else Path(fspath(path)).parent.name
        found[name] = list(_potato_rows(value[_POTATO], attempts))
        return found
    for task in value.parts(_ALLOWED):
        if not (task.has_key("data") and task.has_key("annotations")):
            raise task.error("this is not an annotated task", allowed=_ALLOWED)
        for annotation in task["annotations"].elements():
            if annotation.has_key("was_cancelled") and annotation["was_cancelled"].value is True:
                continue
            rows = found.setdefault(_annotator(annotation), [])
            for result in annotation["result"].elements():
                rows += _label_studio_rows(task, result, attempts)
    return found


def _annotator(annotation: JsonValue) -> str:
    by = annotation["completed_by"]
    if isinstance(by.value, dict):
        return next((by[key].text() for key in ("email", "username") if by.has_key(key)), f"annotator {_id(by['id'])}")
    return by.text() if isinstance(by.value, str) else f"annotator {_id(by)}"


def _id(value: JsonValue) -> str:
    return str(value.index())


def _label_studio_rows(task: JsonValue, result: JsonValue, attempts: Mapping[str, int]) -> Iterator[SheetRow]:
    if not result.has_key("from_name"):  # a relation between two regions
        return
    value = result["value"]
    kind = next((key for key in _CHOSEN if value.has_key(key) and value[key].value not in (None, [])), "")
    if not kind:
        raise value.error("no choice, rating, number or label is given", allowed=", ".join(_CHOSEN))
    chosen = value[kind].value
    if isinstance(chosen, list) and len(chosen) != 1:
        raise value[kind].error(f"{len(chosen)} values are chosen, but a judgment has one")
    text = str(chosen[0] if isinstance(chosen, list) else chosen)
    cells = _target_cells(task["data"]["id"], attempts)
    if value.has_key("start") and str(value["start"].value).isdecimal() and task["data"].has_key("dialogue"):
        cells |= _turn_of_paragraph(task["data"]["dialogue"], int(str(value["start"].value)[:9]))
    yield _row({**cells, "criterion": result["from_name"].text(), "value": text}, result)


def _turn_of_paragraph(dialogue: JsonValue, at: int) -> dict[str, str]:
    """Return the turn and the speaker of a paragraph. The system's first words are a turn of their own."""
    messages = [one["role"].value for one in dialogue.elements()]
    if at >= len(messages):
        raise dialogue.error(f"the dialogue has no paragraph {at}", allowed=f"0 to {len(messages) - 1}")
    turn, before = 0, ""
    for role in messages[: at + 1]:
        if (role == "user" and before != "user") or not turn:
            turn += 1
        before = str(role)
    return {"turn": str(turn), "speaker": "user" if messages[at] == "user" else "system"}


def _potato_rows(items: JsonValue, attempts: Mapping[str, int]) -> Iterator[SheetRow]:
    for name in items.keys():  # noqa: SIM118  no mapping
        item = items[name]
        cells = _target_cells(item, attempts, name)
        if isinstance(item.value, dict):
            for scheme in item.keys():  # noqa: SIM118  no mapping
                for label in item[scheme].keys():  # noqa: SIM118  no mapping
                    yield _row({**cells, "criterion": scheme, "value": _chosen(label, item[scheme][label].value)}, item)
            continue
        for pair in item.elements():
            match pair.value:
                case [{"schema": str(scheme), "name": str(label)}, chosen]:
                    yield _row({**cells, "criterion": scheme, "value": _chosen(label, chosen)}, pair)
                case _:
                    raise pair.error("this is not a label", allowed='[{"schema": …, "name": …}, value]')


def _chosen(label: str, value: Json) -> str:
    """Return what was chosen: the label if it was ticked, or else what was typed or picked on a scale."""
    return label if value in _TRUE else str(value)


def _target_cells(at: JsonValue, attempts: Mapping[str, int], name: str = "") -> dict[str, str]:
    named = name or (str(at.value) if isinstance(at.value, int) else at.text())
    if named in attempts:
        return {"id": named, "attempt": str(attempts[named])}
    found = _TASK_ID.fullmatch(named)
    if found is None or found["trial"] not in attempts:
        raise at.error(
            f"this run has no finished conversation with the id of the task {named[:60]!r}",
            allowed="TRIAL, TRIAL:TURN or TRIAL:TURN:START-END, as `harvest data export` writes them",
            advice="import it into the run from which the tasks were made",
        )
    cells = {"id": found["trial"], "attempt": found["attempt"] or str(attempts[found["trial"]])}
    return cells | {key: found[key] for key in ("turn", "start", "end") if found[key]}


def _row(cells: dict[str, str], at: JsonValue) -> SheetRow:
    return SheetRow(cells, at.place, lambda _: at.place)
