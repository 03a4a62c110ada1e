"""What only one side has is told, and what a page may change is no difference."""

import pytest

from harvest.pages.witness.comparison import LEAST_LIKENESS, Difference, Reading, difference
from harvest.pages.witness.letters import Plain, readings


def compared(page: str, wire: str) -> Difference:
    return difference(Plain.from_text(page), Plain.from_text(wire))


@pytest.mark.parametrize(
    ("page", "wire", "only_page", "only_wire"),
    [
        ("The museum is open until", "The museum is open until five", (), ("five",)),
        ("The museum is open until nin", "The museum is open until nine", (), ("nine",)),
        ("Opens. Closes at five.", "Opens. Mill 10 Boat 7 tonight Closes at five.", (), ("Mill 10 Boat 7 tonight",)),
        ("WHEN DOES IT OPEN? At nine.", "At nine.", ("WHEN DOES IT OPEN",), ()),
        ("No", "Not", (), ("Not",)),
        ("face", "It is open.", ("face",), ("It is open",)),
        ("図書館は九時", "図書館は九時に開きます", (), ("に開きます",)),
        ("", "A reply", (), ("A reply",)),
        ("old old", "old old old", (), ("old",)),
    ],
)
def test_text_on_only_one_side_is_reported(
    page: str, wire: str, only_page: tuple[str, ...], only_wire: tuple[str, ...]
) -> None:
    found = compared(page, wire)
    assert (found.how, found.page, found.wire) == ("other", only_page, only_wire)


@pytest.mark.parametrize(
    ("page", "wire"),
    [
        ("The same, words.", "The “same” words"),
        ("Some wordsrun together", "Some words run together"),
        ("Ask at *the* gate – twice", "Ask at the gate - **twice**"),
    ],
)
def test_spaces_marks_and_typography_are_not_a_difference(page: str, wire: str) -> None:
    assert compared(page, Plain.from_text(wire).shown).how == "equal"


@pytest.mark.parametrize(
    ("page", "wire", "only_page", "only_wire"),
    [
        ("Above Footnotes below that", "Above below that", ("Footnotes",), ()),
        ("It costs 5 EUR here", "It costs 5 € here", ("EUR",), ()),
        ("The ferry leaves on Sundays", "The ferry never leaves on Sundays", (), ("never",)),
        ("Choose and wait", "Choose Next and wait", (), ("Next",)),
        ("It is open. Anna The pier is closed", "It is open. The pier is closed", ("Anna",), ()),
        ("Turn left at the mill", "Turn right at the mill", ("left",), ("right",)),
        ("Add 34 of a cup", "Add 3/4 of a cup", (), ("3/4",)),
        ("It costs 1.5 million", "It costs 1,5 million", ("1.5",), ("1,5",)),
        ("Open 10:30 today", "Open 1030 today", ("10:30",), ()),
    ],
)
def test_one_word_in_the_middle_is_a_difference(
    page: str, wire: str, only_page: tuple[str, ...], only_wire: tuple[str, ...]
) -> None:
    found = compared(page, wire)
    assert (found.how, found.page, found.wire) == ("other", only_page, only_wire)


def test_words_of_the_user_at_the_beginning_are_ahead_of_everything() -> None:
    assert compared("CAFE TOO? It is open.", "It is open.").ahead
    assert not compared("It is open. Retry", "It is open.").ahead
    assert Reading(readings("WHEN DOES IT OPEN?\n\nYes."), "When does it open?").likeness("Yes") > 0.9


def test_a_page_that_shows_only_the_end_of_a_long_reply_is_still_similar() -> None:
    blocks = [f"Paragraph {number} tells of place {number * 37} by the river." for number in range(20)]
    reading = Reading(readings("\n\n".join(blocks[-3:])))
    assert reading.likeness(readings("\n\n".join(blocks))[0].letters) >= LEAST_LIKENESS
    assert reading.likeness("somethingelseentirelyaboutanotherplacealtogether") < LEAST_LIKENESS / 2
