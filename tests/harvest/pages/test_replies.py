"""Replies of every kind on real interfaces: deep-chat each time with most of them, and three with all under the marker
`soak`. None is cut, nothing is added, and errors are never answers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Mapping

import pytest

from tests.harvest.pages.conftest import SharedInterface
from tests.support.interfaces import FURTHER, NAMES, Interface, interface
from tests.support.wishing import ANSWERS, FAULTS, SHORT_ANSWERS, Came, play

TOLD_LIMIT = ("deep-chat",)
"""Interfaces whose page, or whose requests, tell a limit from any other error."""


UNSHOWN = {"chainlit": {"llama3:latest": "llama3"}}
"""What an interface itself shows of an answer: Chainlit takes `:latest` for a directive, which is an empty element."""


FEW_ANSWERS = (
    "stream pause=0.2 pauses=5",
    "table count=12",
    "bubbles count=3 pause=0.5",
    "code",
    "long chars=20000",
    "quoting",
    "anchors pause=1",
)
FEW_SHORT = SHORT_ANSWERS[::22]
"""What the first interface answers with; under the marker `soak` every interface has all."""
NUMBERS = itertools.count()
"""No two turns that a back end hears are the same."""


@pytest.fixture(scope="module")
def came(shared_interface: SharedInterface) -> Mapping[str, Came]:
    """What came of each wish."""
    # Faults first: what never ends is then waited for while the others go on.
    return _all(shared_interface(NAMES[0]), (*FAULTS, *FEW_ANSWERS, *FEW_SHORT))


def _all(page: Interface, wishes: Iterable[str]) -> dict[str, Came]:
    turns = [f"scenario {wish} n={next(NUMBERS)}" for wish in wishes]
    return {one.wish: one for one in asyncio.run(play(page, turns, contexts=2, together=8))}


@pytest.mark.parametrize("wish", FEW_ANSWERS)
def test_replies_are_read_completely_and_nothing_else(came: Mapping[str, Came], wish: str) -> None:
    read_whole(came[wish])


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_answer_is_read_completely_on_every_interface(
    shared_interface: SharedInterface, name: str
) -> None:
    for one in _all(shared_interface(name), ANSWERS).values():
        read_whole(one)


def read_whole(one: Came) -> None:
    assert set(one.differences()) <= {"autolink"}
    assert not one.cut
    assert one.noise == ()
    assert one.reply is not None
    assert one.reply.turn.finish == "signs", "where no sign tells the end, each answer costs 4 s more"


@pytest.mark.parametrize("wish", FEW_SHORT)
def test_a_short_answer_is_read(came: Mapping[str, Came], wish: str) -> None:
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
def test_a_failed_turn_is_a_named_fault_and_never_an_answer(came: Mapping[str, Came], wish: str) -> None:
    named_fault(came[wish])


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_every_fault_is_named_on_every_interface(shared_interface: SharedInterface, name: str) -> None:
    came = _all(shared_interface(name), FAULTS)
    for one in came.values():
        named_fault(one)
    named_limit(name, came)


def named_fault(one: Came) -> None:
    assert one.reply is None, f"taken for an answer: {one.text!r}"
    assert one.fault is not None
    assert one.fault.reason in FAULTS[one.wish], f"{one.fault.reason}: {one.fault.detail}"
    if one.truth.pieces:
        assert f"Begin {one.truth.token}." in one.fault.partial, "what there was of the answer is kept as evidence"
    assert {exhibit.name for exhibit in one.fault.exhibits} >= {"screenshot", "page", "watch"}


def test_a_limit_is_named_as_one_if_the_page_shows_its_status(came: Mapping[str, Came]) -> None:
    named_limit(NAMES[0], came)


def named_limit(name: str, came: Mapping[str, Came]) -> None:
    fault = came["error status=429"].fault
    assert fault is not None
    assert fault.reason == ("rate-limit" if name in TOLD_LIMIT else "error")
