"""A table in HTML, which notebooks show for a run, a table of scores or a comparison."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of text, with `caption` above it. The first column is aligned to the left, as names are."""

    def line(cells: Sequence[str], tag: str) -> str:
        styles = ("left", *["right"] * (len(cells) - 1))
        inner = (
            f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'
            for cell, side in zip(cells, styles, strict=True)
        )
        return f"<tr>{''.join(inner)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        f"<table><caption>{escape(caption)}</caption><thead>{line(headings, 'th')}</thead><tbody>{body}</tbody></table>"
    )
