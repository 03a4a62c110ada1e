"""Consoles for people: no table on them is cut off, and nothing that is printed on them steers the terminal."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table

# Columns below which no table is laid out.
LEAST_WIDTH = 60

_ANY_WIDTH = 10_000  # columns: wider than any table


class LiveConsole(Console):
    """As wide as the terminal, also after it was resized: for what is drawn over and over in one place.

    printable: what a text is shown as. Most is that already, but a recording from elsewhere may hold anything anywhere.
    """

    def __init__(self, printable: Callable[[str], str], **options: Any) -> None:
        super().__init__(highlight=False, **options)
        self._printable = printable

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for one in super().render(renderable, options):
            yield one if one.control else Segment(self._printable(one.text), one.style)


class PeopleConsole(LiveConsole):
    """As wide as the terminal and at least `LEAST_WIDTH`. A table that needs more, because its figures are not to be
    broken, is printed in several, each with its first column; only a single column that needs more takes more."""

    def __init__(self, printable: Callable[[str], str], **options: Any) -> None:
        super().__init__(printable, **options)
        self.width = max(self.width, LEAST_WIDTH)

    def print(self, *objects: Any, **options: Any) -> None:
        width = self.width
        parts = [part for one in objects for part in (self._split_to_fit(one) if isinstance(one, Table) else [one])]
        self.width = max(width, *(self._columns_needed(one) for one in parts if isinstance(one, Table)), 0)
        try:
            super().print(*parts, **options)
        finally:
            self.width = width

    def _split_to_fit(self, table: Table) -> list[Table]:
        """The table in as few as fit, in the order of its columns."""
        if len(table.columns) < 3 or self._columns_needed(table) <= self.width:
            return [table]
        found: list[Table] = []
        first, *rest = table.columns
        while rest:
            taken = len(rest)
            while taken > 1 and self._columns_needed(_with_columns(table, [first, *rest[:taken]])) > self.width:
                taken -= 1
            found.append(_with_columns(table, [first, *rest[:taken]]))
            rest = rest[taken:]
        return found

    def _columns_needed(self, table: Table) -> int:
        """Columns that `table` takes at least. Rich has the like, but breaks what is not to be broken."""
        free = self.options.update(max_width=_ANY_WIDTH)
        measured = ((column.no_wrap, table._measure_column(self, free, column)) for column in table.columns)
        return table._extra_width + sum(one.maximum if whole else one.minimum for whole, one in measured)


def _with_columns(table: Table, columns: Sequence[Column]) -> Table:
    """The same rows, of some columns."""
    part = copy(table)
    part.columns = [replace(column, _index=place) for place, column in enumerate(columns)]
    return part
