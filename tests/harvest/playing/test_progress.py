"""What is said while a run is played."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from harvest.audits.audit import load_audit
from harvest.playing.plan import make_plan
from harvest.playing.progress import Display
from recordings.conversations.conversation import INVALID, Outcome


def test_why_attempts_fail_is_said_at_the_first_and_once(tmp_path: Path) -> None:
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


def test_that_a_system_is_asked_less_is_said() -> None:
    audit = load_audit("demo")
    written = io.StringIO()
    display = Display(Console(file=written, width=80), audit.played, make_plan(audit))
    display.pace_lowered("A", "gets 8 turns at a time: more would only make its answers slower")
    assert written.getvalue() == "A gets 8 turns at a time: more would only make its answers slower\n"
