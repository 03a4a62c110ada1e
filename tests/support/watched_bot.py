"""An assistant in a file that can be made worse or taken down, and an audit that watches it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.support.command_line import harvest

__all__ = ["WATCHED", "becomes", "bless", "copied", "watch"]

BOT = """\
import json, pathlib, zlib
STATE = pathlib.Path(__file__).with_name("state.json")
def answer(text, seed=0):
    state = json.loads(STATE.read_text())
    if state["down"]:
        raise ConnectionError("down")
    state["n"] += 1
    STATE.write_text(json.dumps(state))
    good = (zlib.crc32(f"{state['n']} {text}".encode()) % 100) < state["useful"]
    return "See https://www.imdb.com/title/tt0390384/" if good else "no"
"""
WATCHED = """\
format: harvest-audit/1
name: watched
topics: fairweb-45
only: [M001, M002, M003, M004, M005, M006, M007, M008]
protocol: fairweb-two-round
trials: 6
max_invalid: 1
systems:
  - {name: bot, driver: python, options: {function: "bot.py:answer"}, attempts: 1, retries: 0}
"""


def watch(folder: Path, audit: str = WATCHED) -> Path:
    """The folder, with the assistant and `audit.yaml` in it."""
    (folder / "bot.py").write_text(BOT)
    (folder / "audit.yaml").write_text(audit)
    becomes(folder)
    return folder


def becomes(folder: Path, *, useful: int = 90, down: bool = False) -> None:
    """From now on the assistant answers usefully in so many of 100 cases, or not at all."""
    state = folder / "state.json"
    old = json.loads(state.read_text()) if state.exists() else {"n": 0}
    state.write_text(json.dumps({**old, "useful": useful, "down": down}))


def bless(folder: Path, *runs: str) -> Path:
    """Play and bless these runs: the folder."""
    for run in runs:
        assert harvest("run", "audit.yaml", "--out", run, cwd=folder).returncode == 0
    done = harvest("watch", "bless", *runs, "--out", "audit.baseline.json", "--by", "me", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def copied(folder: Path, to: Path) -> Path:
    """A copy to change: what was played once need not be played for each test."""
    return shutil.copytree(folder, to, dirs_exist_ok=True)
