"""The state of a watch is made from what happened, one audit after the other."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scoring.inference.drift import Baseline, initial_evidence
from scoring.inference.watch_state import AuditResult, WatchState, advance, new_limits

LOUD = np.array([[12.0] * 12, [-9.0] * 12])
QUIET = np.full((2, 12), -9.0)
UP = LOUD[::-1]
DAY = 86400.0
BASELINE = Baseline(np.full(8, 0.8), np.full(8, 0.16), np.full(8, 80.0), np.full(4, 0.8))


def around(value: float, own: float, audits: int) -> tuple[float, float]:
    half = 0.1 / math.sqrt(audits)
    return value - half, value + half


def seen(day: float, value: float, *, loud: bool = False, confirms: bool = False, half: float = 0.1) -> AuditResult:
    found = (LOUD if value < 0 else UP) if loud else QUIET
    return AuditResult(day * DAY, value, value - half, value + half, 0.0025, found, (confirms and value < 0, confirms))


def after(*audits: AuditResult, state: WatchState | None = None) -> WatchState:
    state = state or WatchState()
    for one in audits:
        state = advance(state, one, around, looks=52, apart=3600.0)
    return state


CHANGED = after(seen(0, 0.0), seen(7, -0.3, loud=True), seen(14, -0.3, loud=True, confirms=True))


def test_evidence_raises_an_alarm_and_another_audit_at_another_hour_confirms_it() -> None:
    alarm = after(seen(0, 0.0), seen(7, -0.3, loud=True))
    assert (alarm.name, alarm.side, alarm.raised, alarm.awaits_confirmation) == ("alarm", 0, 7 * DAY, True)
    soon = advance(alarm, seen(7.01, -0.3, loud=True, confirms=True), around, looks=52, apart=3600.0)
    assert soon.name == "alarm", "a bad hour passes"
    assert (CHANGED.name, CHANGED.since, CHANGED.confirmed, CHANGED.times) == ("changed", 7 * DAY, 14 * DAY, 1)
    assert (CHANGED.is_change_visible, CHANGED.awaits_confirmation) == (True, False)


def test_a_rise_is_a_change_like_any_other() -> None:
    risen = after(seen(0, 0.2, loud=True), seen(7, 0.2, loud=True, confirms=True))
    assert (risen.name, risen.side) == ("changed", 1)
    assert risen.change == pytest.approx(0.2)
    back = after(seen(14, 0.0, half=0.05), seen(21, -0.01, half=0.05), state=risen)
    assert (back.name, back.back) == ("watching", 14 * DAY)


def test_an_alarm_is_forgotten_with_its_evidence() -> None:
    alarm = after(seen(0, -0.3, loud=True))
    gone = after(*(seen(day, 0.0) for day in range(1, 9)), state=alarm)
    assert (gone.name, gone.awaits_confirmation, math.isnan(gone.raised)) == ("watching", False, True)
    assert after(seen(20, -0.2, confirms=True), state=gone).name == "watching"


def test_a_confirmed_change_closes_its_evidence() -> None:
    assert CHANGED.levels == (0.0, 0.0)
    assert np.array_equal(CHANGED.kept, initial_evidence())
    assert CHANGED.change == pytest.approx(-0.3)


def test_a_repair_is_first_called_perhaps_back_and_then_back_and_the_watch_restarts() -> None:
    near = after(seen(21, -0.02), state=CHANGED)
    assert (near.name, near.is_near, near.is_change_visible) == ("perhaps back", True, False)
    soon = after(seen(21.01, -0.02), state=near)
    assert soon.name == "perhaps back", "another hour is another hour for a repair, too"
    back = after(seen(28, 0.01), state=near)
    assert (back.name, back.levels, back.back, back.ended) == ("watching", (0.0, 0.0), 21 * DAY, 7 * DAY)
    assert not back.is_changed
    again = after(seen(35, -0.3, loud=True), seen(42, -0.3, loud=True, confirms=True), state=back)
    assert (again.name, again.since, again.times) == ("changed", 35 * DAY, 1)


def test_an_audit_that_supports_both_claims_neither() -> None:
    between = after(seen(21, -0.08), state=CHANGED)
    assert (between.name, between.is_change_visible, between.is_near) == ("changed", False, False)
    assert after(seen(28, -0.3), state=between).is_change_visible, "and one that excludes 0 says changed again"


def test_audits_too_small_alone_are_combined() -> None:
    small = after(seen(0, -0.16, loud=True), seen(7, -0.16, loud=True, confirms=True))
    state = small
    for week in range(3, 7):
        state = after(seen(7 * week, -0.01), state=state)
    assert not seen(0, -0.01).excludes_level(small.change / 2, 0)
    assert (state.name, math.isnan(state.back)) == ("watching", False)
    mean, low, high, audits = state.joined
    assert mean == pytest.approx(-0.01)
    assert audits > 1
    assert small.change / 2 < low < mean < high, "what says that it is back leaves out half of the change"


def test_one_audit_that_excludes_0_by_chance_denies_no_change_after_a_repair() -> None:
    near = after(seen(21, -0.01), seen(21.01, 0.0), state=CHANGED)
    low = after(seen(21.02, -0.11), state=near)
    assert (low.is_change_visible, low.name, low.is_near) == (False, "perhaps back", False)
    fallen = after(seen(21.02, -0.35), state=near)
    assert (fallen.is_change_visible, fallen.name) == (True, "changed")


def test_beyond_the_baseline_on_the_other_side_it_is_back_and_may_rise() -> None:
    over = after(seen(21, 0.2), seen(28, 0.2), state=CHANGED)
    assert over.name == "watching"
    assert after(seen(35, 0.2, loud=True), seen(42, 0.2, loud=True, confirms=True), state=over).side == 1


def test_a_move_further_away_is_a_second_change_compared_with_the_level_since_the_first() -> None:
    low, high = new_limits(CHANGED, BASELINE, matters=0.03) or (math.nan, math.nan)
    assert low < 0.5 - 0.03 < 0.5
    assert high == math.inf
    alarm = after(seen(21, -0.6, loud=True), state=CHANGED)
    assert (alarm.name, alarm.awaits_confirmation, alarm.times) == ("changed", True, 1)
    assert alarm.change == pytest.approx(-0.3), "what raises the alarm is no part of the level since the first"
    second = after(seen(28, -0.6, loud=True, confirms=True), state=alarm)
    assert (second.times, second.awaits_confirmation, second.since) == (2, False, 21 * DAY)
    assert second.change == pytest.approx(-0.6)
    nearer = after(seen(28, -0.32, loud=True, confirms=True), state=alarm)
    assert nearer.times == 1, "its interval holds the level since the first"


def test_before_a_change_evidence_is_relative_to_the_baseline() -> None:
    assert new_limits(WatchState(), BASELINE, matters=0.03) is None


def test_a_line_that_was_called_changed_before_states_existed_is_a_change() -> None:
    state = after(replace(seen(0, -0.2), declared=True))
    assert (state.name, state.since, state.side) == ("changed", 0.0, 0)
