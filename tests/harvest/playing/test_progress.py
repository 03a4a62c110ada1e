"""What is said while a run is played."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from harvest.audits.audit import load_audit
from harvest.playing.plan import make_plan
from harvest.playing.progress import Display
from harvest.systems.timing import Clock
from recordings.conversations.conversation import INVALID, Outcome
from topics.counting import count_time

DONE = Outcome("completed", "done", "")


class Steps:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.passed = 0.0

    def clock(self) -> Clock:
        began = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
        return Clock(monotonic=lambda: self.passed, now=lambda: began + timedelta(seconds=self.passed))


def test_the_reason_why_attempts_fail_is_reported_at_first_and_once(tmp_path: Path) -> None:
    audit = load_audit("demo")
    plan = make_plan(audit)
    written = io.StringIO()
    display = Display(Console(file=written, width=200), audit.played, plan)
    works = [one for sitting in plan.sittings["A"] for one in sitting.works]
    for work in works[:3]:
        display.attempt_ended(work, Outcome(INVALID, "connect", "no connection to [127.0.0.1]:9"), (), again=True)
    display.attempt_ended(works[0], Outcome(INVALID, "http-503", ""), (), again=True)
    assert written.getvalue().splitlines() == [
        "A: an attempt failed: connect: no connection to [127.0.0.1]:9",
        "A: an attempt failed: http-503",
    ]


def test_asking_a_system_less_is_reported() -> None:
    audit = load_audit("demo")
    written = io.StringIO()
    display = Display(Console(file=written, width=80), audit.played, make_plan(audit))
    display.pace_lowered("A", "gets 8 turns at a time: more would only make its answers slower")
    assert written.getvalue() == "A gets 8 turns at a time: more would only make its answers slower\n"


def test_a_log_says_when_the_run_will_end() -> None:
    audit, written, steps = load_audit("demo", trials=1), io.StringIO(), Steps()
    plan = make_plan(audit)
    display = Display(Console(file=written, width=80), audit.played, plan, steps.clock())
    works = [one for name in ("A", "B") for sitting in plan.sittings[name] for one in sitting.works]
    assert len(works) == 90
    for work in works[:45]:
        steps.passed += 60
        display.attempt_ended(work, DONE, ("o",), again=False)
    first, *_, last = written.getvalue().splitlines()
    at = (datetime(2026, 3, 1, 9, 30, tzinfo=UTC) + timedelta(minutes=90)).astimezone()
    assert first.endswith("in 81 minutes")
    assert last == f"45 of 90 trials (A: o 45); ends about {at:%H:%M}, in 45 minutes"
    for work in works[45:]:
        display.attempt_ended(work, DONE, ("x",), again=False)
    assert written.getvalue().splitlines()[-1] == "90 of 90 trials (A: o 45; B: x 45)"


def test_nothing_is_predicted_from_too_few_trials() -> None:
    audit, written, steps = load_audit("demo", trials=1, only=("M001", "M002")), io.StringIO(), Steps()
    plan = make_plan(audit)
    display = Display(Console(file=written, width=80), audit.played, plan, steps.clock())
    for work in [one for sitting in plan.sittings["A"] for one in sitting.works]:
        steps.passed += 60
        display.attempt_ended(work, DONE, ("o",), again=False)
    assert "ends about" not in written.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_counts_and_labels_are_complete_on_any_terminal(width: int) -> None:
    audit, written, steps = load_audit("demo"), io.StringIO(), Steps()
    plan = make_plan(audit)
    console = Console(file=written, width=width, force_terminal=True, color_system=None)
    with Display(console, audit.played, plan, steps.clock()) as display:
        for work in [one for sitting in plan.sittings["B"] for one in sitting.works][:30]:
            steps.passed += 10
            display.turn_asked(work)
            display.attempt_ended(work, DONE, ("o", "x"), again=False)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.getvalue()).splitlines()
    assert any(line.startswith("B") and line.rstrip().endswith("30/225 o 30 x 30") for line in shown)
    assert any(line.rstrip().endswith("in 70 minutes") for line in shown)
    assert max(map(len, shown)) <= width


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (1, "1 second"),
        (89, "89 seconds"),
        (90, "2 minutes"),
        (60 * 89, "89 minutes"),
        (60 * 90, "1 hour 30 minutes"),
        (60 * 122, "2 hours"),
        (3600 * 47.99, "48 hours"),
        (3600 * 72, "3 days"),
    ],
)
def test_durations_are_in_words(seconds: float, words: str) -> None:
    assert count_time(seconds) == words
