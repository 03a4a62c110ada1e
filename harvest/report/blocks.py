"""Blocks, the plain values that make up a section of a report.

A block is a dict with one of the keys `text`, `list`, `table`, `picture`, `pictures`, `details`, `command`, `forest`,
`topics`, `grids`, `tree` or `heat`. Tables and sentences printed by commands are converted to blocks unchanged, so that
a report shows the same figures.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Block = dict[str, Any]

# Columns of a terminal wide enough that no table is split.
WIDE = 100_000

_TONES = {"dim": "dim", "yellow": "warn", "bold": "strong", "bold red": "warn"}


def text(words: str, tone: str = "") -> Block:
    """Return a paragraph. Its tone is `dim` for explanations, `key` for those that are never folded, `warn` for
    warnings, `strong` or `heading` for headings, or ""."""
    return {"text": words, "tone": tone}


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[bool] = (), caption: str = "") -> Block:
    """Return a table with cells of text or links (`{"text": …, "href": …}`). `right` is true for columns of numbers."""
    flags = list(right) or [False] * len(head)
    return {"table": {"head": list(head), "rows": [list(row) for row in rows], "right": flags, "caption": caption}}


def refusal_block(refused: str) -> Iterator[Block]:
    """Yield why a section says nothing, if there is a reason."""
    if refused:
        yield text(f"Not said here: {refused}.", "dim")


def picture(svg: str) -> Block:
    return {"picture": svg}


def details(summary: str, blocks: Iterable[Block]) -> Block:
    """Return blocks that are hidden until the reader opens them."""
    return {"details": summary, "blocks": list(blocks)}


def arrange(blocks: Iterable[Block]) -> list[Block]:
    """Arrange a section: what was found, with its warnings as one list after the first picture or table, then what
    the reader opens, and last, closed, the explanations. A section of explanations alone is left as it is."""
    given = list(blocks)
    dim = [one for one in given if {"text", "list"} & {*one} and one["tone"] == "dim"]
    warnings = [one for one in given if "text" in one and one["tone"] == "warn"]
    closed = [one for one in given if "details" in one]
    shown = [one for one in given if one not in (*dim, *warnings, *closed)]
    if warnings:
        first = next((place + 1 for place, one in enumerate(shown) if not {*one} & {"text", "list"}), len(shown))
        shown.insert(first, {"list": [one["text"] for one in warnings], "tone": "warn"})
    if not shown and not closed:
        return given
    return [*shown, *closed, *([details("How to read this", dim)] if dim else [])]


def as_blocks(parts: Iterable[RenderableType], caption: str = "") -> list[Block]:
    """Convert the printed output of a study to blocks. Screen readers read `caption` as the name of each table. Lines
    that begin with a dash become a list."""
    found: list[Block] = []
    for block in (block for part in parts for block in _as_block(part, caption)):
        item = str(block.get("text", "")).removeprefix("- ")
        if not block.get("text", "").startswith("- "):
            found.append(block)
        elif found and "list" in found[-1] and found[-1]["tone"] == block["tone"]:
            found[-1]["list"].append(item)
        else:
            found.append({"list": [item], "tone": block["tone"]})
    return found


def _as_block(part: RenderableType, caption: str) -> list[Block]:
    if isinstance(part, Padding):
        return _as_block(part.renderable, caption)
    if isinstance(part, Text):
        words = part.plain.strip()
        return [text(words, _TONES.get(str(part.style), ""))] if words else []
    if isinstance(part, Table):
        heads = [_plain_cell(column.header).strip().replace("\n", " ") for column in part.columns]
        cells = [[_plain_cell(cell) for cell in column.cells] for column in part.columns]
        rows = [list(row) for row in zip(*cells, strict=True)]
        return [table(heads, rows, [column.justify == "right" for column in part.columns], caption)]
    return [text(str(part))] if str(part).strip() else []


def _plain_cell(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)
