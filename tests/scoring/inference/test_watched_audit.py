"""Words of an audit: none is denied by its interval, over simulated years with a change, its repair and another."""

import math
from collections import Counter

import numpy as np
import pytest

from scoring.inference.drift import Baseline
from scoring.inference.watch_state import WatchState
from scoring.inference.watched_audit import JudgingRules, judge
from tests.support.watched_years import (
    LOOKS,
    MATTERS,
    STORIES,
    Played,
    World,
    repaired,
    second_change,
    watched,
)
from topics.identity import generator

RULES = JudgingRules(MATTERS)
FLAT = Baseline(np.full(20, 0.8), np.full(20, 0.16), np.full(20, 80.0), np.array([0.8, 0.79, 0.81, 0.8]))


def trials(useful: int, of: int = 20) -> list[list[float]]:
    return [[1.0] * useful + [0.0] * (of - useful)] * 20


def test_a_fall_beyond_the_margin_is_named_before_it_is_an_alarm() -> None:
    found = judge(WatchState(), FLAT, trials(14), RULES, at=0.0)
    assert found.difference.high < -MATTERS
    assert max(found.state.levels) < 1
    assert (found.word(MATTERS), found.verdict) == ("fell", "cannot tell")
    risen = judge(WatchState(), FLAT, trials(18), RULES, at=0.0)
    assert risen.word(MATTERS) in ("rose", "cannot tell")


def test_a_small_difference_is_called_the_same_or_undecided() -> None:
    assert judge(WatchState(), FLAT, trials(16), RULES, at=0.0).word(MATTERS) == "cannot tell"
    assert judge(WatchState(), FLAT, trials(16), JudgingRules(0.1), at=0.0).word(0.1) == "same"


def test_a_fall_of_three_weeks_is_not_called_a_fall_once_it_is_over() -> None:
    """As somebody met it: the newest audits were at the baseline, and the word was *fell* for weeks."""
    state, words, began = WatchState(), list[str](), list[float]()
    for week, useful in enumerate([16, 14, 14, 14, 16, 16]):
        one = judge(state, FLAT, trials(useful), RULES, at=float(week))
        state = one.state
        words.append(one.word(MATTERS))
        began.append(state.began)
    assert words == ["cannot tell", "fell", "fell", "fell", "cannot tell", "cannot tell"]
    assert began[1:5] == [1.0] * 4


SMALL = World(8, 5, 0.0, 4, 0.85)


def fall_is_shown_together(world: World, means: list[float | None], number: int) -> bool:
    """Whether any look of a year says `fell` or `rose` by audits together that no interval of its own shows."""
    looks = watched(Played(world, generator(number, "together", str(world))), iter(means))
    return any(one.word(MATTERS) in ("fell", "rose") and not one.difference.is_beyond(MATTERS) for one in looks)


def test_audits_that_fell_equally_are_named_together_if_each_is_too_small() -> None:
    assert sum(fall_is_shown_together(SMALL, [0.68] * 4, number) for number in range(60)) >= 10


@pytest.mark.parametrize(
    ("world", "years"),
    [
        (World(15, 5, 0.15, 8), 12),
        pytest.param(SMALL, 12, marks=pytest.mark.soak),
        *(pytest.param(world, 100, marks=pytest.mark.soak) for world in (SMALL, World(15, 5, 0.15, 8))),
        pytest.param(World(45, 5, 0.15, 4), 100, marks=pytest.mark.soak),
    ],
    ids=str,
)
def test_without_a_change_few_years_have_combined_audits_that_fell(world: World, years: int) -> None:
    found = sum(fall_is_shown_together(world, [None] * LOOKS, number) for number in range(years))
    print(world, found, years)
    assert found <= (2 if years == 12 else 6), "at 2% of the years, 99 of 100 times"


def test_with_few_blessed_runs_a_fall_is_one_of_these_runs() -> None:
    few = Baseline(FLAT.means, FLAT.variances, FLAT.counts, FLAT.runs[:1])
    found = judge(WatchState(), few, trials(10), RULES, at=0.0)
    assert not found.difference.interval.is_defined
    assert found.seen.high < -MATTERS
    assert found.verdict == "cannot tell"


@pytest.mark.parametrize(("world", "low"), [STORIES[1], STORIES[5]], ids=str)
def test_after_a_repair_no_text_claims_a_change_and_none_contradicts_its_interval(world: World, low: float) -> None:
    found = [one for number in range(8) if (one := repaired(world, low, generator(number, "small story"), looks=20))]
    assert len(found) >= 6
    assert not any(one.denied for one in found)
    assert sum("changed" in one.said for one in found) <= 2, "of 8 at 5%, 99 of 100 times"
    first = Counter(one.said[0] for one in found)
    assert first["perhaps back"] + first["cannot tell"] >= len(found) - 2
    assert first["alarm"] == 0
    assert float(np.median([one.back for one in found])) <= 4


def test_a_second_change_is_found() -> None:
    looks = [second_change(World(45, 5, 0.0, 4), 0.45, 0.2, generator(number, "second"), 25) for number in range(6)]
    assert sum(one is not None and one <= 6 for one in looks) >= 5


def test_a_system_that_stays_changed_is_not_called_back() -> None:
    called = []
    for number in range(6):
        played = Played(World(8, 5, 0.15, 4, 0.9), generator(number, "stays"))
        called.append([one.word(MATTERS) for one in watched(played, iter([0.6] * 14))])
    assert sum("back" in words for words in called) <= 1
    assert sum("changed" in words for words in called) >= 5


@pytest.mark.soak
@pytest.mark.parametrize(("world", "low"), [*STORIES, (World(8, 5, 0.15, 2, 0.9), 0.6)], ids=str)
def test_a_thousand_years_with_a_change_and_its_repair(world: World, low: float) -> None:
    name = ("repair", str(world), round(100 * low))
    found = [one for number in range(1000) if (one := repaired(world, low, generator(number, *name))) is not None]
    late = sum("changed" in one.said for one in found) / len(found)
    print(world, low, len(found), late, Counter(one.said[0] for one in found).most_common())
    assert not any(one.denied for one in found)
    assert late <= 0.05 + 2.33 * math.sqrt(0.05 * 0.95 / len(found))


@pytest.mark.soak
@pytest.mark.parametrize(
    ("world", "low"), [(World(8, 5, 0.15, 4, 0.9), 0.6), (World(15, 5, 0.15, 8), 0.45), (World(45, 5, 0.15, 4), 0.45)]
)
def test_a_year_that_stays_changed_is_seldom_called_back(world: World, low: float) -> None:
    called = 0
    for number in range(300):
        played = Played(world, generator(number, "a year that stays", str(world)))
        called += any(one.word(MATTERS) == "back" for one in watched(played, iter([low] * LOOKS)))
    print(world, called)
    assert called <= 24, "of 300 at 5%, 99 of 100 times"
