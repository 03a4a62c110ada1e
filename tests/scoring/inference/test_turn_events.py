"""Events in turns: compared within strata and over topics; nothing is found where sides are alike, however hostile."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from scoring.inference.turn_events import Contrast, TurnCase, effect_of_events, event_table
from scoring.inference.turn_events import compare_events as compare_tables
from tests.support.kept_cells import keep_cells

Sides = tuple[list[TurnCase], list[TurnCase]]


def case(
    topic: str, conversation: object, stratum: object, happened: bool | None, useful: bool | None = None
) -> TurnCase:
    return TurnCase(topic, str(conversation), str(stratum), happened, useful)


def compare_events(
    first: list[TurnCase], second: list[TurnCase], rng: np.random.Generator, *, clusters: dict[str, str] | None = None
) -> Contrast:
    return compare_tables(event_table(first), event_table(second), rng, clusters=clusters)


def world(
    rng: np.random.Generator,
    topics: int,
    *,
    lengths: tuple[int, int] = (3, 3),
    rare: bool = False,
    goes_on: bool = False,
    frail: bool = False,
    lift: float = 0.0,
) -> Sides:
    """Four trials of each topic with two sides; topics are unlike prone. lengths: mean turns of each side. goes_on:
    what happened once happens in all later turns. frail: conversations are unlike, too. lift: of the second side."""
    prone = np.full(topics, 0.02) if rare else rng.beta(0.5, 4.5, topics)
    sides: Sides = ([], [])
    for topic, trial, side in np.ndindex(topics, 4, 2):
        chance = rng.beta(0.3, 2.7) if frail else prone[topic]
        happened = False
        for turn in range(1 + rng.poisson(lengths[side] - 1)):
            happened = bool(rng.random() < chance + lift * side) or (goes_on and happened)
            sides[side].append(case(f"T{topic}", (side, topic, trial), turn, happened))
    return sides


WORLDS: dict[str, dict[str, object]] = {
    "topics unlike prone": {},
    "rare, and unlike lengths": {"rare": True, "lengths": (1, 6)},
    "unlike lengths": {"lengths": (1, 6)},
    "goes on, and unlike lengths": {"goes_on": True, "lengths": (1, 6)},
    "frail conversations": {"frail": True},
}


@pytest.mark.parametrize("topics", [4, 10, 30])
@pytest.mark.parametrize("name", keep_cells(WORLDS, "rare, and unlike lengths"))
def test_similar_sides_are_seldom_told_apart(name: str, topics: int) -> None:
    rng = np.random.default_rng(5)
    made: Callable[..., Sides] = world
    found = [compare_events(*made(rng, topics, **WORLDS[name]), rng).p for _ in range(120)]
    assert sum(p <= 0.05 for p in found) <= 12  # 5% of 120, and three standard errors more


@pytest.mark.parametrize("name", ["topics unlike prone", "goes on, and unlike lengths"])
def test_a_side_with_more_events_is_found(name: str) -> None:
    rng = np.random.default_rng(6)
    made: Callable[..., Sides] = world
    found = [compare_events(*made(rng, 12, lift=0.3, **WORLDS[name]), rng) for _ in range(20)]
    assert sum(one.p <= 0.05 for one in found) >= 15
    assert all(one.difference < 0 for one in found), "of the first side minus the second"


def test_topics_that_always_give_the_same_answer_do_not_count_as_many_trials() -> None:
    """A side is all or nothing in a topic, by chance: within topics alone, p would be .0004 or so."""
    rng, found = np.random.default_rng(7), []
    for _ in range(60):
        sides: Sides = ([], [])
        for topic, side in np.ndindex(8, 2):
            always = bool(rng.random() < 0.5)
            sides[side].extend(case(f"T{topic}", (side, topic, trial), 1, always) for trial in range(4))
        found.append(compare_events(*sides, rng).p)
    assert sum(p <= 0.05 for p in found) <= 8


def test_only_the_first_time_in_a_conversation_counts() -> None:
    rng = np.random.default_rng(1)
    first = [case("T", (1, trial), turn, turn > 1) for trial in range(3) for turn in (1, 2, 3)]
    second = [case("T", (2, trial), turn, False) for trial in range(3) for turn in (1, 2, 3)]
    found = compare_events(first, second, rng)
    assert found.n == (6, 9)
    assert found.topics == 1
    unknown = compare_events([case("T", 1, 1, None)], second, rng)
    assert unknown.n == (0, 9)
    assert math.isnan(unknown.p)


def test_clusters_of_topics_are_exchanged_whole() -> None:
    rng = np.random.default_rng(2)
    first = [case(f"T{topic}", topic, 1, True) for topic in range(12)]
    second = [case(f"T{topic}", (2, topic), 1, False) for topic in range(12)]
    alone = compare_events(first, second, rng)
    together = compare_events(first, second, rng, clusters={f"T{topic}": f"c{topic // 2}" for topic in range(12)})
    assert alone.p < 0.001
    assert together.p == pytest.approx(2 / 2**6)


def test_a_correlate_of_an_event_is_compared_within_topic_and_turn() -> None:
    rng = np.random.default_rng(3)
    cases = [
        case(f"T{topic}", (topic, trial), turn, trial < 2, useful=trial >= 2 or trial == 0)
        for topic in range(10)
        for trial in range(4)
        for turn in (1, 2)
    ]
    found = effect_of_events(cases, rng)
    assert found.difference == pytest.approx(-0.5)
    assert found.n == (40, 40)
    assert found.p < 0.05
    nothing = effect_of_events([case("T", 1, 1, True, None)], rng)
    assert math.isnan(nothing.p)
    assert nothing.n == (0, 0)
