"""Tables in notebooks: text stays text, and columns of numbers are told from words."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.html_table import html_table


class Cells(HTMLParser):
    def __init__(self, table: str) -> None:
        super().__init__()
        self.cells: list[tuple[str, str]] = []
        self.tags: set[str] = set()
        self.feed(table)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("th", "td"):
            side = next(side for side in ("left", "right") if f"text-align: {side}" in str(dict(attrs)["style"]))
            self.cells.append((side, ""))

    def handle_data(self, data: str) -> None:
        if self.cells:
            side, text = self.cells[-1]
            self.cells[-1] = side, text + data


@given(st.lists(st.tuples(st.text(max_size=9), st.text("<&>\"'$\n ab", max_size=9)), max_size=4))
def test_every_text_is_shown_unchanged(rows: list[tuple[str, str]]) -> None:
    found = Cells(html_table("caption", ("one", "other"), rows))
    assert found.tags == {"table", "caption", "thead", "tbody", "tr", "th"} | ({"td"} if rows else set())
    shown = [text for _, text in found.cells]
    assert shown == [text.replace("\r\n", "\n") for row in (("one", "other"), *rows) for text in row]


@pytest.mark.parametrize(
    ("cells", "side"),
    [
        (("1", "-0.5", "+12.5 [-3.0, +4.1]", "", "<.001", "1,200", "3e-05"), "right"),
        (("1", "n of 3"), "left"),
        (("T01", "T02"), "left"),
        (("1. First of all", "2. Then"), "left"),
    ],
)
def test_numbers_are_on_the_right(cells: tuple[str, ...], side: str) -> None:
    found = Cells(html_table("", ("of",), [(cell,) for cell in cells]))
    assert {own for own, _ in found.cells} == {side}


def test_dollar_signs_are_not_formulas() -> None:
    assert '<table class="tex2jax_ignore mathjax_ignore">' in html_table("", ("of",), [("$5 and $6",)])
