"""Consoles for people, on which tables are never cut off and no output can control the terminal."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from topics.decimals import INTERVAL

# Columns below which no table is laid out.
LEAST_WIDTH = 60

_ANY_WIDTH = 10_000  # columns: wider than any table

# Stands for a space within an interval until lines are laid out: Rich breaks lines at every kind of white space, also
# at a no-break space. It is one column wide, and Unicode keeps it for such uses.
_JOINT = "\ufdd0"


class LiveConsole(Console):
    """A console as wide as the terminal, even after resizing, for displays that are redrawn in place. Most texts are
    already safe to print, but `printable` also covers recordings from elsewhere, which may contain anything."""

    def __init__(self, printable: Callable[[str], str], **options: Any) -> None:
        super().__init__(highlight=False, **options)
        self._printable = printable

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for one in super().render(renderable, options):
            yield one if one.control else Segment(self._printable(one.text).replace(_JOINT, " "), one.style)


class PeopleConsole(LiveConsole):
    """A console as wide as the terminal, but at least `LEAST_WIDTH`. No line ends within an interval. The figures of a
    table must not be broken, either. A table that is too wide is therefore split into several tables, each of which
    repeats the first column. If a table of two columns still does not fit, the console is widened for that table."""

    def __init__(self, printable: Callable[[str], str], **options: Any) -> None:
        super().__init__(printable, **options)
        self.width = max(self.width, LEAST_WIDTH)

    def print(self, *objects: Any, **options: Any) -> None:
        width = self.width
        objects = tuple(map(_join_intervals, objects))
        parts = [part for one in objects for part in (self._split_to_fit(one) if isinstance(one, Table) else [one])]
        self.width = max(width, *(self._columns_needed(one) for one in parts if isinstance(one, Table)), 0)
        try:
            super().print(*parts, **options)
        finally:
            self.width = width

    def write(self, text: str) -> None:
        """Write text that was printed before, as `capture` returned it."""
        try:
            self.file.write(text)
            self.file.flush()
        except BrokenPipeError:
            self.on_broken_pipe()

    def _split_to_fit(self, table: Table) -> list[Table]:
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
        """Return the minimum width of `table`. Rich's own minimum would break cells that must not be broken."""
        free = self.options.update(max_width=_ANY_WIDTH)
        measured = ((column.no_wrap, table._measure_column(self, free, column)) for column in table.columns)
        return table._extra_width + sum(one.maximum if whole else one.minimum for whole, one in measured)


def _join_intervals(one: Any) -> Any:
    """Return a renderable in whose intervals no line ends."""
    if isinstance(one, str):
        return INTERVAL.sub(lambda found: found[0].replace(" ", _JOINT), one)
    if isinstance(one, Text):
        text = one.copy()
        text.plain = _join_intervals(one.plain)
        return text
    if isinstance(one, Padding):
        padded = copy(one)
        padded.renderable = _join_intervals(one.renderable)
        return padded
    if isinstance(one, Table):
        columns = [
            replace(each, header=_join_intervals(each.header), _cells=list(map(_join_intervals, each._cells)))
            for each in one.columns
        ]
        return _with_columns(one, columns)
    return one


def _with_columns(table: Table, columns: Sequence[Column]) -> Table:
    part = copy(table)
    part.columns = [replace(column, _index=place) for place, column in enumerate(columns)]
    return part
