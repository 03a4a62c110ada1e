"""The writer: what it acknowledged is on disk, whatever happens to the process or the disk."""

from __future__ import annotations

import asyncio
import errno
import gzip
import hashlib
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from protocols.answer import Answer
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, TrialEnded, TrialStarted
from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import address_of, evidence_fault, keep_exhibit, read_exhibit
from recordings.log.chain import FLUSH
from recordings.log.header import Header, read_header
from recordings.log.run_folder import read
from recordings.log.store import RunWriter


def header(**changes: object) -> Header:
    values: dict[str, object] = {
        "audit": {"name": "test"},
        "protocol": None,
        "topics": None,
        "systems": {"B": {"name": "B", "driver": "parrot"}},
        "seed": 1,
        "hashes": {"protocol": "p", "topics": {"M001": "m"}, "systems": {"B": "b"}},
        "created_at": "2024-01-01T00:00:00.000000+00:00",
    }
    return Header(**{**values, **changes})  # type: ignore[arg-type]


def clock() -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC)


def started(number: int, attempt: int = 1) -> TrialStarted:
    return TrialStarted(f"trial-{number}", TrialKey("B", "M001", number), attempt, at="2024-01-01")


async def play(writer: RunWriter, number: int, text: str = "Sure.", *, sync: bool = True) -> None:
    trial = f"trial-{number}"
    await writer.append(started(number))
    await writer.append(Asked(trial, 1, 1, "ask", "Please list films."))
    await writer.append(Answered(trial, 1, 1, SystemTurn(Answer(text))), sync=sync)
    await writer.append(TrialEnded(trial, 1, Outcome("completed")), sync=sync)


async def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        await play(writer, 1)
        address = await writer.keep("response", "application/json", b'{"text": "Sure."}')
    run = read(tmp_path / "run")
    assert [turn.said for turn in run.finished[0].turns] == ["Please list films."]
    assert run.finished[0].worker == "000001"
    assert run.damage == ()
    assert re.fullmatch(r"evidence/[0-9a-f]{2}/[0-9a-f]{40}\.json", address)
    assert (tmp_path / "run" / address).read_bytes() == b'{"text": "Sure."}'


