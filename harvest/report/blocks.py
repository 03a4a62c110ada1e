"""What a section of a report is made of: plain values, of which a page is written.

A block is a dict with one of the keys `text`, `table`, `picture`, `details`, `grid`, `tree` or `heat`. Tables and
sentences for the terminal become blocks as they are, so that a report says no figure otherwise than the commands do.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Block = dict[str, Any]

# Columns of a terminal on which nothing is cut into several tables.
WIDE = 100_000

_TONES = {"dim": "dim", "yellow": "warn", "bold": "strong", "bold red": "warn"}


def text(words: str, tone: str = "") -> Block:
    """A paragraph. tone: `dim` explains, `warn` must not be missed, `strong` is a heading; "" for all else."""
    return {"text": words, "tone": tone}


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[bool] = (), caption: str = "") -> Block:
    """rows: of texts, or `{"text": …, "href": …}` for a link within the page. right: which columns hold numbers."""
    flags = list(right) or [False] * len(head)
    return {"table": {"head": list(head), "rows": [list(row) for row in rows], "right": flags, "caption": caption}}


def picture(svg: str) -> Block:
    return {"picture": svg}


def details(summary: str, blocks: Iterable[Block]) -> Block:
    """What is shown on demand."""
    return {"details": summary, "blocks": list(blocks)}


def as_blocks(parts: Iterable[RenderableType], caption: str = "") -> list[Block]:
    """What a table module prints, as blocks. caption: of each table among it, for readers of screens."""
    return [block for part in parts for block in _as_block(part, caption)]


def _as_block(part: RenderableType, caption: str) -> list[Block]:
    if isinstance(part, Padding):
        return _as_block(part.renderable, caption)
    if isinstance(part, Text):
        words = part.plain.strip()
        return [text(words, _TONES.get(str(part.style), ""))] if words else []
    if isinstance(part, Table):
        heads = [_plain(column.header).strip().replace("\n", " ") for column in part.columns]
        cells = [[_plain(cell) for cell in column.cells] for column in part.columns]
        rows = [list(row) for row in zip(*cells, strict=True)]
        return [table(heads, rows, [column.justify == "right" for column in part.columns], caption)]
    return [text(str(part))] if str(part).strip() else []


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)
