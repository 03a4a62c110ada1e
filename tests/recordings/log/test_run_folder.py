"""Reading a run: a torn last line is tolerated and reported, and everything else that is wrong is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from recordings.conversations.conversation import Outcome, TrialKey
from recordings.events.attempts import Attempts
from recordings.events.events import Asked, Failed, TrialEnded, TrialStarted
from recordings.events.typed_lines import LINES
from recordings.files.errors import RunError
from recordings.log.chain import chain_file
from recordings.log.run_folder import is_run, read, read_events
from recordings.log.store import RunWriter
from tests.recordings.log.test_store import header, play, started

Edit = Callable[[list[bytes]], list[bytes]]


async def recorded(run: Path, trials: int = 2) -> Path:
    async with RunWriter.create(run, header()) as writer:
        for number in range(1, trials + 1):
            await play(writer, number)
    return run / "trials-000001.jsonl"


def edited(file: Path, edit: Edit) -> None:
    file.write_bytes(b"".join(edit(file.read_bytes().splitlines(keepends=True))))


def row(**values: object) -> bytes:
    return json.dumps(values).encode() + b"\n"


@pytest.mark.parametrize("cut", [1, 5, 60])
async def test_a_torn_last_line_is_reported_and_the_rest_is_read(tmp_path: Path, cut: int) -> None:
    file = await recorded(tmp_path / "run")
    file.write_bytes(file.read_bytes() + b'{"event": "trial-started", "id": "trial-3", "system": "B", "topic"'[:cut])
    run = read(tmp_path / "run")
    assert len(run.finished) == 2
    assert run.damage == (
        f"{file}:10: the last line is torn after {cut} bytes (the writer was stopped while writing it)",
    )


async def test_a_complete_last_line_without_its_end_is_read(tmp_path: Path) -> None:
    file = await recorded(tmp_path / "run")
    file.write_bytes(file.read_bytes().removesuffix(b"\n"))
    run = read(tmp_path / "run")
    assert len(run.finished) == 2
    assert run.damage == ()


async def test_an_interrupted_attempt_is_not_finished(tmp_path: Path) -> None:
    file = await recorded(tmp_path / "run")
    edited(file, lambda lines: lines[:-1])
    chain_file(file).unlink()  # of a writer that was killed, it would not be closed
    run = read(tmp_path / "run")
    assert [conversation.key.trial for conversation in run.interrupted] == [2]
    assert [conversation.key.trial for conversation in run.finished] == [1]
    assert run.interrupted[0].outcome is None
    assert run.interrupted[0].turns[0].reply is not None


async def test_the_first_valid_attempt_counts(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        for attempt, kind in ((1, "invalid"), (2, "completed"), (3, "breakdown")):
            await writer.append(started(1, attempt))
            await writer.append(TrialEnded("trial-1", attempt, Outcome(kind)), sync=True)
    run = read(tmp_path / "run")
    assert [conversation.attempt for conversation in run.conversations] == [1, 2, 3]
    assert [conversation.attempt for conversation in run.finished] == [2]


async def test_trials_come_in_the_order_of_systems_and_topics_in_the_header(tmp_path: Path) -> None:
    named = header(
        systems={"z": {}, "a": {}},
        hashes={"protocol": "", "topics": {"T9": "", "T1": ""}, "systems": {"z": "", "a": ""}},
    )
    async with RunWriter.create(tmp_path / "run", named) as writer:
        for system, topic, trial in (("a", "T1", 1), ("z", "T1", 2), ("q", "T0", 1), ("z", "T9", 1), ("z", "T1", 1)):
            name = f"{system}{topic}{trial}"
            await writer.append(TrialStarted(name, TrialKey(system, topic, trial), 1))
            await writer.append(TrialEnded(name, 1, Outcome("completed")))
    keys = [conversation.key for conversation in read(tmp_path / "run").finished]
    expected = [("z", "T9", 1), ("z", "T1", 1), ("z", "T1", 2), ("a", "T1", 1), ("q", "T0", 1)]
    assert [(key.system, key.topic, key.trial) for key in keys] == expected


async def test_the_data_received_before_an_attempt_broke_can_be_read(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        await writer.append(started(1), Asked("trial-1", 1, 1, "ask", "Hello"))
        await writer.append(Failed("trial-1", 1, "timeout", "no whole reply", "Here are so", turn=1))
        await writer.append(TrialEnded("trial-1", 1, Outcome("invalid", "timeout")))
    run = read(tmp_path / "run")
    assert [(failure.reason, failure.partial) for failure in run.failures] == [("timeout", "Here are so")]
    assert run.conversations[0].turns[0].reply is None
    assert run.finished == ()


def turn(number: int) -> bytes:
    return row(event="turn", id="trial-1", attempt=1, turn=number, text="x")


def asked(number: int) -> bytes:
    return row(event="asked", id="trial-1", attempt=1, turn=number, text="x")


def route(number: int) -> bytes:
    return row(event="route", id="trial-1", attempt=1, turn=number, label="o")


@pytest.mark.parametrize(
    ("edit", "line", "message"),
    [
        (lambda r: [*r[:3], b"%% garbage\n", *r[3:]], 4, "not valid JSON"),
        (lambda r: [*r[:3], b"\0\0\0\0\n", *r[3:]], 4, "not valid JSON"),
        (lambda r: [*r[:3], b"\xff\xfe\n", *r[3:]], 4, "byte 0xff is not UTF-8"),
        (lambda r: [*r[:3], b"[]\n", *r[3:]], 4, "not a JSON object"),
        (lambda r: [*r[:3], b"\n", *r[3:]], 4, "not valid JSON"),
        (lambda r: [*r[:3], r[3][:30] + b"\n", *r[4:]], 4, "not valid JSON"),
        (lambda r: r[1:], 1, "does not begin with an opened line"),
        (lambda r: [r[0].replace(b"events/1", b"events/2"), *r[1:]], 1, "cannot read format version '2'"),
        (lambda r: [r[0], *r[2:]], 2, "was not started in this file"),
        (lambda r: [*r, r[1]], 10, "begins again"),
        (lambda r: [*r, asked(2)], 10, "an event after its trial-ended"),
        (lambda r: [*r[:2], asked(2), *r[2:]], 3, "turn 2 is asked, but turn 1 is next"),
        (lambda r: [*r[:3], asked(2), *r[3:]], 4, "turn 2 is asked before turn 1 was answered"),
        (lambda r: [*r[:4], asked(3), *r[4:]], 5, "turn 3 is asked, but turn 2 is next"),
        (lambda r: [*r[:2], turn(1), *r[2:]], 3, "answer for turn 1, but only 0 turns were asked"),
        (lambda r: [*r[:4], turn(1), *r[4:]], 5, "a second answer to turn 1"),
        (lambda r: [*r[:3], route(1), *r[3:]], 4, "a route for turn 1, which has no answer"),
        (lambda r: [*r[:4], route(1), route(1), *r[4:]], 6, "a second route for turn 1"),
        (lambda r: [*r[:4], route(2), *r[4:]], 5, "route for turn 2, but only 1 turns were asked"),
        (lambda r: [*r[:2], row(event="failed", id="trial-1", attempt=1, reason="x", turn=1)], 3, "was not asked"),
    ],
)
async def test_everything_else_is_an_error_with_file_and_line(
    tmp_path: Path, edit: Edit, line: int, message: str
) -> None:
    file = await recorded(tmp_path / "run")
    edited(file, edit)
    with pytest.raises(RunError, match=re.escape(message)) as caught:
        read(tmp_path / "run")
    assert str(caught.value).startswith(f"{file}:{line}")


async def test_an_event_of_an_attempt_of_another_file_is_an_error(tmp_path: Path) -> None:
    await recorded(tmp_path / "run")
    second = tmp_path / "run" / "trials-000002.jsonl"
    first_line = (tmp_path / "run" / "trials-000001.jsonl").read_bytes().split(b"\n")[0]
    second.write_bytes(first_line + b"\n" + asked(2))
    with pytest.raises(RunError, match=r"trials-000002\.jsonl:2: .*was not started in this file"):
        read(tmp_path / "run")


async def test_events_of_a_later_minor_version_are_left_out_and_reported(tmp_path: Path) -> None:
    file = await recorded(tmp_path / "run")
    edited(file, lambda r: [r[0].replace(b"events/1", b"events/1.4"), *r[1:3], row(event="gesture"), *r[3:]])
    run = read(tmp_path / "run")
    assert len(run.finished) == 2
    assert run.damage == (f"{file}:4: events 'gesture' are not known here and were left out",)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"format": "harvest-run/2"}', "this version of Harvest cannot read format version '2'"),
        (b'{"format": "something"}', "this is not harvest-run"),
        (b'{"format": "harvest-run/1"}', "there is no 'seed'"),
        (b"{", r"not valid JSON[^\n]*\n  do: restore this file from a copy of the run"),
        (b"[]", "does not contain an object"),
    ],
)
def test_a_header_that_cannot_be_read_is_named(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "run.json").write_bytes(data)
    with pytest.raises(RunError, match=message) as caught:
        read(tmp_path)
    assert str(tmp_path / "run.json") in str(caught.value)


async def test_unknown_keys_of_the_header_are_kept_when_a_run_is_continued(tmp_path: Path) -> None:
    await recorded(tmp_path / "run")
    path = tmp_path / "run" / "run.json"
    value = json.loads(path.read_text())
    path.write_text(json.dumps({**value, "format": "harvest-run/1.3", "weather": "rain"}))
    grown = header(audit={"name": "test", "trials": 9})
    await RunWriter.resume(tmp_path / "run", grown).close()
    assert json.loads(path.read_text())["weather"] == "rain"


def test_a_folder_without_a_header_is_not_a_run(tmp_path: Path) -> None:
    assert not is_run(tmp_path)
    with pytest.raises(RunError, match=r"not a run folder: it has no run\.json"):
        read(tmp_path)


async def test_a_run_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        await play(writer, 1)
        assert len(read(tmp_path / "run").finished) == 1


async def test_reading_only_the_words_gives_the_same_words_and_nothing_else(tmp_path: Path) -> None:
    async with RunWriter.create(tmp_path / "run", header()) as writer:
        await play(writer, 1)
        await play(writer, 2, "Another answer.")
        await writer.append(started(3), Asked(started(3).trial_id, 1, 1, "ask", "Films?"))  # interrupted
    whole, spoken = read(tmp_path / "run").attempts, read(tmp_path / "run", spoken=True).attempts
    assert [tuple(one.spoken_turns) for one in spoken] == [tuple(one.spoken_turns) for one in whole]
    assert [(one.started, one.outcome) for one in spoken] == [(one.started, one.outcome) for one in whole]
    for one in spoken[:2]:
        with pytest.raises(ValueError, match="only the text of this attempt's turns was kept"):
            one.conversation()
        with pytest.raises(ValueError, match="only the text of this attempt's turns was kept"):
            _ = one.last_turn
    assert spoken[2].conversation() == whole[2].conversation()


def test_the_events_of_this_test_are_all_there_are() -> None:
    """A new kind of event needs its rules of order tested above."""
    assert set(LINES) == {"trial-started", "asked", "turn", "route", "failed", "sent", "spent", "trial-ended"}


@pytest.mark.parametrize("block", [1, 7, 100, 1000, 2**20])
async def test_reading_in_pieces_of_any_size_gives_the_same_run(tmp_path: Path, block: int) -> None:
    file = await recorded(tmp_path / "run", trials=3)
    file.write_bytes(file.read_bytes() + b'{"event": "trial-st')
    whole, attempts = read(tmp_path / "run"), Attempts()
    damage = read_events(file, attempts, block_size=block)
    found = tuple(one.conversation() for one in attempts.found.values())
    assert (sorted(found, key=lambda one: one.key), tuple(damage)) == (list(whole.conversations), whole.damage)
    edited(file, lambda lines: [*lines[:7], b"\n", *lines[7:]])
    with pytest.raises(RunError, match=re.escape(f"{file}:8:1: not valid JSON")):
        read_events(file, Attempts(), block_size=block)
