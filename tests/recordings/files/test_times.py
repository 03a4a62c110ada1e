"""Instants and durations, as recordings hold them."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from recordings.files.times import seconds, stamp, unix_seconds, utc_now
from tests.support.checkout import ROOT

PACKAGES = ("topics", "protocols", "simulators", "recordings", "scoring", "harvest")


def test_an_instant_is_written_in_utc_to_the_microsecond_wherever_it_was_measured() -> None:
    there = datetime(2024, 5, 1, 14, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))
    assert stamp(there) == "2024-05-01T12:00:00.000005+00:00"
    with pytest.raises(ValueError, match="no time zone"):
        stamp(datetime(2024, 5, 1))


def test_an_instant_is_read_back_unchanged() -> None:
    now = utc_now()
    assert now.tzinfo is UTC
    assert unix_seconds(stamp(now)) == now.timestamp()


def test_times_of_different_zones_compare_correctly_and_invalid_texts_come_first() -> None:
    assert (
        unix_seconds("2024-05-01T14:00:00+02:00")
        == unix_seconds("2024-05-01T12:00:00Z")
        == unix_seconds("2024-05-01T12:00:00")
    )
    assert unix_seconds("yesterday") == unix_seconds("") == -math.inf


def test_a_duration_is_rounded_to_microseconds() -> None:
    assert seconds(0.1234567) == 0.123457


def test_no_other_module_writes_or_reads_instants() -> None:
    told = re.compile(r"isoformat\(|strftime\(|strptime\(")
    found = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if told.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"recordings/files/times.py"}