async def test_trial_started_carries_the_hashes_of_the_header(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        await play(writer, 1)
    assert read(tmp_path / "run").attempts[0].started.hashes == {"protocol": "p", "topic": "m", "system": "b"}


async def test_the_same_exhibit_is_kept_once(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        addresses = await asyncio.gather(*(writer.keep("page", "text/html", b"<p>x</p>") for _ in range(20)))
    assert len(set(addresses)) == 1
    assert [file.suffix for file in (tmp_path / "run" / "evidence").rglob("*") if file.is_file()] == [".html"]


PAGE = b"<h-page>" + b"<p class='bubble bot'>One line of a long conversation.</p>" * 4000 + b"</h-page>"
XHTML = "application/xhtml+xml"


def test_a_page_is_kept_compressed_once_and_read_as_it_was(tmp_path: Path) -> None:
    address = keep_exhibit(tmp_path, PAGE, XHTML)
    assert re.fullmatch(r"evidence/[0-9a-f]{2}/[0-9a-f]{40}\.xhtml\.gz", address)
    assert (tmp_path / address).stat().st_size < len(PAGE) / 50
    assert gzip.decompress((tmp_path / address).read_bytes()) == PAGE
    written = (tmp_path / address).stat().st_mtime_ns
    assert keep_exhibit(tmp_path, PAGE, XHTML) == address == address_of(PAGE, XHTML)
    assert (tmp_path / address).stat().st_mtime_ns == written
    assert read_exhibit(tmp_path, address) == PAGE
    assert evidence_fault(tmp_path, address) == ""


def as_found(run: Path, data: bytes, extension: str) -> str:
    """A file as another program may have left it, under a name that fits."""
    digest = hashlib.blake2b(data, digest_size=20, person=b"harvest-evidence").hexdigest()
    file = run / "evidence" / digest[:2] / f"{digest}.{extension}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file.relative_to(run).as_posix()


def test_pages_that_were_kept_as_they_are_and_archives_are_read_as_ever(tmp_path: Path) -> None:
    archive = gzip.compress(b"what a driver has compressed itself")
    for data, extension in ((PAGE, "xhtml"), (archive, "gz"), (b"<p>", "html")):
        assert read_exhibit(tmp_path, as_found(tmp_path, data, extension)) == data
    assert keep_exhibit(tmp_path, b"<h-page></h-page>", XHTML).endswith(".xhtml"), "too small to be worth it"


@pytest.mark.parametrize("data", [PAGE, b"", gzip.compress(PAGE)[:-9], gzip.compress(bytes(2_000_000))])
def test_a_compressed_page_that_is_damaged_or_without_end_is_a_fault_and_no_more(tmp_path: Path, data: bytes) -> None:
    fault = evidence_fault(tmp_path, as_found(tmp_path, data, "xhtml.gz"), largest=1_000_000)
    assert "cannot be decompressed" in fault


async def test_each_process_starts_a_file_of_its_own(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for number, name in ((1, ""), (2, ""), (3, "east")):
        async with RunWriter.open(run, header(), worker=name) as writer:
            await play(writer, number)
    files = sorted(file.name for file in run.glob("trials-*.jsonl"))
    assert files == ["trials-000001.jsonl", "trials-000002.jsonl", "trials-east-000003.jsonl"]
    assert len(read(run).finished) == 3


async def test_concurrent_appends_share_fsyncs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    released = threading.Event()
    real = os.fsync

    def slow(descriptor: int) -> None:
        calls.append(descriptor)
        assert released.wait(10)  # set by the loop, which would stand still if it waited for the disk itself
        real(descriptor)

    async with RunWriter.create(tmp_path / "run", header()) as writer:
        monkeypatch.setattr(os, "fsync", slow)
        waiting = asyncio.gather(*(writer.append(started(number), sync=True) for number in range(1, 201)))
        await asyncio.sleep(0.01)
        released.set()
        await waiting
        assert 1 <= len(calls) <= 2
        assert len(calls) == writer.syncs
        monkeypatch.setattr(os, "fsync", real)
    order = [attempt.started.key.trial for attempt in read(tmp_path / "run").attempts]
    lines = (tmp_path / "run" / "trials-000001.jsonl").read_text().splitlines()[1:]
    assert [json.loads(row)["trial"] for row in lines] == list(range(1, 201)) == order


async def test_appends_that_wait_share_one_write_and_the_chain_never_says_more_than_the_file_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, real, writes = tmp_path / "run", os.write, 0

    def counted(descriptor: int, data: bytes) -> int:
        nonlocal writes
        writes += 1
        written = real(descriptor, data)
        hashes = (run / "trials-000001.chain").read_bytes().count(b"\n") - 1  # its first line is no hash
        assert hashes <= (run / "trials-000001.jsonl").read_bytes().count(b"\n")
        return written

    async with RunWriter.create(run, header()) as writer:
        monkeypatch.setattr(os, "write", counted)
        await asyncio.gather(*(writer.append(started(number), sync=True) for number in range(1, 101)))
        assert writes == 2 * math.ceil(100 / FLUSH)  # each of some lines, and of their hashes
        waiting = asyncio.create_task(writer.append(started(101), sync=True))
        await asyncio.sleep(0)  # it waits with its line unwritten
        await writer.append(started(102))
        order = [json.loads(row).get("trial") for row in (run / "trials-000001.jsonl").read_text().splitlines()]
        assert order[-2:] == [101, 102], "what was said earlier stands earlier"
        await waiting
        monkeypatch.setattr(os, "write", real)


async def test_append_with_sync_returns_after_an_fsync_that_began_after_its_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    real = os.fsync

    def measured(descriptor: int) -> None:
        sizes.append(os.fstat(descriptor).st_size)
        time.sleep(0.001)
        real(descriptor)

    async with RunWriter.create(tmp_path / "run", header()) as writer:
        monkeypatch.setattr(os, "fsync", measured)
        file = tmp_path / "run" / "trials-000001.jsonl"

        async def one(number: int) -> None:
            await asyncio.sleep(random.Random(number).random() / 100)
            before = len(sizes)
            await writer.append(started(number), sync=True)
            needed = file.read_bytes().index(f'"trial-{number}"'.encode())
            assert any(size > needed for size in sizes[before:])

        await asyncio.gather(*(one(number) for number in range(1, 60)))
        monkeypatch.setattr(os, "fsync", real)


async def test_a_cancelled_caller_takes_nobody_with_it(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        tasks = [asyncio.create_task(writer.append(started(number), sync=True)) for number in (1, 2, 3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert tasks[0].exception() is None
        assert tasks[2].exception() is None
    assert len(read(tmp_path / "run").attempts) == 3


def test_two_writers_are_kept_apart_and_the_other_is_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    first = RunWriter.create(run, header())
    script = f"from recordings.log.store import RunWriter; RunWriter.resume({str(run)!r})"
    second = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert f"being written by another process (pid {os.getpid()})" in second.stderr
    with pytest.raises(RunError, match="being written by another process"):
        RunWriter.resume(run)
    asyncio.run(first.close())
    asyncio.run(RunWriter.resume(run).close())


async def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(RunError, match=r"not empty and does not contain a run \(it contains 'thesis.tex'\)"):
        RunWriter.create(tmp_path, header())
    with pytest.raises(RunError, match=r"has no run\.json"):
        RunWriter.resume(tmp_path)
    with pytest.raises(RunError, match="no such run folder"):
        RunWriter.resume(tmp_path / "absent")


async def test_a_run_is_not_created_over_a_run(tmp_path: Path) -> None:
    await RunWriter.create(tmp_path / "run", header()).close()
    with pytest.raises(RunError, match="this folder already contains a run"):
        RunWriter.create(tmp_path / "run", header())


async def test_run_json_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Path, target: Path) -> Path:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(self))

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(StoreError, match="Input/output error"):
        RunWriter.create(tmp_path / "run", header())
    assert [entry.name for entry in (tmp_path / "run").iterdir()] == ["lock"]
    monkeypatch.undo()
    await RunWriter.create(tmp_path / "run", header()).close()


async def test_after_a_short_write_nothing_more_goes_into_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    writer = RunWriter.create(run, header())
    await play(writer, 1)
    real = os.write
    left = [40]

    def short(descriptor: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = real(descriptor, bytes(data)[: left[0]])
        left[0] -= taken
        return taken

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(StoreError, match=r"No space left(?s:.*)every turn that was acknowledged(?s:.*)free some space"):
        await writer.append(started(2), sync=True)
    monkeypatch.undo()
    with pytest.raises(StoreError, match="No space left"):
        await writer.append(started(3), sync=True)
    await writer.close()
    damaged = read(run)
    assert len(damaged.damage) == 1
    assert re.search(r"trials-000001\.jsonl:6: the last line is torn after 40 bytes", damaged.damage[0])
    async with RunWriter.resume(run) as again:
        await play(again, 2)
    assert [conversation.key.trial for conversation in read(run).finished] == [1, 2]


async def test_a_failed_fsync_fails_everybody_who_waits_and_is_never_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RunWriter.create(tmp_path / "run", header())

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    results = await asyncio.gather(
        *(writer.append(started(number), sync=True) for number in range(1, 6)), return_exceptions=True
    )
    assert [type(result) for result in results] == [StoreError] * 5
    monkeypatch.undo()
    with pytest.raises(StoreError, match="Input/output error"):
        await writer.append(started(9), sync=True)
    await writer.close()


async def test_an_event_that_is_no_json_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        with pytest.raises(ValueError, match="JSON compliant"):
            await writer.append(
                started(1), Answered("trial-1", 1, 1, SystemTurn(Answer("x"), seconds=float("inf"))), sync=True
            )
        await play(writer, 1)
    assert len(read(tmp_path / "run").finished) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 256 KiB where this machine lets us mount one, else the machine's own full device."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True, check=False
    )
    yield place
    if mounted.returncode == 0:
        subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)


def test_a_full_disk_stops_the_run_and_loses_nothing(small_disk: Path) -> None:
    run = small_disk / "run"
    mounted = small_disk.is_mount()
    acknowledged: list[int] = []

    async def fill() -> None:
        writer = RunWriter.create(run, header())
        try:
            for number in range(1, 2000):
                if number == 20 and not mounted:
                    full = os.open("/dev/full", os.O_WRONLY)
                    os.dup2(full, writer._journal._descriptor)
                    os.close(full)
                await play(writer, number, "word " * 100)
                acknowledged.append(number)
        finally:
            if mounted:
                with pytest.raises(StoreError, match=r"keep the evidence 'page'(?s:.*)No space left"):
                    await writer.keep("page", "text/html", b"x" * 300_000)
            await writer.close()

    with pytest.raises(StoreError, match=r"No space left on device(?s:.*)free some space"):
        asyncio.run(fill())
    assert not list(run.rglob("*.tmp"))
    recorded = read(run)
    finished = [conversation.key.trial for conversation in recorded.finished]
    assert len(acknowledged) > 10
    assert finished[: len(acknowledged)] == acknowledged
    assert len(recorded.damage) <= 1


KILLED = textwrap.dedent(
    """
    import asyncio
    from protocols.answer import Answer
    from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
    from recordings.events.events import Answered, Asked, TrialEnded, TrialStarted
    from recordings.log.header import Header
    from recordings.log.store import RunWriter

    header = Header(audit={{}}, protocol=None, topics=None, systems={{"B": {{}}}}, seed=1, hashes={{}})

    async def main():
        writer = RunWriter.open({run!r}, header)
        async def worker(first):
            for number in range(first, first + 100_000, 4):
                trial = f"trial-{{number}}"
                await writer.append(TrialStarted(trial, TrialKey("B", "M001", number), 1))
                await writer.append(Asked(trial, 1, 1, "ask", "Please list films."))
                await writer.append(Answered(trial, 1, 1, SystemTurn(Answer("word " * 500))), sync=True)
                await writer.append(TrialEnded(trial, 1, Outcome("completed")), sync=True)
                print(number, flush=True)
        await asyncio.gather(*(worker({first} + i) for i in range(4)))

    asyncio.run(main())
    """
)


@pytest.mark.parametrize("kills", [5, pytest.param(20, marks=pytest.mark.soak)])
def test_kill_9_at_random_moments_loses_nothing_that_was_acknowledged(kills: int, tmp_path: Path) -> None:
    run = tmp_path / "run"
    rng = random.Random(20)
    acknowledged: list[int] = []
    for kill in range(kills):
        script = KILLED.format(run=str(run), first=1 + kill * 1_000_000)
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stderr is not None
        said = [process.stdout.readline()]  # it is at work
        assert said[0], process.stderr.read().decode()
        time.sleep(rng.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().splitlines(keepends=True)
        process.wait(timeout=30)
        process.stdout.close()
        process.stderr.close()
        acknowledged += [int(row) for row in said if row.endswith(b"\n")]
    recorded = read(run)
    assert len(recorded.damage) <= kills
    finished = Counter(conversation.key.trial for conversation in recorded.finished)
    assert len(acknowledged) >= kills
    assert {number: finished[number] for number in acknowledged} == dict.fromkeys(acknowledged, 1)
    assert max(finished.values()) == 1
    lines = Counter(
        json.loads(row)["id"]
        for file in run.glob("trials-*.jsonl")
        for row in file.read_bytes().split(b"\n")[:-1]
        if b'"trial-ended"' in row
    )
    assert all(lines[f"trial-{number}"] == 1 for number in acknowledged)
    assert len(list(run.glob("trials-*.jsonl"))) == kills


def test_a_torn_header_of_a_killed_process_does_not_stand_in_the_way(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / ".run.json.77-1.tmp").write_bytes(b'{"format": "harv')
    asyncio.run(RunWriter.create(run, header()).close())
    assert read_header(run).seed == 1
