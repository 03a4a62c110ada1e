"""A run in a store: whatever two workers do to it, each finished trial that is in it is there once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from harvest.audits.audit import Audit, load_audit
from harvest.playing.play import first_error, play_audit
from harvest.playing.stored_play import play_stored
from harvest.stores.merging import local_copies, merge_stored
from harvest.stores.stint import Sender, TakenOver, take_over
from harvest.stores.store import Store, StoreFault, open_store
from harvest.stores.stored_run import Stint, StoredRun, piece_name
from recordings.checking.chain_check import check_recording
from recordings.files.errors import RunError, StoreError
from recordings.files.lock import Lock, RunLocked
from recordings.log.compaction import compact
from recordings.log.header import Header
from recordings.log.inventory import INVENTORY, begin_inventory
from recordings.log.run_folder import Run, event_files, read
from recordings.log.shard import Shard
from tests.support.cluster import content, counting_api
from tests.support.fault_page import Row, code_lines, hold
from tests.support.faulty_disk import FaultyDisk, faulty_disk
from topics.errors import HarvestError, InputError
from topics.regular_file import list_entries

AUDIT = """\
format: harvest-audit/1
name: stored
topics: fairweb-45
only: [M002]
protocol: fairweb-two-round
trials: 2
systems:
  - {{name: counting, driver: openai, options: {{base_url: "{url}", model: m, seed: trial}}}}
