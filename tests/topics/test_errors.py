"""What somebody may have meant if a name is not known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from topics.errors import nearest_name, suggestion


def test_the_nearest_name_is_suggested_regardless_of_case() -> None:
    assert nearest_name("gfr", ["R", "GFR"]) == "GFR"
    assert suggestion("makrov", ["markov", "random"]) == ": did you mean 'markov'?"


def test_nothing_is_suggested_if_nothing_is_near() -> None:
    assert nearest_name("x", ["markov"]) is None
    assert suggestion("x", []) == ""


@given(st.text(max_size=8), st.lists(st.text(min_size=1, max_size=8)))
def test_only_existing_names_are_suggested(word: str, known: list[str]) -> None:
    assert nearest_name(word, known) in {None, *known}
