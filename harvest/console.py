"""Consoles for people: no table on them is cut off, and nothing that is printed on them steers the terminal."""

from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

# Columns below which no table is laid out.
LEAST_WIDTH = 60

_ANY_WIDTH = 10_000


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
    broken, takes more, and the terminal wraps its lines."""

    def __init__(self, printable: Callable[[str], str], **options: Any) -> None:
        super().__init__(printable, **options)
        self.width = max(self.width, LEAST_WIDTH)

    def print(self, *objects: Any, **options: Any) -> None:
        width = self.width
        self.width = max(width, *(self._columns_needed(one) for one in objects if isinstance(one, Table)), 0)
        try:
            super().print(*objects, **options)
        finally:
            self.width = width

    def _columns_needed(self, table: Table) -> int:
        """Columns that `table` takes at least. Rich has the like, but breaks what is not to be broken."""
        free = self.options.update(max_width=_ANY_WIDTH)
        measured = ((column.no_wrap, table._measure_column(self, free, column)) for column in table.columns)
        return table._extra_width + sum(one.maximum if whole else one.minimum for whole, one in measured)
