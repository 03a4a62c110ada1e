"""Sentences of a turn: what ends one, what does not, and what stands in lists, tables and code."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from scoring.swan.sentences import sentences


def told(text: str) -> list[str]:
    return [text[one.start : one.end] for one in sentences(text)]


def test_a_full_stop_ends_a_sentence_and_an_abbreviation_does_not() -> None:
    assert told("Dr. Smith met J. Doe at 3.5 p.m. in the U.S. embassy, e.g. on Monday. They left.") == [
        "Dr. Smith met J. Doe at 3.5 p.m. in the U.S. embassy, e.g. on Monday.",
        "They left.",
    ]


def test_an_abbreviation_can_end_a_sentence_where_a_new_one_plainly_begins() -> None:
    assert told("It was made in the U.S. The rest was not.") == ["It was made in the U.S.", "The rest was not."]


def test_nothing_inside_a_url_a_link_or_inline_code_ends_a_sentence() -> None:
    text = "See https://a.org/x?y=1.Z or [Mr. X. Y](https://b.org/a.html) or `a. B`. Then stop."
    assert told(text) == [text.removesuffix(" Then stop."), "Then stop."]


def test_each_item_of_a_list_begins_a_sentence_and_its_marker_belongs_to_none() -> None:
    text = "Films:\n1. Alien. It is old.\n2) Heat\n- Ran\n* Up"
    assert told(text) == ["Films:", "Alien.", "It is old.", "Heat", "Ran", "Up"]
    assert [one.shape for one in sentences(text)] == ["prose", "item", "item", "item", "item", "item"]
    assert [one.leads for one in sentences(text)] == [True, False, False, False, False, False]


def test_a_line_that_was_wrapped_goes_on_and_a_blank_line_ends_it() -> None:
    assert told("A line that\nwas wrapped.\n\nanother one") == ["A line that\nwas wrapped.", "another one"]


def test_a_fenced_block_of_code_is_one_piece_without_its_fences_even_if_it_is_cut_off() -> None:
    assert told("Run:\n```python\na. B\nc\n```\nDone.") == ["Run:", "a. B\nc", "Done."]
    assert told("Run:\n```\na. B") == ["Run:", "a. B"]


def test_a_row_of_a_table_is_one_piece_and_its_ruler_is_none() -> None:
    assert told("| Film | Year |\n|---|---|\n| Ran | 1985 |") == ["Film | Year", "Ran | 1985"]


def test_japanese_sentences_end_without_white_space() -> None:
    assert told("これは本です。そうですか？はい！") == ["これは本です。", "そうですか？", "はい！"]


def test_a_quoted_question_does_not_end_the_sentence_around_it() -> None:
    assert told('"Who is there?" she asked. Nobody.') == ['"Who is there?" she asked.', "Nobody."]


def test_an_empty_text_has_no_sentence() -> None:
    assert sentences("") == sentences(" \n\n---\n") == ()


@given(st.text(alphabet=st.sampled_from(list("aB1 .!?\n-*|`#>:;,()[]\"'…。？\t\r\u2028é")), max_size=120))
def test_sentences_are_in_order_do_not_overlap_and_have_no_white_space_around_them(text: str) -> None:
    found = sentences(text)
    assert all(text[one.start : one.end] == text[one.start : one.end].strip() != "" for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))


@given(st.text(alphabet=st.sampled_from(list("aB1 .!?\n-*`;,é")), max_size=120))
def test_every_letter_and_digit_outside_list_markers_and_fences_stands_in_a_sentence(text: str) -> None:
    inside = {place for one in sentences(text) for place in range(one.start, one.end)}
    lost = [place for place, letter in enumerate(text) if letter in "aBé" and place not in inside]
    fences = "```" in text
    assert fences or not lost


def test_hostile_texts_take_time_linear_in_their_length() -> None:
    for text in ("." * 10**5 + "x", "?" * 10**5 + "x", "a" + " " * 10**5 + "b", "[" * 50_000, "!?" * 50_000 + "a"):
        begun = time.process_time()
        sentences(text)
        assert time.process_time() - begun < 5
