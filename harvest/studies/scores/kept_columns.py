"""Outlines, values and figures of a large run, kept in `columns/` of its folder, so that they are computed once.

    outlines.npz    every attempt without its words
    values.npz      the default measures of each conversation and those asked for last, and a few first answers of each
                    system to each topic
    trees.npz       the tree by label of each system
    scores.npz      the figures over all trials, as one request had them

All files except the last serve every study whose settings differ only in intervals.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from harvest.studies.runs.outlined_run import KeptTable, OutlinedRun
from harvest.studies.scores.basis import Basis
from harvest.studies.scores.columns_file import read_columns, write_columns
from recordings.conversations.outline_rows import outline_arrays, outline_json, read_outlines
from recordings.conversations.outlines import Outlines
from recordings.files.json_text import Json
from recordings.log.header import read_header
from recordings.trees.arrays import read_tree, tree_arrays
from recordings.trees.tree import ConversationTree
from scoring.measured import Measured, measured_arrays, read_measured
from scoring.table import ScoreRow, ScoreTable
from topics.errors import HarvestError

# Smaller runs are read as quickly as their columns.
FEWEST = 2000  # conversations

_FLOATS = tuple(field.name for field in fields(ScoreRow) if "float" in str(field.type))
_OTHERS = tuple(field.name for field in fields(ScoreRow) if field.name not in _FLOATS)


def keep_columns(run: OutlinedRun, basis: Basis, table: ScoreTable | None = None) -> None:
    """Write the columns of a run that was read since `basis` was found out, and of a table of its figures. Nothing is
    written for a small run, for a run that changed meanwhile, and if the folder is not writable."""
    if len(run.outlines) < FEWEST:
        return
    with suppress(OSError):
        if run.measured is not None and run.answers is not None and not run.is_kept:
            outlines = {"damage": list(run.damage), "outlines": outline_json(run.outlines)}
            write_columns(run.path, "outlines.npz", basis.values, basis, outlines, outline_arrays(run.outlines))
            told, arrays = measured_arrays(run.measured)
            answers: list[Json] = [[*name, list(texts)] for name, texts in run.answers.items()]
            write_columns(run.path, "values.npz", basis.values, basis, {**told, "answers": answers}, arrays)
            kept: dict[str, Json] = {}
            arrays = {}
            for number, (name, tree) in enumerate(run.trees.items()):
                kept[name], own = tree_arrays(tree, f"tree {number}")
                arrays.update(own)
            write_columns(run.path, "trees.npz", basis.values, basis, kept, arrays)
        if table is not None:
            told, arrays = _table_arrays(table)
            write_columns(run.path, "scores.npz", basis.table, basis, told, arrays)


def kept_run(path: Path, basis: Basis, again: Callable[[], ScoreTable] | None = None) -> OutlinedRun | None:
    """Return the run as its columns have it, or None if there are none that can be believed: with the values of its
    conversations or, if `again` computes the rows of single trials, with the table of its figures."""

    def read_values(
        told: Mapping[str, Any], arrays: Mapping[str, Any]
    ) -> tuple[Measured, dict[tuple[str, str], list[str]]]:
        answers = {(system, topic): texts for system, topic, texts in told["answers"]}
        return read_measured(told, arrays, outlines.valid), answers

    def read_table(told: Mapping[str, Any], arrays: Mapping[str, Any]) -> KeptTable:
        assert again is not None, "the table is asked for"
        rows = tuple(_read_rows(told["rows"], arrays["floats"], arrays["none"]))
        return KeptTable(rows, told["settings"], tuple(told["notes"]), tuple(told["coverage"]), again)

    table = None if again is None else read_columns(path, "scores.npz", basis.table, basis, read_table)
    if table is None and again is not None:
        return None
    outlined = read_columns(path, "outlines.npz", basis.values, basis, _read_outlined)
    if outlined is None:
        return None
    outlines, damage = outlined
    found = (None, None) if again else read_columns(path, "values.npz", basis.values, basis, read_values)
    if found is None:
        return None
    measured, answers = found
    try:
        header = read_header(path)
        return OutlinedRun(path, header, (), damage, outlines, measured, table, answers, is_kept=True)
    except HarvestError:  # which is reported when the run is read
        return None


def kept_trees(path: Path, basis: Basis) -> OutlinedRun | None:
    """Return the run with the trees by label of its systems, or None if its columns have none that can be believed."""

    def read_trees(told: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, ConversationTree]:
        return {name: read_tree(one, arrays, f"tree {number}") for number, (name, one) in enumerate(told.items())}

    trees = read_columns(path, "trees.npz", basis.values, basis, read_trees)
    outlined = None if trees is None else read_columns(path, "outlines.npz", basis.values, basis, _read_outlined)
    if trees is None or outlined is None:
        return None
    outlines, damage = outlined
    try:
        return OutlinedRun(path, read_header(path), (), damage, outlines, trees=trees, is_kept=True)
    except HarvestError:  # which is reported when the run is read
        return None


def _read_outlined(told: Mapping[str, Any], arrays: Mapping[str, Any]) -> tuple[Outlines, tuple[str, ...]]:
    return read_outlines(told["outlines"], arrays), tuple(told["damage"])


def _table_arrays(table: ScoreTable) -> tuple[dict[str, Json], dict[str, Any]]:
    told: dict[str, Json] = {
        "settings": repr(table.settings),
        "notes": list(table.notes),
        "coverage": list(table.coverage),
        "rows": [[getattr(row, name) for name in _OTHERS] for row in table.joint],
    }
    numbers = [[getattr(row, name) for name in _FLOATS] for row in table.joint]
    floats = np.array([[math.nan if one is None else one for one in row] for row in numbers], dtype=np.float64)
    none = np.array([[one is None for one in row] for row in numbers], dtype=bool)
    return told, {"floats": floats.reshape(-1, len(_FLOATS)), "none": none}


def _read_rows(rows: Sequence[Sequence[Any]], floats: Any, none: Any) -> Iterator[ScoreRow]:
    for others, numbers, empty in zip(rows, floats.tolist(), none.tolist(), strict=True):
        known: dict[str, Any] = dict(zip(_OTHERS, others, strict=True))
        for name, number, gone in zip(_FLOATS, numbers, empty, strict=True):
            known[name] = None if gone else math.nan if number != number else number
        yield ScoreRow(**known)
