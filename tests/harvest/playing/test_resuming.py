"""Going on with a run: what is recorded is read once, and only what the plan needs of it is kept."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import harvest.playing.play
import protocols.library
import recordings.log.run_folder
from harvest.audits.audit import Audit, load_audit
from harvest.cli import main
from harvest.playing.plan import make_plan
from protocols.protocol import Protocol
from recordings.conversations.conversation import Outcome, TrialKey
from recordings.events.event_lines import encode
from recordings.events.events import Asked, Event, TrialEnded, TrialStarted
from recordings.files.json_text import read_blocks
from recordings.log.header import trial_identity
from recordings.log.run_folder import event_file_sizes, read
from recordings.log.store import RunWriter
from tests.harvest.playing.test_empty_runs import AUDIT
from tests.recordings.log.test_store import header, play, started


def identity(audit: Audit, topic: str, trial: int) -> str:
    return trial_identity(audit.protocol, audit.topics[topic], audit.played[0].definition(), trial)


async def write(run: Path, audit: Audit, topic: str, outcome: str, attempt: int = 1) -> None:
    """One more process that records an attempt at the first trial of the topic."""
    async with RunWriter.open(run, audit.header()) as writer:
        name = identity(audit, topic, 1), attempt
        await writer.append(TrialStarted(name[0], TrialKey("mine", topic, 1), attempt))
        await writer.append(Asked(*name, 1, audit.protocol.start, "Please list films."))
        await writer.append(TrialEnded(*name, Outcome(outcome)))


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Audit:
    monkeypatch.chdir(tmp_path)
    Path("audit.yaml").write_text(AUDIT.format(protocol="fairweb-two-round"))
    return load_audit("audit.yaml")


def test_a_recording_is_read_once_before_it_is_played_and_once_to_be_scored(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(write(Path("run"), audit, "M002", "invalid"))
    opened: Counter[str] = Counter()

    def counting(path: Path, folder: Path | None = None, **options: Any) -> Iterator[Any]:
        opened[path.name] += 1
        return read_blocks(path, folder, **options)

    monkeypatch.setattr(recordings.log.run_folder, "read_blocks", counting)
    with pytest.raises(SystemExit) as done:
        main(["run", "--no-report", "audit.yaml", "--out", "run"])
    assert done.value.code == 0
    assert opened == {"trials-000001.jsonl": 2, "trials-000002.jsonl": 1}
    assert len(read("run").finished) == 6


def test_a_trial_that_another_process_records_until_the_run_is_locked_is_not_played_again(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(write(Path("run"), audit, "M002", "invalid"))
    opening = RunWriter.open

    def late(path: Path, now: Any, **options: Any) -> RunWriter:
        monkeypatch.setattr(RunWriter, "open", opening)
        other = RunWriter.resume(path)
        name = identity(audit, "M002", 1), 2
        rows: list[Event] = [
            TrialStarted(name[0], TrialKey("mine", "M002", 1), 2),
            TrialEnded(*name, Outcome("completed")),
        ]
        for row in rows:
            other._journal.write(other._line(row, encode(row)))
        other._lock.release()
        return opening(path, now, **options)

    monkeypatch.setattr(RunWriter, "open", late)
    with pytest.raises(SystemExit):
        main(["run", "--no-report", "audit.yaml", "--out", "run"])
    found = [
        (one.attempt, one.worker) for one in read("run").conversations if one.trial_id == identity(audit, "M002", 1)
    ]
    assert found == [(1, "000001"), (2, "000002")]


@pytest.mark.parametrize(("session", "kept"), [("fresh", set()), ("continued", {"mine"})])
def test_recorded_words_are_read_only_for_systems_with_continued_sessions(
    session: str, kept: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    written = AUDIT.format(protocol="fairweb-two-round")
    written = written.replace("driver: parrot", f"driver: parrot, session: {session}")
    Path("audit.yaml").write_text(written)
    audit = load_audit("audit.yaml")
    asyncio.run(write(Path("run"), audit, "M002", "invalid"))
    asked: list[set[str]] = []

    def noting(path: Any, *, turns_of: Any = None, **more: Any) -> recordings.log.run_folder.Run:
        asked.append(set(turns_of))
        return read(path, turns_of=turns_of, **more)

    monkeypatch.setattr(harvest.playing.play, "read", noting)
    asyncio.run(harvest.playing.play.play_audit(audit, Path("run")))
    assert asked == [kept]


async def test_only_the_end_of_finished_attempts_is_kept_unless_more_is_wanted(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        await play(writer, 1)
        await writer.append(started(2), Asked("trial-2", 1, 1, "ask", "Please list films."))
    whole, ends = read(tmp_path / "run"), read(tmp_path / "run", turns_of=())
    assert [replace(one, turns=()) for one in whole.finished] == list(ends.finished)
    assert ends.interrupted == whole.interrupted
    assert read(tmp_path / "run", turns_of={"B"}).conversations == whole.conversations


async def test_the_extent_of_a_run_changes_with_each_event(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        seen = [event_file_sizes(tmp_path / "run")]
        await writer.append(started(1))
        seen.append(event_file_sizes(tmp_path / "run"))
    RunWriter.resume(tmp_path / "run")._lock.release()
    seen.append(event_file_sizes(tmp_path / "run"))
    assert len({str(one) for one in seen}) == 3


def test_a_plan_hashes_the_protocol_once_for_each_system_however_many_trials_there_are(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[object] = []
    protocol_hash = protocols.library.protocol_hash

    def counting(protocol: Protocol) -> str:
        hashed.append(protocol)
        return protocol_hash(protocol)

    monkeypatch.setattr(protocols.library, "protocol_hash", counting)
    plan = make_plan(audit)
    assert plan.to_play == 6
    assert len(hashed) == 1
    works = [work for sitting in plan.sittings["mine"] for work in sitting.works]
    assert [work.trial_id for work in works] == [identity(audit, work.key.topic, work.key.trial) for work in works]
