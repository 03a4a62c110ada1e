"""A table in HTML, which notebooks show for a run, a conversation, a table of scores or a comparison."""

import re
from collections.abc import Iterable, Sequence
from html import escape

_NUMBER = re.compile(r"[<+−-]?[\d.][\d.,%e+−\[\] -]*|[-–]|")


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of text, with `caption` above it. Columns of numbers are aligned to the right, words to the left;
    lines of a text stay lines."""
    known = list(rows)
    sides = ["right" if all(map(_NUMBER.fullmatch, cells)) else "left" for cells in zip(*known, strict=True)]

    def line(cells: Sequence[str], tag: str) -> str:
        inner = (
            f'<{tag} style="text-align: {side}; white-space: pre-wrap; vertical-align: top">{escape(cell)}</{tag}>'
            for cell, side in zip(cells, sides or ["left"] * len(cells), strict=True)
        )
        return f"<tr>{''.join(inner)}</tr>"

    head, body = line(headings, "th"), "".join(line(row, "td") for row in known)
    # The classes keep a notebook from setting the text between two dollar signs as a formula.
    return (
        f'<table class="tex2jax_ignore mathjax_ignore"><caption>{escape(caption)}</caption>'
        f"<thead>{head}</thead><tbody>{body}</tbody></table>"
    )
