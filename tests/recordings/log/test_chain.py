"""The chain of a recording: whatever byte is changed, it is found, and where."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path

import pytest

from protocols.answer import Answer
from recordings.checking.chain_check import check_recording, recording_hash
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Event, TrialEnded, TrialStarted
from recordings.judged.judgments import Judgment, Layer, write_layer
from recordings.log.chain import chain_file
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.merging.merge import merge
from tests.recordings.log.test_store import header

SAMPLES = Path(__file__).parents[3] / "recordings" / "samples"


async def record(run: Path, trials: range) -> None:
    async with RunWriter.open(run, header()) as writer:
        for trial in trials:
            name = f"trial-{trial}"
            page = await writer.keep("page", "text/html", f"page {trial}".encode())
            reply = SystemTurn(Answer(f"answer number {trial}"), evidence={"page": page})
            events: list[Event] = [
                TrialStarted(name, TrialKey("B", "M001", trial), 1),
                Asked(name, 1, 1, "ask", f"Question {trial}?"),
                Answered(name, 1, 1, reply),
                TrialEnded(name, 1, Outcome("completed")),
            ]
            for event in events:
                await writer.append(event)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two processes, with evidence and a layer of judgments."""
    run = tmp_path_factory.mktemp("chain") / "run"
    asyncio.run(record(run, range(1, 4)))
    write_layer(run, Layer("human", "somebody", "1", "", "2026-01-01", (Judgment({"trial": "x"}, "Fluency", 1),)))
    asyncio.run(record(run, range(4, 6)))
    return run


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "run"))


def faults(run: Path) -> list[str]:
    return [str(fault) for fault in check_recording(run).faults]


def test_an_unchanged_run_has_no_findings(run: Path) -> None:
    found = check_recording(run)
    assert (found.faults, found.notes) == ([], [])
    assert (found.lines, found.chained) == (22, 22)
    assert (found.evidence, found.layers) == (5, 1)
    assert found.hash == recording_hash(run)


def everything(run: Path) -> list[Path]:
    return sorted(path for path in run.rglob("*") if path.is_file() and path.name != "lock")


def changes(recorded: Path, folder: Path, number: int, seed: int) -> None:
    """Change one byte after the other, anywhere in the run, and see that it is found in that file and line."""
    draw = random.Random(seed)
    files = everything(recorded)
    sizes = [file.stat().st_size for file in files]
    run = Path(shutil.copytree(recorded, folder / "run"))
    for _ in range(number):
        file = run / draw.choices(files, sizes)[0].relative_to(recorded)
        data = bytearray(file.read_bytes())
        kept, place = bytes(data), draw.randrange(len(data))
        data[place] ^= draw.randrange(1, 256)
        file.write_bytes(data)
        found = check_recording(run).faults
        where = file.relative_to(run).as_posix()
        assert found, f"{where}, byte {place}: not found"
        line = kept[:place].count(b"\n") + 1
        events = f"{file.stem}.jsonl" if file.suffix == ".chain" else where
        near = [one for one in found if one.file in (where, events) and (one.line is None or abs(one.line - line) <= 1)]
        assert near, f"{where}:{line}: found elsewhere, {found}"
        file.write_bytes(kept)
    assert faults(run) == []


def test_a_change_of_any_byte_is_found_at_its_line(recorded: Path, tmp_path: Path) -> None:
    changes(recorded, tmp_path, 150, 1)


@pytest.mark.soak
def test_a_thousand_changes_of_any_byte_are_found_at_their_lines(recorded: Path, tmp_path: Path) -> None:
    changes(recorded, tmp_path, 1000, 2)


