"""Merging runs: a union, whatever the order and the grouping, in which nothing is lost."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.answer import Answer
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Event, TrialEnded, TrialStarted
from recordings.files.errors import RunError, StoreError
from recordings.files.evidence import address_of
from recordings.files.json_text import encode_line
from recordings.judged.judgments import Judgment, Layer, read_layers, write_layer
from recordings.log.chain import chain_file
from recordings.log.header import Header
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.merging.folder_copy import atomic_folder
from recordings.merging.merge import merge
from tests.support.faulty_disk import FaultyDisk, faulty_disk
from topics.errors import InputError

Spec = tuple[tuple[int, int, int, int], ...]
"""Attempts: (trial, attempt, which content, how many events were written)."""


def page(variant: int) -> str:
    return address_of(f"page {variant}".encode(), "text/html")


def events(trial: int, attempt: int, variant: int) -> list[Event]:
    name = f"trial-{trial}"
    return [
        TrialStarted(name, TrialKey("B", "M001", trial), attempt, at=f"2024-01-0{1 + variant}"),
        Asked(name, attempt, 1, "ask", "Hello"),
        Answered(name, attempt, 1, SystemTurn(Answer(f"reply {variant} \ud83d"), evidence={"page": page(variant)})),
        TrialEnded(name, attempt, Outcome("completed" if variant else "invalid")),
    ]


def make(run: Path, spec: Spec, *, seed: int = 1, day: int = 1, worker: str = "") -> Path:
    header = Header(
        audit={"name": "test", "day": day},
        protocol={"p": 1},
        topics=None,
        systems={"B": {"name": "B"}},
        seed=seed,
        hashes={"protocol": "p", "topics": {"M001": "m"}, "systems": {"B": "b"}},
        created_at=f"2024-01-0{day}",
    )

    async def write() -> None:
        async with RunWriter.create(
            run, header, worker=worker, clock=lambda: datetime(2024, 1, day, tzinfo=UTC)
        ) as writer:
            for trial, attempt, variant, count in spec:
                await writer.append(*events(trial, attempt, variant)[:count])
                await writer.keep("page", "text/html", f"page {variant}".encode())

    asyncio.run(write())
    return run


def content(run: Path) -> dict[str, bytes]:
    files = (file for file in run.rglob("*") if file.is_file() and file.name != "lock")
    return {file.relative_to(run).as_posix(): file.read_bytes() for file in files}


specs = st.lists(
    st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(0, 2), st.integers(1, 4)),
    max_size=4,
    unique_by=lambda attempt: attempt[:2],
).map(tuple)


@given(st.lists(specs, min_size=3, max_size=3), st.permutations(range(3)))
@settings(max_examples=10, deadline=None)
def test_order_grouping_and_repetition_do_not_matter(written: Sequence[Spec], order: Sequence[int]) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        runs = [make(folder / f"run-{i}", spec, day=1 + i) for i, spec in enumerate(written)]
        one, two, three = runs
        merge(runs, folder / "all")
        expected = content(folder / "all")
        merge([runs[i] for i in order], folder / "permuted")
        assert content(folder / "permuted") == expected
        merge([one, two], folder / "left")
        merge([folder / "left", three], folder / "left-first")
        assert content(folder / "left-first") == expected
        merge([two, three], folder / "right")
        merge([one, folder / "right"], folder / "right-first")
        assert content(folder / "right-first") == expected
        merge([folder / "all", folder / "all", two], folder / "again")
        assert content(folder / "again") == expected

        kept = {(turn.key.trial, turn.worker, turn.started_at) for turn in read(folder / "all").conversations}
        for run in runs:
            assert {(turn.key.trial, turn.worker, turn.started_at) for turn in read(run).conversations} <= kept
    finally:
        shutil.rmtree(folder)


def test_trials_of_several_machines_are_merged(tmp_path: Path) -> None:
    east = make(tmp_path / "east", ((1, 1, 1, 4), (2, 1, 0, 4)), worker="east")
    west = make(tmp_path / "west", ((2, 2, 1, 4), (3, 1, 2, 4)), worker="west")
    done = merge([east, west], tmp_path / "both")
    assert (done.trials, done.attempts, done.conflicts, done.damage) == (3, 4, (), ())
    run = read(tmp_path / "both")
    assert [(one.key.trial, one.attempt, one.worker) for one in run.conversations] == [
        (1, 1, "east-000001"),
        (2, 1, "east-000001"),
        (2, 2, "west-000001"),
        (3, 1, "west-000001"),
    ]
    assert [one.key.trial for one in run.finished] == [1, 2, 3]
    assert run.header.created_at == "2024-01-01"
    assert run.attempts[0].started.hashes == {"protocol": "p", "topic": "m", "system": "b"}


def test_different_recordings_of_an_attempt_are_both_kept_and_reported(tmp_path: Path) -> None:
    east = make(tmp_path / "east", ((1, 1, 1, 4),), worker="east")
    west = make(tmp_path / "west", ((1, 1, 2, 4), (1, 2, 0, 4)), worker="west")
    done = merge([west, east], tmp_path / "both")
    assert done.conflicts == ("B, M001, trial 1: attempt 1 was recorded in 2 different ways, kept as attempts 1, 2",)
    run = read(tmp_path / "both")
    assert [(one.attempt, one.worker) for one in run.conversations] == [
        (1, "east-000001"),
        (2, "west-000001"),
        (3, "west-000001"),
    ]
    assert [attempt.started.original_attempt for attempt in run.attempts] == [0, 1, 2]


def test_a_copy_made_while_the_run_was_written_is_not_a_conflict(tmp_path: Path) -> None:
    early = make(tmp_path / "early", ((1, 1, 1, 2),))
    late = make(tmp_path / "late", ((1, 1, 1, 4),))
    done = merge([early, late], tmp_path / "both")
    assert (done.attempts, done.conflicts) == (1, ())
    assert read(tmp_path / "both").finished[0].turns[0].reply is not None


def test_evidence_and_judgments_are_merged(tmp_path: Path) -> None:
    one = make(tmp_path / "one", ((1, 1, 1, 4),))
    two = make(tmp_path / "two", ((2, 1, 2, 4),))
    shared = Layer(
        "human", "annotator 1", judgments=(Judgment({"topic": "M001", "entity": "e"}, "gold", {"grade": 1}),)
    )
    write_layer(one, shared)
    write_layer(two, shared)
    write_layer(two, Layer("rule", "spelling", "2"))
    merge([one, two], tmp_path / "both")
    pages = sorted(file.read_bytes() for file in (tmp_path / "both" / "evidence").rglob("*.html"))
    assert pages == [b"page 1", b"page 2"]
    assert [layer.author for layer in read_layers(tmp_path / "both")] == ["annotator 1", "spelling"]


def test_a_link_among_the_damaged_files_is_named_and_not_followed(tmp_path: Path) -> None:
    one = make(tmp_path / "one", ((1, 1, 1, 4),))
    (tmp_path / "secret").write_text("not of the run")
    (one / "damaged").mkdir()
    (one / "damaged" / "a.jsonl").symlink_to(tmp_path / "secret")
    (one / "damaged" / "b.jsonl").write_text("kept")
    done = merge([one], tmp_path / "both")
    assert done.damage == (
        f"{one / 'damaged' / 'a.jsonl'}: this is a link, and links are not followed here; it was left out",
    )
    assert {file.name: file.read_text() for file in (done.path / "damaged").iterdir()} == {"b.jsonl": "kept"}


def test_a_changed_exhibit_is_reported(tmp_path: Path) -> None:
    one = make(tmp_path / "one", ((1, 1, 1, 4),))
    (one / page(1)).write_bytes(b"page 7")
    done = merge([one], tmp_path / "both")
    assert done.damage == (f"{one / page(1)}: its content does not match its name; it was left out",)
    assert done.missing == (f"1 exhibit that events refer to: {page(1)}",)


def test_evidence_behind_a_link_is_missing_unless_another_run_has_it(tmp_path: Path) -> None:
    one = make(tmp_path / "one", ((1, 1, 1, 4), (2, 1, 2, 4)))
    two = Path(shutil.copytree(one, tmp_path / "two"))
    (one / "evidence").rename(tmp_path / "disk")
    (one / "evidence").symlink_to(tmp_path / "disk")
    lost = merge([one], tmp_path / "lost")
    assert "this is a link" in lost.damage[0]
    assert lost.missing == (f"2 exhibits that events refer to: {'; '.join(sorted(map(page, (1, 2))))}",)
    assert merge([one, two], tmp_path / "both").missing == ()


def test_changes_shown_by_chains_are_reported(tmp_path: Path) -> None:
    """The chain of the new run shows nothing of it."""
    one = make(tmp_path / "one", ((1, 1, 1, 4),))
    write_layer(one, Layer("human", "anna", "1", "", "2026-01-01", (Judgment(_about(1), "Fluency", 1),)))
    two = make(tmp_path / "two", ((2, 1, 1, 4),))
    write_layer(two, Layer("human", "ben", "1", "", "2026-01-01", (Judgment({"trial": "trial-2"}, "Fluency", 1),)))
    for run in (one, two):
        asyncio.run(_closed_again(run))
    assert merge([one, two], tmp_path / "whole").damage == ()

    file = one / "trials-000001.jsonl"
    file.write_bytes(file.read_bytes().replace(b"reply 1", b"reply 7"))
    (layer,) = two.glob("judgments/*.jsonl")
    layer.unlink()
    (two / "run.json").write_bytes((two / "run.json").read_bytes().replace(b'"day": 1', b'"day":  1'))
    assert merge([one, two], tmp_path / "both").damage == (
        f"{file}:4: this line was changed",
        f"{two}/run.json: it was changed after the last process began to record",
        f"{layer}: it was added to this run and is now missing",
    )


def test_the_first_of_many_changed_lines_are_named_and_the_others_counted(tmp_path: Path) -> None:
    one = make(tmp_path / "one", tuple((day, 1, 1, 4) for day in range(1, 6)))
    file = one / "trials-000001.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"reply ', b'"Reply '))
    *named, others = merge([one], tmp_path / "both").damage
    assert [said.rpartition(": ")[2] for said in named] == ["this line was changed"] * 3
    assert others == f"{one}: its chains show 2 more faults"


async def _closed_again(run: Path) -> None:
    async with RunWriter.resume(run):
        pass


def test_a_torn_line_is_reported(tmp_path: Path) -> None:
    one = make(tmp_path / "one", ((1, 1, 1, 4),))
    file = one / "trials-000001.jsonl"
    file.write_bytes(file.read_bytes()[:-9])
    for kept in (chain_file(file), one / "inventory.jsonl"):  # of a writer that was killed, nothing would be closed
        lines = kept.read_bytes().splitlines(keepends=True)
        kept.write_bytes(b"".join(lines[: -2 if kept.suffix == ".chain" else -1]))
    done = merge([one], tmp_path / "both")
    assert [f"{file}:5" in sentence for sentence in done.damage] == [True]
    assert len(read(tmp_path / "both").interrupted) == 1


def test_runs_of_different_experiments_are_refused(tmp_path: Path) -> None:
    one = make(tmp_path / "one", ((1, 1, 1, 4),))
    two = make(tmp_path / "two", ((1, 1, 1, 4),), seed=2)
    with pytest.raises(RunError, match="were recorded with different settings:\n  the seed was 1 and is now 2"):
        merge([one, two], tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_a_merge_goes_into_a_new_folder_or_leaves_none(tmp_path: Path) -> None:
    one = make(tmp_path / "one", ((1, 1, 1, 4),))
    with pytest.raises(RunError, match="already exists"):
        merge([one], one)
    with pytest.raises(InputError, match="nothing to merge"):
        merge([], tmp_path / "both")
    (one / "trials-000001.jsonl").write_bytes(b"%\n")
    with pytest.raises(RunError, match="not valid JSON"):
        merge([one], tmp_path / "both")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["one"]


def test_a_disk_that_fails_at_any_moment_of_a_merge_is_reported_with_the_new_folder(tmp_path: Path) -> None:
    """Nobody knows the temporary one, and nothing of it is left. In the end it is there, and its name not safe."""
    one = make(tmp_path / "one", ((1, 1, 1, 4),))
    write_layer(one, Layer("human", "anna", "1", "", "2026-01-01", (Judgment(_about(1), "Fluency", 1),)))
    out = tmp_path / "merges" / "both"
    out.parent.mkdir()
    for after in count():
        with (
            faulty_disk(FaultyDisk(out.parent, after)),
            pytest.raises(StoreError, match=f"^cannot write {out}: No space left"),
        ):
            merge([one], out)
        if out.exists():
            break
        assert list(out.parent.iterdir()) == []
    assert after > 10
    assert [path.name for path in out.parent.iterdir()] == ["both"]


def test_a_run_that_another_process_creates_meanwhile_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "both"
    with pytest.raises(StoreError, match=f"^cannot write {target}: something else exists"), atomic_folder(target):
        make(target, ())
    assert read(target).conversations == ()
    assert list(tmp_path.iterdir()) == [target]


def test_an_unreadable_run_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = make(tmp_path / "one", ((1, 1, 1, 4),))

    def refused(run: Path, *parts: str) -> list[Path]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(run / parts[0]))

    monkeypatch.setattr("recordings.files.evidence.list_entries", refused)
    with pytest.raises(StoreError, match=f"^cannot read {one}/evidence: Permission denied"):
        merge([one], tmp_path / "both")
    assert list(tmp_path.iterdir()) == [one]


def test_a_merged_run_can_be_continued(tmp_path: Path) -> None:
    one = make(tmp_path / "one", ((1, 1, 1, 4),))
    merge([one], tmp_path / "both")

    async def go_on() -> None:
        async with RunWriter.resume(tmp_path / "both") as writer:
            await writer.append(*events(2, 1, 1), sync=True)

    asyncio.run(go_on())
    assert [one.worker for one in read(tmp_path / "both").finished] == ["000001", "000002"]


def _about(attempt: int, **more: str | int) -> dict[str, str | int]:
    return {"trial": "trial-1", "attempt": attempt, **more}


def _whose(run: Path) -> list[tuple[str, object, str]]:
    """Every judgment, with the worker that recorded what it is about."""
    workers = {one.attempt: one.worker for one in read(run).conversations}
    found = ((layer.author, one) for layer in read_layers(run) for one in layer.judgments)
    return sorted((author, str(one.value), workers[int(one.about["attempt"])]) for author, one in found)


def test_judgments_follow_their_items_when_attempts_are_renumbered(tmp_path: Path) -> None:
    east = make(tmp_path / "east", ((1, 1, 0, 4),), worker="east")
    west = make(tmp_path / "west", ((1, 1, 1, 4), (1, 2, 0, 4)), worker="west")
    last = make(tmp_path / "last", ((1, 1, 2, 4),), worker="last")
    part = make(tmp_path / "part", ((1, 1, 2, 2),), worker="last")  # copied while the attempt was being written
    write_layer(east, Layer("human", "anna", judgments=(Judgment(_about(1, turn=1), "Fluency", "east"),)))
    of_west = (Judgment(_about(1, turn=1), "Fluency", "west"), Judgment(_about(2), "Fluency", "west"))
    write_layer(west, Layer("human", "anna", judgments=of_west))
    write_layer(part, Layer("rule", "rule", judgments=(Judgment(_about(1, turn=1, start=0, end=2), "held", "last"),)))
    (west / "decisions").mkdir()
    decision = {"id": "1", "by": "bert", "about": [_about(1)], "criterion": "Fluency", "value": "west"}
    (west / "decisions" / "000001.jsonl").write_bytes(
        encode_line({"format": "harvest-decisions/1"}) + encode_line(decision)
    )
    (last / "judge" / "model-1").mkdir(parents=True)
    reply = {"key": "k", "sample": 0, **_about(1, turn=1), "finish": "stop", "text": "last"}
    (last / "judge" / "model-1" / "000001.jsonl").write_bytes(
        encode_line({"format": "…"}) + encode_line(reply) + b'{"key": "to'
    )

    merge([east, west, last, part], tmp_path / "all")
    assert _whose(tmp_path / "all") == [
        ("anna", "east", "east-000001"),
        ("anna", "west", "west-000001"),
        ("anna", "west", "west-000001"),
        ("bert", "west", "west-000001"),
        ("rule", "last", "last-000001"),
    ]
    (replies,) = (tmp_path / "all" / "judge" / "model-1").iterdir()
    assert replies.read_bytes() == encode_line({"format": "…"}) + encode_line({**reply, "attempt": 3}) + b'{"key": "to'

    merge([last, part, west], tmp_path / "two")
    merge([east, tmp_path / "two", west], tmp_path / "in steps")
    assert content(tmp_path / "in steps") == content(tmp_path / "all")


def test_judgments_of_an_attempt_missing_from_its_run_are_not_given_to_another(tmp_path: Path) -> None:
    east = make(tmp_path / "east", ((1, 1, 1, 4),), worker="east")
    west = make(tmp_path / "west", ((1, 1, 2, 4),), worker="west")
    judgments = tuple(Judgment(_about(attempt), "Fluency", attempt) for attempt in (1, 2))
    layer = write_layer(east, Layer("human", "anna", judgments=judgments))
    write_layer(west, Layer("human", "bert", judgments=(Judgment(_about(2), "Fluency", 2),)))
    done = merge([east, west], tmp_path / "both")
    told = "1 judgment left out, because this run has their attempt twice or not at all: attempt 2 at trial trial-1"
    assert done.damage[0] == f"{layer}: {told}"
    assert _whose(tmp_path / "both") == [("anna", "1", "east-000001")]


def test_runs_that_are_scored_differently_are_merged_with_a_note(tmp_path: Path) -> None:
    runs = [make(tmp_path / str(day), ((day, 1, 1, 4),), day=day) for day in (1, 2)]
    value = json.loads((runs[1] / "run.json").read_text())
    value["audit"] |= {"scoring": {"patience": 50}, "thresholds": []}
    (runs[1] / "run.json").write_text(json.dumps(value))
    (runs[1] / "trials-000001.chain").unlink()  # it holds the hash of the header
    said = "scoring.patience differs (50 and not given); the new run has that of the audit that began first"
    for order in (1, -1):
        assert merge(runs[::order], tmp_path / f"both {order}").settings == (said,)


def test_a_continued_attempt_names_its_predecessor_by_the_new_number(tmp_path: Path) -> None:
    east = make(tmp_path / "east", ((1, 1, 0, 4),), worker="east")
    west = make(tmp_path / "west", ((1, 1, 1, 3), (1, 2, 1, 4)), worker="west")
    last = make(tmp_path / "last", ((1, 1, 2, 4),), worker="last")
    file = west / "trials-west-000001.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"attempt":2,', b'"attempt":2,"goes_on_from":1,', 1))
    chain_file(file).unlink()
    merge([east, west, last], tmp_path / "all")
    merge([west, last], tmp_path / "two")
    merge([tmp_path / "two", east], tmp_path / "in steps")
    assert content(tmp_path / "in steps") == content(tmp_path / "all")
    started = [attempt.started for attempt in read(tmp_path / "all").attempts]
    assert [(one.attempt, one.worker, one.goes_on_from) for one in started] == [
        (1, "east-000001", 0),
        (2, "west-000001", 0),
        (3, "last-000001", 0),
        (4, "west-000001", 2),
    ]
