"""Tables of a page as rows of Markdown. Tables used only for layout do not count."""

from collections.abc import Callable, Collection, Iterator

from harvest.pages.reading.page import Node

_NON_CELL_TAGS = frozenset({"pre", "table", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"})
_ALLOWED_CHILDREN = {
    "table": frozenset({"caption", "col", "colgroup", "tbody", "tfoot", "thead", "tr"}),
    **dict.fromkeys(("tbody", "tfoot", "thead"), frozenset({"tr"})),
    "tr": frozenset({"td", "th"}),
}
_MOST_COLUMNS = 200  # most columns that a `colspan` may ask for
_ALIGNMENTS = {"left": ":---", "right": "---:", "center": ":---:"}


def table_lines(table: Node, dropped: Collection[Node], text_of: Callable[[Node], str]) -> list[str]:
    """Return the rows of a table, header first, or [] for a table used only for layout. `text_of` reads a cell."""
    if any(_has_stray(part) for part in (table, *table.elements, *_table_rows(table, dropped))):
        return []
    rows: list[list[Node]] = []
    for row in _table_rows(table, dropped):
        cells = [one for one in row.elements if one.tag in ("td", "th") and not one.hidden and one not in dropped]
        if cells:
            rows.append(cells)
    if not rows or _is_layout(table, rows):
        return []
    grid: list[list[str]] = []
    waiting: dict[int, int] = {}  # column: number of rows that a cell above still covers
    for cells in rows:
        line: list[str] = []
        todo = list(cells)
        while todo or any(column >= len(line) for column, left in waiting.items() if left):
            column = len(line)
            if waiting.get(column):
                waiting[column] -= 1
                line.append("")
                continue
            if not todo:
                line.append("")
                continue
            cell = todo.pop(0)
            wide = min(max(_span_number(cell.get("colspan")), 1), _MOST_COLUMNS)
            for extra in range(wide):
                waiting[column + extra] = min(_span_number(cell.get("rowspan")), len(rows)) - 1
            said = (part.strip() for part in text_of(cell).split("\n") if part.strip())
            line.extend(["<br>".join(said).replace("\\|", "|").replace("|", "\\|"), *[""] * (wide - 1)])
        grid.append(line)
    columns = max(len(line) for line in grid)
    lines = [_row_line([*line, *[""] * (columns - len(line))]) for line in grid]
    ruled = [_ALIGNMENTS.get(cell.get("align").lower(), "---") for cell in rows[0]]
    ruled = [*ruled, *["---"] * columns][:columns]
    return [lines[0], _row_line(ruled), *lines[1:]]


def _has_stray(part: Node) -> bool:
    if part.tag not in _ALLOWED_CHILDREN:
        return False
    return any(
        child.tag not in _ALLOWED_CHILDREN[part.tag] if isinstance(child, Node) else bool(child.strip())
        for child in part.children
    )


def _table_rows(table: Node, dropped: Collection[Node]) -> Iterator[Node]:
    for part in table.elements:
        if part.hidden or part in dropped:
            continue
        if part.tag == "tr":
            yield part
        elif part.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in part.elements if row.tag == "tr" and not row.hidden and row not in dropped)


def _is_layout(table: Node, rows: list[list[Node]]) -> bool:
    if table.get("role") in ("presentation", "none"):
        return True
    if any(cell.tag == "th" for cells in rows for cell in cells):
        return False
    if all(len(cells) == 1 for cells in rows):
        return True
    return any(inner.tag in _NON_CELL_TAGS for cells in rows for cell in cells for inner in cell.walk())


def _row_line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _span_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1
