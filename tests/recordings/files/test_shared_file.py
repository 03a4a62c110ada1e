"""Files that several commands write: nothing of any of them is lost, and nothing is taken for whole that is not."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.files.errors import RunError, StoreError
from recordings.files.lock import RunLocked, flock, is_locked
from recordings.files.shared_file import shared_file
from tests.support.faulty_disk import FaultyDisk, faulty_disk


def test_appended_text_is_read_by_the_next_writer_and_only_writing_creates_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with shared_file(path) as file:
        assert file.data == b""
    assert not path.exists(), "looking leaves nothing behind"
    for number in range(3):
        with shared_file(path) as file:
            assert file.data.count(b"\n") == number
            file.append(b"%d\n" % number)
    assert path.read_text() == "0\n1\n2\n"
    with shared_file(path) as file:
        file.replace(b"other\n")
        assert file.data == b"other\n"
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]


@given(st.binary(max_size=40), st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=4))
def test_appending_changes_no_existing_byte_and_begins_a_new_line(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, lines: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a"
    path.write_bytes(before)
    for line in lines:
        held = path.read_bytes()
        with shared_file(path) as file:
            file.append(line)
        assert path.read_bytes() in (held + line, held + b"\n" + line)
        assert not held or path.read_bytes()[: -len(line)].endswith(b"\n")


def test_a_waiting_thread_sees_the_replaced_content_of_the_file(tmp_path: Path) -> None:
    path, seen = tmp_path / "a", list[bytes]()

    def add() -> None:
        with shared_file(path) as file:
            seen.append(file.data)
            file.append(b"second\n")

    with shared_file(path) as file:
        waiting = threading.Thread(target=add)
        waiting.start()
        file.replace(b"first\n")  # another file than the one whose lock the thread waits for
    waiting.join(timeout=20)
    assert seen == [b"first\n"]
    assert path.read_text() == "first\nsecond\n"


def test_a_holder_that_takes_too_long_is_not_awaited(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with (
        shared_file(path),
        pytest.raises(RunLocked, match=r"a: another process has been writing to this file for more than 0\.1 seconds"),
        shared_file(path, patience=0.1),
    ):
        pass


@pytest.mark.parametrize("calls", range(1, 5))
def test_a_failing_disk_leaves_the_file_unchanged(tmp_path: Path, calls: int) -> None:
    path = tmp_path / "a"
    path.write_text("kept\n")
    disk = FaultyDisk(tmp_path, after=calls, number=errno.ENOSPC, once=True)
    written = False
    with faulty_disk(disk):
        try:
            with shared_file(path) as file:
                file.append(b"new\n")
                written = True
        except StoreError:
            pass
    assert (disk.failed, written) in ((1, False), (0, True))
    assert path.read_text() == "kept\nnew\n" * written + "kept\n" * (not written)


def test_a_special_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (".", "pipe"):
        with pytest.raises(RunError, match="not a file"), shared_file(tmp_path / name):
            pass
    with pytest.raises(StoreError, match="cannot write"), shared_file(tmp_path / "nowhere" / "a"):
        pass


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with shared_file(tmp_path / "link") as file:
        file.append(b"2\n")
    assert (tmp_path / "a").read_text() == "1\n2\n"


ADDING = """
import sys, time
from pathlib import Path
from recordings.files.shared_file import shared_file

for number in range(int(sys.argv[3])):
    with shared_file(Path(sys.argv[1])) as file:
        seen = file.data
        time.sleep(0.001)  # long enough for all others to come in between, if they could
        file.replace(seen + f"{sys.argv[2]} {number}\\n".encode()) if number % 2 else file.append(
            f"{sys.argv[2]} {number}\\n".encode()
        )
"""


def test_processes_that_append_and_replace_lose_none_of_each_others_changes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    adding = [subprocess.Popen([sys.executable, "-c", ADDING, str(path), str(number), "15"]) for number in range(4)]
    assert [one.wait(timeout=60) for one in adding] == [0] * 4
    lines = path.read_text().splitlines()
    assert sorted(lines) == sorted(f"{one} {number}" for one in range(4) for number in range(15))
    for one in range(4):
        assert [line for line in lines if line.startswith(f"{one} ")] == [f"{one} {number}" for number in range(15)]


def test_a_requested_lock_does_not_block(tmp_path: Path) -> None:
    assert not is_locked(tmp_path), "a folder without one"
    with (tmp_path / "lock").open("w") as file:
        assert not is_locked(tmp_path)
        assert flock(file.fileno())
        assert is_locked(tmp_path)
    assert not is_locked(tmp_path)
