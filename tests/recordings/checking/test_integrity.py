"""Nothing that is gone, cut, swapped or written anew is said to be verified, and neither is what is made of it."""

import asyncio
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recordings.checking.chain_check import RecordingFindings, check_recording
from recordings.files.errors import RunError, StoreError
from recordings.judged.decision_book import DecisionBook
from recordings.judged.judgments import Judgment, Layer, write_layer
from recordings.log.chain import Chain, chain_file, write_chain
from recordings.log.inventory import INVENTORY, read_inventory
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.merging.merge import merge
from tests.recordings.judged.test_decisions import FIRST
from tests.recordings.log.test_chain import SAMPLES, record
from tests.recordings.log.test_store import header

Change = Callable[[Path, Path], object]
"""What is done to a run; the second folder is another run, of the same kind, to take files from."""


async def decide(run: Path, letters: str) -> None:
    book = DecisionBook.open(run)
    for letter in letters:
        await book.decide(replace(FIRST, id=letter * 16, about=({"trial": "trial-1", "attempt": 1, "turn": 1},)))
    await book.close()


def made(run: Path, first: int) -> Path:
    """Two processes that recorded, two that took decisions, two layers."""
    asyncio.run(record(run, range(first, first + 6)))
    about = Judgment({"trial": f"trial-{first}", "attempt": 1, "turn": 1}, "Fluency", first)
    write_layer(run, Layer("human", "anna", "1", "", "2026-01-01", (about,)))
    asyncio.run(decide(run, "ab"))
    write_layer(run, Layer("rule", "rule", "1", "", "2026-01-02", (about,)))
    asyncio.run(record(run, range(first + 6, first + 12)))
    asyncio.run(decide(run, "cd"))
    return run


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("whole") / "run", 1)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("other") / "run", 1)


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "run"))


def rank(found: RecordingFindings) -> int:
    """0 verified, 1 in part, 2 not verified, 3 differs."""
    return 3 if found.faults else 2 if found.gaps else 1 if found.notes else 0


def cut(file: Path, kept: int) -> None:
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:kept]))


def change_line(file: Path, number: int) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    lines[number] = lines[number].replace(b"a", b"e")
    file.write_bytes(b"".join(lines))


FILES = (
    "trials-000001.jsonl",
    "trials-000001.chain",
    "trials-000002.jsonl",
    "trials-000002.chain",
    "decisions/000001.jsonl",
    "decisions/000001.chain",
    "decisions/000002.jsonl",
    "decisions/000002.chain",
    "judgments/human-*",
    "judgments/rule-*",
    INVENTORY,
)


def one(run: Path, pattern: str) -> Path:
    (found,) = run.glob(pattern)
    return found


