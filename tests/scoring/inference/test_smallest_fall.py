"""The smallest fall that a watch finds is that of its own rule: every drawn audit is judged by the watch itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.inference.drift import Baseline, difference
from scoring.inference.smallest_fall import (
    WANTED,
    SmallestFall,
    draw_audits,
    fall_power,
    more_runs,
    more_trials,
    trials_for_same,
)
from scoring.inference.watch_state import WatchState
from scoring.inference.watched_audit import JudgingRules, judge
from tests.support.kept_cells import keep_cells
from tests.support.watched_years import MATTERS, RULES, Played, World
from topics.identity import generator


def shares_of_the_watch(
    baseline: Baseline, trials: np.ndarray, fall: float, rules: JudgingRules
) -> tuple[float, float]:
    """The shares of alarms at the first audit and of changes that `judge` finds in the audits that are drawn."""
    drawn = draw_audits(baseline, trials, fall, generator(5, "falls"), audits=4)
    ends = np.cumsum(trials.astype(int))[:-1]
    alarms = changes = 0
    for audits in drawn:
        state, names = WatchState(), list[str]()
        for week, audit in enumerate(audits):
            state = judge(state, baseline, np.split(audit, ends), rules, at=float(week)).state
            names.append(state.name)
        alarms += names[0] == "alarm"
        changes += "changed" in names
    return alarms / len(drawn), changes / len(drawn)


@pytest.mark.parametrize(
    ("world", "trials", "fall", "share"),
    keep_cells(
        [
            (World(8, 5, 0.0, 4, 0.85), 5, 0.25, 1.0),
            (World(12, 10, 0.1, 8, 0.9), 10, 0.12, 0.5),
            (World(20, 1, 0.15, 6, 0.5), 1, 0.35, 1.0),
            (World(6, 12, 0.3, 4, 0.7), None, 0.3, 1.0),
        ],
        1,
        3,
    ),
)
def test_falls_are_found_as_often_as_the_watch_finds_them(
    world: World, trials: int | None, fall: float, share: float
) -> None:
    known = Played(world, generator(2, "baseline")).known
    each = np.full(world.size, float(trials)) if trials else np.arange(2.0, 2.0 + world.size)
    rules = JudgingRules(MATTERS, looks=26, share=share)
    power = fall_power(known, each, fall, rules, generator(5, "falls"))
    assert (power.alarm, power.confirmed) == shares_of_the_watch(known, each, fall, rules)
    assert 0.1 < power.confirmed < 1


@pytest.mark.parametrize("world", [World(12, 10, 0.05, 8, 0.9), World(20, 20, 0.0, 6, 0.5)])
def test_the_promised_trials_call_an_unchanged_system_the_same(world: World) -> None:
    """By the rule of the watch itself, in the worlds that the baseline is from: what is the truth is not known to it,
    so that the share over baselines lies near what is wanted, and far above that of half the trials."""
    matters, shares = 0.05, []
    for few in (1, 4):
        said = tried = 0
        for number in range(60):
            rng = generator(number, "the same", str(world))
            played = Played(world, rng)
            trials = trials_for_same(played.known, matters)
            if not trials:
                continue
            cells = played.trials(played.hour(world.mean), max(2, trials // few))
            said += difference(played.known, list(cells), matters=matters, level=0.95).same
            tried += 1
        assert tried >= 20
        shares.append(said / tried)
    assert 0.65 <= shares[0] <= 0.95
    assert shares[1] < shares[0] - 0.2


def test_a_poorly_known_baseline_calls_nothing_the_same() -> None:
    known = Played(World(8, 5, 0.3, 4, 0.6), generator(1, "little")).known
    assert trials_for_same(known, 0.03) == 0


def test_values_between_0_and_1_vary_as_in_the_baseline() -> None:
    means, variances = np.array([0.5, 0.7, 0.9]), np.array([0.02, 0.03, 0.01])
    known = Baseline(means, variances, np.full(3, 400.0), np.array([0.7, 0.7, 0.7, 0.7]))
    drawn = draw_audits(known, np.full(3, 50.0), 0.2, generator(0, "values"), audits=4)
    assert not np.isin(drawn, (0.0, 1.0)).all()
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)
    topic = drawn[..., :50]
    moved = topic.mean()
    assert topic.var() == pytest.approx(0.02 / 0.25 * moved * (1 - moved), rel=0.15)


def fall_of(known: Baseline, trials: float) -> SmallestFall:
    return SmallestFall(known, np.full(len(known.means), trials), RULES, make=lambda: generator(0, "smallest"))


def test_the_smallest_fall_is_the_first_that_is_found_and_takes_less_with_more_trials() -> None:
    known = Played(World(12, 10, 0.1, 4, 0.85), generator(1, "baseline")).known
    found = fall_of(known, 10.0)
    assert found.power(found.confirmed).confirmed >= WANTED > found.power(found.confirmed - 0.01).confirmed
    assert found.power(found.alarm).alarm >= WANTED
    assert found.alarm > found.confirmed
    assert fall_of(more_trials(known, 4), 40.0).confirmed < found.confirmed
    assert fall_of(more_runs(known, 4), 10.0).confirmed <= found.confirmed


def test_no_fall_is_found_if_there_is_no_room_for_one() -> None:
    low = Baseline(np.full(5, 0.06), np.full(5, 0.05), np.full(5, 40.0), np.array([0.05, 0.07, 0.06, 0.06]))
    found = fall_of(low, 10.0)
    assert math.isnan(found.confirmed)
    assert math.isnan(found.alarm)


@settings(max_examples=20)
@given(
    runs=st.lists(st.floats(0.2, 0.9), min_size=2, max_size=9),
    times=st.integers(2, 4),
)
def test_more_runs_differ_as_much_as_the_existing_ones(runs: list[float], times: int) -> None:
    known = Baseline(np.full(3, 0.5), np.full(3, 0.2), np.full(3, 8.0), np.array(runs))
    more = more_runs(known, times)
    assert len(more.runs) == times * len(runs)
    assert more.runs.mean() == pytest.approx(known.runs.mean())
    assert more.runs.var(ddof=1) == pytest.approx(known.runs.var(ddof=1))
    assert more.counts.tolist() == [8.0 * times] * 3
