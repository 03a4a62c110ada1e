"""Decisions made one at a time: on disk before they count, once however often they are sent, and read as layers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recordings.checking.chain_check import check_recording
from recordings.files.errors import RunError, StoreError
from recordings.judged.decision_book import DecisionBook
from recordings.judged.decisions import FORMAT, Decision, read_decisions
from recordings.judged.judgments import UNSURE, Judgment, Layer, read_layers, write_layer
from recordings.log import journal
from recordings.merging.merge import merge
from tests.support.checkout import ROOT
from tests.support.faulty_disk import FaultyDisk, faulty_disk

ABOUT: Mapping[str, str | int] = {"trial": "ae752f12835d13a7c11c67e871d660e5", "attempt": 1, "turn": 1}
FIRST = Decision("a" * 16, "anna", "guide 2", (ABOUT,), "Fluency", 0.5, "so so \U0001f600\r\n\u05d0")


class Clock:
    """One second later at every look."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "recordings" / "samples" / "run-1", tmp_path / "run"))


@pytest.fixture
def book(run: Path) -> Iterator[DecisionBook]:
    opened = DecisionBook.open(run, clock=Clock())
    yield opened
    asyncio.run(opened.close())


def people(run: Path) -> list[Layer]:
    return [layer for layer in read_layers(run) if layer.kind == "human"]


async def test_a_decision_is_read_as_a_layer_of_its_person(run: Path, book: DecisionBook) -> None:
    await book.decide(FIRST)
    await book.decide(replace(FIRST, id="b" * 16, by="ben", value=UNSURE, note=""))
    anna, ben = people(run)
    assert (anna.author, anna.version, anna.made_at[:19]) == ("anna", "guide 2", "2026-01-01T00:00:01")
    assert anna.judgments == (Judgment(ABOUT, "Fluency", 0.5, FIRST.note),)
    assert ben.judgments == (Judgment(ABOUT, "Fluency", UNSURE),)


async def test_one_decision_can_be_about_several_things(run: Path, book: DecisionBook) -> None:
    other = {**ABOUT, "trial": "1" * 32}
    await book.decide(replace(FIRST, about=(ABOUT, other)))
    assert [one.about for one in people(run)[0].judgments] == [ABOUT, other]


async def test_the_same_id_again_changes_nothing(run: Path, book: DecisionBook) -> None:
    await asyncio.gather(*(book.decide(FIRST) for _ in range(5)))
    await book.decide(replace(FIRST, value=1.0))
    (file,) = (run / "decisions").glob("*.jsonl")
    assert len(file.read_text().splitlines()) == 2
    assert people(run)[0].judgments[0].value == 0.5


async def test_a_later_one_replaces_an_earlier_one_until_it_is_withdrawn(run: Path, book: DecisionBook) -> None:
    await book.decide(FIRST)
    await book.decide(replace(FIRST, id="b" * 16, value=None))
    assert [one.value for one in people(run)[0].judgments] == [None]
    await book.take_back("c" * 16, "anna", "b" * 16)
    assert [one.value for one in people(run)[0].judgments] == [0.5]
    await book.take_back("d" * 16, "anna", "a" * 16)
    assert people(run) == []
    assert read_decisions(run).ids == {letter * 16 for letter in "abcd"}


async def test_secrets_are_removed_from_a_note(run: Path, book: DecisionBook) -> None:
    key = "sk-" + "abcDEF123456" * 4
    kept = await book.decide(replace(FIRST, note=f"the key {key}"))
    assert key not in kept.note
    assert key.encode() not in b"".join(file.read_bytes() for file in (run / "decisions").iterdir())


async def test_a_line_torn_by_a_killed_process_is_skipped_and_kept(run: Path, book: DecisionBook) -> None:
    await book.decide(FIRST)
    await book.close()
    (file,) = (run / "decisions").glob("*.jsonl")
    torn = file.read_bytes() + b'{"id":"bbbb'
    file.write_bytes(torn)
    after = DecisionBook.open(run)
    await after.decide(replace(FIRST, id="c" * 16, value=1.0))
    await after.close()
    assert file.read_bytes() == torn
    assert sorted(one.name for one in (run / "decisions").glob("*.jsonl")) == ["000001.jsonl", "000002.jsonl"]
    assert [one.id[0] for one in read_decisions(run).standing] == ["a", "c"]


