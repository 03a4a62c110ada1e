"""`harvest.play` in a script, in a running loop (as in a notebook) and under uvloop; `harvest.aplay` beside it."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import harvest
import recordings
from recordings import RunError
from recordings.log.own_loop import run_to_end
from tests.support.chat_api import chat_api
from tests.support.forked_commands import run_forked
from topics import InputError

SMALL = "harvest.load_audit('demo', only=('M001', 'R001'), trials=2)"
API_AUDIT = """\
format: harvest-audit/1
name: api
topics: fairweb-45
only: [M001, M002, R001]
protocol: fairweb-two-round
trials: 3
systems:
  - {{name: A, driver: openai, options: {{base_url: "http://127.0.0.1:{port}/v1", model: m}}}}
"""


def python(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments, "-c", textwrap.dedent(code)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_program_that_imports_jupyter_is_not_a_notebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module("ipykernel.kernelapp")
    harvest.play(harvest.load_audit("demo", only=("M001",), trials=1), tmp_path / "run")
    assert capsys.readouterr() == ("", "")


def test_play_works_within_a_running_loop_and_one_of_uvloop(tmp_path: Path) -> None:
    code = f"""
        import asyncio, harvest
        async def cell(out):
            return harvest.play({SMALL}, out)
        print(len(asyncio.run(cell("run")).finished))
        import uvloop; uvloop.install()
        print(len(asyncio.run(cell("faster")).finished))
    """
    done = python(code, tmp_path, "-W", "error")
    assert (done.stdout, done.stderr, done.returncode) == ("8\n8\n", "", 0)


@pytest.mark.parametrize("installed", [False, True])
def test_a_run_over_an_api_is_the_same_under_uvloop(tmp_path: Path, installed: bool) -> None:
    with chat_api(lambda said: (f"See https://example.org/{len(said)}", "m")) as port:
        (tmp_path / "audit.yaml").write_text(API_AUDIT.format(port=port))
        words = ["run", "audit.yaml", "--out", "run", "--no-report"]
        if installed:
            done = python(f"import uvloop; uvloop.install(); from harvest.cli import main; main({words})", tmp_path)
        else:
            done = run_forked(*words, cwd=tmp_path)
    run = recordings.read(tmp_path / "run")
    assert (done.returncode, len(run.finished), len(run.conversations)) == (0, 9, 9)
    assert "Unclosed" not in done.stderr
    assert {turn.reply.answer.text for one in run.finished for turn in one.turns if turn.reply} == {
        "See https://example.org/1",
        "See https://example.org/2",
    }


async def test_aplay_does_not_block_the_loop_and_can_be_cancelled(tmp_path: Path) -> None:
    audit = harvest.load_audit("demo", only=("M001",), trials=3)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    run = await harvest.aplay(audit, tmp_path / "run")
    ticking.cancel()
    assert len(run.finished) == 6
    assert ticks > 3
    task = asyncio.create_task(harvest.aplay(harvest.load_audit("demo"), tmp_path / "stopped"))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len((await harvest.aplay(audit, tmp_path / "run")).finished) == 6


async def test_an_error_in_the_audit_is_raised_as_in_a_script(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        harvest.play("no-such-audit.yaml", tmp_path / "run")
    harvest.play(harvest.load_audit("demo", only=("M001",), trials=1), tmp_path / "run")
    with pytest.raises(RunError):
        harvest.play(harvest.load_audit("demo", only=("M002",), trials=1, seed=3), tmp_path / "run")
    with pytest.raises(RunError):
        await harvest.aplay(harvest.load_audit("demo", only=("M002",), trials=1, seed=3), tmp_path / "run")


def test_ctrl_c_within_a_running_loop_closes_the_run_and_loses_no_turn(tmp_path: Path) -> None:
    """A kernel gets SIGINT when somebody interrupts a cell."""
    code = """
        import asyncio, harvest
        async def cell():
            harvest.play(harvest.load_audit("audit.yaml"), "run", progress=True)
        try:
            asyncio.run(cell())
        except KeyboardInterrupt:
            print("interrupted")
    """
    answered, stopped = threading.Event(), threading.Event()

    def answer(said: list[str]) -> tuple[str, str]:
        if answered.is_set():
            stopped.wait(20)  # the second answer comes after the interruption
        answered.set()
        return "See https://example.org/1", "m"

    with chat_api(answer) as port:
        (tmp_path / "audit.yaml").write_text(API_AUDIT.format(port=port))
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                assert answered.wait(60)
                while '"turn"' not in "".join(file.read_text() for file in tmp_path.glob("run/trials-*.jsonl")):
                    assert process.poll() is None
                    time.sleep(0.01)
                os.kill(process.pid, signal.SIGINT)
                out, _ = process.communicate(timeout=30)
            finally:
                stopped.set()
                process.kill()
    assert (out, process.returncode) == ("interrupted\n", 0)
    run = recordings.read(tmp_path / "run")
    assert run.damage == ()
    assert len(run.conversations) >= 1


async def test_an_interruption_that_another_thread_receives_cancels_the_work() -> None:
    """The system may hand a signal of the process to any thread of it."""
    ended: list[str] = []

    async def work() -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored, as under nohup
    try:
        with pytest.raises(KeyboardInterrupt):
            run_to_end(work())
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == ["cancelled"]


def test_a_coroutine_sees_the_context_of_the_caller_and_its_error_is_raised() -> None:
    from contextvars import ContextVar

    seen: ContextVar[str] = ContextVar("seen", default="nothing")

    async def work() -> tuple[str, str]:
        return seen.get(), threading.current_thread().name

    async def fail() -> None:
        raise ZeroDivisionError

    async def cell() -> tuple[str, str]:
        seen.set("the caller's")
        with pytest.raises(ZeroDivisionError):
            run_to_end(fail())
        return run_to_end(work())

    assert asyncio.run(cell()) == ("the caller's", "harvest_0")
    assert run_to_end(work()) == ("nothing", "MainThread")
