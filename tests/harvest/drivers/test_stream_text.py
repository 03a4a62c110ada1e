"""Pieces that come again are taken once, and a model's own repetitions are left as they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.drivers.stream_text import told_once

ENGLISH = "Lund has two such shops: https://www.example.com/lund and one more."
JAPANESE = "ルンドには二つの店があります。https://www.example.com/lund ともう一つです。"


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _words(text: str) -> list[str]:
    return [word if place == 0 else f" {word}" for place, word in enumerate(text.split(" "))]


@pytest.mark.parametrize("text", [ENGLISH, JAPANESE, f"**Shops**\n\n- {ENGLISH}\n- {JAPANESE}"])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_what_comes_again_is_taken_once(text: str, size: int) -> None:
    pieces = _cut(text, size)
    again = {
        "the whole behind it": [*pieces, text],
        "the whole behind it, apart": [*pieces, f"\n\n{text}"],
        "the whole twice behind it": [*pieces, text, text],
        "each holds all before": list(accumulate(pieces)),
        "each holds all before, and the whole": [*accumulate(pieces), text],
        "the whole alone, twice": [text, text],
        "each twice": [piece for piece in pieces for _ in range(2)],
    }
    if size < 7:  # few pieces that come twice can be a stammer
        assert told_once(again["each twice"]) == (text, True)
    del again["each twice"]
    assert {how: told_once(made) for how, made in again.items()} == dict.fromkeys(again, (text, True))
    assert told_once(pieces) == (text, False)


@pytest.mark.parametrize("broken_at", [5, 8, 9])
def test_a_stream_that_begins_again_counts_from_there(broken_at: int) -> None:
    pieces = _words(ENGLISH)
    begun = pieces[:broken_at]
    assert told_once([*begun, *pieces]) == (ENGLISH, True)  # nothing stands between the two
    assert told_once([*begun, " ", *pieces]) == ("".join([*begun, " ", *pieces]), False)
    assert told_once([*begun, " ", *pieces], {broken_at + 1}) == (ENGLISH, True)
    assert told_once([*begun, *begun, *pieces]) == (ENGLISH, True)


@pytest.mark.parametrize(
    "pieces",
    [
        ["ha"] * 2,
        ["No. "] * 12,
        _words("I am stuck here. I am stuck here. I am stuck here. I am stuck here."),
        ["ab cd"] * 400,
        _words("What a day, what a day, what a day, what a day."),
        ["Yes, ", "yes, ", "yes, ", "I have seen ", "it."],
        ["a", "ab"],
        [" ", " ", " "],
        [],
    ],
)
def test_what_a_model_may_say_is_left_as_it_is(pieces: list[str]) -> None:
    assert told_once(pieces) == ("".join(pieces), False)


@given(st.lists(st.text("ab .\n。", max_size=4), max_size=30), st.sets(st.integers(0, 30), max_size=3))
def test_the_text_is_never_more_than_what_came_and_nothing_is_made_up(
    pieces: Sequence[str], restarts: set[int]
) -> None:
    text, again = told_once(pieces, restarts)
    whole = "".join(pieces)
    assert text in whole
    assert again or text == whole


def test_a_long_stream_takes_time_in_proportion() -> None:
    assert told_once(["word "] * 200_000)[1] is False
    assert told_once(["ab cd"] * 50_000)[1] is False
