"""The counts of a run while it grows: worked out by hand, however it is read, and those of its conversations."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.viewing.tally import SystemCounts, Tally
from recordings.log.run_folder import read
from tests.support.checkout import ROOT

SAMPLE = ROOT / "recordings" / "samples" / "run-1"


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def attempt(
    trial: int, labels: str, outcome: str | None = "completed", number: int = 1, at: str = "", system: str = "A"
) -> bytes:
    """The lines of an attempt. labels: `?` for an answer without one, and `.` for a turn without an answer."""
    name = {"id": f"{system}{trial}", "attempt": number}
    rows: list[dict[str, Any]] = [{"event": "trial-started", **name, "system": system, "topic": "T", "trial": trial}]
    for turn, label in enumerate(labels, 1):
        rows.append({"event": "asked", **name, "turn": turn, "text": "words"})
        rows += [{"event": "turn", **name, "turn": turn, "text": "words"}] * (label != ".")
        rows += [{"event": "route", **name, "turn": turn, "label": label}] * (label not in "?.")
    if outcome is not None:
        reason = "timeout" if outcome == "invalid" else ""
        rows.append({"event": "trial-ended", **name, "outcome": outcome, "reason": reason, "at": at})
    return lines(*rows)


OPENED = lines({"event": "opened", "format": "harvest-events/1", "at": "2026-01-01T00:00:00.000000+00:00"})


def tallied(folder: Path, *data: bytes) -> Tally:
    for number, part in enumerate(data, 1):
        (folder / f"trials-{number:06d}.jsonl").write_bytes(part)
    tally = Tally(folder)
    assert tally.read_on()
    return tally


def labels(counts: SystemCounts) -> dict[str, int]:
    return {label: count for label, count in counts.labels.items() if count}


def test_ended_failed_and_current_trials_are_counted_separately(tmp_path: Path) -> None:
    data = OPENED + attempt(1, "ox") + attempt(2, "oo", "invalid") + attempt(2, "x?", number=2) + attempt(3, "o.", None)
    tally = tallied(tmp_path, data)
    counts = tally.systems["A"]
    assert (counts.done, counts.invalid, tally.failures) == (2, 1, {"timeout": 1})
    assert labels(counts) == {"o": 2, "x": 2, "?": 1}, "of trials 1 and 2 and of the one being played"
    assert [(one.trial, one.labels) for one in tally.flight.values()] == [(3, ["o"])]
    assert [(one.trial, one.attempt, one.outcome) for one in tally.past] == [
        (1, 1, "completed"),
        (2, 1, "invalid"),
        (2, 2, "completed"),
    ]


def test_a_second_valid_attempt_at_a_trial_is_not_counted(tmp_path: Path) -> None:
    tally = tallied(tmp_path, OPENED + attempt(1, "oo") + attempt(1, "xx", number=2))
    assert (tally.systems["A"].done, labels(tally.systems["A"])) == (1, {"o": 2})


def test_an_attempt_left_by_a_killed_process_is_interrupted_when_the_next_one_begins(tmp_path: Path) -> None:
    tally = tallied(tmp_path, OPENED + attempt(1, "oo") + attempt(2, "x.", None), OPENED + attempt(2, "o.", None, 2))
    assert [(one.trial, one.attempt, one.outcome) for one in tally.past] == [(1, 1, "completed"), (2, 1, "")]
    assert [(one.trial, one.attempt) for one in tally.flight.values()] == [(2, 2)]
    assert labels(tally.systems["A"]) == {"o": 3}
    tally.interrupt()
    assert (tally.flight, labels(tally.systems["A"])) == ({}, {"o": 2})


def test_a_line_counts_when_it_is_complete_and_lines_without_an_event_are_counted_separately(tmp_path: Path) -> None:
    whole = OPENED + attempt(1, "o") + b"not json\n" + b'{"event": "trial-ended", "id": 7}\n' + b"\xff\n"
    end = attempt(2, "x")
    tally = tallied(tmp_path, whole + end[:-1])
    assert (tally.systems["A"].done, tally.unreadable) == (1, 3)
    assert not tally.read_on(), "nothing was added"
    (tmp_path / "trials-000001.jsonl").write_bytes(whole + end)
    assert tally.read_on()
    assert (tally.systems["A"].done, tally.unreadable) == (2, 3)


def test_halves_of_surrogate_pairs_lose_nothing(tmp_path: Path) -> None:
    whole = attempt(1, "ox")
    assert whole.count(b'"words"') == 4
    tally = tallied(tmp_path, OPENED + whole.replace(b'"words"', b'"\\ud83d half"'))
    assert (tally.systems["A"].done, tally.unreadable, labels(tally.systems["A"])) == (1, 0, {"o": 1, "x": 1})


def test_a_file_that_was_replaced_by_a_shorter_one_is_read_again(tmp_path: Path) -> None:
    tally = tallied(tmp_path, OPENED + attempt(1, "o") + attempt(2, "o"))
    (tmp_path / "trials-000001.jsonl").write_bytes(OPENED + attempt(5, "x"))
    assert tally.read_on()
    assert (tally.systems["A"].done, labels(tally.systems["A"])) == (1, {"x": 1})


def test_new_and_growing_files_are_found_in_a_folder_that_was_long_unchanged(tmp_path: Path) -> None:
    tally = tallied(tmp_path, OPENED + attempt(1, "oo"))
    os.utime(tmp_path, (1e9, 1e9))
    assert not tally.read_on()
    first = tmp_path / "trials-000001.jsonl"
    first.write_bytes(first.read_bytes() + attempt(2, "xx"))  # which leaves the folder's time
    assert tally.read_on()
    assert tally.systems["A"].done == 2
    (tmp_path / "trials-000002.jsonl").write_bytes(OPENED + attempt(3, "ox"))
    assert tally.read_on()
    assert (tally.systems["A"].done, labels(tally.systems["A"])) == (3, {"o": 3, "x": 3})
    first.unlink()
    assert tally.read_on()
    assert tally.systems["A"].done == 1, "what is gone is not counted any more"


def test_a_link_in_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(OPENED + attempt(1, "o"))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "trials-000001.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="links are not followed"):
        Tally(tmp_path / "run").read_on()


def test_the_end_is_predicted_at_the_rate_of_the_latest_file(tmp_path: Path) -> None:
    def ended(trial: int, at: int) -> bytes:
        return attempt(trial, "o", at=f"2026-01-01T00:00:{at:02}.000000+00:00")

    begun = 1767225600  # 2026-01-01T00:00:00 in UTC
    before = OPENED + ended(1, 1) + ended(2, 2) + ended(3, 3)
    tally = tallied(tmp_path, before)
    assert tally.systems["A"].expected_end(4) == begun + 3 + 4 * 1
    with (tmp_path / "trials-000002.jsonl").open("wb") as file:
        file.write(OPENED + ended(4, 10) + ended(5, 20))
        file.flush()
        assert tally.read_on()
        assert math.isnan(tally.systems["A"].expected_end(4)), "two are too few"
        file.write(ended(6, 30) + ended(7, 30))
    assert tally.read_on()
    assert tally.systems["A"].expected_end(6) == begun + 30 + 6 * 20 / 3
    for faulty in ("", "yesterday"):
        tally.systems["A"].ends.append(faulty)
        assert math.isnan(tally.systems["A"].expected_end(6)), faulty
        tally.systems["A"].ends.pop()


@given(cuts=st.lists(st.integers(0, 60_000), max_size=12))
def test_the_counts_are_those_of_the_conversations_however_they_are_read(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("growing")
    tally = Tally(folder)
    for file in sorted(SAMPLE.glob("trials-*.jsonl")):
        data = file.read_bytes()
        for cut in [*sorted(cuts), len(data)]:
            (folder / file.name).write_bytes(data[:cut])
            tally.read_on()
    run = read(SAMPLE)
    tally.interrupt()
    assert sum(one.done for one in tally.systems.values()) == len(run.finished)
    invalid = Counter(one.outcome.reason for one in run.conversations if one.outcome and not one.outcome.valid)
    assert tally.failures == invalid
    found: Counter[str] = Counter()
    for one in run.finished:
        found.update(turn.label or "?" for turn in one.turns if turn.reply is not None)
    assert sum((one.labels for one in tally.systems.values()), Counter[str]()) == found
    assert (len(tally.past), tally.unreadable) == (len(run.conversations), 0)
