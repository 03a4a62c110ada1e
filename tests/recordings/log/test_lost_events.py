"""Lost events, of a whole file or its end, are never taken for trials that were not played yet; what a stopped writer
leaves is no loss."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from recordings.files.errors import RunError
from recordings.log.chain import Chain, chain_file
from recordings.log.journal import Journal
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.merging.merge import merge
from tests.recordings.checking.test_salvage import events
from tests.recordings.log.test_store import header
from tests.support.command_line import harvest

COMMANDS = ("score", "compare", "variance", "show", "tree", "report", "watch bless", "data export", "attribute")
OUT = {
    "report": ("--out", "page.html"),
    "watch bless": ("--out", "base.json"),
    "data export": ("--format", "messages", "--out", "out.jsonl"),
}


async def record(run: Path, trial: int) -> None:
    async with RunWriter.open(run, header(protocol={"name": "p"})) as writer:
        await writer.append(*events(trial, 1, ended=True), sync=True)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Of two processes."""
    for trial in (1, 2):
        asyncio.run(record(tmp_path / "run", trial))
    return tmp_path / "run"


def lose(run: Path, how: str) -> Path:
    file = run / "trials-000001.jsonl"
    if how == "removed":
        file.unlink()
    elif how == "emptied":
        file.write_bytes(b"")
    else:
        data = file.read_bytes()
        last = data.rstrip(b"\n").rindex(b"\n") + 1
        file.write_bytes(data[: last if how == "cut" else -5])
    return file


WHAT = {
    "removed": ": this file of events is missing",
    "emptied": ": this file of events is empty",
    "cut": ":6: its end is lost: it was closed with 6 lines, as its chain says; missing: 1 line",
    "torn": ":6: its end is lost: it was closed with 6 lines, as its chain says; missing: 1 line",
}


@pytest.mark.parametrize("how", WHAT)
def test_every_command_refuses_the_remains_and_says_how_to_save_them(run: Path, how: str) -> None:
    file = lose(run, how)
    before = sorted(run.parent.rglob("*"))
    for command in COMMANDS:
        runs = (run, run) if command == "attribute" else (run,)
        done = harvest(*command.split(), *runs, *OUT.get(command, ()), cwd=run.parent)
        assert (done.returncode, done.stdout) == (2, ""), (command, done)
        assert f"{file}{WHAT[how]}" in done.stderr, (command, done.stderr)
        assert f"harvest data merge {run} --salvage --out {run}-salvaged" in done.stderr, (command, done.stderr)
    assert sorted(run.parent.rglob("*")) == before


@pytest.mark.parametrize("how", ["removed", "emptied"])
def test_the_remains_are_saved_and_a_copy_restores_the_rest(run: Path, how: str, tmp_path: Path) -> None:
    backup = Path(shutil.copytree(run, tmp_path / "backup"))
    chain = chain_file(run / "trials-000001.jsonl").read_bytes()
    file = lose(run, how)
    done = harvest("data", "merge", run, "--salvage", "--out", tmp_path / "saved")
    assert (done.returncode, f"{file}: this file of events is " in done.stderr) == (0, True), done.stderr
    assert [one.key.trial for one in read(tmp_path / "saved").finished] == [2]
    assert f"are played again by: harvest run AUDIT --out {tmp_path / 'saved'}" in done.stderr
    assert chain in [kept.read_bytes() for kept in (tmp_path / "saved" / "damaged").iterdir()]
    merge([run, backup], tmp_path / "whole", salvage=True)
    assert [one.key.trial for one in read(tmp_path / "whole").finished] == [1, 2]


@pytest.mark.parametrize("how", ["cut", "torn"])
def test_lines_before_a_lost_end_are_saved_and_a_copy_restores_the_rest(run: Path, how: str, tmp_path: Path) -> None:
    backup = Path(shutil.copytree(run, tmp_path / "backup"))
    file = lose(run, how)
    done = harvest("data", "merge", run, "--salvage", "--out", tmp_path / "saved")
    assert (done.returncode, f"{file}{WHAT[how]}" in done.stderr) == (0, True), done.stderr
    saved = read(tmp_path / "saved")
    assert [[one.key.trial for one in those] for those in (saved.finished, saved.interrupted)] == [[2], [1]]
    merge([run, backup], tmp_path / "whole", salvage=True)
    assert [one.key.trial for one in read(tmp_path / "whole").finished] == [1, 2]


def test_a_last_line_that_lacks_only_its_end_is_read(run: Path) -> None:
    file = run / "trials-000001.jsonl"
    file.write_bytes(file.read_bytes()[:-1])
    assert len(read(run).finished) == 2


def test_a_file_whose_writer_was_stopped_may_end_anywhere(run: Path) -> None:
    file = lose(run, "cut")
    chain = chain_file(file)
    chain.write_bytes(b"".join(chain.read_bytes().splitlines(keepends=True)[:-1]))
    found = read(run)
    assert (len(found.finished), len(found.interrupted)) == (1, 1)


@pytest.mark.parametrize("trap", ["pipe", "link", "depth"])
def test_a_chain_that_is_a_trap_says_nothing_about_the_end(run: Path, trap: str) -> None:
    file = lose(run, "cut")
    chain = chain_file(file)
    if trap == "depth":
        chain.write_bytes(b'{"closed":' + b"[" * 50_000)
    else:
        kept = chain.rename(run.parent / "elsewhere")
        os.mkfifo(chain) if trap == "pipe" else chain.symlink_to(kept)
    found = read(run)
    assert (len(found.finished), len(found.interrupted)) == (1, 1)


def test_a_file_known_to_a_later_process_is_missed_even_if_its_chain_was_never_closed(run: Path) -> None:
    chain = chain_file(run / "trials-000001.jsonl")
    opening, *hashes, _ = chain.read_bytes().splitlines(keepends=True)
    chain.write_bytes(b"".join([opening, *hashes]))  # as a killed process leaves it
    asyncio.run(record(run, 3))
    assert len(read(run).finished) == 3
    lose(run, "emptied")
    with pytest.raises(RunError, match="a chain shows that it had lines"):
        read(run)


@pytest.mark.parametrize("step", ["created", "chain begun", "hashes before the lines"])
def test_the_remains_of_a_writer_stopped_at_the_beginning_are_read(run: Path, step: str) -> None:
    journal = Journal.create(run / "trials-000003.jsonl")
    if step != "created":
        chain = Chain.create(journal.path)
        if step != "chain begun":  # a power cut may keep what was written later, and not what was written before
            chain.add([b"{}\n", b"{}\n"])
            chain.flush()
    for again in range(2):
        found = read(run)
        assert (len(found.finished), len(found.damage)) == (2 + again, 1), step
        asyncio.run(record(run, 3 + again))  # and what comes later changes nothing
    asyncio.run(journal.close())


def test_runs_without_chains_are_read(run: Path) -> None:
    for chain in run.glob("*.chain"):
        chain.unlink()
    assert len(read(run).finished) == 2
    lose(run, "emptied")
    assert len(read(run).finished) == 1
