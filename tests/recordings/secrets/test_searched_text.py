"""Literals in a long text: what is ruled out stands nowhere, and ruling it out is quick."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.secrets.escapes import SearchedText
from recordings.secrets.redaction import Redactor
from recordings.secrets.secret_patterns import PATTERNS
from topics.lower_case import to_lower

SECRET = "Kanarie-41!geel/vogel+zang="
PADDING = " " * 2**12
"""Makes a text long enough for its pairs to be noted."""

TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from("aAkKiIsS-_:%/\u0130\u212a\u0131\u017fΣς\ud83d申é😀"), st.characters())
)


@given(TEXTS, st.integers(0, 20), st.integers(1, 20), st.sampled_from([str, str.swapcase, str.upper, to_lower]))
def test_no_existing_text_is_ruled_out(text: str, start: int, length: int, spelled: Callable[[str], str]) -> None:
    literal = to_lower(text)[start : start + length]
    searched = SearchedText(spelled(text) + PADDING)
    for known in (literal, text[start : start + length], spelled(text)[start : start + length]):
        assert searched.may_contain(known) or known not in searched.text
        assert searched.contains(known) == (known in searched.text)
    assert searched.contains_in_any_case(literal) == (literal in to_lower(searched.text))


@given(TEXTS, TEXTS)
def test_long_and_short_texts_are_searched_equally(text: str, literal: str) -> None:
    searched = SearchedText(text + PADDING)
    assert searched.lower == to_lower(text + PADDING)
    assert searched.contains(literal) == (literal in text + PADDING)
    assert SearchedText(text).contains(literal) == (literal in text)


@pytest.mark.parametrize("text", ["to\u212aen", "TO\u212aEN", "ap\u0130-key", "AP\u0130-KEY"])
def test_characters_with_an_ascii_lower_case_are_read_as_that(text: str) -> None:
    searched = SearchedText(PADDING + text)
    assert searched.contains_in_any_case(to_lower(text))
    assert to_lower(text).isascii()


def test_absent_text_is_ruled_out() -> None:
    searched = SearchedText("plain words of a reply, " * 1000)
    assert not any(searched.may_contain(literal) for literal in ("sk-", "AKIA", "eyJ", "cookie", SECRET))
    assert searched.may_contain("PLAIN WORDS")


@pytest.mark.parametrize("piece", ["plain words of a reply, ", "https://a.example/b "])
def test_redacting_takes_less_than_searching_for_each_literal_that_a_secret_begins_with(piece: str) -> None:
    text, redactor = piece * (10**6 // len(piece)), Redactor([SECRET])
    data = text.encode()
    literals = [literal for pattern in PATTERNS for literal in pattern.holds if len(literal) > 2]
    searches = seconds(lambda: [literal in text for literal in literals])
    assert seconds(lambda: redactor.text(text)) < searches
    assert seconds(lambda: redactor.data(data, "application/json")) < searches


def seconds(work: Callable[[], object]) -> float:
    """CPU of this thread; the smallest of three."""
    taken = []
    for _ in range(3):
        begun = time.thread_time()
        work()
        taken.append(time.thread_time() - begun)
    return min(taken)
