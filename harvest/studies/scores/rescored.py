"""Recompute the figures in a run's `scores.json` from its recording, and compare them exactly."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.kept_scores import kept_scores
from harvest.studies.scores.scorecard import score_material
from harvest.studies.scores.selection import selection
from recordings.log.run_folder import read
from scoring.inference.interval import EARLIER_METHOD, METHOD
from scoring.notation import parse
from scoring.settings import SETTINGS
from scoring.table import FORMAT, ScoreRow, ScoreTable
from topics.counting import pluralize

_MOST_LISTED = 3  # rows in a sentence
_JSON_SCALARS = (str, int, float, type(None))
_ROW_KEY = ("measure", "system", "topic", "topic_type", "trial", "turn", "entity", "position")


def rescored(run: Path) -> Iterator[str]:
    """Yield a sentence for each figure that differs from the recording, and for missing figures and notes. Raises
    RunError for an unreadable run, and InputError for an invalid file of scores."""
    kept = kept_scores(run)
    if kept is None:
        return
    recorded = read(run)
    if not recorded.conversations and any(row.get("n") for row in kept.read_rows(run)):
        yield "it holds figures, and no conversation is recorded here"
        return
    yield from (f"{key!r} is nothing that Harvest writes there" for key in sorted(kept.others))
    if kept.format != FORMAT:
        yield f"its format is {kept.format!r}, and not {FORMAT!r}"
    material = gather_runs(recorded).material
    settings = kept.settings if isinstance(kept.settings, dict) else {}
    changes = {name: settings[name] for name in SETTINGS if name in settings}
    scored = partial(score_material, changes=changes, seed=kept.seed if isinstance(kept.seed, int) else 0)
    again = partial(scored, material)
    rows, table = _Rows.read(kept.asked), again()
    lost = selection(material, table, lambda of, terms: scored(of, measures=terms, only=True)).as_json()
    if kept.selection != json.loads(json.dumps(lost)):
        yield "what lost attempts come to (selection) is not what the recording gives"
    usual = _RecomputedScores(rows.of_table(table))
    compared, found = usual, list(usual.differences(kept.read_rows(run)))
    missing = list(usual.missing(rows.is_named))
    there = {str(row.get("measure")) for row in kept.read_rows(run)} if found or not rows.known else set()
    if asked := [parse(name) for name in sorted({*there, *rows.measures} - usual.measures)]:
        compared = _RecomputedScores(rows.of_table(again(measures=asked)))
        found = list(compared.differences(kept.read_rows(run)))
        missing = list(compared.missing(lambda row: rows.is_named(row) or row.measure in there))
    if not rows.known and there:  # from an earlier version, which did not record what was requested
        missing = [row for row in missing if row.measure in there]
    yield from found
    if missing:
        first = "; ".join(_row_name(row.as_json()) for row in missing[:_MOST_LISTED])
        more = f"; and {len(missing) - _MOST_LISTED} more" if len(missing) > _MOST_LISTED else ""
        verb = "is" if len(missing) == 1 else "are"
        yield f"{pluralize(len(missing), 'figure')} that the recording gives {verb} not in it: {first}{more}"
    notes = kept.notes if isinstance(kept.notes, list) else []
    for note in usual.notes:
        if note in compared.notes and note not in notes:
            yield f"a note that the recording gives is not in it: {note}"
    for note in notes:
        if note not in usual.notes and note not in compared.notes:
            yield f"a note in it is not what the recording gives: {note}"


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows that a file should have. `known` is true if the file lists these rows. `measures` are requested in
    addition to the default measures. `names` are the names of the rows; an empty set means all."""

    known: bool = False
    measures: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    @classmethod
    def read(cls, asked: Any) -> Self:
        """Read the rows that a file claims to have. An edited file can have any value here."""
        match asked:
            case {"measures": list(measures), "names": list(names)}:
                return cls(True, frozenset(map(str, measures)), frozenset(map(str, names)))
        return cls()

    def of_table(self, table: ScoreTable) -> ScoreTable:
        return table.only(self.names) if self.names else table

    def is_named(self, row: ScoreRow) -> bool:
        return not self.names or row.measure in self.names or row.label in self.names


class _RecomputedScores:
    """Recomputed figures, to be compared with the figures in a file. Usually, the recomputed rows and the file have
    the same order, so that only a few rows are in memory at a time. `measures` has the measures seen so far, and
    `notes` the notes of the table."""

    def __init__(self, table: ScoreTable) -> None:
        self.notes = table.notes
        self.measures: set[str] = set()
        self._made = table.stream()
        self._passed: dict[tuple[Any, ...], ScoreRow] = {}

    def differences(self, kept: Iterable[dict[str, Any]]) -> Iterator[str]:
        for row in kept:
            # An edited file can contain anything, even a list.
            found = self._find_row(
                tuple(value if isinstance(value := row.get(key), _JSON_SCALARS) else str(value) for key in _ROW_KEY)
            )
            if found is None:
                yield f"{_row_name(row)}: the recording gives no such figure"
                continue
            now = found.as_json()
            if isinstance(made := row.get("interval"), str):
                row = {**row, "interval": made.replace(EARLIER_METHOD, METHOD)}
            for key in ("value", "low", "high", "n", *sorted(row.keys() - {*_ROW_KEY, "value", "low", "high", "n"})):
                if row.get(key) != now.get(key):
                    yield f"{_row_name(row)}: {key} is {row.get(key)!r}, and the recording gives {now.get(key)!r}"

    def missing(self, counts: Callable[[ScoreRow], bool]) -> Iterator[ScoreRow]:
        """Yield the figures that satisfy `counts` and are not in the file. Call it after comparing the whole file."""
        yield from filter(counts, self._passed.values())
        for row in self._made:
            self.measures.add(row.measure)
            if counts(row):
                yield row

    def _find_row(self, place: tuple[Any, ...]) -> ScoreRow | None:
        if place in self._passed:
            return self._passed.pop(place)
        for row in self._made:
            self.measures.add(row.measure)
            if (passed := _row_key(row)) == place:
                return row
            self._passed[passed] = row
        return None


_row_key = attrgetter(*_ROW_KEY)


def _row_name(row: Mapping[str, Any]) -> str:
    turn = f" S{row['turn']}" if row.get("turn") else ""
    where = [str(row.get("system") or "")]
    where += [str(row[key]) for key in ("topic_type", "topic") if row.get(key)]
    where += [f"trial {row['trial']}"] if row.get("trial") else []
    return f"{row.get('measure')}{turn}, {', '.join(where)}"
