"""Differences between users: seldom found where users are alike, and found where they are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from harvest.studies.validity.user_differences import (
    ADDED,
    KEPT,
    LEFT,
    LENGTH,
    WORDING,
    differing_rates,
    first_suspect_turns,
)
from harvest.studies.validity.worded_turns import WordedTurn
from recordings.conversations.conversation import TrialKey
from simulators.llm.faults import OWN_WORDS
from simulators.llm.prompting import FREE
from tests.support.kept_cells import keep_cells

Sides = tuple[list[WordedTurn], list[WordedTurn]]


def world(
    rng: np.random.Generator,
    *,
    topics: int = 12,
    useful: tuple[float, float] = (0.6, 0.6),
    act: str = "ask",
    goes_on: bool = False,
    chatty: float = 0.0,
    leaves: tuple[float, float] = (0.2, 0.05),
    adds: float = 0.0,
    drops: float = 0.0,
    leaves_more: float = 0.0,
) -> Sides:
    """Four trials of a topic with two systems, up to five turns. useful: of each system. goes_on: whether a
    conversation has a manner of its own in all its turns. chatty: how much longer turns are after a useless answer.
    leaves: after an answer that is useful, and that is not. The last three: what users of the second system do besides,
    from the second turn on."""
    sides: Sides = ([], [])
    for topic in range(topics):
        ease, manner = rng.normal(0, 0.2), rng.beta(2, 6)
        for trial, side in np.ndindex(4, 2):
            own, heard = rng.normal(0, 0.3) if goes_on else 0.0, ""
            for number in range(1, 6):
                odd = side == 1 and number > 1
                noise = rng.normal(0, 0.2) + own + chatty * (heard[-1:] == "x")
                added = float(np.clip(manner + noise / 2 + (adds if odd else 0), 0, 1))
                kept = float(np.clip(rng.beta(8, 2) - (drops if odd else 0), 0, 1))
                label = "o" if rng.random() < useful[side] + ease else "x"
                chance = leaves[label == "x"] + (leaves_more if odd else 0)
                left = bool(rng.random() < chance) if act == FREE else None
                key = TrialKey("AB"[side], f"T{topic}", trial)
                turn = WordedTurn(key, number, act, label, "", kept, {}, added=added, length=noise + added)
                sides[side].append(replace(turn, words=9, heard=heard, left=left))
                heard += label
                if left or rng.random() < 0.1:
                    break
    return sides


def found(sides: Sides) -> set[str]:
    return {rate for rate, _ in differing_rates(*sides, {}, "A", "B")}


HONEST: Mapping[str, Mapping[str, object]] = {
    "alike": {},
    "few topics": {"topics": 7},
    "many topics": {"topics": 24},
    "conversations with a manner of their own": {"goes_on": True},
    "unlike systems": {"useful": (0.8, 0.3)},
    "unlike systems, and turns that are longer after useless answers": {
        "useful": (0.8, 0.3),
        "chatty": 0.5,
        "act": FREE,
        "goes_on": True,
    },
    "unlike systems, and users who leave by what they heard": {"useful": (0.8, 0.3), "act": FREE},
    "unlike systems with users who leave soon": {"useful": (0.7, 0.4), "act": FREE, "leaves": (0.5, 0.2)},
}


@pytest.mark.parametrize(
    "name", keep_cells(HONEST, "few topics", "unlike systems, and turns that are longer after useless answers")
)
def test_honest_users_are_seldom_told_apart(name: str) -> None:
    rng = np.random.default_rng(11)
    wrong = sum(bool(found(world(rng, **HONEST[name]))) for _ in range(60))  # type: ignore[arg-type]
    assert wrong <= 8  # 5% of 60, and three standard errors more


UNLIKE: Mapping[str, tuple[Mapping[str, object], set[str]]] = {
    "adds words": ({"adds": 0.2}, {ADDED}),
    "leaves words out": ({"drops": 0.2}, {KEPT}),
    "leaves": ({"act": FREE, "leaves_more": 0.5, "topics": 24}, {LEFT}),
    "adds words, of a free model": ({"act": FREE, "adds": 0.2}, {ADDED}),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_users_who_do_something_else_are_found(name: str) -> None:
    rng = np.random.default_rng(12)
    options, rates = UNLIKE[name]
    seen = [found(world(rng, **options)) for _ in range(20)]  # type: ignore[arg-type]
    assert sum(one == rates for one in seen) >= 16


def test_bounds_begin_where_words_may_differ() -> None:
    key = TrialKey("A", "T", 1)
    same = WordedTurn(key, 1, "ask", "o", "", 1.0, {}, added=0.0, length=0.0, as_meant=True)
    other = replace(same, number=2, added=0.5, as_meant=False, heard="o")
    faulty = replace(other, number=3, fault="leak")
    for rate in WORDING:
        assert first_suspect_turns([same, other, faulty], [same], rate) == {key: 2}
        assert first_suspect_turns([same, faulty], [same], rate) == {}
    free = [replace(same, act=FREE, as_meant=False), replace(other, act=FREE)]
    assert first_suspect_turns(free, free, LENGTH) == {key: 2}, "nothing was heard before the first turn"
    assert first_suspect_turns(free, [replace(free[0], model="another")], LENGTH) == {key: 1}
    left = [replace(free[0], left=False), replace(free[1], left=True)]
    assert first_suspect_turns(left, [], LEFT) == {key: 3}, "the answer with which the user left is known"


def test_the_policys_own_words_are_not_a_difference_if_all_turns_have_them() -> None:
    """A model that says what was meant as it is, and one that fails: both users say the same."""

    def sides(*, as_meant: bool) -> Sides:
        found: Sides = ([], [])
        for topic, trial, side in np.ndindex(12, 4, 2):
            fails = bool(trial) and side == 0
            key, fault = TrialKey("AB"[side], f"T{topic}", trial), OWN_WORDS if fails else ""
            turn = WordedTurn(key, 1, "ask", "o", fault, 1.0, {}, added=0.0, length=0.0, as_meant=as_meant or fails)
            found[side].append(turn)
        return found

    assert found(sides(as_meant=False)) == {OWN_WORDS}
    assert found(sides(as_meant=True)) == set()
    assert first_suspect_turns(*sides(as_meant=True), OWN_WORDS) == {}
    assert len(first_suspect_turns(*sides(as_meant=False), OWN_WORDS)) == 36
