"""The table of names and figures that most studies print."""

from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text


def figure_table(
    names: str | Text, headings: Iterable[str | Text], *, min_width: int | None = None, max_width: int | None = None
) -> Table:
    """Return an empty table whose first column is headed `names` and wraps. Figures are never cut."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(names, overflow="fold", min_width=min_width, max_width=max_width)
    for heading in headings:
        table.add_column(Text(heading) if isinstance(heading, str) else heading, justify="right", no_wrap=True)
    return table
