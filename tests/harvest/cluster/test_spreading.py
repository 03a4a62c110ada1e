"""One audit on two workers of a real cluster: whatever is killed, every trial is finished once, at one pace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from harvest.cli import main
from harvest.studies.scores.gathered import gather_runs
from recordings.files.times import unix_seconds
from recordings.log.caps import standings
from recordings.log.header import read_header
from recordings.log.run_folder import Run, read
from recordings.log.shard import planned_trials
from tests.support.cluster import CountingApi, cluster, cluster_here, content, counting_api, sends
from tests.support.command_line import harvest
from tests.support.fault_page import Row, hold
from tests.support.metered import requests, write_audit

SPACING = 0.1
LATE = 0.02  # seconds that a thread of the server may take to look at its clock
AUDIT = """\
format: harvest-audit/1
name: spread
topics: fairweb-45
only: [M002, M007, R001, Y001]
protocol: fairweb-two-round
trials: {trials}
systems:
  - name: counting
    driver: openai
    rate: 10/s
    concurrency: 2
    options: {{base_url: "{url}", model: m, seed: trial}}
"""


@pytest.fixture
def api(tmp_path: Path) -> Iterator[CountingApi]:
    with counting_api() as found:
        yield found


def command(folder: Path, out: str, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "harvest", "run", "audit.yaml", "--out", out, *options],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def played(folder: Path, out: str, *options: str) -> str:
    """What a command that plays the whole audit says."""
    done = harvest("run", "audit.yaml", "--out", out, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr


def refused(folder: Path, out: str, *options: str, told: str) -> None:
    done = harvest("run", "audit.yaml", "--out", out, *options, cwd=folder)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def smallest_gap(run: Run) -> float:
    """Seconds between two turns that went out, whoever sent them; those that were cut off are in no reply."""
    replies = [turn.reply for one in run.conversations for turn in one.turns if turn.reply is not None]
    sent = sorted({unix_seconds(reply.asked_at) for reply in replies})
    return min(later - earlier for earlier, later in pairwise(sent))


def check(folder: Path, api: CountingApi, trials: int, *, twice: int) -> None:
    """The merged run is that of one process; twice: turns at most that were asked a second time.

    The pace is that of the workers that send: under load the server sees a request tens of milliseconds later.
    """
    asked, seen, sent = Counter(api.asked), sorted(api.times), sends(folder)
    merged = read(folder / "merged", keep_rows=True)
    keys = Counter(one.key for one in merged.conversations if one.outcome is not None)
    assert len(keys) == 4 * trials
    assert set(keys.values()) == {1}, "a trial was finished twice"
    turns = sum(len(one.turns) for one in merged.finished)
    assert turns <= asked.total() <= turns + twice
    assert max(asked.values()) <= 2
    assert smallest_gap(merged) >= SPACING
    assert min(later - earlier for earlier, later in pairwise(sent)) >= SPACING
    for number, at in enumerate(seen, 1):
        assert bisect(sent, at) >= number, "a request that no worker is known to have sent"
    played(folder, "whole")
    assert content(merged) == content(read(folder / "whole", keep_rows=True))


def holder(shard: Path) -> int:
    """The process that writes a shard."""
    with suppress(OSError, ValueError):
        return int((shard / "lock").read_text())
    return 0


def ended(shard: Path) -> int:
    """How many trials of a shard have ended."""
    return sum(file.read_text().count('"event":"trial-ended"') for file in shard.glob("trials-*.jsonl"))


class Killer:
    """Kills one process once a condition gives it. killed: its number, 0 before."""

    def __init__(self, condition: Callable[[], int]) -> None:
        self.killed = 0
        self._condition = condition
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        deadline = time.monotonic() + 120
        while not self.killed and time.monotonic() < deadline:
            process = self._condition()
            if process:
                os.kill(process, signal.SIGKILL)
                self.killed = process
            time.sleep(0.002)


def inside_a_turn(folder: Path, api: CountingApi) -> int:
    return next((process for number, process in list(api.busy.items()) if number > 4), 0)


def between_conversations(folder: Path, api: CountingApi) -> int:
    for shard in (folder / "merged.shards").glob("*-of-*"):
        process = holder(shard)
        if process and ended(shard) and process not in api.busy.values():
            return process
    return 0


def before_the_task_returns(folder: Path, api: CountingApi) -> int:
    """A worker that has finished its shard holds the pace until the next turn may be sent, and then returns."""
    for shard in (folder / "merged.shards").glob("*-of-*"):
        if (shard / "run.json").exists() and 0 < len(list(planned_trials(read_header(shard)))) == ended(shard):
            return holder(shard)
    return 0


def test_two_workers_play_what_one_process_plays_and_one_of_them_may_die_inside_a_turn(
    tmp_path: Path, api: CountingApi
) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url, trials=2))
    with cluster(tmp_path) as dask:
        killer = Killer(lambda: inside_a_turn(tmp_path, api))
        api.hook = lambda number, _: time.sleep(0.05 if killer.killed else 0.2)
        said = played(tmp_path, "merged", "--dask", dask.address)
    assert killer.killed
    assert "8 shards, 2 at a time, on 2 threads" in said
    check(tmp_path, api, 2, twice=1)


@pytest.mark.soak  # tests/harvest/cluster/test_shared_pace.py shows it of gates
@pytest.mark.parametrize("rate", ["rate: 10/s", "retries: 2"])
def test_a_429_to_one_worker_slows_all(tmp_path: Path, api: CountingApi, rate: str) -> None:
    """The other worker may have begun a turn already; without a rate, it learns of it a fifth of a second later."""
    (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url, trials=2).replace("rate: 10/s", rate))
    api.refuse = lambda number: 2 if number == 5 else None
    api.hook = lambda number, _: time.sleep(0.02)
    with cluster(tmp_path) as dask:
        said = played(tmp_path, "merged", "--dask", dask.address)
    times = sorted(api.times)
    (refused,) = api.refused
    assert not [at for at in times if refused + 0.4 < at < refused + 2], "nobody sends while it is to be left alone"
    after = [at for at in times if at >= refused + 2]
    gaps = [later - earlier for earlier, later in pairwise(after)]
    assert len(after) > 5
    slowest = 0.2 if "rate" in rate else 0.1
    assert all(gap >= slowest * 0.95**turn - LATE for turn, gap in enumerate(gaps[:4])), gaps
    run = read(tmp_path / "merged")
    assert len(run.finished) == 8
    assert not run.failures
    replies = [turn.reply for one in run.finished for turn in one.turns]
    sends = Counter(reply.sends for reply in replies if reply)
    assert sends.total() == len(replies)
    assert sends == {1: len(times) - 2, 2: 1}
    assert "429" not in said
    fault = "429, Retry-After of 2 s, to one worker of a cluster: no worker sends meanwhile, and all further apart then"
    again = {1: "yes"}[sends[2]]
    hold(Row(fault, "the answer", again, "–", "`test_a_429_to_one_worker_slows_all`"), "Replies that count")


@pytest.mark.soak
@pytest.mark.parametrize("when", [inside_a_turn, between_conversations, before_the_task_returns])
def test_a_worker_may_die_at_any_moment(
    tmp_path: Path, api: CountingApi, when: Callable[[Path, CountingApi], int]
) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url, trials=10))
    with cluster(tmp_path) as dask:
        killer = Killer(lambda: when(tmp_path, api))
        played(tmp_path, "merged", "--dask", dask.address)
    assert killer.killed
    check(tmp_path, api, 10, twice=1)


@pytest.mark.soak
def test_after_the_scheduler_died_the_same_command_plays_what_is_missing(tmp_path: Path, api: CountingApi) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url, trials=10))
    with cluster(tmp_path) as dask:
        process = command(tmp_path, "merged", "--dask", dask.address)
        while len(api.times) < 20:
            time.sleep(0.01)
        dask.scheduler.kill()
        _, said = process.communicate(timeout=120)
        assert process.returncode == 2
        assert "gone" in said
        assert "the same command" in said
    with cluster(tmp_path) as dask:
        played(tmp_path, "merged", "--dask", dask.address)
    check(tmp_path, api, 10, twice=2)


def test_an_audit_unsuited_to_a_cluster_is_reported_before_anything_is_sent(tmp_path: Path, api: CountingApi) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url, trials=1))
    (tmp_path / "there").mkdir()
    for words, told in (
        (("--dask", "tcp://127.0.0.1:9", "--shard", "1/2"), "--shard and --worker cannot be used with --dask"),
        (("--dask", "tcp://127.0.0.1:9", "--worker", "w"), "leave out both options"),
    ):
        refused(tmp_path, "new", *words, told=told)
    refused(tmp_path, "there", "--dask", "nowhere", told="a cluster needs a new one")
    refused(tmp_path, "new", "--dask", "nowhere", told="there is no Dask scheduler at nowhere")
    assert not api.times


def test_the_shards_of_a_cluster_respect_the_cap_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARVEST_REQUESTS", str(tmp_path / "requests.jsonl"))
    audit = write_audit(tmp_path, trials=16).read_text()
    Path("audit.yaml").write_text(audit.replace("concurrency: 3", "concurrency: 2"))
    options = ("--max-turns", "120", "--no-report", "--dask")
    with cluster_here() as local, pytest.raises(SystemExit) as done:
        main(["run", "audit.yaml", "--out", "merged", *options, local.scheduler_address])
    assert not done.value.code
    run = read("merged")
    # Of four shards, one at a time, each keeps to 30 turns, and a round takes 24.
    assert [(one.whole, one.planned) for one in standings(run.header, run.attempts)] == [(1, 4)] * 4
    assert len(requests(tmp_path)) == 96
    assert len({one.key for one in gather_runs(run).material.finished}) == 4 * 8
