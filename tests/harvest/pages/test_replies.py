"""Replies of every kind on three real interfaces: none is cut, nothing is added, and errors are never answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.support.interfaces import FURTHER, NAMES, Interface, interface
from tests.support.wishing import ANSWERS, FAULTS, SHORT_ANSWERS, Came, play

TOLD_LIMIT = ("deep-chat",)
"""Interfaces whose page, or whose requests, tell a limit from any other error."""


UNSHOWN = {"chainlit": {"llama3:latest": "llama3"}}
"""What an interface itself shows of an answer: Chainlit takes `:latest` for a directive, which is an empty element."""

SOME_SHORT = SHORT_ANSWERS[::9]
"""All of them are played under the marker `soak`."""


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Of the interface."""
    return str(request.param)


@pytest.fixture(scope="module")
def came(name: str) -> Iterator[dict[str, Came]]:
    """What came of each wish, on one interface."""
    with interface(name) as page:
        yield _all(page)


def _all(page: Interface) -> dict[str, Came]:
    # Faults first: what never ends is then waited for while the others go on.
    wishes = (*FAULTS, *ANSWERS, *SOME_SHORT)
    turns = [f"scenario {wish} n={place}" for place, wish in enumerate(wishes)]
    return {one.wish: one for one in asyncio.run(play(page, turns, contexts=4, together=4))}


@pytest.mark.parametrize("wish", ANSWERS)
def test_what_is_answered_is_read_whole_and_nothing_else(came: dict[str, Came], wish: str) -> None:
    one = came[wish]
    assert set(one.differences()) <= {"autolink"}
    assert not one.cut
    assert one.noise == ()
    assert one.reply is not None
    assert one.reply.turn.finish == "signs", "where no sign tells the end, each answer costs 4 s more"


@pytest.mark.parametrize("wish", SOME_SHORT)
def test_a_short_answer_is_read(came: dict[str, Came], wish: str) -> None:
    assert came[wish].text == came[wish].truth.answer, came[wish].fault


@pytest.mark.soak
@pytest.mark.parametrize("any_name", [*NAMES, *FURTHER])
def test_every_short_answer_is_read(any_name: str) -> None:
    with interface(any_name) as page:
        turns = [f"scenario {wish} n={place}" for place, wish in enumerate(SHORT_ANSWERS)]
        came = asyncio.run(play(page, turns, contexts=4, together=8))
    wrong = {one.truth.answer: one.fault or one.text for one in came if one.text != one.truth.answer}
    assert (len(came), wrong) == (len(SHORT_ANSWERS), UNSHOWN.get(any_name, {}))


@pytest.mark.parametrize("wish", FAULTS)
def test_what_comes_to_nothing_is_a_named_fault_and_never_an_answer(came: dict[str, Came], wish: str) -> None:
    one = came[wish]
    assert one.reply is None, f"taken for an answer: {one.text!r}"
    assert one.fault is not None
    assert one.fault.reason in FAULTS[wish], f"{one.fault.reason}: {one.fault.detail}"
    if one.truth.pieces:
        assert f"Begin {one.truth.token}." in one.fault.partial, "what there was of the answer is kept as evidence"
    assert {exhibit.name for exhibit in one.fault.exhibits} >= {"screenshot", "page", "watch"}


def test_a_limit_is_named_as_one_where_the_page_lets_its_status_be_seen(name: str, came: dict[str, Came]) -> None:
    fault = came["error status=429"].fault
    assert fault is not None
    assert fault.reason == ("rate-limit" if name in TOLD_LIMIT else "error")


def test_a_fault_is_told_within_its_time(came: dict[str, Came]) -> None:
    """Some pages stay busy for ever after an error; nobody waits for that for as long as an answer may take."""
    slow = {wish: came[wish].returned - came[wish].truth.ended for wish in FAULTS}
    assert max(slow.values()) < 60, slow
