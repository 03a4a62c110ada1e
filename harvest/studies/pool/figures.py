"""The counts of items to judge and of judged items in several runs, and the rows of a sheet of these items."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.table import Table

from harvest.judging.pool import Entity, PooledRun, PooledText
from harvest.judging.sheets.sheet_file import Row
from harvest.studies.runs.side_by_side import run_names
from harvest.studies.runs.sources import sources
from harvest.tables.long_rows import LongRow
from harvest.tables.study_form import StudyForm
from topics.decimals import percent

FORMAT = "harvest-pool/2"

# criterion: empty for an entity. judged: `yes` or `no` for an entity, else the values given, by person.
COLUMNS = ("topic", "criterion", "text", "judged", "times", "conversations", "systems", "where")

# Most places listed for one thing.
_MOST_PLACES = 20


def _count_rows(entities: Sequence[Entity], words: Sequence[PooledText]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield a name and four counts for entities, under the name "", and for each criterion. The counts are distinct
    items, judged items, occurrences, and judged occurrences."""
    judged = [one for one in entities if one.judged]
    yield (
        "",
        len(entities),
        len(judged),
        sum(len(one.where) for one in entities),
        sum(len(one.where) for one in judged),
    )
    for name in dict.fromkeys(one.criterion for one in words):
        own = [one for one in words if one.criterion == name]
        covered = [one for one in own if one.covered]
        yield (
            name,
            len(own),
            len(covered),
            sum(len(one.where) for one in own),
            sum(len(one.covered) for one in own),
        )


def pool_table(entities: Sequence[Entity], words: Sequence[PooledText]) -> Table:
    """Return a table of counts with a line for entities and a line for each criterion."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("to judge")
    for heading in ("distinct", "judged", "occurrences", "judged"):
        table.add_column(heading, justify="right")
    for name, distinct, judged, times, covered in _count_rows(entities, words):
        table.add_row(
            name or "entities (gold)",
            f"{distinct:,}",
            _percent(judged, distinct),
            f"{times:,}",
            _percent(covered, times),
        )
    return table


def _percent(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "n/a"


def pool_form(runs: Sequence[PooledRun], entities: Sequence[Entity], words: Sequence[PooledText]) -> StudyForm:
    """Return the counts as a printable study. A share of no items is NaN."""
    recorded = [run.recorded for run in runs]
    names = run_names(recorded)

    def rows() -> Iterator[LongRow]:
        for name, distinct, judged, times, covered in _count_rows(entities, words):
            common: dict[str, Any] = {"study": "pool", "run": ", ".join(names), "measure": name or "entities (gold)"}
            for figure, total, done in (("things", distinct, judged), ("occurrences", times, covered)):
                yield LongRow(**common, figure=figure, unit="count", estimate=float(total))
                yield LongRow(**common, figure=f"{figure} judged", unit="count", estimate=float(done))
                part = done / total if total else math.nan
                yield LongRow(**common, figure=f"share of {figure} judged", unit="share", estimate=part)

    return StudyForm(
        head={"format": FORMAT, "runs": list(names)},
        rows=rows,
        tables=lambda _: [pool_table(entities, words)],
        sources=sources(recorded),
    )


def pool_rows(runs: Sequence[PooledRun], entities: Sequence[Entity], words: Sequence[PooledText]) -> Iterator[Row]:
    """Yield a sheet row for each item, with at most 20 of the turns in which the item occurs. A turn is written
    `SYSTEM TOPIC TRIAL:TURN`; with several runs, the name of the run comes first."""
    names = run_names([run.recorded for run in runs])
    names = names if len(names) > 1 else ("",)
    for entity in entities:
        yield _sheet_row(names, entity, "", entity.key, "yes" if entity.judged else "no")
    for one in words:
        said = {person: [opinion.value for opinion in opinions] for person, opinions in one.opinions.items()}
        judged = "; ".join(
            f"{person}: {', '.join('n/a' if value is None else f'{value}' for value in values)}"
            for person, values in sorted(said.items())
        )
        yield _sheet_row(names, one, one.criterion, one.text, judged)


def _sheet_row(names: Sequence[str], one: Entity | PooledText, criterion: str, text: str, judged: str) -> Row:
    conversations = {(place.run, place.conversation.trial_id, place.conversation.attempt) for place in one.where}
    places = list(dict.fromkeys(f"{names[place.run]} {place}".strip() for place in one.where))
    more = f"; {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return {
        "topic": one.topic,
        "criterion": criterion,
        "text": text,
        "judged": judged,
        "times": str(len(one.where)),
        "conversations": str(len(conversations)),
        "systems": str(len({place.conversation.key.system for place in one.where})),
        "where": "; ".join(places[:_MOST_PLACES]) + more,
    }
