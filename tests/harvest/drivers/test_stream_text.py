"""Pieces that a server sends again are taken once, a model's own repetitions are kept, and doubts are said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.drivers.stream_text import StreamText, stream_text

ENGLISH = "Lund has two such shops: https://www.example.com/lund and one more."
JAPANESE = "ルンドには二つの店があります。https://www.example.com/lund ともう一つです。"


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _words(text: str) -> list[str]:
    return [word if place == 0 else f" {word}" for place, word in enumerate(text.split(" "))]


@pytest.mark.parametrize("text", [ENGLISH, JAPANESE, f"**Shops**\n\n- {ENGLISH}\n- {JAPANESE}"])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_repeated_text_is_read_once(text: str, size: int) -> None:
    pieces = _cut(text, size)
    again = {
        "the whole behind it": [*pieces, text],
        "the whole behind it, apart": [*pieces, f"\n\n{text}"],
        "the whole twice behind it": [*pieces, text, text],
        "each holds all before": list(accumulate(pieces)),
        "each holds all before, and the whole": [*accumulate(pieces), text],
        "each twice": [piece for piece in pieces for _ in range(2)],
    }
    if size < 7:  # few pieces that come twice can be a stammer
        assert stream_text(again["each twice"]) == StreamText(text, True)
    del again["each twice"]
    assert {how: stream_text(made) for how, made in again.items()} == dict.fromkeys(again, StreamText(text, True))
    assert stream_text(pieces) == StreamText(text)


@pytest.mark.parametrize("form", ["{}▍", "<p>{}</p>", "{} (writing…)"])
def test_a_text_that_grows_before_its_end_is_read_once(form: str) -> None:
    grown = [form.format(said) for said in accumulate(_words(ENGLISH))]
    whole = form.format(f"{ENGLISH} It is open.")
    assert stream_text([*grown, whole]) == StreamText(whole, True)
    few = ["We open…", "We open at nine…", "We open at nine on Sundays…", "We open at nine on Sundays and Mondays."]
    assert stream_text(few) == StreamText("".join(few), once=few[-1])
    lines = [f"- https://www.example.com/shops/{place}\n" for place in range(9)]
    assert stream_text(lines) == StreamText("".join(lines))


@pytest.mark.parametrize("broken_at", [5, 8, 9])
def test_a_stream_that_begins_again_counts_from_there(broken_at: int) -> None:
    pieces = _words(ENGLISH)
    begun = pieces[:broken_at]
    assert stream_text([*begun, *pieces]) == StreamText(ENGLISH, True)  # nothing stands between the two
    assert stream_text([*begun, " ", *pieces]) == StreamText("".join([*begun, " ", *pieces]))
    assert stream_text([*begun, " ", *pieces], {broken_at + 1}) == StreamText(ENGLISH, True)
    assert stream_text([*begun, *begun, *pieces]) == StreamText(ENGLISH, True)


FIRST, SECOND = "Row, row, row your boat,\n", "Gently down the stream.\n"
SHORE = "The ferry leaves the shore at dawn."
DOUBTFUL = {
    "a line twice": ([FIRST, FIRST], FIRST),
    "a line four times": ([FIRST] * 4, FIRST),
    "a line, and the line with more": ([FIRST, FIRST + SECOND], FIRST + SECOND),
    "a line twice without its end": ([SHORE, SHORE], SHORE),
    "two lines twice without their ends": ([SHORE, "Nobody waits.", SHORE, "Nobody waits."], f"{SHORE}Nobody waits."),
    "two lines, and the two in one": ([FIRST, SECOND, FIRST + SECOND], (FIRST + SECOND).strip()),
    "each of four lines twice": ([one for one in (FIRST, SECOND, SHORE, "Ho!") for _ in range(2)],
                                 FIRST + SECOND + SHORE + "Ho!"),
    "it grows once": (["It is ", "It is open."], "It is open."),
    "it grows twice": (["It", "It is", "It is open until nine."], "It is open until nine."),
    "a short text and the whole of it": (["It ", "is ", "open.", "It is open."], "It is open."),
}  # fmt: skip


@pytest.mark.parametrize("case", DOUBTFUL)
def test_a_possible_repetition_is_kept_in_doubt_until_a_complete_message_decides(case: str) -> None:
    pieces, once = DOUBTFUL[case]
    kept = "".join(pieces)
    assert stream_text(pieces) == StreamText(kept, once=once)
    assert stream_text(pieces, whole=f"{once} ") == StreamText(once, True)
    assert stream_text(pieces, whole=kept) == StreamText(kept)
    assert stream_text(pieces, whole="Other words.") == StreamText(kept, once=once)


def test_a_message_at_the_end_overrules_an_apparent_repetition() -> None:
    pieces = [*_words(ENGLISH), ENGLISH]
    assert stream_text(pieces, whole="".join(pieces)) == StreamText("".join(pieces))


@pytest.mark.parametrize(
    "pieces",
    [
        ["ha"] * 2,
        ["No. "] * 12,
        _words("I am stuck here. I am stuck here. I am stuck here. I am stuck here."),
        ["ab cd"] * 400,
        _words("What a day, what a day, what a day, what a day."),
        ["Yes, ", "yes, ", "yes, ", "I have seen ", "it."],
        [" ", " ", " "],
        [],
    ],
)
def test_possible_text_of_a_model_is_unchanged(pieces: list[str]) -> None:
    assert stream_text(pieces) == StreamText("".join(pieces))


@given(st.lists(st.text("ab .\n。", max_size=4), max_size=30), st.sets(st.integers(0, 30), max_size=3))
def test_the_text_is_never_more_than_what_arrived_and_nothing_is_invented(
    pieces: Sequence[str], restarts: set[int]
) -> None:
    found = stream_text(pieces, restarts)
    whole = "".join(pieces)
    assert found.text in whole
    assert found.once in whole
    assert found.repeated or found.text == whole


def test_a_long_stream_takes_time_in_proportion() -> None:
    assert stream_text(["word "] * 200_000).repeated is False
    assert stream_text(["ab cd"] * 50_000).repeated is False
