"""Which topics carry a change: none where nothing changed or all did alike, those that fell, and one that rose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from scoring.inference.topic_changes import AuditTopics, TopicChanges, topic_changes
from tests.support.kept_cells import keep_cells
from tests.support.watched_years import Floats, Played, World, audit_topics, baseline, moved, with_mean
from topics.identity import generator

STRETCH = 3


def fell_alike(chances: Floats) -> Floats:
    return with_mean(chances, float(chances.mean()) - 0.15)


def fell_by_points(chances: Floats) -> Floats:
    return np.clip(chances - 0.15, 1e-3, 1 - 1e-3)


def five_fell(chances: Floats) -> Floats:
    return np.where(np.arange(len(chances)) < 5, 0.4, chances)


def one_fell_to_nothing(chances: Floats) -> Floats:
    return np.where(np.arange(len(chances)) < 1, 1e-4, chances)


def one_rose(chances: Floats) -> Floats:
    return np.where(np.arange(len(chances)) < 1, 0.99, fell_alike(chances))


def told(world: World, change: Callable[[Floats], Floats] | None, number: int) -> tuple[TopicChanges, Floats]:
    """What a stretch shows of a changed world, and its true differences."""
    rng = generator(number, "topics", str(world), change.__name__ if change else "")
    played = Played(world, rng)
    was = np.maximum(played.chances, 0.85 * (np.arange(world.size) < 5)) if change else played.chances
    was = np.where(np.arange(world.size) < 1, 0.3, was) if change is one_rose else was
    played.chances = was
    now = change(was) if change else was

    def audit(chances: Floats) -> Floats:
        """Two answers of a trial, as ave%useful has them."""
        here = moved(chances, float(rng.normal(0, world.spread)) + rng.normal(0, world.mixed, world.size))
        return (played.trials(here, world.trials) + played.trials(here, world.trials)) / 2

    known = baseline([audit(was) for _ in range(world.runs)])
    return topic_changes(known, [audit_topics(audit(now)) for _ in range(STRETCH)], rng), now - was


def counted(world: World, change: Callable[[Floats], Floats] | None, years: int) -> tuple[float, float, float, float]:
    """Shares: of worlds with a named topic, of those with one named that should not be, of topics rightly named, and of
    worlds whose intervals all hold the truth."""
    named = wrong = held = 0
    right = 0.0
    for number in range(years):
        found, true = told(world, change, number)
        only = 5 if change is five_fell else int(change in (one_fell_to_nothing, one_rose))
        named += bool(found.are_named.any())
        wrong += bool(found.are_named[only:].any()) and change is not one_rose
        right += float(found.are_named[:only].mean()) if only else 0.0
        held += bool(((found.low - 1e-9 <= true) & (true <= found.high + 1e-9)).all())
    return named / years, wrong / years, right / years, held / years


def test_five_of_fourteen_topics_that_fell_are_named_and_no_other() -> None:
    _, wrong, right, held = counted(World(14, 6, 0.15, 4, 0.85), five_fell, 30)
    assert wrong <= 0.05
    assert right >= 0.7
    assert held >= 0.93


@pytest.mark.parametrize("change", keep_cells([None, fell_alike], 1))
def test_if_nothing_or_everything_changed_equally_no_topic_is_named(change: Callable[[Floats], Floats] | None) -> None:
    named, _, _, held = counted(World(14, 6, 0.15, 4, 0.85), change, 60)
    assert 60 * named <= 7  # a rate of 5% has 8 or more of 60 in 1.0% of cases
    assert held >= 0.93


def test_one_topic_and_topics_without_trials() -> None:
    rng, known = generator(0, "one"), Played(World(1, 5, 0.0, 4), generator(0, "alone")).known
    alone = topic_changes(known, [audit_topics(np.zeros((1, 5)))], rng)
    assert not alone.are_named.any(), "a single topic is the whole figure"
    nothing = topic_changes(known, [AuditTopics(np.zeros(1), np.zeros(1), np.zeros(1))], rng)
    assert np.isnan([nothing.values[0], nothing.low[0], nothing.unequal]).all()


@pytest.mark.soak
@pytest.mark.parametrize("change", [None, fell_alike, fell_by_points, five_fell, one_fell_to_nothing, one_rose])
@pytest.mark.parametrize(
    "world",
    [
        World(14, 6, 0.15, 4, 0.85),
        World(8, 5, 0.15, 4, 0.85),
        World(45, 5, 0.15, 4, 0.85),
        World(15, 20, 0.3, 8),
        World(14, 6, 0.15, 8, mixed=0.5),
    ],
    ids=str,
)
def test_topics_of_hostile_worlds(world: World, change: Callable[[Floats], Floats] | None) -> None:
    named, wrong, right, held = counted(world, change, 400)
    print(f"{world}, {change.__name__ if change else 'no change'}: {named:.3f} {wrong:.3f} {right:.3f} {held:.3f}")
    assert held >= 0.93
    if change in (None, fell_alike, fell_by_points):
        assert named <= 0.07  # 5%, and two standard errors of 400 worlds
    else:
        assert wrong <= 0.07
