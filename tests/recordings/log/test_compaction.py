"""Compacted runs: read, verified, resumed and written back as if nothing had happened, whenever the command is killed;
and hostile segments."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from protocols.answer import Answer
from protocols.route import Route
from recordings.checking.chain_check import check_recording
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.attempts import Attempts
from recordings.events.events import Answered, Asked, Event, Routed, TrialEnded, TrialStarted
from recordings.files import segments
from recordings.files.errors import RunError
from recordings.files.evidence import list_exhibits, read_exhibit
from recordings.files.lock import RunLocked
from recordings.files.segments import Batch, encode_segment
from recordings.files.stored_lines import NOTICE, read_lines
from recordings.log.compaction import compact, write_back
from recordings.log.run_folder import event_file_sizes, read, read_events
from recordings.log.store import RunWriter
from recordings.merging.merge import merge
from tests.recordings.checking.test_salvage import identity
from tests.recordings.log.test_store import header

WORDS = ("the", "of", "question", "answer", "which", "is", "a", "in", "person", "that", "researcher", "with", "Tokyo")


async def record(run: Path, trials: range, *, leave: bool = False) -> None:
    writer = RunWriter.open(run, header(protocol={"name": "p"}))
    for trial in trials:
        draw = random.Random(trial)
        said = " ".join(draw.choices(WORDS, k=60))
        body = json.dumps({"id": draw.getrandbits(64), "text": said}).encode()
        evidence = {
            "response": await writer.keep("response", "application/json", body),
            "headers": await writer.keep("headers", "application/json", b'{"status": 200}'),
            "picture": await writer.keep("picture", "image/png", draw.randbytes(50)),
        }
        events: list[Event] = [
            TrialStarted(identity(trial), TrialKey("B", "M001", trial), 1),
            Asked(identity(trial), 1, 1, "ask", f"Question {trial}?"),
            Answered(identity(trial), 1, 1, SystemTurn(Answer(said), evidence=evidence)),
            Routed(identity(trial), 1, Route(1, "ask", "o", "rule", "1", (), "stop:completed")),
            TrialEnded(identity(trial), 1, Outcome("completed")),
        ]
        await writer.append(*events)
    if leave:  # as a process does that is killed
        writer._journal.abandon()
        writer._lock.release()
    else:
        await writer.close()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of three processes, the second of which was killed while it wrote a line."""
    run = tmp_path_factory.mktemp("compact") / "run"
    asyncio.run(record(run, range(1, 9)))
    asyncio.run(record(run, range(9, 13), leave=True))
    with (run / "trials-000002.jsonl").open("ab") as file:
        file.write(b'{"event":"asked","id"')
    asyncio.run(record(run, range(13, 20)))
    return run


