"""The shares of systems that lost attempts after an answer, between what was lost taken for useless and for useful."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.studies.selection import Bound, Selection
from harvest.terminal import shown
from topics.counting import counted

__all__ = ["selection_figures"]


def selection_figures(selection: Selection) -> Iterator[RenderableType]:
    """A table for each such system, and what it says; nothing where nothing was lost after an answer."""
    for system, lost in selection.lost.items():
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column(Text(f"bounds of {shown(system, line=True)}"), overflow="fold")
        for heading in ("as scored", "lost: useless", "lost: useful"):
            table.add_column(heading, no_wrap=True, justify="right")
        for one in selection.bounds:
            if one.system == system:
                table.add_row(Text(_label(one)), *(_percent(value) for value in (one.value, one.useless, one.useful)))
        yield table
        tried = counted(selection.trials[system], "trial")
        yield Text(
            f"{shown(system, line=True)}: the first attempt with an answer was lost in {lost} of {tried}. The bounds "
            "take that attempt instead of the one that was valid later, and what was lost for useless or useful.",
            style="yellow",
        )


def _label(bound: Bound) -> str:
    return f"{bound.measure} S{bound.turn}" if bound.turn else bound.measure


def _percent(value: float) -> str:
    return "n/a" if value != value else f"{100 * value:.1f}%"
