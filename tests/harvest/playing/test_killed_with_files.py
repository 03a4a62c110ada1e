"""A conversation that sends a file is killed in its middle, once while the file is under way and once later, and goes
on: nothing that was answered is sent again, and the record has the file of every turn."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
import yaml

from recordings.log.run_folder import read
from tests.harvest.drivers.test_sent_files import PROTOCOL
from tests.support.forked_commands import ForkedCommand
from tests.topics.test_sent_files import PNG, topics_with

BOT = """\
import hashlib, json, time
from pathlib import Path

def digests(files):
    return [hashlib.sha256(one["data"]).hexdigest()[:8] for one in files]

def answer(text, history, files):
    before = [digests(one.get("files", ())) for one in history if one["role"] == "user"]
    with open("log", "a") as log:
        print(json.dumps([before, digests(files)]), file=log, flush=True)
    while not Path(f"go-{len(before)}").exists():
        time.sleep(0.02)
    return f"{len(before)} and {len(files)}"

def remembering():
    said = []
    def say(text, files):
        said.append({"role": "user", "files": files})
        return answer(text, said[:-1], files)
    return say
"""
AUDIT = {"format": "harvest-audit/1", "name": "seen", "topics": "topics.yaml", "protocol": "look.yaml", "trials": 1}


def _log(folder: Path) -> list[list[object]]:
    """Of every call the files of the turns before, and those of its turn, by their digests."""
    path = folder / "log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _killed_at(folder: Path, call: int) -> None:
    """Play until the function was called so often, and waits."""
    process = ForkedCommand("run", "audit.yaml", "--out", "run", "--json", cwd=folder)
    deadline = time.monotonic() + 60
    while len(_log(folder)) < call:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[1].decode()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("remembers", [False, True])
def test_a_file_goes_with_its_turn_and_no_answered_turn_is_sent_again(tmp_path: Path, remembers: bool) -> None:
    name = "Mühle am See.png"
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / name).write_bytes(PNG)
    topics_with(tmp_path, name)
    (tmp_path / "look.yaml").write_text(yaml.safe_dump(PROTOCOL))
    taken = {"function": "bot.py:remembering", "takes": "nothing"} if remembers else {"function": "bot.py:answer"}
    options = {"takes": "history", **taken, "files": True}
    (tmp_path / "audit.yaml").write_text(
        yaml.safe_dump({**AUDIT, "systems": [{"name": "eye", "driver": "python", "options": options}]})
    )
    _killed_at(tmp_path, 1)
    (tmp_path / "go-0").touch()
    _killed_at(tmp_path, 3)
    (tmp_path / "go-1").touch()
    process = ForkedCommand("run", "audit.yaml", "--out", "run", "--json", cwd=tmp_path)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said.decode()
    digest = read(tmp_path / "run").finished[0].turns[0].attached[0].sha256[:8]
    first, second = [[], [digest]], [[[digest]], []]
    # A system that remembers has lost what it was told; another is asked only what it has not answered.
    assert _log(tmp_path) == [first, first, second, *([first, second] if remembers else [second])]
    (one,) = read(tmp_path / "run").finished
    assert [[file.name for file in turn.attached] for turn in one.turns] == [[name], []]
    assert [turn.reply.answer.text for turn in one.turns if turn.reply] == ["0 and 1", "1 and 0"]
    assert one.turns[0].reply is not None
    assert (tmp_path / "run" / one.turns[0].reply.evidence["sent-1"]).read_bytes() == PNG
