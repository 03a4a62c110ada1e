"""Figures and verdicts on sources in hostile worlds: a cell of each here, all of them in soak; docs/calibration.md has
what was counted."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from tests.support.source_counts import (
    END,
    FAMILIES,
    HEAD,
    PAGE,
    WATCHED,
    Counted,
    count_intervals,
    count_verdicts,
    false_alarms,
    is_flagged,
    part,
    told_apart,
)
from tests.support.source_worlds import HIDING, SOURCE_SIZES, SOURCE_WORLDS, SourceWorld
from topics.identity import generator

SOAK = pytest.mark.soak


def check(found: Iterable[Counted]) -> None:
    assert [one for one in found if is_flagged(one)] == []


def world(name: str) -> SourceWorld:
    return next(one for one in SOURCE_WORLDS if str(one) == name)


@pytest.mark.parametrize(
    ("one", "size", "studies"),
    [
        pytest.param(world("few topics show one domain alone"), (15, 1), 60, id="few topics"),
        *(
            pytest.param(one, size, 300, marks=SOAK, id=f"{one} {size}")
            for one in SOURCE_WORLDS
            for size in SOURCE_SIZES
        ),
    ],
)
def test_intervals_cover_or_are_withheld(one: SourceWorld, size: tuple[int, int], studies: int) -> None:
    check(count_intervals(one, size, studies))


@pytest.mark.parametrize(
    ("one", "size", "studies"),
    [
        pytest.param(HIDING, (8, 2), 12, id="unequal loss"),
        *(
            pytest.param(one, size, 200, marks=SOAK, id=f"{one} {size}")
            for one in (*SOURCE_WORLDS, HIDING)
            for size in FAMILIES
        ),
    ],
)
def test_similar_systems_are_told_apart_rarely(one: SourceWorld, size: tuple[int, int], studies: int) -> None:
    check(count_verdicts(one, size, studies))


def test_systems_that_differ_are_told_apart() -> None:
    rng = generator(0, "unlike")
    ways = SOURCE_WORLDS[0], replace(SOURCE_WORLDS[0], silent=0.9)
    shown = [one.draw(rng, 15, 3)[0] for one in ways]
    values = np.array([one.figures["%sourced"][0] for one in shown])
    assert told_apart(SOURCE_WORLDS[0], shown, [values], "unlike", 1.0) == 1


@pytest.mark.parametrize(
    ("one", "years"),
    [
        pytest.param(world("topics have nothing in common"), 5, id="a few years"),
        *(pytest.param(one, 300, marks=SOAK, id=str(one)) for one in SOURCE_WORLDS),
    ],
)
def test_a_watch_of_an_unchanged_system_hardly_ever_alarms(one: SourceWorld, years: int) -> None:
    check([false_alarms(one, WATCHED, years)])


def test_the_page_has_every_world_and_none_is_flagged() -> None:
    section = PAGE.read_text(encoding="utf-8").partition(f"\n{HEAD}\n")[2].partition(f"\n{END}\n")[0]
    assert {str(one) for one in (*SOURCE_WORLDS, HIDING) if f"| {one} |" not in section} == set()
    assert "two standard errors: none" in " ".join(section.split())


def test_a_miss_is_flagged_with_its_size() -> None:
    good, bad = (Counted("a world", "domains", 8, 3, 100, 100, right) for right in (95, 80))
    wrong = Counted("a world", "alike, domains", 8, 3, 100, 100, 80)
    assert [is_flagged(one) for one in (good, bad, wrong)] == [False, True, True]
    assert "a world, domains, 8×3; a world, alike, domains, 8×3, of 3 cells" in " ".join(
        part([good, bad, wrong]).split()
    )