def structural() -> Iterator[tuple[str, Change]]:
    for name in FILES:
        yield f"{name} gone", lambda run, _, name=name: one(run, name).unlink()  # type: ignore[misc]
        for kept in (1, -1) if name.startswith("judgments") else (1, 2, -1):
            yield f"{name} cut at {kept}", lambda run, _, n=name, k=kept: cut(one(run, n), k)  # type: ignore[misc]
        yield f"{name} emptied", lambda run, _, name=name: one(run, name).write_bytes(b"")  # type: ignore[misc]
    for name in ("trials-000001", "trials-000002", "decisions/000001", "decisions/000002"):

        def gone(run: Path, _: Path, name: str = name) -> None:
            for kind in ("jsonl", "chain"):
                (run / f"{name}.{kind}").unlink()

        def shortened(run: Path, _: Path, name: str = name) -> None:
            cut(run / f"{name}.jsonl", -1)
            cut(run / f"{name}.chain", -2)

        def cut_and_changed(run: Path, _: Path, name: str = name) -> None:
            cut(run / f"{name}.chain", 2)
            change_line(run / f"{name}.jsonl", 2)

        def rewritten(run: Path, _: Path, name: str = name) -> None:
            """By somebody who knows how chains are made, and forgets the inventory."""
            events = run / f"{name}.jsonl"
            change_line(events, 2)
            listed = (run / INVENTORY).read_bytes()
            chain_file(events).unlink()
            if name.startswith("trials"):
                write_chain(events)
            else:
                lines = events.read_bytes().splitlines(keepends=True)
                chain = Chain.create(events)
                chain.add(lines)
                chain.close(whole=True)
            (run / INVENTORY).write_bytes(listed)

        def taken(run: Path, other: Path, name: str = name) -> None:
            for kind in ("jsonl", "chain"):
                data = (other / f"{name}.{kind}").read_bytes()
                (run / f"{name}.{kind}").write_bytes(data.replace(b"a" * 16, b"f" * 16))

        yield f"{name} gone with its chain", gone
        yield f"{name} shortened with its chain", shortened
        yield f"{name} changed where its chain was cut", cut_and_changed
        yield f"{name} rewritten with its chain", rewritten
        yield f"{name} taken from another run, with its chain", taken
    for first, second in (("trials-000001", "trials-000002"), ("decisions/000001", "decisions/000002")):

        def swapped(run: Path, _: Path, one: str = first, two: str = second) -> None:
            for kind in ("jsonl", "chain"):
                kept = (run / f"{one}.{kind}").read_bytes()
                (run / f"{one}.{kind}").write_bytes((run / f"{two}.{kind}").read_bytes())
                (run / f"{two}.{kind}").write_bytes(kept)

        yield f"{first} and {second} swapped", swapped

    def layers_swapped(run: Path, _: Path) -> None:
        first, second = sorted(run.glob("judgments/*"))
        kept = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(kept)

    def renamed(run: Path, _: Path) -> None:
        layer = one(run, "judgments/human-*")
        layer.rename(layer.with_name("human-anna.jsonl"))

    def added(run: Path, _: Path) -> None:
        shutil.copy(one(run, "judgments/human-*"), run / "judgments" / "human-anna.jsonl")

    def begun_again(run: Path, _: Path) -> None:
        (run / INVENTORY).unlink()
        one(run, "judgments/human-*").unlink()
        write_layer(run, Layer("human", "ben", judgments=(Judgment({"trial": "trial-1"}, "Fluency", 1),)))

    def gone_on(run: Path, _: Path) -> None:
        """A chain is cut, lines are changed, and another process goes on with the run."""
        cut(run / "trials-000002.chain", 2)
        change_line(run / "trials-000002.jsonl", -3)
        asyncio.run(record(run, range(40, 41)))

    def without_chains(run: Path, _: Path) -> None:
        for chain in run.rglob("*.chain"):
            chain.unlink()

    yield "layers swapped", layers_swapped
    yield "a layer renamed", renamed
    yield "a layer added", added
    yield "the inventory gone and begun again", begun_again
    yield "a cut chain gone on with", gone_on
    yield "all chains gone", without_chains
    yield "another inventory", lambda run, other: (run / INVENTORY).write_bytes((other / INVENTORY).read_bytes())


CHANGES = dict(structural())


def test_an_unchanged_run_is_verified(run: Path) -> None:
    found = check_recording(run)
    assert (found.faults, found.gaps, found.notes) == ([], [], [])
    assert (check_recording(run).layers, check_recording(run).decisions) == (2, 4)


def test_there_are_as_many_changes_as_claimed() -> None:
    assert len(CHANGES) >= 80


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_run_is_not_verified_and_neither_is_anything_made_from_it(
    run: Path, other: Path, tmp_path: Path, what: str
) -> None:
    CHANGES[what](run, other)
    found = check_recording(run)
    assert rank(found) > 0, what
    try:
        merged = merge([run], tmp_path / "merged")
        again = merge([tmp_path / "merged", other], tmp_path / "again")
    except (RunError, StoreError):  # which says what is wrong
        return
    for folder, done in ((tmp_path / "merged", merged), (tmp_path / "again", again)):
        assert min(rank(check_recording(folder)), 2) >= min(rank(found), 2), what
        assert done.unproven == (rank(found) > 1), what


def single_changes(recorded: Path, run: Path, number: int, seed: int) -> None:
    """Of one byte each, as often in a small file as in a large one."""
    draw = random.Random(seed)
    files = sorted(file for file in run.rglob("*") if file.is_file() and file.name != "lock")
    for _ in range(number):
        file = draw.choice(files)
        kept = file.read_bytes()
        place = draw.randrange(len(kept))
        match draw.randrange(3):
            case 0:
                changed = kept[:place] + kept[place + 1 :]
            case 1:
                changed = kept[:place] + bytes([kept[place] ^ draw.randrange(1, 256)]) + kept[place + 1 :]
            case _:
                changed = kept[:place] + bytes([draw.randrange(256)]) + kept[place:]
        file.write_bytes(changed)
        assert rank(check_recording(run)) > 0, f"{file.relative_to(run)}, byte {place}"
        file.write_bytes(kept)
    assert rank(check_recording(run)) == 0


