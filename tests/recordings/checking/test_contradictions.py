"""Lines that contradict the others of their attempt, their file or the plan of the run are damage, however well they
read; what Harvest itself wrote never contradicts itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harvest.cli import main
from recordings.checking.salvage import salvage_run
from recordings.conversations.conversation import Conversation
from recordings.judged.judgments import Judgment, Layer, read_layers, write_layer
from recordings.log.run_folder import read
from recordings.merging.merge import merge

AUDIT = """\
format: harvest-audit/1
name: contradicted
topics: fairweb-45
only: [M002, R001]
protocol: PROTOCOL
trials: 2
systems:
  - {name: mine, driver: parrot}
"""
Lines = list[bytes]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("played"), "fairweb-two-round")


def play(folder: Path, protocol: str) -> Path:
    (folder / "audit.yaml").write_text(AUDIT.replace("PROTOCOL", protocol))
    with pytest.raises(SystemExit) as ended:
        main(["run", "--no-report", str(folder / "audit.yaml"), "--out", str(folder / "run")])
    assert ended.value.code == 0
    return folder / "run"


def events(run: Path) -> Path:
    (file,) = run.glob("trials-*.jsonl")
    return file


def changed(run: Path, folder: Path, how: Callable[[Lines], Lines]) -> Path:
    shutil.copytree(run, folder / "changed")
    file = events(folder / "changed")
    file.write_bytes(b"".join(how(file.read_bytes().splitlines(keepends=True))))
    return folder / "changed"


def valid(run: Path) -> dict[object, Conversation]:
    return {one.key: one for one in read(run).conversations if one.valid}


def of_first_trial(lines: Lines, kind: str) -> list[int]:
    """Where the events `kind` of the trial that was begun first stand."""
    rows = [json.loads(line) for line in lines]
    return [i for i, row in enumerate(rows) if row.get("id") == rows[1]["id"] and row["event"] == kind]


@pytest.mark.parametrize("gone", [("turn",), ("turn", "route"), ("asked", "turn", "route"), ("route",)])
@pytest.mark.parametrize("turn", [0, 1])
def test_a_conversation_that_lost_lines_is_never_a_shorter_one(
    played: Path, tmp_path: Path, gone: tuple[str, ...], turn: int
) -> None:
    def without(lines: Lines) -> Lines:
        lost = {of_first_trial(lines, kind)[turn] for kind in gone}
        return [line for i, line in enumerate(lines) if i not in lost]

    done = merge([changed(played, tmp_path, without)], tmp_path / "saved", salvage=True)
    before, after = valid(played), valid(tmp_path / "saved")
    assert len(after) == len(before) - 1
    assert after.items() <= before.items()
    assert "is cut here and counts as interrupted" in done.damage[-1]


def test_no_line_can_be_lost_from_a_conversation_that_stays_valid(played: Path, tmp_path: Path) -> None:
    before = valid(played)
    for number in range(1, len(events(played).read_bytes().splitlines())):
        place = tmp_path / str(number)
        run = changed(played, place, lambda lines, gone=number: lines[:gone] + lines[gone + 1 :])  # type: ignore[misc]
        merge([run], place / "saved", salvage=True)
        after = valid(place / "saved")
        assert len(after) == len(before) - 1, f"line {number + 1}"
        assert after.items() <= before.items()


@pytest.mark.parametrize(
    ("kind", "field", "value", "words"),
    [
        ("trial-started", "trial", 7, "trial 7 of 'mine' on 'M002' is not the trial"),
        ("trial-started", "topic", "R001", "topic 'R001' is not the one that run.json defines"),
        ("trial-started", "system", "other", "system 'other' is not the one that run.json defines"),
        ("trial-started", "hashes", {}, ""),
        ("asked", "state", "insist", "state 'ask' routes turn 1, which state 'insist' asked"),
        ("route", "target", "insist", "the route of turn 1 leads to 'insist'"),
        ("route", "state", "more", "state 'more' routes turn 1, which state 'ask' asked"),
        ("route", "evidence", [{"start": 0, "end": 3, "quote": "Why", "note": ""}], "quotes 'Why', which is not in"),
        ("turn", "ended", True, "asked after the system ended the conversation"),
        ("trial-ended", "outcome", "breakdown", "the route of turn 2 leads to 'stop:completed'"),
        ("trial-ended", "outcome", "system-ended", "the system did not end the conversation with turn 2"),
        ("trial-ended", "outcome", "invalid", "no failure is recorded"),
    ],
)
def test_a_changed_field_that_others_contradict_is_damage(
    played: Path, tmp_path: Path, kind: str, field: str, value: object, words: str
) -> None:
    def edited(lines: Lines) -> Lines:
        i = of_first_trial(lines, kind)[0]
        row = {**json.loads(lines[i]), field: value}
        return [*lines[:i], json.dumps(row).encode() + b"\n", *lines[i + 1 :]]

    done = merge([changed(played, tmp_path, edited)], tmp_path / "saved", salvage=True)
    told = [sentence for sentence in done.damage if not sentence.endswith("this line was changed")]  # by the chain
    assert any(words in sentence for sentence in told) == bool(words)
    assert len(valid(tmp_path / "saved")) == len(valid(played)) - bool(words)
    assert valid(tmp_path / "saved").items() <= valid(played).items()


def test_a_copied_file_of_events_gives_each_attempt_once(played: Path, tmp_path: Path) -> None:
    run = changed(played, tmp_path, lambda lines: lines)
    shutil.copy(events(run), run / "trials-000007.jsonl")
    done = merge([run], tmp_path / "saved", salvage=True)
    assert read(tmp_path / "saved").conversations == read(played).conversations
    assert done.conflicts == ()
    copied, unlisted = done.damage
    assert "trials-000007.jsonl:1: written by worker '000001', so the file is a copy" in copied
    assert "inventory.jsonl: its entries on trials-000007.jsonl are missing" in unlisted


@pytest.mark.parametrize("first_line", [b"", b"%%\n"])
def test_if_a_file_and_its_copy_differ_neither_is_trusted(played: Path, tmp_path: Path, first_line: bytes) -> None:
    run = changed(played, tmp_path, lambda lines: lines)
    lines = events(run).read_bytes().splitlines(keepends=True)
    answered = of_first_trial(lines, "turn")[1]
    row = json.loads(lines[answered])
    lines[answered] = json.dumps({**row, "text": f"{row['text']} And more."}).encode() + b"\n"
    if first_line:
        lines[0] = first_line
    (run / "trials-000007.jsonl").write_bytes(b"".join(lines))
    done = merge([run], tmp_path / "saved", salvage=True)
    assert len(read(tmp_path / "saved").conversations) == len(read(played).conversations)
    assert len(valid(tmp_path / "saved")) == len(valid(played)) - 1
    assert valid(tmp_path / "saved").items() <= valid(played).items()
    assert any(
        "recorded differently here than in trials-000001.jsonl; cut after 5 lines" in told for told in done.damage
    )


def test_different_recordings_by_two_machines_in_one_folder_are_both_kept(played: Path, tmp_path: Path) -> None:
    other = play(tmp_path, "fairweb-two-round")
    run = changed(played, tmp_path, lambda lines: lines)
    lines = events(other).read_bytes().splitlines(keepends=True)
    lines[0] = json.dumps({**json.loads(lines[0]), "worker": "east-000001"}).encode() + b"\n"
    (run / "trials-east-000001.jsonl").write_bytes(b"".join(lines))
    done = merge([run], tmp_path / "saved", salvage=True)
    assert [sentence.partition(": ")[2][:20] for sentence in done.damage] == [
        "its chain is missing",  # of the other's,
        "its entries on trial",  # and that is in no inventory of this folder
    ]
    assert len(read(tmp_path / "saved").conversations) == 2 * len(valid(played))
    about: dict[str, str | int] = {"trial": json.loads(lines[1])["id"], "attempt": 1}
    write_layer(run, Layer("human", "anna", judgments=(Judgment(about, "Fluency", 1),)))
    done = merge([run], tmp_path / "judged", salvage=True)
    assert [sentence.partition(": ")[2][:20] for sentence in done.damage] == [
        "its chain is missing",
        "its entries on trial",
        "1 judgment left out,",  # of which of both?
    ]
    assert read_layers(tmp_path / "judged") == ()


def test_an_attempt_without_any_line_left_is_reported_as_missing_if_a_later_one_exists(tmp_path: Path) -> None:
    shutil.copytree("recordings/samples/run-1", tmp_path / "run")
    file = tmp_path / "run" / "trials-000001.jsonl"
    rows = file.read_bytes().splitlines(keepends=True)
    (lost,) = {json.loads(row)["id"] for row in rows[:-1] if json.loads(row).get("trial") == 2}
    file.write_bytes(b"".join(row for row in rows if lost.encode() not in row))
    run, _ = salvage_run(tmp_path / "run")
    assert any("trial 2, attempt 2 is here, but attempt 1 before it has no line" in sentence for sentence in run.damage)


@pytest.mark.parametrize("protocol", ["fairweb-two-round", "robustness", "recovery", "sincerity", "helpdesk"])
def test_a_real_recording_never_contradicts_itself(protocol: str, tmp_path: Path) -> None:
    run, damaged = salvage_run(play(tmp_path, protocol))
    assert (run.damage, damaged) == ((), ())
    assert run.conversations == read(tmp_path / "run").conversations


def test_neither_does_a_recording_of_the_first_version() -> None:
    run, _ = salvage_run("recordings/samples/run-1")
    assert run.damage == read("recordings/samples/run-1").damage
    assert run.conversations == read("recordings/samples/run-1").conversations
