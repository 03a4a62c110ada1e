"""Years of a watch on Ember of the audit `demo-news`: its drift is found in the weeks that are planned, and years
without a drift hardly ever have an alarm."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from harvest.drivers.newsroom import Options, build
from harvest.systems.driver import Surroundings
from scoring.inference.smallest_fall import SmallestFall
from scoring.inference.watch_state import WatchState
from scoring.inference.watched_audit import JudgingRules, judge
from tests.support.newsroom_truth import belongs_to, demo_newsroom
from tests.support.watched_years import Floats, audit, baseline, upper
from topics.errors import InputError
from topics.identity import generator

RULES = JudgingRules(0.03, looks=52)
BLESSED, TRIALS = 4, 10  # as docs/demo-news.md blesses and plays


@cache
def shown(week: int, language: str) -> tuple[float, ...]:
    """The chance, by question, that an answer of Ember shows an authority."""
    newsroom, is_authority = demo_newsroom("drifting", week), belongs_to("kind", "authority")
    inside = np.array([is_authority(source) for source in newsroom.sources])
    none = [math.prod((1 - newsroom.chances(one.id, language)[inside]).tolist()) for one in newsroom.questions]
    return tuple((1 - newsroom.law.declines) * (1 - one) for one in none)


def confirmed(number: int, language: str, weeks: list[int]) -> int | None:
    """Which of the audited weeks confirms a change, from 1; None for none of them."""
    rng = generator(number, "watched newsroom", language, len(weeks))

    def played(week: int) -> Floats:
        return audit(np.array(shown(week, language)), TRIALS, 0.0, rng)

    known, state = baseline([played(1) for _ in range(BLESSED)]), WatchState()
    for look, week in enumerate(weeks):
        state = judge(state, known, list(played(week)), RULES, at=float(look)).state
        if state.is_changed:
            return look + 1
    return None


def falsely(years: int, language: str) -> float:
    return sum(confirmed(number, language, [1] * 52) is not None for number in range(years)) / years


def found(years: int, language: str) -> list[float]:
    """The audit from the drift on that confirms it, in each of so many years."""
    return [confirmed(number, language, [3] * 12) or math.inf for number in range(years)]


def test_the_drift_is_found_within_four_audits_in_four_cases_of_five_and_nothing_before_it() -> None:
    assert falsely(6, "en") == 0
    late = found(30, "en")
    assert sum(one <= 4 for one in late) >= 0.8 * len(late), "as the plan says"
    assert min(late) >= 2, "one audit alone is never enough"


def test_the_plan_that_is_printed_at_the_blessing_agrees() -> None:
    """A fall as large as the drift is one that four audits of this size are said to confirm."""
    rng = generator(0, "planned newsroom")
    good = np.array(shown(1, "en"))
    known = baseline([audit(good, TRIALS, 0.0, rng) for _ in range(BLESSED)])
    fall = SmallestFall(known, np.full(len(good), float(TRIALS)), RULES, make=lambda: generator(0, "smallest fall"))
    assert fall.confirmed < good.mean() - np.mean(shown(3, "en"))


@pytest.mark.soak
@pytest.mark.parametrize("language", ["en", "de"])
def test_in_a_thousand_years_the_drift_is_found_and_false_alarms_are_rare(language: str) -> None:
    false, late = falsely(1000, language), np.array(found(1000, language))
    middle, ninety = np.quantile(late, [0.5, 0.9], method="higher")
    print(
        f"{language}: false {false:.3f} ({upper(false, 1000):.3f}); confirmed by audit {middle:g}, 9 in 10 {ninety:g}"
    )
    assert upper(false, 1000) <= 0.05
    assert (late <= 4).mean() >= 0.8


def test_each_day_of_a_calendar_has_its_own_answers_and_the_third_week_is_the_third(tmp_path: Path) -> None:
    file, options = tmp_path / "day.txt", Options(profile="drifting", calendar="day.txt")
    drivers = {}
    for day in (1, 14, 15):
        file.write_text(f"{day}\n")
        drivers[day] = build(options, Surroundings("Ember", tmp_path))
    assert [one._newsroom.week for one in drivers.values()] == [1, 2, 3]
    assert len({one._purpose for one in drivers.values()}) == 3
    for text in ("", "0", "tomorrow", "1.5"):
        file.write_text(text)
        with pytest.raises(InputError, match=r"day\.txt: this is not the number of a day"):
            build(options, Surroundings("Ember", tmp_path))
