"""`harvest show`: what it lists, and what it says of trials that have no valid attempt."""

from __future__ import annotations

import json
import os
import pty
import termios
from pathlib import Path

import pytest

from harvest.cli.main import main
from tests.support.command_line import harvest

AUDIT = """\
format: harvest-audit/1
name: shown
topics: fairweb-45
only: [M001, M002, M003]
protocol: fairweb-two-round
trials: 1
systems:
  - {name: mine, driver: python, attempts: 2, retry_wait: 0, options: {function: "bot.py:answer"}}
"""
BOT = """\
asked = []
def answer(text):
    asked.append(text)
    if len(asked) > 4:
        raise ValueError("out of order")
    return "No idea."
"""


def test_the_counted_attempts_are_those_of_the_requested_trials(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "audit.yaml").write_text(AUDIT)
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 3
    whole = harvest("show", "run", cwd=tmp_path).stdout
    lost = harvest("show", "run", "--topic", "M003", cwd=tmp_path).stdout
    assert "2 shown; attempts recorded: " in " ".join(whole.split())
    hint = "--all also shows invalid and interrupted ones"
    assert lost == f"\nno valid attempt; attempts recorded: 2 invalid (exception); {hint}\n"
    every = harvest("show", "run", "--topic", "M003", "--all", cwd=tmp_path).stdout
    assert every.endswith("\n2 shown; attempts recorded: 2 invalid (exception)\n")
    starts = {line.index("invalid") for line in every.splitlines()[:2]}
    assert len(starts) == 1, "attempt 2 is in the same columns"
    for words in (("--trial", 9), ("--topic", "M001", "--trial", 2)):
        done = harvest("show", "run", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "this run has no trial" in done.stderr
        assert "1 to 1" in done.stderr
    twice = harvest("compare", "run", "--systems", "mine,mine", cwd=tmp_path)
    assert (twice.returncode, "--systems contains 'mine' twice" in twice.stderr) == (2, True)


def test_an_invalid_dialogue_without_a_recorded_reason_is_shown_without_one(tmp_path: Path) -> None:
    about = {"system": "d", "topic": "t", "outcome": "invalid"}
    line = {"messages": [{"role": "user", "content": "When?"}], "metadata": about}
    (tmp_path / "logs.jsonl").write_text(json.dumps(line))
    assert (
        harvest("data", "import", "--format", "messages", "logs.jsonl", "--out", "logs", cwd=tmp_path).returncode == 0
    )
    told = harvest("score", "logs", cwd=tmp_path).stdout
    assert "attempts ended with: no reason given x 1" in " ".join(told.split())
    assert "d: no reason given x 1" in told
    assert "invalid  x" not in harvest("show", "logs", "--all", cwd=tmp_path).stdout
    assert "()" not in harvest("show", "logs", "--all", cwd=tmp_path).stdout


def test_words_are_wrapped_in_a_terminal_and_unchanged_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "The library is open from nine to five, and on Thursdays until eight in the evening."
    about = {"system": "d", "topic": "t", "outcome": "completed"}
    messages = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": said}]
    (tmp_path / "logs.jsonl").write_text(json.dumps({"messages": messages, "metadata": about}))
    monkeypatch.chdir(tmp_path)
    done = harvest("data", "import", "--format", "messages", "logs.jsonl", "--out", "logs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    asked = ["show", "logs", "--system", "d", "--topic", "t", "--trial", "1"]
    with pytest.raises(SystemExit):
        main(asked)
    assert f"\n{said}\n" in capsys.readouterr().out
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 40))
    with os.fdopen(theirs, "w") as screen:
        monkeypatch.setattr("sys.stdout", screen)
        with pytest.raises(SystemExit):
            main(asked)
        screen.flush()
        written = b""
        while b"evening." not in written:  # a busy machine hands it over in parts
            written += os.read(ours, 10_000)
    os.close(ours)
    shown = written.decode().splitlines()
    start = shown.index("The library is open from nine to five,")
    assert " ".join(shown[start : start + 3]) == said