def test_a_change_of_one_byte_is_never_verified(recorded: Path, run: Path) -> None:
    single_changes(recorded, run, 100, 1)


@pytest.mark.soak
def test_none_of_a_thousand_changes_of_one_byte_is_verified(recorded: Path, run: Path) -> None:
    single_changes(recorded, run, 1000, 2)


def test_lines_outside_a_chain_are_counted_and_are_few(run: Path) -> None:
    """As a process that was killed leaves them: nothing is closed, and the last hashes are not there yet."""
    cut(run / "trials-000002.chain", -3)
    cut(run / INVENTORY, -3)  # which lists that it was closed, and the decisions of later
    for file in run.glob("decisions/000002.*"):
        file.unlink()
    found = check_recording(run)
    assert (found.faults, found.gaps) == ([], [])
    assert [str(note) for note in found.notes] == [
        "trials-000002.jsonl: not closed: its writer was stopped or is still running, or its end and its chain's end "
        "were removed; outside its chain: its last 2 lines"
    ]
    cut(run / "trials-000002.chain", 3)
    (gap,) = check_recording(run).gaps
    assert str(gap).startswith("trials-000002.jsonl:3: 23 lines from here on are outside its chain")


async def test_however_many_lines_wait_a_killed_process_leaves_few_outside_the_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every write, as if it were the last one."""
    import os

    from recordings.log.chain import FLUSH
    from tests.recordings.log.test_store import started

    run, real, most = tmp_path / "run", os.write, 0

    def counted(descriptor: int, data: bytes) -> int:
        nonlocal most
        written = real(descriptor, data)
        lines = (run / "trials-000001.jsonl").read_bytes().count(b"\n")
        hashes = (run / "trials-000001.chain").read_bytes().count(b"\n") - 1
        most = max(most, lines - hashes)
        return written

    async with RunWriter.create(run, header()) as writer:
        monkeypatch.setattr(os, "write", counted)
        await asyncio.gather(*(writer.append(started(number), sync=True) for number in range(1, 101)))
        await writer.append(*(started(number) for number in range(101, 150)))
        monkeypatch.setattr(os, "write", real)
    assert 0 < most <= FLUSH


def test_an_older_run_names_its_unprotected_parts_without_a_fault(tmp_path: Path) -> None:
    found = check_recording(SAMPLES / "run-1")
    assert (found.faults, found.gaps) == ([], [])
    assert any("recorded before Harvest kept an inventory" in str(note) for note in found.notes)
    run = Path(shutil.copytree(SAMPLES / "run-1", tmp_path / "run"))
    layer = write_layer(run, Layer("human", "ben", judgments=(Judgment({"trial": "x"}, "Fluency", 1),)))
    found = check_recording(run)
    assert (found.faults, found.gaps) == ([], [])
    assert not any("before Harvest kept an inventory" in str(note) for note in found.notes)
    layer.unlink()
    assert [gap.file for gap in check_recording(run).gaps] == [f"judgments/{layer.name}"]
    listed = read_inventory(run)
    assert listed is not None
    held = [name for name in listed.held if name.startswith("judgments/")]
    assert len(held) == len(list((SAMPLES / "run-1" / "judgments").iterdir())) + 1


def test_a_merged_and_continued_run_keeps_its_notes(run: Path, tmp_path: Path) -> None:
    (run / "trials-000001.chain").unlink()
    done = merge([run], tmp_path / "merged")
    assert done.unproven
    asyncio.run(record(tmp_path / "merged", range(50, 51)))
    found = check_recording(tmp_path / "merged")
    assert found.faults == []
    assert [gap.file for gap in found.gaps] == ["run.json"]
    assert "trials-000001.jsonl: its chain is missing" in str(found.gaps[0])
    assert len(read(tmp_path / "merged").finished) == 13


def test_several_processes_add_layers_to_a_run_at_once(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    run = tmp_path / "run"
    asyncio.run(record(run, range(1, 2)))
    layers = [Layer("human", f"p{n}", judgments=(Judgment({"trial": "trial-1"}, "Fluency", n),)) for n in range(24)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda layer: write_layer(run, layer), layers))
    listed = read_inventory(run)
    assert listed is not None
    assert not listed.broken
    assert sum(name.startswith("judgments/") for name in listed.held) == 24
    assert rank(check_recording(run)) == 0


def test_a_line_that_a_killed_process_left_torn_in_the_inventory_is_written_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    asyncio.run(record(run, range(1, 2)))
    whole = (run / INVENTORY).read_bytes()
    (run / INVENTORY).write_bytes(whole + b'{"file":"judgm')
    assert rank(check_recording(run)) == 1
    write_layer(run, Layer("human", "ben", judgments=(Judgment({"trial": "trial-1"}, "Fluency", 1),)))
    assert (run / INVENTORY).read_bytes().startswith(whole)
    assert rank(check_recording(run)) == 0


def keep_only(run: Path, *kept: str) -> None:
    """Remove all but the parts of a run named in `kept`."""
    for inside in sorted(run.iterdir()):
        if inside.name in ("run.json", *kept):
            continue
        if inside.is_dir():
            shutil.rmtree(inside)
        else:
            inside.unlink()


@pytest.mark.parametrize("kept", [(), ("evidence",), ("judgments",), ("decisions",), (INVENTORY,)], ids=str)
@pytest.mark.parametrize("declared", [True, False], ids=["today", "earlier"])
def test_a_run_with_only_its_header_left_is_not_verified(run: Path, kept: tuple[str, ...], declared: bool) -> None:
    keep_only(run, *kept)
    if INVENTORY in kept:
        cut(run / INVENTORY, 1)
    if not declared:
        text = (run / "run.json").read_text()
        (run / "run.json").write_text(text.replace('"chain": "harvest-chain/1"', '"other": ""'))
        assert "harvest-chain" not in (run / "run.json").read_text()
    found = check_recording(run)
    assert rank(found) == 2, [*found.faults, *found.notes]
    if declared:
        assert not any(
            "without a chain" in str(note) or "before Harvest kept an inventory" in str(note) for note in found.notes
        )


@pytest.mark.parametrize("kept", ["evidence", "judgments", "decisions"])
def test_an_impossible_sequence_of_events_is_not_verified(tmp_path: Path, kept: str) -> None:
    """Files of events of which only the first line is left, in a run of an earlier version."""
    run = Path(shutil.copytree(SAMPLES / "run-1", tmp_path / "run"))
    for file in run.glob("trials-*.jsonl"):
        cut(file, 1)
    for name in {"evidence", "judgments", "decisions"} - {kept}:
        shutil.rmtree(run / name, ignore_errors=True)
    if kept == "judgments":
        about = Judgment({"trial": "trial-1", "attempt": 1, "turn": 1}, "Fluency", 1)
        write_layer(run, Layer("human", "anna", "1", "", "2026-01-01", (about,)))
    if kept == "decisions":
        asyncio.run(decide(run, "a"))
    (run / INVENTORY).unlink(missing_ok=True)
    assert any("there is no event that it could come from" in str(gap) for gap in check_recording(run).gaps)


def test_a_file_without_a_chain_in_a_run_whose_files_have_one_is_not_verified(run: Path) -> None:
    lines = (run / "trials-000002.jsonl").read_bytes().splitlines(keepends=True)
    for kind in ("jsonl", "chain"):
        (run / f"trials-000002.{kind}").unlink()
    first = lines[0].replace(b',"chain":"harvest-chain/1"', b"")
    assert first != lines[0]
    (run / "trials-000002.jsonl").write_bytes(b"".join([first, *lines[1:]]))
    found = check_recording(run)
    assert any(gap.file == "trials-000002.jsonl" for gap in found.gaps)


@pytest.mark.parametrize("lines", [1, 2, 3])
@pytest.mark.parametrize("folder", ["trials-", "decisions/"])
def test_a_truncated_end_is_shown_by_a_later_file_even_if_the_inventory_was_truncated_too(
    run: Path, folder: str, lines: int
) -> None:
    cut(run / f"{folder}000001.chain", -lines)
    cut(run / INVENTORY, 1)
    found = check_recording(run)
    assert rank(found) >= 2
    assert any("it was closed when a later file was started" in str(gap) for gap in found.gaps)


def test_the_fate_of_a_lost_shard_is_kept_in_the_merged_run(run: Path, other: Path, tmp_path: Path) -> None:
    keep_only(other := Path(shutil.copytree(other, tmp_path / "other")), "evidence")
    done = merge([run, other], tmp_path / "both")
    assert done.unproven
    again = merge([tmp_path / "both"], tmp_path / "again").path
    for merged in (tmp_path / "both", again):
        assert any("there is no file of events" in str(gap) for gap in check_recording(merged).gaps)
