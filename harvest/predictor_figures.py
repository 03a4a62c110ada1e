"""Figures of predictors for people: a line for each, its value and under it the interval, as many columns as fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from harvest.terminal import shown
from scoring.table import ScoreRow

__all__ = ["predictor_tables"]

_NAME_WIDTH, _CELL_WIDTH = 30, 15


def predictor_tables(
    rows: Sequence[ScoreRow], measures: Sequence[str], *, width: int, title: str = ""
) -> Iterator[Table]:
    """Tables of `measures` for every predictor that `rows` (all of one scope) name. An undefined value is `n/a`."""
    cells = {(row.system, row.measure): row for row in rows}
    systems = list(dict.fromkeys(row.system for row in rows if row.measure in measures))
    columns = max(1, (width - _NAME_WIDTH) // _CELL_WIDTH)
    for start in range(0, len(measures), columns):
        part = measures[start : start + columns]
        table = Table(
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            padding=(0, 1, 0, 0),
            title=Text(shown(title, line=True)) if title else None,
            title_justify="left",
        )
        table.add_column("predictor", min_width=_NAME_WIDTH - 2, overflow="fold")
        for measure in part:
            table.add_column(Text(measure), justify="right", no_wrap=True, min_width=_CELL_WIDTH - 2)
        for system in systems:
            found = [cells.get((system, measure)) for measure in part]
            if not any(found):
                continue
            table.add_row(Text(shown(system, line=True)), *(Text(_value(row)) for row in found))
            if any(row is not None and not math.isnan(row.low) for row in found):
                table.add_row("", *(Text(_interval(row), style="dim") for row in found))
        yield table


def _value(row: ScoreRow | None) -> str:
    if row is None:
        return ""
    if math.isnan(row.value):
        return f"n/a (n={row.n})"
    return f"{row.value:.4f}"


def _interval(row: ScoreRow | None) -> str:
    return "" if row is None or math.isnan(row.low) else f"{row.low:.4f}-{row.high:.4f}"
