"""An interrupted command says what was recorded, and how to start again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harvest.cli import main
from tests.support.processes import heeding_signals


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


async def interrupted_at_play(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert ended.value.code == 130
    return capsys.readouterr().err


def audit(folder: Path) -> Path:
    """With a threshold, whose measure is looked up before anything is played."""
    path = folder / "audit.yaml"
    path.write_text(
        "format: harvest-audit/1\nname: bounded\ntopics: fairweb-45\nonly: [M001]\nprotocol: fairweb-two-round\n"
        "trials: 1\nsystems: [{name: A, driver: parrot, options: {profile: steady}}]\n"
        'thresholds: [{measure: "%useful S1", at_least: 0.1}]\n'
    )
    return path


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("cli.run.load_audit", interrupted),
        ("studies.scores.bounds.check_bounds", interrupted),
        ("cli.playing.play_audit", interrupted_at_play),
    ],
)
def test_an_interrupted_run_that_recorded_nothing_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, fault: object
) -> None:
    monkeypatch.setattr(f"harvest.{name}", fault)
    said = told(capsys, "run", audit(tmp_path), "--out", tmp_path / "run")
    assert said.endswith("interrupted; nothing was recorded, and the same command starts again\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}\n", "nothing was recorded, and the same command starts again"),
        ("{}\n{}\n", "every finished turn is saved, and the same command resumes the run"),
    ],
)
def test_an_interrupted_run_says_whether_anything_is_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, content: str, words: str
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "trials-000001.jsonl").write_text(content)
    monkeypatch.setattr("harvest.cli.playing.play_audit", interrupted_at_play)
    said = told(capsys, "run", "demo", "--out", tmp_path / "run")
    assert said.endswith(f"interrupted; {words}\n")


def test_other_interrupted_commands_say_how_to_continue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harvest.cli.show.read", interrupted)
    assert told(capsys, "show", tmp_path).strip() == "the command was interrupted; run it again"


ENDING = """
import asyncio, os, signal
from harvest.cli.interruption import handle_signals, run_until_stopped

handle_signals()


async def work():
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.sleep(60)


try:
    FIRST
except KeyboardInterrupt:
    for _ in range(3):
        os.kill(os.getpid(), signal.SIGHUP)
    print("still here", flush=True)
    LAST
"""


@pytest.mark.parametrize("first", ["run_until_stopped(work())", "os.kill(os.getpid(), signal.SIGTERM)"])
@pytest.mark.parametrize(("last", "code"), [("raise SystemExit(5)", 5), ("os.kill(os.getpid(), signal.SIGTERM)", 130)])
def test_after_the_first_signal_nothing_raises_and_a_second_signal_ends_it(first: str, last: str, code: int) -> None:
    program = ENDING.replace("FIRST", first).replace("LAST", last)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=heeding_signals)
    assert (done.returncode, done.stdout, done.stderr) == (code, "still here\n", "")
