"""However a run ends, nothing that it started is left behind: real programs, real signals, a terminal that goes."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recordings.log.run_folder import read
from tests.support.forked_commands import ForkedCommand
from tests.support.interfaces import interface
from tests.support.processes import below, browsers_of, gone, heeding_signals

PROGRAM = """\
import os, signal, subprocess, sys, time
own = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
started = [os.getpid()]
for session in (False, True):
    started.append(subprocess.Popen(["sleep", "600"], start_new_session=session, **own).pid)
if os.fork() == 0:  # a daemon: its parent ends, and its session is its own
    os.setsid()
    started.append(os.getpid())
    if os.fork() == 0:
        started.append(os.getpid())
        with open("family", "a") as file:
            print(*started, file=file, flush=True)
        os.close(0), os.close(1), os.close(2)
        time.sleep(600)
    os._exit(0)
while not os.path.exists("family") or str(os.getpid()) not in open("family").read():
    time.sleep(0.01)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
sys.stdin.readline()
time.sleep(600)
"""
AUDIT = """\
format: harvest-audit/1
name: stopped
topics: fairweb-45
only: [M001, M002]
protocol: fairweb-two-round
trials: 1
systems:
  - name: program
    driver: command
    concurrency: 2
    options: {{argv: ["{python}", "program.py"], mode: {mode}, timeout: 600}}
"""
BROWSER = """\
  - name: page
    driver: browser
    options: {{url: "{url}"}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "audit.yaml").write_text(AUDIT.format(python=sys.executable, mode="lines"))
    return tmp_path


@contextmanager
def running(folder: Path) -> Iterator[ForkedCommand]:
    """`harvest run`, in a session of its own."""
    with (folder / "log").open("wb") as log:
        process = ForkedCommand("run", "audit.yaml", "--out", "run", cwd=folder, said=log, session=True)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@contextmanager
def running_at(terminal: int, folder: Path, before: Callable[[], object]) -> Iterator[subprocess.Popen[bytes]]:
    """`harvest run`, in a session of its own that this terminal belongs to."""

    def begin() -> None:
        heeding_signals()
        before()

    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "harvest", "run", "audit.yaml", "--out", "run"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=begin,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        log.close()


def family(folder: Path, programs: int = 2) -> list[int]:
    """The ids of all that so many programs have started, once they wait for an answer that never comes."""
    deadline = time.monotonic() + 60
    while True:
        lines = (folder / "family").read_text().split("\n")[:-1] if (folder / "family").exists() else []
        asked = sum(path.read_text().count('"event":"asked"') for path in folder.glob("run/trials-*"))
        if len(lines) >= programs and asked >= programs:
            return [int(one) for line in lines for one in line.split()]
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.02)


def _soaked(*stops: signal.Signals) -> Iterator[Any]:
    return (pytest.param(stop, marks=pytest.mark.soak) for stop in stops)


def living(ids: list[int]) -> list[int]:
    return gone(ids, seconds=0)


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL, *_soaked(signal.SIGHUP, signal.SIGINT)])
def test_no_program_is_left_behind_by_a_signal(folder: Path, stop: signal.Signals) -> None:
    with running(folder) as process:
        started = family(folder)
        assert len(living(started)) >= 8, "a program, two children and a daemon, twice"
        process.send_signal(stop)
        code = process.wait(60)
    assert code == (-signal.SIGKILL if stop == signal.SIGKILL else 130), (folder / "log").read_text()
    assert gone(started) == []
    run = read(folder / "run")
    assert [(one.outcome, len(one.turns)) for one in run.conversations] == [(None, 1)] * 2
    if stop != signal.SIGKILL:
        assert "the same command resumes the run" in (folder / "log").read_text()
        assert "Traceback" not in (folder / "log").read_text()


def test_no_program_of_a_single_turn_is_left_behind(folder: Path) -> None:
    (folder / "audit.yaml").write_text(AUDIT.format(python=sys.executable, mode="once"))
    with running(folder) as process:
        started = family(folder)
        process.kill()
        process.wait(60)
    assert gone(started) == []


def test_a_closed_terminal_ends_the_run_and_all_its_programs(folder: Path) -> None:
    ours, theirs = pty.openpty()

    def take() -> None:
        os.login_tty(os.dup(theirs))

    with running_at(theirs, folder, take) as process:
        os.close(theirs)
        started = family(folder)
        os.close(ours)  # the kernel sends SIGHUP, and every byte for the terminal is an error
        assert process.wait(60) == 130
    assert gone(started) == []


def test_under_nohup_a_run_continues_without_its_terminal(folder: Path) -> None:
    program = "import sys, time\nfor line in sys.stdin:\n    time.sleep(0.3)\n    print('no', flush=True)\n"
    (folder / "program.py").write_text(program)
    ours, theirs = pty.openpty()

    def take() -> None:
        os.login_tty(os.dup(theirs))
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with running_at(theirs, folder, take) as process:
        os.close(theirs)
        while not list(folder.glob("run/trials-*")):
            assert process.poll() is None
            time.sleep(0.02)
        os.close(ours)
        process.send_signal(signal.SIGHUP)
        process.wait(60)
    assert len(read(folder / "run").finished) == 2


def test_a_second_signal_ends_the_run_at_once_and_leaves_nothing_either(folder: Path) -> None:
    with running(folder) as process:
        started = family(folder)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)  # the programs ignore SIGTERM, so to end them takes seconds
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    assert gone(started) == []


def test_signals_without_end_change_nothing_of_the_exit_code(folder: Path) -> None:
    with running(folder) as process:
        started = family(folder)
        deadline = time.monotonic() + 60
        while process.poll() is None:
            assert time.monotonic() < deadline
            process.send_signal(signal.SIGHUP)
            time.sleep(0.005)
        assert process.returncode == 130
    assert gone(started) == []


def test_programs_left_by_a_killed_supervisor_are_killed_with_their_group(folder: Path) -> None:
    with running(folder) as process:
        started = family(folder)
        programs = {one for line in (folder / "family").read_text().splitlines() for one in line.split()[:1]}
        supervisors = [one for one in below(process.pid) if one.parent == process.pid]
        assert len(supervisors) == 2
        for supervisor in supervisors:
            os.kill(supervisor.id, signal.SIGKILL)
        assert gone([int(one) for one in programs]) == []
        for one in started:
            if living([one]):
                os.kill(one, signal.SIGKILL)  # those with sessions of their own cannot be known any more


@pytest.mark.parametrize("stop", [signal.SIGKILL, *_soaked(signal.SIGHUP)])
def test_no_browser_is_left_behind(tmp_path: Path, stop: signal.Signals) -> None:
    with interface("deep-chat") as page:
        head = AUDIT.partition("  - name: program")[0].format()
        (tmp_path / "audit.yaml").write_text(head + BROWSER.format(url=page.url))
        with running(tmp_path) as process:
            deadline = time.monotonic() + 60
            while not browsers_of(process.pid):
                assert process.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.02)
            started = [one.id for one in below(process.pid)]
            process.send_signal(stop)
            process.wait(60)
        assert gone(started) == []
