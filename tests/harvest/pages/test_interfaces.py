"""Answers of every kind on chat pages that others wrote, read by an address alone: nothing is cut, added, lost, thrown
out or sent twice, a short answer does not take long, and four windows are not far from a loop by hand."""

from __future__ import annotations

import asyncio
import math

import pytest

from tests.support.interface_count import HEAD, SELECTORS, Count, Heard, by_hand, count, turns, words
from tests.support.interfaces import NEW, SOCKETS, Truth, interface
from tests.support.wishing import quantile

LAG = 4.0
QUICK = (SOCKETS[1], *NEW[-2:])
"""Those that are soon there."""


def told(found: Count) -> str:
    """The row of a count and what is wrong in it, for whoever reads a failed test, or a long one."""
    row = " | ".join(f"{name} {cell}" for name, cell in zip(HEAD, found.cells(), strict=True))
    return "\n".join(["", row, *found.complaints()])


def nothing_wrong(found: Count) -> None:
    print(told(found))
    assert [one for one in found.heard if one.fault or one.truth is None or one.foreign or one.missing] == []
    assert found.twice == 0


def soon_enough(found: Count) -> None:
    assert quantile(found.waits, 0.5) <= 0.6
    assert quantile(found.waits, 0.95) <= 2.5
    assert max(found.waits) <= 5


@pytest.mark.parametrize("name", QUICK)
def test_a_few_answers_are_read_completely_and_alone(name: str) -> None:
    with interface(name) as page:
        found = asyncio.run(count(page, turns(name, 6), windows=2))
    nothing_wrong(found)
    assert max(found.waits) <= 10, (
        "a machine with much to do is slow, but what waits for the end of a time-out is slower"
    )


@pytest.mark.soak
@pytest.mark.parametrize("name", SELECTORS)
def test_sixty_answers_are_read_completely_and_alone(name: str) -> None:
    with interface(name) as page:
        found = asyncio.run(count(page, turns(name, 60)))
    nothing_wrong(found)
    soon_enough(found)


@pytest.mark.soak
@pytest.mark.parametrize("name", SELECTORS)
def test_sixty_answers_are_read_completely_and_alone_despite_a_lag(name: str) -> None:
    with interface(name) as page:
        nothing_wrong(asyncio.run(count(page, turns(name, 60), windows=4, lag=LAG)))


@pytest.mark.soak
@pytest.mark.parametrize("name", SELECTORS)
def test_four_windows_are_three_quarters_as_fast_as_a_manual_loop(name: str) -> None:
    with interface(name) as page:
        own = asyncio.run(count(page, turns(name, 60, "one", pauses=False), windows=4))
        hand = asyncio.run(count(page, turns(name, 60, "two", pauses=False), by_hand, windows=4))
    print(told(own), "by hand:", told(hand), f"ratio {hand.seconds / own.seconds:.2f}", sep="\n")
    nothing_wrong(own)
    assert hand.thrown_out == [], "a loop that finds nothing is no measure"
    assert hand.seconds / own.seconds >= 0.75


def heard(written: str, read: str) -> Heard:
    truth = Truth("s", 1, "hello", "prose", "say", "", written, (written,), (), 0.0, ((1.0, 9),), 1.0, 1.0, "complete")
    return Heard("hello", read, frozenset(), "", 3.0, truth)


@pytest.mark.parametrize(
    ("read", "cut", "foreign", "missing"),
    [
        ("One **bold** word.", False, [], []),
        ("One bold word.", False, [], []),
        ("One bold", True, [], ["word", "."]),
        ("", False, [], ["One", "bold", "word", "."]),
        ("Bot One bold word.", False, ["Bot"], []),
        ("One word.", False, [], ["bold"]),
        ("hello", True, ["hello"], ["One", "bold", "word", "."]),
    ],
)
def test_truncated_added_or_lost_words_are_counted(
    read: str, cut: bool, foreign: list[str], missing: list[str]
) -> None:
    one = heard("One *bold* word.", read)
    assert (one.cut, one.foreign, one.missing, one.wait) == (cut, foreign, missing, 2.0)


def test_the_signs_of_markdown_are_not_words() -> None:
    table = "| Name | Square |\n| --- | --- |\n| a_b | 4 |"
    assert words(f"# See\n\n{table}\n\n1. [the guide](https://e.org/a_(b)#c)\n- `tea`\n```python\nx\n```") == [
        *("See", "Name", "Square", "a", "b", "4", "the", "guide", "tea", "x"),
    ]


def test_a_turn_that_reached_nobody_has_no_wait() -> None:
    assert math.isnan(Heard("hello", "", None, "no-reply", 3.0, None).wait)
