"""What counts as typography alone between a turn that was meant and one that was found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.pages.reading.typography import DIFFERENCES, differences


@pytest.mark.parametrize(
    ("meant", "found", "expected"),
    [
        ("What is new?", "What is new?", ()),
        ("What is new?", "  What is new?\n", ()),
        ("a\r\nb", "a\nb", ()),
        ("no\u200b space", "no space", ()),
        ('the "best" one', "the “best” one", ("quotes",)),
        ('the "best" one', "the « best » one", ("quotes",)),
        ("it's 'so'", "it’s ‘so’", ("quotes",)),
        ("1990--2000", "1990–2000", ("dashes",)),
        ("so -- and", "so — and", ("dashes",)),
        ("a---b", "a—b", ("dashes",)),
        ("a---b", "a—-b", ("dashes",)),
        ("wait...", "wait…", ("ellipsis",)),
        ("two  spaces", "two\u00a0 spaces", ("spaces",)),
        ("a\tb", "a b", ("spaces",)),
        ("a\nb", "a b", ("breaks",)),
        ("a\n\nb", "a\nb", ("breaks",)),
        ("```\n  x", "```\n\u00a0 x", ("spaces",)),
        ('"a" -- b...\nc', "“a” — b… c", ("quotes", "dashes", "ellipsis", "breaks")),
        ("a\nb", "ab", None),
        ("IMDb.\nFormat: x", "IMDb.Format: x", None),
        ("- a", "a", None),
        ("a b", "ab", None),
        ("`code`", "'code'", None),
        ("What?", "What", None),
        ("smile :)", "smile 🙂", None),
        ("1/2", "½", None),
        ("->", "→", None),
        ("Film", "film", None),
    ],
)
def test_a_difference_is_named_by_its_kind(meant: str, found: str, expected: tuple[str, ...] | None) -> None:
    assert differences(meant, found) == expected


_SIGNS = st.text(st.sampled_from("ab \n\t\u00a0\"'“’«-–—….,?`"), max_size=12)


@given(_SIGNS, _SIGNS)
def test_the_order_of_the_two_texts_does_not_matter(one: str, other: str) -> None:
    assert differences(one, other) == differences(other, one)


@given(_SIGNS)
def test_a_text_does_not_differ_from_itself_and_kinds_come_in_their_order(text: str) -> None:
    assert differences(text, text) == ()
    curled = text.replace('"', "”").replace("--", "—")
    kinds = differences(text, curled)
    assert kinds is not None
    assert list(kinds) == [kind for kind in DIFFERENCES if kind in kinds]
    assert set(kinds) <= {"quotes", "dashes"}


@given(st.text(max_size=30), st.text(max_size=30))
def test_texts_with_other_letters_always_differ_by_more(one: str, other: str) -> None:
    words = [re.sub(r"[\W_]+", "", text) for text in (one, other)]
    if words[0] != words[1]:
        assert differences(one, other) is None
