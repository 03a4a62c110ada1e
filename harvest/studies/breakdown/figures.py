"""A table of predictors with a block for each measure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.tables.figures import estimand_of, shown_with_interval
from harvest.tables.long_rows import LongRow, score_cells
from harvest.tables.study_form import StudyForm
from harvest.terminal import printable
from scoring.table import ScoreRow

_VALUE_WIDTH = 25  # columns


def predictor_table(rows: Sequence[ScoreRow], measures: Sequence[str], *, title: str = "") -> Table:
    """Return a table, at most 80 columns wide, with the value, interval and n of each measure and predictor. There
    is a block for each measure, in the order of `measures`. All `rows` must have the same scope. A predictor
    without a row for a measure is omitted from the block of this measure. An undefined value is printed as
    `n/a`."""
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title=Text(printable(title, line=True)) if title else None,
        title_justify="left",
        title_style="bold",
    )
    table.add_column("predictor", overflow="fold", min_width=30)
    of = estimand_of(row.resampled for row in rows if row.low == row.low and row.measure in measures)
    table.add_column(Text(f"value [low, high]\n{of}".strip()), no_wrap=True, min_width=_VALUE_WIDTH)
    table.add_column("n", no_wrap=True, justify="right", style="dim")
    for measure in measures:
        found = [row for row in rows if row.measure == measure]
        if found:
            table.add_row(Text(printable(measure, line=True), style="bold"), "", "")
        for row in found:
            name = Text(f"  {printable(row.system, line=True)}", overflow="fold")
            table.add_row(name, Text(shown_with_interval(row)), Text(str(row.n)))
    return table


def predictor_form(
    study: str,
    rows: Sequence[ScoreRow],
    tables: Iterable[RenderableType],
    *,
    settings: Mapping[str, Any],
    notes: Sequence[str],
    seed: int,
    differences: Sequence[tuple[ScoreRow, str]] = (),
) -> StudyForm:
    """Return the printable form of an evaluation of predictors. `study` is its name. `differences` are rows, each with
    the name of the baseline that was subtracted."""

    def long_rows() -> Iterator[LongRow]:
        for row in rows:
            yield LongRow(study=study, run="", figure="score", unit="value", **score_cells(row))
        for row, other in differences:
            yield LongRow(study=study, run="", figure="difference", unit="value", other=other, **score_cells(row))

    return StudyForm(
        head={"format": f"harvest-{study}-scores/2", "settings": settings, "notes": list(notes), "seed": seed},
        rows=long_rows,
        tables=lambda _: tables,
    )
