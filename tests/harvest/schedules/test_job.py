"""When an audit is played again, and what a scheduler must be told for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.schedules.job import Job, slot_of, unit_name
from topics.errors import InputError


def job(*words: str, name: str = "weekly", folder: str = "/work", variables: tuple[str, ...] = ()) -> Job:
    paths = {name: Path(folder, f"audit.{name}") for name in ("lock", "log")}
    return Job(name, "week", words, Path(folder), **paths, environment=Path(folder, "audit.env"), variables=variables)


def test_the_time_follows_from_the_name_and_is_never_on_the_hour() -> None:
    assert slot_of("weekly") == slot_of("weekly")
    slots = [slot_of(f"audit {number}") for number in range(600)]
    assert {one.minute for one in slots} == {minute for minute in range(60) if minute % 15}
    assert {one.hour for one in slots} == {4, 5}
    assert {one.weekday for one in slots} == {1, 2, 3, 4, 5}
    assert {one.day for one in slots} == set(range(1, 29))
    assert max(Counter(one.minute for one in slots).values()) < 40


@pytest.mark.parametrize("word", ["a\nb", "a\x1b[0m", "${{ github.token }}", "a\\%b", "dd\\\\%", "trail\\"])
def test_an_impossible_schedule_is_refused(word: str) -> None:
    with pytest.raises(InputError, match="cannot be used in a schedule"):
        job("/bin/harvest", word)
    with pytest.raises(InputError, match="cannot be used in a schedule"):
        job("/bin/harvest", folder=f"/{word}")


def test_the_run_that_confirms_an_alarm_is_played_at_another_hour() -> None:
    first, second = job("harvest", "watch", "run"), job("harvest", "watch", "run", "--if-alarm")
    assert second.slot.hour == first.slot.hour + 6
    assert abs(second.slot.minute - first.slot.minute) == 30, "also where both are played every hour"
    assert (first.unit, second.unit) == ("harvest-weekly", "harvest-weekly-confirm")
    assert (first.lock, first.log) == (second.lock, second.log), "they never overlap"


def test_an_audit_is_followed_up_within_hours_if_an_alarm_or_a_fall_is_pending() -> None:
    weekly = job("harvest", "watch", "run", "audit.yaml")
    after = weekly.follow_up
    assert after is not None
    assert (after.every, after.words) == ("day", (*weekly.words, "--if-alarm"))
    assert (after.slot.hour - weekly.slot.hour, after.lock) == (6, weekly.lock)
    assert after.follow_up is None
    assert replace(weekly, every="hour").follow_up is None, "which is often enough"


def test_a_unit_has_a_name_that_every_scheduler_accepts() -> None:
    assert unit_name("my audit +1") == "harvest-my-audit-1"