@pytest.mark.parametrize("first", [True, False])
def test_a_truncated_tail_is_found(run: Path, first: bool) -> None:
    events = run / f"trials-{1 if first else 2:06}.jsonl"
    kept = events.read_bytes()
    for cut in (1, 30, len(kept) // 2, len(kept)):
        events.write_bytes(kept[:-cut])
        assert any(fault.startswith(events.name) for fault in faults(run)), cut
    lines = kept.splitlines(keepends=True)
    for left in range(len(lines)):
        events.write_bytes(b"".join(lines[:left]))
        assert f"{events.name}:{left + 1}: {len(lines) - left} line" in "".join(faults(run))


def test_a_chain_truncated_with_its_tail_is_no_longer_closed_and_its_hash_differs(run: Path) -> None:
    before = recording_hash(run)
    events = run / "trials-000002.jsonl"
    chain = chain_file(events)
    events.write_bytes(b"".join(events.read_bytes().splitlines(keepends=True)[:-1]))
    chain.write_bytes(b"".join(chain.read_bytes().splitlines(keepends=True)[:-2]))
    found = check_recording(run)
    assert found.faults == []
    assert any("not closed" in str(note) for note in found.notes)
    assert found.hash != before
    # In a file that another process went on from, even that is found.
    earlier = run / "trials-000001.jsonl"
    earlier.write_bytes(b"".join(earlier.read_bytes().splitlines(keepends=True)[:-1]))
    assert any(fault.startswith("trials-000001.jsonl") for fault in faults(run))


def test_moved_removed_or_added_lines_are_found(run: Path) -> None:
    events = run / "trials-000001.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    for changed, line in (
        ([*lines[:3], lines[4], lines[3], *lines[5:]], 4),
        ([*lines[:3], *lines[4:]], 4),
        ([*lines[:3], lines[2], *lines[3:]], 4),
        ([*lines, lines[-1]], len(lines) + 1),
    ):
        events.write_bytes(b"".join(changed))
        assert any(fault.startswith(f"{events.name}:{line}:") for fault in faults(run)), faults(run)


def test_missing_files_are_reported(run: Path) -> None:
    exhibit = next(run.glob("evidence/*/*"))
    exhibit.unlink()
    assert any("an event refers to it, but it is missing" in fault for fault in faults(run))
    next(run.glob("judgments/*")).unlink()
    assert any("it was added to this run and is now missing" in str(gap) for gap in check_recording(run).gaps)
    (run / "trials-000002.jsonl").unlink()
    assert any("trials-000002.jsonl: it is missing; its chain" in str(gap) for gap in check_recording(run).gaps)


def test_a_killed_process_leaves_no_fault_and_the_next_one_covers_its_end(run: Path) -> None:
    events = run / "trials-000002.jsonl"
    chain = chain_file(events)
    rows = chain.read_bytes().splitlines(keepends=True)
    chain.write_bytes(b"".join(rows[:-2])[:-7])  # in the middle of a hash; the events are whole
    found = check_recording(run)
    assert found.faults == []
    assert found.chained == found.lines - 2
    assert [note for note in found.notes if "not closed" in str(note)]
    asyncio.run(record(run, range(6, 7)))
    found = check_recording(run)
    assert (found.faults, found.notes) == ([], [])
    assert found.chained == found.lines
    events.write_bytes(events.read_bytes().replace(b"number 5", b"number 6"))
    assert faults(run) != []


def test_a_process_stopped_anywhere_while_writing_its_chain_leaves_no_fault(run: Path) -> None:
    events = run / "trials-000002.jsonl"
    chain = chain_file(events)
    lines, kept = events.read_bytes(), chain.read_bytes()
    ends = kept[:-1].rfind(b"\n") + 1
    for stopped in range(ends, len(kept)):
        chain.write_bytes(kept[:stopped])
        assert faults(run) == [], kept[ends:stopped]
    events.write_bytes(b"")
    for stopped in range(kept.index(b"\n") + 1):
        chain.write_bytes(kept[:stopped])
        assert faults(run) == [], kept[:stopped]
    events.write_bytes(lines)
    chain.write_bytes(b"")
    assert faults(run) == ["trials-000002.chain:1: its first line is not the first line of a chain"]


def test_an_older_run_is_unprotected_until_a_process_continues_it(tmp_path: Path, run: Path) -> None:
    old = check_recording(SAMPLES / "run-1")
    assert old.faults == []
    assert any("recorded without a chain" in str(note) for note in old.notes)
    for chain in run.glob("*.chain"):
        chain.unlink()
    assert check_recording(run).chained == 0
    asyncio.run(record(run, range(6, 7)))
    found = check_recording(run)
    assert (found.faults, found.chained) == ([], found.lines)


def test_a_merged_run_has_its_own_chain(run: Path, tmp_path: Path) -> None:
    merge([run], tmp_path / "merged")
    found = check_recording(tmp_path / "merged")
    assert (found.faults, found.notes) == ([], [])
    assert found.chained == found.lines
    assert len(read(tmp_path / "merged").finished) == 5