"""
FAILING = "test_a_failing_store_ends_the_play_and_nothing_recorded_is_lost"


class Counting(Store):
    """A store in memory. asked: what was put in it. brought: what was got from it. before: called with each name before
    that is put."""

    def __init__(self) -> None:
        super().__init__("memory", MemoryStore())
        self.asked: list[str] = []
        self.brought: list[str] = []
        self.before: Callable[[str], None] = lambda name: None

    def put_new(self, name: str, data: bytes) -> bool:
        self.before(name)
        self.asked.append(name)
        return super().put_new(name, data)

    def get(self, name: str) -> bytes:
        self.brought.append(name)
        return super().get(name)


@pytest.fixture
def stored() -> StoredRun:
    return StoredRun(Counting(), "1-of-2")


def counting(stored: StoredRun) -> Counting:
    assert isinstance(stored.store, Counting)
    return stored.store


def audit(trials: int = 1) -> Audit:
    return load_audit("demo", trials=trials, only=("M002", "R001"), shard=Shard(1, 2))


def played(stored: StoredRun, folder: Path, trials: int = 1) -> Run:
    try:
        asyncio.run(play_stored(audit(trials), folder, stored, worker="shard1"))
    except* HarvestError as group:
        raise first_error(group) from None
    return read(folder, keep_rows=True)


def anybody(header: Header) -> None:
    pass


def pieces(run: StoredRun, begins: str) -> bytes:
    names = {name.removeprefix(f"{run.name}/") for name in counting(run).asked}
    return b"".join(run.get(name) for name in sorted(names) if name.startswith(begins))


def cut(file: Path, ended: int) -> None:
    """Leave of a file of events what stood in it when so many attempts had ended."""
    lines = file.read_bytes().splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines, 1) if b'"event":"trial-ended"' in line]
    file.write_bytes(b"".join(lines[: ends[ended - 1]]))
    file.with_suffix(".chain").unlink()


def with_another_hash(chain: bytes) -> bytes:
    """Of its second line, where it has so many: pieces of a chain may be short."""
    lines = chain.split(b"\n")
    if len(lines) < 4:
        return chain
    lines[2] = (b"1" if lines[2].startswith(b"0") else b"0") + lines[2][1:]
    return b"\n".join(lines)


def test_another_worker_continues_from_what_one_worker_stored(stored: StoredRun, tmp_path: Path) -> None:
    first = played(stored, tmp_path / "east")
    assert first.finished
    second = played(stored, tmp_path / "west", trials=4)
    once = [one.key for one in second.conversations]
    assert len(set(once)) == len(once) > len(first.finished)
    assert [file.name for file in event_files(tmp_path / "west")] == [
        "trials-shard1.1-000001.jsonl",
        "trials-shard1.2-000002.jsonl",
    ]
    assert [file.read_bytes() for file in event_files(tmp_path / "east")] == [
        file.read_bytes() for file in event_files(tmp_path / "west")[:1]
    ]
    asyncio.run(play_audit(audit(4), tmp_path / "alone"))
    assert content(second) == content(read(tmp_path / "alone", keep_rows=True))


def test_a_folder_that_was_compacted_in_between_continues_with_its_store(stored: StoredRun, tmp_path: Path) -> None:
    """What a store does not have yet is sent from the segment, with its whole chain."""
    with counting_api() as api:
        (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url))
        kept = load_audit(str(tmp_path / "audit.yaml"))
        asyncio.run(play_stored(kept, tmp_path / "east", stored))
        compact(tmp_path / "east")
        asyncio.run(play_stored(replace(kept, trials=3), tmp_path / "east", stored))
        compact(tmp_path / "east")
    assert not list((tmp_path / "east").glob("trials-*[0-9].jsonl"))
    late = StoredRun(Counting(), "late")
    late.claim()
    Sender(late, tmp_path / "east", Stint(1)).send(last=True)
    for kind in ("stints/000001/trials/", "stints/000001/chain/"):
        assert pieces(late, kind) == pieces(stored, kind) != b"", kind
    assert pieces(late, "evidence/")
    stored.fetch(tmp_path / "copy")
    assert read(tmp_path / "copy").conversations == read(tmp_path / "east").conversations
    assert [len(run.finished) for run in (read(tmp_path / "copy"), read(tmp_path / "east"))] == [3, 3]
    found = check_recording(tmp_path / "copy")
    assert (found.faults, found.gaps) == ([], [])


def test_a_fetched_run_is_the_recorded_one(stored: StoredRun, tmp_path: Path) -> None:
    with counting_api() as api:
        (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url))
        kept = load_audit(str(tmp_path / "audit.yaml"))
        asyncio.run(play_stored(kept, tmp_path / "east", stored))
    played(gold := StoredRun(Counting(), ""), tmp_path / "gold")
    stored.fetch(tmp_path / "copy")
    gold.fetch(tmp_path / "gold-copy")
    for copy, first in (("copy", "east"), ("gold-copy", "gold")):
        there, here = files(tmp_path / copy), files(tmp_path / first)
        del there[INVENTORY], here[INVENTORY]  # each machine has its own
        assert there == here
    assert any(name.startswith("evidence/") for name in files(tmp_path / "copy"))
    assert any(name.startswith("judgments/") for name in files(tmp_path / "gold-copy"))
    found = check_recording(tmp_path / "copy")
    assert (found.faults, found.gaps, found.notes) == ([], [], [])


def test_missing_gold_that_the_header_names_is_reported_even_if_the_chain_lost_its_end(tmp_path: Path) -> None:
    """Without its end, the chain names no layer, and the inventory of the other machine does not come along."""
    played(stored := StoredRun(Counting(), ""), tmp_path / "gold")
    stored.fetch(tmp_path / "copy")
    for layer in (tmp_path / "copy" / "judgments").glob("gold-*"):
        layer.unlink()
    (tmp_path / "copy" / INVENTORY).unlink()
    begin_inventory(tmp_path / "copy", "copied")
    for chain in (tmp_path / "copy").glob("*.chain"):
        chain.write_bytes(b"".join(chain.read_bytes().splitlines(keepends=True)[:-1]))
    gaps = [str(gap) for gap in check_recording(tmp_path / "copy").gaps]
    assert gaps == ["judgments/gold-*.jsonl: run.json names a gold table, but the layer that contains it is missing"]


def test_gold_is_in_the_store_as_soon_as_a_run_is(stored: StoredRun, tmp_path: Path) -> None:
    def fail(name: str) -> None:
        if "/trials/" in name:
            raise StoreFault("memory", "write to", "its disk is full")  # as if it was killed

    counting(stored).before = fail
    with pytest.raises(StoreFault):
        played(stored, tmp_path / "east")
    stored.fetch(tmp_path / "copy")
    assert [name for name in files(tmp_path / "copy") if name.startswith("judgments/gold-")]


def test_judgments_are_searched_for_before_the_header_and_only_at_the_end(
    stored: StoredRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def looking(folder: Path, *patterns: str) -> list[Path]:
        looked.append(patterns[-1])
        return list_entries(folder, *patterns)

    played(StoredRun(Counting(), "1-of-2"), tmp_path / "east")
    stored.claim()
    monkeypatch.setattr("harvest.stores.stint.list_entries", looking)
    sender = Sender(stored, tmp_path / "east", Stint(1))
    for last in (False, False, False, True):
        sender.send(last=last)
    assert looked == ["gold-*.jsonl", "*.jsonl"]
    assert [name for name in counting(stored).asked if "judgments/gold-" in name]


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name not in ("lock", "claim"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_worker_that_is_only_unreachable_is_shut_out_and_its_stored_data_is_not_asked_again(
    stored: StoredRun, tmp_path: Path
) -> None:
    """The first is held before it sends what it recorded; meanwhile the second plays the shard to its end."""
    # A busy machine may have recorded everything before the first piece is sent: small pieces leave others to send.
    stored = replace(stored, largest_piece=500)
    store, other = counting(stored), tmp_path / "west"
    sent: list[str] = []

    def overtake(name: str) -> None:
        if any("/trials/" in earlier for earlier in sent):
            store.before = lambda name: None
            played(stored, other)
        sent.append(name)

    store.before = overtake
    with pytest.raises(TakenOver) as caught:
        played(stored, tmp_path / "east")
    seen = str(caught.value).splitlines()[0].replace(stored.url, "…")
    assert read(tmp_path / "east").finished, "what it played itself is in its folder"
    stints = stored.stints()
    assert stints[1].is_sealed
    stored.fetch(tmp_path / "copy")
    keys = [one.key for one in read(tmp_path / "copy").conversations if one.outcome is not None]
    assert len(keys) == len(set(keys)) == 4
    again = "what was not in the store"
    hold(
        Row(
            "another worker takes a shard in a store up, because this one was out of reach",
            "every turn, in the folder of the one that played it",
            again,
            f"`{seen}`",
            "`test_a_worker_that_is_only_unreachable_is_shut_out_and_its_stored_data_is_not_asked_again`",
        ),
        "Processes and clocks",
    )


def test_two_workers_that_take_up_a_run_at_once_get_different_stints(stored: StoredRun, tmp_path: Path) -> None:
    store = counting(stored)
    numbers: list[int] = []

    def also(name: str) -> None:
        if name.endswith("claim"):
            store.before = lambda name: None
            numbers.append(take_over(stored, tmp_path / "west", anybody).number)

    store.before = also
    numbers.append(take_over(stored, tmp_path / "east", anybody).number)
    assert numbers == [1, 2]
    assert stored.stints()[1].is_sealed
    assert not stored.stints()[2].is_sealed


def test_a_piece_that_arrives_while_its_stint_is_being_ended_is_found(stored: StoredRun, tmp_path: Path) -> None:
    played(stored, tmp_path / "east")
    store, late = counting(stored), b'{"event":"late"}\n'
    end = stored.stints()[1].end

    def quicker(name: str) -> None:
        if name == f"1-of-2/{piece_name(1, 'trials', end)}":
            store.before = lambda name: None
            assert stored.put_new(piece_name(1, "trials", end), late)

    store.before = quicker
    take_over(stored, tmp_path / "west", anybody)
    assert stored.stints()[1].end == end + len(late)
    assert event_files(tmp_path / "west")[0].read_bytes().endswith(late)


def test_data_that_a_killed_worker_had_not_sent_is_sent_before_the_next_stint(
    stored: StoredRun, tmp_path: Path
) -> None:
    """Its reply was lost: part of it arrived, and it is not sent twice."""
    other = StoredRun(Counting(), "1-of-2")
    played(other, tmp_path / "east", trials=4)
    stored.claim()
    (file,) = event_files(tmp_path / "east")
    Sender(stored, tmp_path / "east", stored.stints()[1]).send()
    assert stored.stints()[1].end == file.stat().st_size

    half = StoredRun(Counting(), "1-of-2")
    half.claim()
    some = file.read_bytes().partition(b"\n")[0] + b"\n"
    half.put_new(piece_name(1, "trials", 0), some)
    Sender(half, tmp_path / "east", Stint(1)).send()
    assert half.stints()[1].end == file.stat().st_size

    before = read(tmp_path / "east").finished
    assert len(played(half, tmp_path / "east", trials=4).finished) == len(before)
    assert [one.name for one in tmp_path.iterdir()] == ["east"]


def test_resuming_a_run_downloads_each_event_once(stored: StoredRun, tmp_path: Path) -> None:
    stored = replace(stored, largest_piece=1000)
    played(stored, tmp_path / "east")
    played(stored, tmp_path / "west", trials=2)
    store = counting(stored)
    store.brought.clear()
    again = played(stored, tmp_path / "west", trials=3)
    assert len(again.finished) == len({one.key for one in again.finished}) > 4
    brought = [name for name in store.brought if "/trials/" in name]
    assert len(brought) == len(set(brought)) > 5


def test_large_data_is_sent_in_pieces_of_whole_lines(stored: StoredRun, tmp_path: Path) -> None:
    stored = replace(stored, largest_piece=1000)
    played(stored, tmp_path / "east")
    (file,) = event_files(tmp_path / "east")
    pieces = [stored.get(piece_name(1, "trials", at)) for at in sorted(stored.stints()[1].trials)]
    assert len(pieces) > 5
    assert all(one.endswith(b"\n") and (len(one) <= 1000 or one.count(b"\n") == 1) for one in pieces)
    assert b"".join(pieces) == file.read_bytes()


def test_a_line_half_written_by_a_killed_worker_is_not_sent(stored: StoredRun, tmp_path: Path) -> None:
    whole = played(stored, tmp_path / "east")
    (file,) = event_files(tmp_path / "east")
    with file.open("ab") as opened:
        opened.write(b'{"event":"trial-sta')
    again = played(stored, tmp_path / "east")
    assert (again.damage, len(again.finished)) == ((), len(whole.finished))
    assert read(tmp_path / "east.before-2").damage


def test_a_folder_whose_trials_others_played_again_is_moved_and_not_lost(stored: StoredRun, tmp_path: Path) -> None:
    store = counting(stored)
    whole = played(StoredRun(Counting(), "1-of-2"), tmp_path / "east", trials=4)
    stored.claim()
    (file,) = event_files(tmp_path / "east")
    everything = file.read_bytes()
    cut(file, 1)
    Sender(stored, tmp_path / "east", stored.stints()[1]).send()
    file.write_bytes(everything)  # it went on, and could not send any more
    other = played(stored, tmp_path / "west", trials=4)
    assert content(other) == content(whole)
    ended = [one for one in other.conversations if one.outcome and one.worker.startswith("shard1.1")]
    assert len(ended) == 1, "what was stored was not played again"
    again = played(stored, tmp_path / "east", trials=4)
    assert content(again) == content(whole)
    assert (tmp_path / "east.before-3" / file.name).read_bytes() == everything
    assert not [name for name in store.asked if name.startswith("1-of-2/stints/000003/trials")], "nothing was played"


def test_a_failing_store_ends_the_play_and_nothing_recorded_is_lost(stored: StoredRun, tmp_path: Path) -> None:
    store = counting(stored)

    def fail(name: str) -> None:
        if "/trials/" in name and not name.endswith("0" * 20):
            raise StoreFault("memory", "write to", "its disk is full")

    store.before = fail
    with pytest.raises(StoreFault) as caught:
        played(stored, tmp_path / "east", trials=4)
    seen, safe, _ = str(caught.value).splitlines()
    assert "everything that was recorded is in the run's folder" in safe
    kept = read(tmp_path / "east").finished
    assert kept
    store.before = lambda name: None
    after = played(stored, tmp_path / "east", trials=4)
    assert {one.key for one in kept} <= {one.key for one in after.finished}
    assert len(after.conversations) == len(after.finished) + len(after.interrupted)
    fault, recorded = "an object store fails or is full", "every turn, in the run's folder"
    row = Row(fault, recorded, "the turns under way, on resuming", f"`{seen.replace('memory', '…')}`", f"`{FAILING}`")
    hold(row, "Disks")


def test_another_audit_touches_nothing_of_a_run(stored: StoredRun, tmp_path: Path) -> None:
    played(stored, tmp_path / "east")
    before = list(counting(stored).asked)
    with pytest.raises(RunError, match="recorded with different settings"):
        asyncio.run(
            play_stored(load_audit("demo", seed=99, only=("M002",), shard=Shard(1, 2)), tmp_path / "new", stored)
        )
    assert counting(stored).asked == before


def test_folders_that_do_not_belong_to_the_store_are_refused(stored: StoredRun, tmp_path: Path) -> None:
    asyncio.run(play_audit(audit(), tmp_path / "own"))
    with pytest.raises(InputError, match="does not belong to memory/1-of-2"):
        played(stored, tmp_path / "own")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to-mum").touch()
    with pytest.raises(RunError, match="it contains 'to-mum'"):
        played(stored, tmp_path / "letters")
    (tmp_path / "busy").mkdir()
    held = Lock(tmp_path / "busy")
    with pytest.raises(RunLocked):
        played(stored, tmp_path / "busy")
    held.release()
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="something else exists here already"):
        played(stored, tmp_path / "file")
    assert not counting(stored).asked


def test_a_folder_of_another_shard_or_another_store_is_refused_before_anything_is_sent(
    stored: StoredRun, tmp_path: Path
) -> None:
    played(stored, tmp_path / "east", trials=4)
    second = load_audit("demo", trials=4, only=("M002", "R001"), shard=Shard(2, 2))
    shard, begun, sealed = StoredRun(stored.store, "2-of-2"), StoredRun(Counting(), "1-of-2"), StoredRun(Counting(), "")
    asyncio.run(play_stored(second, tmp_path / "west", shard))
    begun.claim()  # and was killed before it sent anything
    sealed.claim()
    sealed.seal_before(2)
    for other in (shard, begun, sealed):
        asked = list(counting(other).asked)
        with pytest.raises(InputError, match=f"does not belong to {other.url} ") as caught:
            asyncio.run(play_stored(second, tmp_path / "east", other))
        seen = code_lines(str(caught.value).replace(str(tmp_path / "east"), "FOLDER").replace(other.url, "…"))
        hold(
            Row(
                "the folder of another shard or of another store is given with `--store`",
                "nothing was sent",
                "no",
                seen,
                "`test_a_folder_of_another_shard_or_another_store_is_refused_before_anything_is_sent`",
            ),
            "Stores and links",
        )
        assert counting(other).asked == asked
    assert sorted(one.name for one in tmp_path.iterdir()) == ["east", "west"]


def test_a_killed_folder_continues_from_where_it_was_moved_to(stored: StoredRun, tmp_path: Path) -> None:
    """Nothing of it is in the store yet; its claim shows that it belongs there."""
    store = counting(stored)

    def fail(name: str) -> None:
        if "/trials/" in name:
            while not read(tmp_path / "east").finished:
                time.sleep(0.01)
            raise StoreFault("memory", "write to", "its disk is full")

    store.before = fail
    with pytest.raises(StoreFault):
        played(stored, tmp_path / "east", trials=4)
    kept = read(tmp_path / "east").finished
    store.before = lambda name: None
    (tmp_path / "east").rename(tmp_path / "west")
    after = played(stored, tmp_path / "west", trials=4)
    assert kept
    assert {one.trial_id for one in kept} <= {one.trial_id for one in after.finished if ".1-" in one.worker}
    assert [one.name for one in tmp_path.iterdir()] == ["west"]


def test_a_damaged_line_that_was_not_sent_is_named(stored: StoredRun, tmp_path: Path) -> None:
    played(stored, tmp_path / "east")
    (file,) = event_files(tmp_path / "east")
    with file.open("ab") as opened:
        opened.write(b'{"event":"turn","evidence":{"page\n')
    with pytest.raises(RunError, match=f"the content after byte {stored.stints()[1].end}, .* is not valid JSON"):
        played(stored, tmp_path / "east")


def test_an_overwriting_store_is_refused(tmp_path: Path) -> None:
    class Careless(Store):
        def put_new(self, name: str, data: bytes) -> bool:
            return True

    with pytest.raises(InputError, match="overwrites"):
        take_over(StoredRun(Careless("memory", MemoryStore()), "1-of-2"), tmp_path / "east", anybody)


def test_a_folder_that_cannot_be_continued_shuts_nobody_out(stored: StoredRun, tmp_path: Path) -> None:
    played(stored, tmp_path / "east")
    (tmp_path / "east" / "evidence").symlink_to(tmp_path)
    with pytest.raises(RunError, match="links in a run are not followed"):
        played(stored, tmp_path / "east", trials=4)
    assert list(stored.stints()) == [1]


def test_data_that_is_not_part_of_a_run_is_refused(stored: StoredRun, tmp_path: Path) -> None:
    played(stored, tmp_path / "east")
    for name in (".DS_Store", "stints/.DS_Store", "stints/000001/trials/.nfs0001", "evidence/._x", "judgments/.x"):
        stored.put_new(name, b"")  # which those who look at a folder may leave there
    stored.fetch(tmp_path / "whole")
    assert not list((tmp_path / "whole").rglob(".*"))
    stored.put_new("evidence/other/run.json", b"{}")
    with pytest.raises(RunError, match="does not belong to a run\n  do: find out where it comes from, and remove it"):
        stored.fetch(tmp_path / "copy")
    lost = StoredRun(Counting(), "1-of-2")
    lost.put_new("stints/000001/run.json", b"{}")
    lost.put_new(piece_name(1, "trials", 40), b"{}\n")
    with pytest.raises(RunError, match="00000000000000000000 is missing"):
        lost.fetch(tmp_path / "lost")
    odd = StoredRun(Counting(), "1-of-2")
    odd.put_new("stints/000001/run.json", b"{}")
    odd.put_new(piece_name(1, "trials", 0), b'{"event":"opened","worker":"../../x"}\n')
    with pytest.raises(RunError, match="does not name its worker"):
        odd.fetch(tmp_path / "odd")


def test_runs_in_a_store_are_kept_locally_while_they_are_read(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    played(StoredRun(open_store(url), "1-of-2"), tmp_path / "east")
    with local_copies(["runs/other", url, f"{url}/1-of-2"], tmp_path / "out") as copies:
        folders = copies.folders
        assert [folder.name for folder in folders] == ["other", "1-of-2", "run"]
        assert read(folders[1]).header == read(folders[2]).header
    assert not folders[1].exists()
    (tmp_path / "empty").mkdir()
    for name, why in (("empty", "there is no run at this address"), ("no", "there is no such folder")):
        with pytest.raises(InputError, match=why), local_copies([f"file://{tmp_path}/{name}"], tmp_path / "out"):
            pass
    assert not (tmp_path / "no").exists()


def test_a_shard_that_has_only_been_claimed_is_missing_and_the_others_are_merged(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    store = open_store(url)
    StoredRun(store, "2-of-2").claim()
    with pytest.raises(InputError, match="2-of-2: a machine has claimed this run but has not recorded anything yet"):
        merge_stored([url], tmp_path / "out")
    east = played(StoredRun(store, "1-of-2"), tmp_path / "east", trials=2)
    for number, runs in enumerate(([url], [f"{url}/2-of-2", str(tmp_path / "east")])):
        merged = merge_stored(runs, tmp_path / f"out-{number}")
        assert merged.trials == len(east.finished)
        assert merged.missing[0] == "1 shard of 2 not merged: 2"
        assert merged.missing[-1] == f"{url}/2-of-2: its machine has not recorded anything yet"
        seen = [f"missing: {said}".replace(url, "…") for said in (merged.missing[0], merged.missing[-1])]
        hold(
            Row(
                "a shard in a store has only begun when the shards are merged",
                "every trial of the others",
                "–",
                code_lines("\n".join(seen)),
                "`test_a_shard_that_has_only_been_claimed_is_missing_and_the_others_are_merged`",
            ),
            "Stores and links",
        )
    (tmp_path / "store" / "1-of-2" / "stints" / "000001" / "run.json").unlink()
    with pytest.raises(RunError, match=r"1-of-2: stints/000001/run\.json is missing or empty"):
        merge_stored([url], tmp_path / "other")


def test_a_fault_of_a_run_in_a_store_is_reported_with_its_address(tmp_path: Path) -> None:
    url, put = f"file://{tmp_path}/store", tmp_path / "store" / "1-of-2"
    played(StoredRun(open_store(url), "1-of-2"), tmp_path / "east")
    end = max(one for one in (put / "stints/000001/trials").iterdir())
    with end.open("ab") as opened:
        opened.write(b"{\n")
    with pytest.raises(RunError) as caught:
        merge_stored([url], tmp_path / "out")
    said = str(caught.value)
    assert said.startswith(f"{url}/1-of-2/trials-shard1.1-000001.jsonl:")
    assert f"do: harvest data merge {url} --salvage --out {tmp_path}/out\n" in said
    saved = merge_stored([url], tmp_path / "out", salvage=True)
    (kept,) = (tmp_path / "out" / "damaged").glob("*.txt")
    told = kept.read_text()
    assert told.splitlines() == list(saved.damage)
    line = sum(one.read_bytes().count(b"\n") for one in end.parent.iterdir())
    event = f"{url}/1-of-2/trials-shard1.1-000001.jsonl:{line}"
    assert told.startswith(f"{event}:2 (in stints/000001/trials/{end.name}): not valid JSON")
    assert ".out." not in said + told


@pytest.mark.parametrize(
    ("pattern", "change", "what"),
    [
        (
            "stints/000001/trials/*",
            lambda data: data.replace(b'"label":"o"', b'"label":"x"', 1),
            "this line was changed",
        ),
        ("stints/000001/chain/*", with_another_hash, "this hash was changed"),
        ("stints/000001/chain/*", lambda data: b"", "its chain is missing"),
        ("judgments/*", lambda data: b"", "was here when the run was closed and is now missing"),
    ],
)
def test_changes_in_a_store_are_still_noted_after_merging(
    tmp_path: Path, pattern: str, change: Callable[[bytes], bytes], what: str
) -> None:
    url, put = f"file://{tmp_path}/store", tmp_path / "store" / "1-of-2"
    played(StoredRun(open_store(url), "1-of-2"), tmp_path / "east")
    whole = merge_stored([url], tmp_path / "whole")
    assert not whole.unproven
    found = check_recording(tmp_path / "whole")
    assert (found.faults, found.gaps, found.notes) == ([], [], [])
    objects = sorted(put.glob(pattern))
    assert objects
    for one in objects:
        data = change(one.read_bytes())
        one.write_bytes(data)
        if not data:
            one.unlink()
    merged = merge_stored([url], tmp_path / "out")
    assert merged.unproven
    assert any(url in sentence and what in sentence for sentence in merged.damage), merged.damage
    assert all(str(tmp_path / "store") not in str(gap) for gap in check_recording(tmp_path / "out").gaps)
    again = merge_stored([str(tmp_path / "out")], tmp_path / "again")
    assert again.unproven
    for run in ("out", "again"):
        assert any(what in str(gap) for gap in check_recording(tmp_path / run).gaps)


@pytest.mark.parametrize("empty", [False, True])
def test_a_lost_header_is_named_before_anything_is_touched(tmp_path: Path, empty: bool) -> None:
    url = f"file://{tmp_path}/store"
    stored = StoredRun(open_store(url), "1-of-2")
    played(stored, tmp_path / "east")
    header = tmp_path / "store" / "1-of-2" / "stints" / "000001" / "run.json"
    header.unlink()
    if empty:
        header.touch()
    said = "1-of-2: stints/000001/run.json is missing or empty\n  do: .* restore the object"
    with pytest.raises(RunError, match=said):
        merge_stored([url], tmp_path / "out")
    with pytest.raises(RunError, match=said):
        played(stored, tmp_path / "west")
    assert list(stored.stints()) == [1]
    assert not list((tmp_path / "west").glob("trials-*"))


def test_a_disk_too_full_for_the_download_is_reported_with_the_new_folder(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    played(StoredRun(open_store(url), "1-of-2"), tmp_path / "east")
    out = tmp_path / "merges" / "out"
    out.parent.mkdir()
    for after in range(4):
        with (
            faulty_disk(FaultyDisk(out.parent, after)),
            pytest.raises(StoreError, match=f"^cannot write {out}: No space left"),
        ):
            merge_stored([url], out)
        assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize("kind", ["trials", "chain"])
def test_a_missing_or_empty_piece_is_named_with_the_remedy(tmp_path: Path, kind: str) -> None:
    url = f"file://{tmp_path}/store"
    stored = StoredRun(open_store(url), "1-of-2")
    played(stored, tmp_path / "east")
    end = sum(getattr(stored.stints()[1], kind).values())
    stored.put_new(piece_name(1, kind, end), b"{}\n")  # all before may have been sent at once
    pieces = tmp_path / "store" / "1-of-2" / "stints" / "000001" / kind
    first, *others = sorted(pieces.iterdir())

    def told() -> None:
        with pytest.raises(RunError, match=f"1-of-2: stints/000001/{kind}/{0:020d} is missing or empty") as caught:
            merge_stored([url], tmp_path / "out")
        assert "restore the object" in str(caught.value)
        assert "safe:" not in str(caught.value)

    first.write_bytes(b"")
    told()
    first.unlink()
    told()
    if kind == "trials":
        for one in others:
            one.unlink()
        told()
