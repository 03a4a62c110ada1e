"""Folders and files that are not what they should be: refused at once, with nothing followed or written over."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import address_of, evidence_fault
from recordings.formats.transcript import read_transcript
from recordings.judged.gold_layers import read_gold_layers
from recordings.judged.judgments import read_layers
from recordings.log.exports import write_export
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from tests.recordings.log.test_store import header, play
from topics.errors import InputError
from topics.library import load_topics


@pytest.fixture
async def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    async with RunWriter.create(path, header()) as writer:
        await play(writer, 1)
    return path


@pytest.mark.parametrize("name", ["run.json", "trials-000001.jsonl", "new.txt", "evidence/x.txt"])
def test_an_export_goes_into_no_run_folder(run: Path, name: str) -> None:
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    with pytest.raises(InputError, match="inside the run folder"):
        write_export(run / name, b"x")
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before


def test_an_export_replaces_only_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("", ".", tmp_path, tmp_path / "pipe", "/dev/full"):
        with pytest.raises(InputError):
            write_export(name, b"x")
    assert (tmp_path / "pipe").is_fifo()
    write_export(tmp_path / "out", b"x")
    write_export(tmp_path / "out", b"y")
    assert (tmp_path / "out").read_bytes() == b"y"


def test_a_failed_export_says_nothing_about_a_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        write_export(tmp_path / "none" / "out", b"x")
    assert "turn" not in str(caught.value)


def test_a_false_lock_is_left_unchanged(run: Path) -> None:
    before = (run / "run.json").read_bytes()
    lock = run / "lock"
    makers: list[Callable[[], None]] = [
        lambda: lock.symlink_to("run.json"),
        lambda: lock.hardlink_to(run / "run.json"),
        lambda: os.mkfifo(lock),
    ]
    for make in makers:
        lock.unlink()
        make()
        with pytest.raises(RunError, match="not the lock of a run"):
            RunWriter.resume(run)
        assert (run / "run.json").read_bytes() == before
    lock.unlink()
    lock.mkdir()
    with pytest.raises(RunError, match="not the lock of a run"):
        RunWriter.resume(run)


@pytest.mark.parametrize("linked", ["evidence", "evidence/ab", "judgments"])
def test_a_run_with_a_linked_folder_is_not_continued(run: Path, tmp_path: Path, linked: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    (run / linked).parent.mkdir(exist_ok=True)
    (run / linked).symlink_to(disk)
    before = sorted(run.iterdir())
    with pytest.raises(RunError, match="this is a link") as caught:
        RunWriter.open(run, header())
    assert f"{run / linked}: " in str(caught.value)
    assert "move the whole run folder" in str(caught.value)
    assert (sorted(run.iterdir()), list(disk.iterdir())) == (before, [])


async def test_a_run_that_is_a_link_itself_is_continued(run: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(run)
    async with RunWriter.resume(tmp_path / "link") as writer:
        address = await writer.keep("response", "text/plain", b"Sure.")
    assert evidence_fault(run, address) == ""


async def test_a_link_in_place_of_an_exhibit_is_replaced(run: Path, tmp_path: Path) -> None:
    address = address_of(b"Sure.", "text/plain")
    (tmp_path / "elsewhere").write_bytes(b"Sure.")
    (run / address).parent.mkdir(parents=True)
    (run / address).symlink_to(tmp_path / "elsewhere")
    async with RunWriter.resume(run) as writer:
        assert await writer.keep("response", "text/plain", b"Sure.") == address
    assert evidence_fault(run, address) == ""


def test_a_refused_run_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"x")
    with pytest.raises(RunError, match="not empty"):
        RunWriter.create(tmp_path / "photos", header())
    with pytest.raises(RunError, match="worker's name"):
        RunWriter.create(tmp_path / "new", header(), worker="../x")
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["a.jpg", "photos"]


def test_an_emptied_file_of_events_is_damage(run: Path) -> None:
    (run / "trials-000001.jsonl").write_bytes(b"")
    (run / "trials-000001.chain").unlink()  # which shows that it held lines
    assert [text for text in read(run).damage if "is empty: its writer was stopped" in text]


async def test_a_file_with_only_its_opened_line_is_complete(run: Path) -> None:
    await RunWriter.resume(run).close()
    assert read(run).damage == ()


@pytest.mark.parametrize("name", ["run.json", "trials-000001.jsonl", "judgments/gold-a-1.jsonl"])
def test_pipes_and_folders_in_place_of_files_are_refused_at_once(run: Path, name: str) -> None:
    file = run / name
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    with pytest.raises(RunError, match="a pipe, not a file"):
        read(run), read_layers(run)
    file.unlink()
    file.mkdir()
    with pytest.raises(RunError, match="a folder, not a file"):
        read(run), read_layers(run)


def test_judgments_must_be_a_folder(run: Path) -> None:
    (run / "judgments").write_text("x")
    with pytest.raises(RunError, match="not a folder"):
        read_layers(run)


@pytest.mark.parametrize("vector", ["null", '"x"', str(10**400), f"[{10**400}, 0, 0, 0]", "[0, 1]", "[1e999, 0, 0, 0]"])
def test_invalid_gold_memberships_are_named_with_their_line(run: Path, vector: str) -> None:
    opening = {"format": "harvest-judgments/1", "layer": "gold", "author": "a"}
    value = f'{{"grade": 1, "groups": {{"RATINGS": {vector}}}}}'
    row = f'{{"about": {{"topic": "M001", "entity": "e"}}, "criterion": "gold", "value": {value}}}'
    (run / "judgments").mkdir()
    (run / "judgments" / "gold-a-1.jsonl").write_text(f"{json.dumps(opening)}\n{row}\n")
    with pytest.raises(RunError, match=r"gold-a-1\.jsonl:2: "):
        read_gold_layers([run], load_topics("fairweb-45"))


@pytest.mark.parametrize(
    "change",
    [
        {"parts": -1},
        {"parts": [[]]},
        {"parts": [{}]},
        {"hashes": {"topics": [[]]}},
        {"hashes": {"systems": {"B1": 1}}},
        {"software": "x"},
        {"redaction": [1]},
        {"changes": 5},
    ],
)
def test_a_header_with_wrong_types_is_refused(run: Path, change: dict[str, object]) -> None:
    value = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**value, **change}))
    with pytest.raises(RunError, match=r"run\.json"):
        read(run)


@pytest.mark.parametrize(("key", "message"), [("bounds", "too long for a number"), ("gold", "must be a whole number")])
def test_numbers_no_float_can_hold_are_refused_in_a_header(run: Path, key: str, message: str) -> None:
    from topics.topic_file import encode_topics

    topics = encode_topics(load_topics("fairweb-45"))
    attribute = topics["attributes"]["RATINGS"]
    attribute[key] = [10**400, *list(attribute[key])[1:]]
    value = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**value, "topics": topics}))
    with pytest.raises(InputError, match=rf"run\.json:1:\d+: .*{message}"):
        read(run).header.topic_set()


@pytest.mark.parametrize(
    "change", ['"seconds":' + "1" + "0" * 400, '"seconds":1e999', '"pieces":[[1' + "0" * 400 + ",1]]"]
)
def test_seconds_no_clock_can_measure_are_named_with_their_line(run: Path, change: str) -> None:
    file = run / "trials-000001.jsonl"
    lines = file.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if '"event":"turn"' in line)
    lines[at] = f"{lines[at][:-1]},{change}}}"
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(RunError, match=rf"trials-000001\.jsonl:{at + 1}: .*not a valid number of seconds"):
        read(run)


def test_a_list_of_topics_that_continues_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("##### M999\n### U1\nHello\n")
    with pytest.raises(InputError, match=r"allowed: M001, .*M008, …"):
        read_transcript(tmp_path / "t.txt", system="B1", topics=load_topics("fairweb-45"))