def test_two_processes_cannot_record_decisions_on_one_run(run: Path, book: DecisionBook) -> None:
    with pytest.raises(RunError, match="is being written by another process"):
        DecisionBook.open(run)


def test_reading_makes_no_file(run: Path, book: DecisionBook) -> None:
    assert list((run / "decisions").glob("*.jsonl")) == []


async def test_an_unsaved_decision_is_not_reported_as_saved(
    run: Path, book: DecisionBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    await book.decide(FIRST)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal, "fsync_file", full)
    with pytest.raises(StoreError, match="No space left"):
        await book.decide(replace(FIRST, id="b" * 16))
    with pytest.raises(StoreError):
        await book.decide(replace(FIRST, id="b" * 16))
    assert book.ids == {FIRST.id}


@pytest.mark.parametrize("after", range(9))
async def test_when_there_is_room_again_the_same_book_continues(run: Path, book: DecisionBook, after: int) -> None:
    """After each of the first writes: nothing acknowledged is lost, and what was refused can be sent again."""
    letters, said = "bcdefgh", []
    await book.decide(FIRST)
    with faulty_disk(FaultyDisk(run, after)):
        for letter in letters:
            one = replace(FIRST, id=letter * 16, about=({**ABOUT, "turn": 1 + letters.index(letter)},))
            with contextlib.suppress(StoreError):
                await book.decide(one)
                said.append(one.id)
    assert len(said) < len(letters)
    assert {*said, FIRST.id} <= read_decisions(run).ids
    for letter in letters:
        await book.decide(replace(FIRST, id=letter * 16, about=({**ABOUT, "turn": 1 + letters.index(letter)},)))
    await book.close()
    assert sorted(one.id[0] for one in read_decisions(run).standing) == ["a", *letters]
    assert len(list((run / "decisions").glob("*.jsonl"))) < 5
    found = check_recording(run)
    assert (found.faults, found.gaps) == ([], [])


async def test_a_sheet_imported_in_between_counts_from_its_import(run: Path, book: DecisionBook) -> None:
    await book.decide(FIRST)
    sheet = Layer(
        "human", "anna", "", "sheet.csv", "2026-01-01T00:00:01.500000+00:00", (Judgment(ABOUT, "Fluency", 1.0),)
    )
    write_layer(run, sheet)
    other = {**ABOUT, "turn": 2}
    await book.decide(replace(FIRST, id="b" * 16, about=(other,)))
    layers = people(run)
    assert [[one.about["turn"] for one in layer.judgments] for layer in layers] == [[1], [1], [2]]
    assert [layer.source for layer in layers] == ["harvest annotate --serve", "sheet.csv", "harvest annotate --serve"]


async def test_a_merge_copies_decisions_as_a_layer(run: Path, book: DecisionBook, tmp_path: Path) -> None:
    await book.decide(FIRST)
    for name in ("once", "again"):
        merge([run, run], tmp_path / name)
        (layer,) = people(tmp_path / name)
        assert (layer.author, layer.judgments) == ("anna", people(run)[0].judgments)
        assert layer.path.endswith(".jsonl")


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"by": "anna"}, "a decision must have an 'id'"),
        ({"id": "x" * 16, "by": "", "criterion": "C", "about": [ABOUT], "value": 1}, "'by' of a decision cannot be ''"),
        ({"id": "x" * 16, "by": "anna", "criterion": "C", "about": [], "value": 1}, "must have 'about'"),
        ({"id": "x" * 16, "by": "anna", "criterion": "C", "about": [ABOUT]}, "must have 'about'"),
        ({"id": "x" * 16, "by": "anna", "criterion": "C", "about": [{"turn": True}], "value": 1}, "must have 'about'"),
    ],
)
def test_an_invalid_decision_is_named_with_its_line(run: Path, row: dict[str, object], what: str) -> None:
    (run / "decisions").mkdir()
    lines = [{"format": FORMAT}, row]
    (run / "decisions" / "000001.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    with pytest.raises(RunError, match=what) as fault:
        read_layers(run)
    assert "000001.jsonl:2" in str(fault.value)
    (found,) = check_recording(run).faults
    assert str(found).startswith("decisions/000001.jsonl:2: ")


async def test_readable_decisions_are_not_a_fault_of_a_recording(run: Path, book: DecisionBook) -> None:
    await book.decide(FIRST)
    assert check_recording(run).faults == []
