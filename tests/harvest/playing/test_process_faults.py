"""A process that is killed, stopped or misled by its clock, in the middle of a run: what is kept, and what is said.

Each case holds its row of docs/faults.md.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harvest.systems.timing import REAL_CLOCK
from recordings.files.evidence import read_exhibit
from recordings.log.run_folder import Run, read
from tests.support.command_line import harvest
from tests.support.fault_page import Row, code, hold
from tests.support.forked_commands import run_forked

BOT = """\
import os, pathlib, signal
HERE = pathlib.Path(__file__).parent

def answer(text, history):
    log = HERE / "asked.txt"
    with log.open("a") as file:
        file.write("asked\\n")
    if len(log.read_text().splitlines()) == 4 and os.environ.get("STOP"):
        os.kill(os.getpid(), int(os.environ["STOP"]))
    return f"Here: https://www.imdb.com/title/tt{len(history):07d}/"
"""
PROGRAM = """\
import os, signal, sys
for line in sys.stdin:
    print("so far", flush=True, file=sys.stderr)
    os.kill(os.getpid(), signal.SIGKILL)
"""
AUDIT = """\
format: harvest-audit/1
name: process
topics: fairweb-45
only: [M001, M002, M003]
protocol: fairweb-two-round
trials: 1
max_invalid: 1
systems:
"""
FUNCTION = '  - {name: bot, driver: python, options: {function: "bot.py:answer", takes: history}}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "audit.yaml").write_text(AUDIT + FUNCTION)
    return tmp_path


def stopped(folder: Path, number: int) -> subprocess.CompletedProcess[str]:
    """A run that gets this signal while its fourth turn is under way: one conversation is whole, another half."""
    environment = {**os.environ, "STOP": str(number), "COLUMNS": "1000"}
    return run_forked("run", "audit.yaml", "--out", "run", cwd=folder, environment=environment, timeout=120)


def resumed(folder: Path) -> tuple[Run, str]:
    """The run after the same command has gone on with it, and how much was recorded by then, as it said."""
    before = [exchange for one in read(folder / "run").conversations for exchange in one.exchanges]
    assert len(before) in (3, 4), "every turn that was answered; the one under way may have come before the signal"
    done = harvest("run", "audit.yaml", "--out", "run", cwd=folder, width=1000)
    assert done.returncode == 0, done.stderr
    assert harvest("data", "verify", "run", cwd=folder).returncode == 0
    run = read(folder / "run")
    assert [len(one.exchanges) for one in run.finished] == [2, 2, 2]
    asked = len((folder / "asked.txt").read_text().splitlines())
    assert asked == 6 + 4 - len(before), "only the turn under way was asked again"
    told = next(line for line in done.stderr.splitlines() if line.startswith("recorded: "))
    return run, told


def test_a_killed_run(folder: Path) -> None:
    killed = stopped(folder, 9)
    assert killed.returncode == -9
    run, told = resumed(folder)
    assert len(run.interrupted) == 1
    seen = f"the next time: {code(told)}"
    again = "the turn under way, on resuming"
    hold(
        Row("the run is killed (SIGKILL)", "every turn before it", again, seen, "`test_a_killed_run`"),
        "Processes and clocks",
    )


@pytest.mark.parametrize(("number", "name"), [(2, "SIGINT"), (15, "SIGTERM"), (1, "SIGHUP")])
def test_a_stopped_run(folder: Path, number: int, name: str) -> None:
    done = stopped(folder, number)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    resumed(folder)
    seen = code(done.stderr.strip().splitlines()[-1])
    says, again = f"the run is stopped ({name})", "the turn under way, on resuming"
    hold(
        Row(says, "every turn before it", again, seen, f"`test_a_stopped_run[{number}-{name}]`"), "Processes and clocks"
    )


def test_a_killed_program(folder: Path) -> None:
    argv = f'["{sys.executable}", "program.py"]'
    system = f"  - {{name: program, driver: command, attempts: 1, options: {{argv: {argv}}}}}\n"
    (folder / "audit.yaml").write_text(AUDIT + system)
    done = harvest("run", "audit.yaml", "--out", "run", cwd=folder, width=1000)
    assert done.returncode == 0
    run = read(folder / "run")
    assert run.finished == ()
    assert {one.outcome.reason for one in run.conversations if one.outcome} == {"signal-9"}
    assert len(run.failures) == len(run.conversations) == 3
    kept = ", ".join(sorted(run.failures[0].evidence))
    assert read_exhibit(run.path, run.failures[0].evidence["stderr"]) == b"so far\n", "it got the turn once"
    line = next(line for line in done.stderr.splitlines() if line.startswith("program: an attempt failed"))
    seen = code(line.removeprefix("program: "))
    says, recorded = "the program under audit is killed", f"invalid, `signal-9`; {kept}"
    hold(Row(says, recorded, "no", seen, "`test_a_killed_program`"), "Processes and clocks")


def test_a_clock_that_jumps(folder: Path) -> None:
    begin = datetime(2026, 11, 24, 12, tzinfo=UTC)
    jumps = itertools.cycle([timedelta(), timedelta(hours=-1), timedelta(days=3650), timedelta(days=-3650)])
    kept = REAL_CLOCK.now
    object.__setattr__(REAL_CLOCK, "now", lambda: begin + next(jumps))
    try:
        done = harvest("run", "audit.yaml", "--out", "run", cwd=folder, width=1000)
        assert done.returncode == 0, done.stderr
    finally:
        object.__setattr__(REAL_CLOCK, "now", kept)
    assert harvest("data", "verify", "run", cwd=folder).returncode == 0
    assert harvest("report", "run", "--out", "report.html", cwd=folder).returncode == 0
    run = read(folder / "run")
    assert len(run.finished) == 3
    stamps = [turn.reply.asked_at for one in run.finished for turn in one.turns if turn.reply]
    assert stamps != sorted(stamps)
    took = [turn.reply.seconds for one in run.finished for turn in one.turns if turn.reply]
    assert all(seconds is not None and 0 <= seconds < 60 for seconds in took)
    says, recorded = (
        "the clock jumps by hours and years",
        "every turn; times as the clock gave them, durations as they were",
    )
    hold(Row(says, recorded, "–", "–", "`test_a_clock_that_jumps`"), "Processes and clocks")