@pytest.fixture
def run(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(segments, "FRAME", 1500)  # several frames a file
    return Path(shutil.copytree(recorded, tmp_path / "run"))


def files(run: Path) -> dict[str, bytes]:
    return {
        file.relative_to(run).as_posix(): file.read_bytes()
        for file in run.rglob("*")
        if file.is_file() and file.name != "lock"
    }


def content(run: Path) -> object:
    """All that a run says, however it is stored."""
    found = read(run)
    exhibits = {address: read_exhibit(run, address) for address in sorted(list_exhibits(run))}
    lines = {name: read_lines(run, name) for name in event_file_sizes(run)}
    return found.attempts, found.damage, exhibits, lines, event_file_sizes(run), check_recording(run)


def test_a_compacted_run_is_read_verified_and_restored_unchanged(run: Path, recorded: Path) -> None:
    before = content(run)
    done = compact(run)
    assert (done.files, done.exhibits, done.left) == (3, 20, ())
    assert done.before > 1.5 * done.after
    assert content(run) == before
    left = {name for name in files(run) if not name.startswith("evidence/")}
    numbers = ("000001", "000002", "000003")
    assert left == {"run.json", "inventory.jsonl", NOTICE} | {
        f"trials-{number}{end}" for number in numbers for end in (".jsonl.zst", ".links")
    }
    assert {Path(name).suffix for name in files(run) if name.startswith("evidence/")} == {".png"}
    assert compact(run).files == 0, "there is nothing left to do"
    assert (write_back(run).files, files(run)) == (3, files(recorded))


def test_a_compacted_run_is_resumed_and_compacted_again(run: Path, recorded: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(recorded, tmp_path / "other"))
    compact(run)
    for one in (run, other):
        asyncio.run(record(one, range(20, 24)))
    assert (run / "trials-000004.jsonl").exists()

    def same() -> bool:
        return read(run).conversations == read(other).conversations and list_exhibits(run) != [] and not faults(run)

    assert same()
    assert (compact(run).files, same()) == (1, True)
    packed = [address for address in list_exhibits(run) if not (run / address).exists()]
    assert len(packed) == 24, "the headers, which four processes kept, are there once"
    write_back(run)
    assert files(run).keys() == files(other).keys()


def faults(run: Path) -> list[str]:
    found = check_recording(run)
    return [str(one) for one in (*found.faults, *found.gaps)]


def test_a_run_that_is_being_written_is_refused(run: Path) -> None:
    before = {name: data for name, data in files(run).items() if name != "inventory.jsonl"}

    async def refused() -> None:
        async with RunWriter.resume(run):
            with pytest.raises(RunLocked):
                compact(run)

    asyncio.run(refused())
    assert files(run).items() >= before.items()


def test_versions_without_segments_refuse_the_run_and_name_the_restoring_command(run: Path) -> None:
    compact(run)
    assert sorted(file.name for file in run.glob("trials-*.jsonl")) == [NOTICE], "which is all that they find"
    assert not list(run.glob("trials-*.chain")), "of which they would say that its events are lost"

    class Reader(Attempts):
        def handle_fault(self, fault: RunError, row: object) -> None:
            raise fault

    with pytest.raises(RunError, match=r"cannot read format version '2: compacted; .*compact RUN --undo\)'"):
        read_events(run / NOTICE, Reader(keep_rows=False))


def test_a_changed_file_is_left_unchanged(run: Path, recorded: Path) -> None:
    file = run / "trials-000001.jsonl"
    file.write_bytes(file.read_bytes().replace(b"Question 4?", b"Question 5?"))
    before = faults(run)
    done = compact(run)
    assert done.left == (f"{file}:18: this line was changed after it was written, so the file stays as it is",)
    assert (done.files, faults(run)) == (2, before == ["trials-000001.jsonl:18: this line was changed"] and before)


def test_changed_lines_in_a_segment_are_found_by_the_stored_chain(run: Path) -> None:
    data = (run / "trials-000001.jsonl").read_bytes()
    compact(run)
    spoilt = data.replace(b"Question 4?", b"Question 5?").splitlines(keepends=True)
    segment = run / "trials-000001.jsonl.zst"
    segment.write_bytes(b"".join(encode_segment([Batch(b"".join(spoilt[:20])), Batch(b"".join(spoilt[20:]))])))
    kept = [int(number) for number in re.findall(r'"lines":(\d+),"hash"', (run / "trials-000001.links").read_text())]
    place = next(number for number in kept if number >= 18)
    (told,) = [fault for fault in faults(run) if fault.startswith("trials-000001.jsonl:")]
    assert re.fullmatch(
        rf"trials-000001.jsonl:{place}: this line was changed, or one of the \d+ lines? before it", told
    )
    segment.write_bytes(b"".join(encode_segment([Batch(data[: data.rindex(b"\n", 0, -1) + 1])])))
    with pytest.raises(RunError, match="its end is lost: it was closed with 41 lines"):
        read(run)
    segment.unlink()
    with pytest.raises(RunError, match="this file of events is missing, but its chain"):
        read(run)


def test_zstdcat_prints_the_events(run: Path) -> None:
    events = b"".join(file.read_bytes() for file in sorted(run.glob("trials-*.jsonl")))
    compact(run)
    if shutil.which("zstdcat") is None:
        from compression import zstd  # type: ignore[import-not-found]

        printed = b"".join(zstd.open(file).read() for file in sorted(run.glob("trials-*.jsonl.zst")))
    else:
        printed = subprocess.run(
            f"zstdcat {run}/trials-*.jsonl.zst", shell=True, stdout=subprocess.PIPE, check=True
        ).stdout
    assert printed == events


def killed_at(run: Path, event: int, work: str) -> bool:
    """Whether a process that compacts the run was killed before its action `event` on files, and so did not end."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    number = 0

    def kill(name: str, _: object) -> None:
        nonlocal number
        if name == "open" or name.startswith(("os.", "shutil.")):
            number += 1
            if number == event:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(kill)
    (compact if work == "compact" else write_back)(run)
    os._exit(0)


def kills(run: Path, instants: Iterable[int], work: str = "compact") -> int:
    """Kill the command at these instants, each time in a fresh copy, until it ends before; how often it was killed."""
    before = content(run)
    plain = files(run)
    if work == "undo":
        compact(run)
    for ended, event in enumerate(instants):
        copy = run.with_name(f"killed-{work}-{event}")
        shutil.copytree(run, copy)
        if not killed_at(copy, event, work):
            shutil.rmtree(copy)
            return ended
        found = content(copy)
        assert repr(found).replace(str(copy), str(run)) == repr(before), f"after action {event}"
        compact(copy)
        assert not list(copy.glob("*.tmp"))
        assert {file.suffix for file in copy.glob("trials-0*")} == {".zst", ".links"}, f"after action {event}"
        write_back(copy)
        assert files(copy) == plain, f"after action {event}"
        shutil.rmtree(copy)
    return -1


@pytest.mark.parametrize("work", ["compact", "undo"])
def test_a_command_killed_at_any_instant_leaves_an_equivalent_run(run: Path, work: str) -> None:
    assert kills(run, range(3, 10_000, 61), work) >= 5


@pytest.mark.soak
@pytest.mark.parametrize("work", ["compact", "undo"])
def test_a_command_killed_at_every_instant_leaves_an_equivalent_run(run: Path, work: str) -> None:
    assert kills(run, count(1), work) >= 200


def mutated(data: bytes, draw: random.Random) -> bytes:
    at, size = draw.randrange(len(data)), draw.randrange(1, 200)
    match draw.randrange(6):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        case 2:
            return data[:at] + draw.randbytes(size) + data[at + size :]
        case 3:
            return data[:at] + data[at + size :]
        case 4:
            return data[:at] + draw.randbytes(size) + data[at:]
        case _:
            other = draw.randrange(len(data))
            return data[:at] + data[other : other + size] + data[at + size :]


@pytest.mark.parametrize("many", [90, pytest.param(300, marks=pytest.mark.soak)])
def test_a_hostile_segment_gets_one_message_and_never_another_figure(run: Path, many: int) -> None:
    attempts, hashed = read(run).attempts, check_recording(run).hash
    compact(run)
    segment = run / "trials-000001.jsonl.zst"
    whole = segment.read_bytes()
    draw, refused = random.Random(40), 0
    for number in range(many):
        data = mutated(whole, draw)
        segment.write_bytes(data)
        found = check_recording(run)
        assert bool(found.faults) == (data != whole) or data == whole, number
        told = ""
        try:
            assert read(run).attempts == attempts, number
        except RunError as fault:
            told = str(fault)
        refused += bool(told)
        assert len(told.splitlines()) <= 3
        assert bool(told) == ("trials-000001.jsonl" in told)
        assert told or data == whole or found.hash != hashed, number
    assert refused > 2 * many // 3, "all but those that hit only exhibits"


@pytest.mark.parametrize("many", [30, pytest.param(100, marks=pytest.mark.soak)])
def test_changes_to_a_stored_chain_are_found_and_no_figure_changes(run: Path, many: int) -> None:
    compact(run)
    attempts, draw = read(run).attempts, random.Random(41)
    links = run / "trials-000001.links"
    whole = links.read_bytes()
    for number in range(many):
        links.write_bytes(mutated(whole, draw))
        assert bool(faults(run)) == (links.read_bytes() != whole), number
        assert read(run).attempts == attempts, number


def test_a_decompression_bomb_takes_little_memory(run: Path) -> None:
    """A segment of kilobytes that comes to a gigabyte, whatever its index says."""
    compact(run)
    zeros = segments._zstd().ZstdCompressor(level=1)
    frame = b"".join([zeros.compress(bytes(2**20)) for _ in range(2**10)]) + zeros.flush()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for said in (1000, segments.MOST, 2**30, 2**60):
        packed = segments._compress(
            json.dumps({"format": segments._FORMAT, "frames": [[len(frame), said, 1, 0, 0]]}).encode()
        )
        size = segments._HEAD.size + len(packed) + segments._FOOTER.size
        index = packed + segments._FOOTER.pack(size, segments._MARK)
        (run / "trials-000001.jsonl.zst").write_bytes(frame + segments._skippable(index))
        with pytest.raises(RunError, match=r"its segment trials-000001\.jsonl\.zst is damaged"):
            read(run)
        assert check_recording(run).faults
        assert event_file_sizes(run)
        assert merge([run], run.with_name(f"saved-{said}"), salvage=True).damage
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * (1 if sys.platform == "darwin" else 1024) < 4 * segments.MOST


@pytest.mark.parametrize("address", ["../../outside.json", "/etc/passwd", "evidence/ab/../../x.json"])
def test_an_exhibit_is_written_nowhere_but_at_its_address(run: Path, address: str) -> None:
    compact(run)
    lines = read_lines(run, "trials-000001.jsonl")
    (run / "trials-000001.jsonl.zst").write_bytes(b"".join(encode_segment([Batch(lines, [(address, b"{}")])])))
    with pytest.raises(RunError, match="the exhibits of frame 1 of 1"):
        write_back(run)
    assert not (run.parent.parent / "outside.json").exists()


@pytest.mark.parametrize("how", ["a frame", "the end"])
def test_the_readable_part_of_a_damaged_segment_is_saved(run: Path, tmp_path: Path, how: str) -> None:
    trials = {attempt.started.key.trial for attempt in read(run).attempts}
    compact(run)
    file = run / "trials-000001.jsonl.zst"
    data = file.read_bytes()
    with segments.open_segment(run, "trials-000001.jsonl") as segment:
        at = segment._index.starts[2] + 20
    file.write_bytes(data[:at] + b"?" + data[at + 1 :] if how == "a frame" else data[:at])
    with pytest.raises(RunError, match="--salvage"):
        read(run)
    done = merge([run], tmp_path / "saved", salvage=True)
    saved = {one.key.trial for one in read(tmp_path / "saved").finished}
    assert done.damage
    assert 0 < len(trials - saved) < (4 if how == "a frame" else 8)
    assert saved >= set(range(9, 20)), "those of other files"
    assert [kept.read_bytes() for kept in (tmp_path / "saved" / "damaged").glob("trials-000001-*.zst")] == [
        file.read_bytes()
    ]
