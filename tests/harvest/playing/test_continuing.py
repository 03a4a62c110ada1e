"""A conversation that was killed goes on at its turn where the system keeps no state, and begins anew where it does."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from recordings.log.run_folder import read
from tests.support.forked_commands import ForkedCommand

BOT = """\
import json, os, time
from pathlib import Path

def answer(text, history=()):
    with open("log", "a") as log:
        print(json.dumps([len(history) // 2, text]), file=log, flush=True)
    while text.startswith("Can you") and not Path("go").exists():
        time.sleep(0.02)
    return f"{len(history)}: https://www.imdb.com/title/tt9000000001/"

def remembering():
    said = []
    def say(text):
        said.append(text)
        return answer(text, [*said[:-1]] * 2)
    return say
"""
AUDIT = """\
format: harvest-audit/1
name: going on
topics: fairweb-45
only: [M001, M002]
protocol: fairweb-two-round
trials: 1
systems:
  - name: mine
    driver: python
    session: {session}
    options: {{function: "bot.py:{function}", takes: {takes}}}
"""


def _run(folder: Path) -> ForkedCommand:
    return ForkedCommand("run", "audit.yaml", "--out", "run", "--json", cwd=folder)


def _log(folder: Path) -> list[tuple[int, str]]:
    """(turns before, what was said) of every call."""
    path = folder / "log"
    return [(before, text) for before, text in map(json.loads, path.read_text().splitlines())] if path.exists() else []


def _killed(folder: Path, calls: int) -> None:
    """Play until the function has had so many calls, and waits in the last one."""
    process, deadline = _run(folder), time.monotonic() + 60
    while len(_log(folder)) < calls or not _log(folder)[-1][1].startswith("Can you"):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[1].decode()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("session", ["continued", pytest.param("fresh", marks=pytest.mark.soak)])
def test_an_answered_turn_is_not_asked_again(tmp_path: Path, session: str) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "audit.yaml").write_text(AUDIT.format(function="answer", takes="history", session=session))
    _killed(tmp_path, 2)
    _killed(tmp_path, 3)
    (tmp_path / "go").touch()
    process = _run(tmp_path)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0, told.decode()
    asked = _log(tmp_path)
    other = 2 if session == "continued" else 0
    assert [before for before, _ in asked] == [0, 1, 1, 1, other, other + 1], (
        "the second turn, killed twice, and no first"
    )
    run = read(tmp_path / "run")
    first, second = run.finished
    assert [turn.reply.answer.text[:2] for turn in first.turns if turn.reply] == ["0:", "2:"]
    assert (first.attempt, second.attempt) == (3, 1)
    assert first.turns[0] == run.interrupted[0].turns[0]
    started = [attempt.started.goes_on_from for attempt in run.attempts]
    assert started == [0, 1, 2, 0]


def test_a_system_with_memory_is_asked_from_the_beginning(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "audit.yaml").write_text(AUDIT.format(function="remembering", takes="nothing", session="fresh"))
    _killed(tmp_path, 2)
    (tmp_path / "go").touch()
    process = _run(tmp_path)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0, told.decode()
    assert [before for before, _ in _log(tmp_path)] == [0, 1, 0, 1, 0, 1]
    assert [attempt.started.goes_on_from for attempt in read(tmp_path / "run").attempts] == [0, 0, 0]
