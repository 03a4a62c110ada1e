"""Which words of two texts differ: what is marked, and that marking hides and invents nothing."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from harvest.studies.pairs.beside import WordDifferences, compare_words


def parts(text: str, spans: tuple[tuple[int, int], ...]) -> list[str]:
    return [text[start:end] for start, end in spans]


def test_whole_words_are_marked_and_counted() -> None:
    left, right = "Dune came out in 2021, on IMDb.", "Arrival came out in 2016, on IMDb."
    found = compare_words(left, right)
    assert (parts(left, found.left), parts(right, found.right)) == (["Dune", "2021"], ["Arrival", "2016"])
    assert found.common == 14 / 18  # seven of nine words on each side, punctuation with them


def test_an_address_is_one_word_and_so_is_a_word_with_an_apostrophe() -> None:
    left, right = "See https://imdb.com/title/tt1/ — it's good", "See https://imdb.com/title/tt2/ — it isn't good"
    found = compare_words(left, right)
    assert parts(left, found.left) == ["https://imdb.com/title/tt1/", "it's"]
    assert parts(right, found.right) == ["https://imdb.com/title/tt2/", "it isn't"]


def test_letters_of_scripts_without_blanks_are_words() -> None:
    left, right = "映画を五本挙げます。", "映画を三本挙げました。"
    found = compare_words(left, right)
    assert (parts(left, found.left), parts(right, found.right)) == (["五", "す"], ["三", "した"])


def test_white_space_is_not_a_word() -> None:
    assert compare_words("one  two\n\nthree", "one two three\n") == WordDifferences((), (), 1.0)
    nothing = compare_words(" \n", "")
    assert (nothing.left, nothing.right, nothing.compared) == ((), (), True)
    assert math.isnan(nothing.common)
    assert compare_words("", "all of it") == WordDifferences((), ((0, 9),), 0.0)


def test_texts_that_would_take_too_long_are_not_compared_unless_they_are_nearly_equal() -> None:
    left, right = "a b " * 3000 + "c", "b a " * 3000 + "c"
    found = compare_words(left, right)
    assert (found.left, found.right, found.compared) == ((), (), False)
    assert math.isnan(found.common)
    one_more = compare_words(left, "a b " * 1500 + "more " + "a b " * 1500 + "c")
    assert parts("a b " * 1500 + "more " + "a b " * 1500 + "c", one_more.right) == ["more"]


WORDS = st.lists(st.sampled_from(["a", "b", "the", "漢", "https://x.org/a", ",", "don't"]), max_size=12).map(" ".join)


@given(WORDS, WORDS)
def test_unmarked_text_is_the_same_on_both_sides(left: str, right: str) -> None:
    found = compare_words(left, right)

    def unmarked(text: str, spans: tuple[tuple[int, int], ...]) -> list[str]:
        for start, end in reversed(spans):
            text = text[:start] + " " + text[end:]
        return text.split()

    assert unmarked(left, found.left) == unmarked(right, found.right)
    kept, words = len(unmarked(left, found.left)), len(left.split()) + len(right.split())
    assert math.isnan(found.common) if not words else found.common == 2 * kept / words
