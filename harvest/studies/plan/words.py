"""What plans of all kinds say in the same way: grids of designs, shares of studies, and costs."""

import math
from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from topics.counting import pluralize

# Standard errors of simulation within which two powers are not told apart.
ALIKE = 2.0


def design_table(title: str, cells: Iterable[tuple[int, int, Text]]) -> Table:
    """A row for each number of topics, a column for each number of trials. cells: topics, trials, and what is said of
    the design; a whole grid of them, by topics."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold"
    )
    table.add_column("topics", justify="right")
    rows: dict[int, list[Text]] = {}
    for topics, trials, cell in cells:
        if rows.keys() <= {topics}:
            table.add_column(f"× {pluralize(trials, 'trial')}", justify="right", no_wrap=True)
        rows.setdefault(topics, []).append(cell)
    for topics, own in rows.items():
        table.add_row(str(topics), *own)
    return table


def in_percent(share: float) -> str:
    """`80%`; `n/a` for NaN."""
    return "n/a" if math.isnan(share) else f"{100 * share:.0f}%"


def user_turns(number: int) -> str:
    """`1,766 user turns`, as the tables write it."""
    return f"{number:,} user {'turn' if number == 1 else 'turns'}"


def hours_after(hours: float) -> str:
    """`, 2.5 h` or `, 40 min`, to follow user turns; "" where they are unknown or next to none."""
    if not hours >= 1 / 120:
        return ""
    return f", {60 * hours:.0f} min" if hours < 1 else f", {hours:,.1f} h"


def points(number: float) -> str:
    """`1 point`, `2.5 points`."""
    return f"{number:g} {'point' if number == 1 else 'points'}"
