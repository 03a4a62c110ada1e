"""Temporary files of killed commands: removed by whoever writes there next, and no file that somebody still needs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from recordings.files.evidence import new_temporary, remove_leftovers, write_safely
from recordings.files.shared_file import shared_file
from recordings.judged.judgments import Judgment, Layer, write_layer
from recordings.log.store import RunWriter
from tests.recordings.log.test_store import header
from tests.support.command_line import harvest

WRITING = """
import sys, time
from pathlib import Path
from recordings.files.evidence import write_safely

def data():
    yield b"half"
    print("writing", flush=True)
    time.sleep(60)

write_safely(Path(sys.argv[1]), data())
"""


def kill_while_it_writes(path: Path) -> Path:
    """The temporary file that a process leaves which is killed while it writes `path`."""
    with subprocess.Popen([sys.executable, "-c", WRITING, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        remove_leftovers(path.parent)
        (left,) = path.parent.glob(f".{path.name}.*.tmp")  # not while it is written
        writer.send_signal(signal.SIGKILL)
    assert left.exists()
    return left


def test_files_left_by_a_killed_writer_are_removed_and_nothing_else(tmp_path: Path) -> None:
    left = kill_while_it_writes(tmp_path / "page.html")
    others = [".page.html.tmp", ".page.html.12-x.tmp", "page.html.1-1.tmp", ".hidden", ".page.html.1-1.tmp.d"]
    for name in others:
        (tmp_path / name).write_text("somebody's")
    (tmp_path / ".page.html.7-7.tmp").symlink_to(tmp_path / ".hidden")
    (tmp_path / ".page.html.8-8.tmp").mkdir()
    remove_leftovers(tmp_path, "other.html")
    assert left.exists(), "it was to be another file"
    remove_leftovers(tmp_path, "page.html")
    assert not left.exists()
    assert {one.name for one in tmp_path.iterdir()} == {*others, ".page.html.7-7.tmp", ".page.html.8-8.tmp"}
    remove_leftovers(tmp_path / "nowhere")


def test_the_next_command_that_writes_a_file_removes_leftovers_of_an_earlier_one(tmp_path: Path) -> None:
    left = kill_while_it_writes(tmp_path / "h.jsonl")
    with shared_file(tmp_path / "h.jsonl") as file:
        file.append(b"x")
    assert not left.exists()
    left = kill_while_it_writes(tmp_path / "page.html")
    assert harvest("report", tmp_path / "nowhere", "--out", tmp_path / "page.html").returncode == 2
    assert not left.exists()


async def test_a_run_and_its_judgments_keep_no_leftovers_of_killed_commands(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with RunWriter.create(run, header()) as writer:
        address = await writer.keep("page", "text/html", b"<p>")
    folders = [run, (run / address).parent, run / "judgments"]
    folders[2].mkdir()
    left = [kill_while_it_writes(folder / "rule-x-1.jsonl") for folder in folders]
    write_layer(run, Layer("rule", "x", judgments=(Judgment({"topic": "T", "entity": "e"}, "c", 1),)))
    assert [one.exists() for one in left] == [True, True, False]
    async with RunWriter.resume(run):
        assert [one.exists() for one in left] == [False] * 3


def test_a_temporary_file_is_never_removed_before_it_has_its_name(tmp_path: Path) -> None:
    """Several remove all day what others write all day."""
    ended, path = threading.Event(), tmp_path / "a"

    def remove() -> None:
        while not ended.is_set():
            remove_leftovers(tmp_path)

    removing = [threading.Thread(target=remove) for _ in range(2)]
    for one in removing:
        one.start()
    try:
        for number in range(60):
            write_safely(path, b"%d" % number)
            assert path.read_bytes() == b"%d" % number
    finally:
        ended.set()
        for one in removing:
            one.join()


def test_a_disk_without_locks_keeps_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> bool:
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr("recordings.files.evidence.flock", none)
    temporary, file = new_temporary(tmp_path / "a")
    file.close()
    remove_leftovers(tmp_path)
    assert temporary.exists()
    write_safely(tmp_path / "a", b"x")
    assert (tmp_path / "a").read_bytes() == b"x"
