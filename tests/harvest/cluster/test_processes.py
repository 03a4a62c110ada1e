"""One audit in several processes of this machine: whatever is killed, every trial is finished once, at one pace."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from harvest.cluster.shared_folder import FolderBoard, FolderSemaphore, folder_state
from harvest.cluster.shared_pace import SharedGate
from harvest.systems.timing import Clock
from recordings.log.run_folder import read
from tests.harvest.cluster.test_spreading import (
    AUDIT,
    SPACING,
    Killer,
    command,
    ended,
    holder,
    played,
    refused,
    smallest_gap,
)
from tests.support.cluster import CountingApi, content, counting_api

TRIALS = 4


def check(folder: Path, api: CountingApi, *, twice: int) -> None:
    """The merged run is that of one process; twice: turns at most that were asked a second time."""
    asked = Counter(api.asked)
    merged = read(folder / "merged", keep_rows=True)
    assert set(Counter(one.key for one in merged.conversations if one.outcome is not None).values()) == {1}
    turns = sum(len(one.turns) for one in merged.finished)
    assert turns <= asked.total() <= turns + twice
    assert smallest_gap(merged) >= SPACING
    played(folder, "whole", "--no-report")
    assert content(merged) == content(read(folder / "whole", keep_rows=True))


def begun(folder: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A command that has played something of both shards, and its workers."""
    one = command(folder, "merged", "--workers", "2", "--no-report")
    shards = [folder / "merged.shards" / f"{number}-of-2" for number in (1, 2)]
    deadline = time.monotonic() + 60
    while not all(ended(shard) for shard in shards):
        assert one.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return one, [holder(shard) for shard in shards]


def test_a_killed_worker_is_replaced_by_another_on_its_shard(tmp_path: Path) -> None:
    with counting_api() as api:
        (tmp_path / "audit.yaml").write_text(AUDIT.format(trials=TRIALS, url=api.url))
        shard = tmp_path / "merged.shards" / "1-of-2"
        killer = Killer(lambda: holder(shard) if ended(shard) > 1 else 0)
        said = played(tmp_path, "merged", "--workers", "2", "--no-report")
        assert killer.killed
        assert "2 shards, 2 at a time, in processes of this machine" in said
        check(tmp_path, api, twice=1)
        played(tmp_path, "merged", "--workers", "2", "--no-report")  # nothing is left


def test_workers_stop_with_a_killed_command_and_the_same_command_continues(tmp_path: Path) -> None:
    with counting_api() as api:
        (tmp_path / "audit.yaml").write_text(AUDIT.format(trials=TRIALS, url=api.url))
        one, workers = begun(tmp_path)
        one.kill()
        one.communicate()
        deadline = time.monotonic() + 60
        while any(is_running(worker) for worker in workers):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert not (tmp_path / "merged").exists()
        asked = sum(api.asked.values())
        time.sleep(0.5)
        assert sum(api.asked.values()) == asked
        played(tmp_path, "merged", "--workers", "3", "--no-report")  # in the two shards that are there
        check(tmp_path, api, twice=2)


def is_running(process: int) -> bool:
    with suppress(OSError):
        os.kill(process, 0)
        return Path(f"/proc/{process}/status").read_text().partition("State:\t")[2][:1] not in ("Z", "")
    return False


def test_an_interrupted_command_ends_its_workers(tmp_path: Path) -> None:
    with counting_api() as api:
        (tmp_path / "audit.yaml").write_text(AUDIT.format(trials=TRIALS, url=api.url))
        one, workers = begun(tmp_path)
        one.send_signal(signal.SIGINT)
        _, said = one.communicate(timeout=60)
        assert (one.returncode, "the same command resumes the run" in said) == (130, True), said
        assert not any(is_running(worker) for worker in workers)


def test_options_that_cannot_be_combined_are_refused(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(trials=1, url="http://127.0.0.1:1/v1"))
    refused(tmp_path, "run", "--workers", "2", "--shard", "1/2", told="cannot be used with --workers")
    refused(tmp_path, "run", "--workers", "2", "--dask", "tcp://127.0.0.1:1", told="plays on this machine alone")
    refused(tmp_path, "run", "--workers", "0", told="0 is not in the range")


async def test_nobody_sends_during_the_gap_after_a_holder_died(tmp_path: Path) -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    async def for_ever(seconds: float) -> None:
        await asyncio.Event().wait()

    one, other = (
        SharedGate(10.0, Clock(lambda: now, slept), *folder_state(tmp_path, "a")) for slept in (for_ever, sleep)
    )
    await one.wait_for_turn()
    assert now == 0
    os.close(one._semaphore._descriptor)  # type: ignore[attr-defined]
    await other.wait_for_turn()
    assert now >= 10


def test_a_lock_has_one_holder_and_a_board_holds_the_last_entry(tmp_path: Path) -> None:
    one, other = (FolderSemaphore(tmp_path / "a.lock") for _ in range(2))
    assert one.acquire(0)
    assert not other.acquire(0.01)
    assert one.release()
    assert not one.release()
    assert other.acquire()
    assert not other.abandoned
    os.close(other._descriptor)  # as the end of its process does
    assert one.acquire(0)
    assert one.abandoned
    assert one.release()
    assert one.acquire(0)
    assert not one.abandoned
    assert one.release()
    boards = [FolderBoard(tmp_path / "a") for _ in range(2)]
    assert boards[0].read() == {}
    boards[0].write("heeded", [1.5, 2, {"x": 3}])
    boards[1].write("x", [1, 0, 2.0, True])
    boards[1].write("x", [2, 0, 2.0, False])
    assert boards[0].read() == boards[1].read() == {"heeded": [1.5, 2, {"x": 3}], "x": [2, 0, 2.0, False]}
