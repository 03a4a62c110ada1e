"""The table of names and figures that most studies print."""

import re
from collections.abc import Iterable

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harvest.terminal import printable


def figure_table(
    names: str | Text, headings: Iterable[str | Text], *, min_width: int | None = None, max_width: int | None = None
) -> Table:
    """Return an empty table whose first column is headed `names` and wraps. Figures are never cut."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(names, overflow="fold", min_width=min_width, max_width=max_width)
    for heading in headings:
        table.add_column(Text(heading) if isinstance(heading, str) else heading, justify="right", no_wrap=True)
    return table


class Item(Padding):
    """A line of a list, `  - …`, whose further lines begin below its words."""

    def __init__(self, words: str, style: str = "") -> None:
        super().__init__(Text(f"- {words}", style=style), (0, 0, 0, 2))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found: Text = self.renderable  # type: ignore[assignment]
        lines = Table.grid(padding=(0, 1, 0, 0))
        lines.add_row(Text("  -", style=found.style), found[2:])
        yield lines


def name_lines(name: str, width: int) -> str:
    """Break a name into lines of about `width` characters, between its parts if possible."""
    lines = [""]
    for part in re.split(r"(?<=[-_.@ ])|(?=@)", printable(name, line=True)):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)
