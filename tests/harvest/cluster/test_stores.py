"""Two workers of a real cluster that share an object store and no folder: whatever is killed, every trial is finished
once, and none that is in the store is asked again."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.cluster.shard_task import Assignment
from harvest.cluster.spreading import play_on_workers
from harvest.playing.play import play_audit
from harvest.stores.store import StoreFault, open_store
from harvest.stores.stored_run import StoredRun
from recordings.conversations.conversation import Conversation
from recordings.files.errors import RunError
from recordings.log.run_folder import read
from recordings.log.shard import planned_trials
from tests.harvest.cluster.test_spreading import AUDIT, Killer, check, command, holder, played
from tests.support.cluster import CountingApi, cluster, cluster_here, content, counting_api
from tests.support.object_store import CANARY, s3_server
from topics.errors import InputError

When = Callable[[Path, CountingApi, str], int]


@pytest.fixture
def api() -> Iterator[CountingApi]:
    with counting_api() as found:
        yield found


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with s3_server("audits") as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield "s3://audits/weekly"


def two_places(folder: Path) -> tuple[Path, Path]:
    places = (folder / "east", folder / "west")
    for place in places:
        place.mkdir()
    return places


def own_shards(folder: Path) -> list[Path]:
    return [shard for place in ("east", "west") for shard in (folder / place / "merged.shards").glob("*-of-*")]


def stored_ends(store: str, shard: str) -> int:
    """How many trials of a shard have ended in the store."""
    run = StoredRun(open_store(store), shard)
    with suppress(StoreFault, RunError):  # a piece came while the others were read
        return sum(data.count(b'"event":"trial-ended"') for data in run.files(run.stints()).values())
    return 0


def inside_a_turn(folder: Path, api: CountingApi, store: str) -> int:
    return next((process for number, process in list(api.busy.items()) if number > 4), 0)


def between_conversations(folder: Path, api: CountingApi, store: str) -> int:
    for shard in own_shards(folder):
        process = holder(shard)
        if process and stored_ends(store, shard.name) and process not in api.busy.values():
            return process
    return 0


def before_the_task_returns(folder: Path, api: CountingApi, store: str) -> int:
    for shard in own_shards(folder):
        with suppress(OSError):
            header = StoredRun(open_store(store), shard.name).recorded_header()
            process = holder(shard)
            if process and header and 0 < len(list(planned_trials(header))) == stored_ends(store, shard.name):
                os.kill(process, signal.SIGSTOP)  # or it might have begun another shard before it is killed
                if not any(
                    holder(other) == process and is_locked(other) for other in own_shards(folder) if other != shard
                ):
                    return process
                os.kill(process, signal.SIGCONT)
    return 0


def is_locked(shard: Path) -> bool:
    with (shard / "lock").open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_cluster_plays_through_a_store(tmp_path: Path) -> None:
    """Its scheduler and its worker are threads of this process."""
    store = f"file://{tmp_path}/store"
    audit = load_audit("demo", trials=2, only=("M002", "R001"))
    told: list[str] = []
    with cluster_here() as local:
        asked = Assignment("demo", 2, None, ("M002", "R001"), store=store)
        merged, left = play_on_workers(audit, asked, local.scheduler_address, tmp_path / "merged", told.append)
        (tmp_path / "merged").rename(tmp_path / "first")
        play_on_workers(audit, asked, local.scheduler_address, tmp_path / "merged", told.append)
        of_a_shard = replace(asked, store=f"{store}/1-of-{len(list((tmp_path / 'store').iterdir()))}")
        with pytest.raises(InputError, match="this is the address of one run in a store"):
            play_on_workers(audit, of_a_shard, local.scheduler_address, tmp_path / "again", told.append)
        StoredRun(open_store(store), "1-of-3").claim()
        with pytest.raises(InputError, match="the shards in this folder belong to different divisions of the audit"):
            play_on_workers(audit, asked, local.scheduler_address, tmp_path / "again", told.append)
    assert (merged.missing, left) == ((), {})
    asyncio.run(play_audit(audit, tmp_path / "alone"))
    assert content(read(tmp_path / "merged", keep_rows=True)) == content(read(tmp_path / "alone", keep_rows=True))
    shards = [told for told in told if told.startswith("shard ")]
    assert sum(" 0 trials played" in said for said in shards) >= len(shards) / 2, "the second command played nothing"
    assert not list((tmp_path / "store").glob("token-*"))


@pytest.mark.soak
def test_two_workers_that_share_no_folder_play_what_one_process_plays_and_one_may_die(
    tmp_path: Path, api: CountingApi
) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url, trials=2))
    store = f"file://{tmp_path}/store"
    with cluster(tmp_path, apart=two_places(tmp_path)) as dask:
        killer = Killer(lambda: inside_a_turn(tmp_path, api, store))
        api.hook = lambda number, _: time.sleep(0.05 if killer.killed else 0.2)
        said = played(tmp_path, "merged", "--dask", dask.address, "--store", store)
    assert killer.killed
    assert "8 shards, 2 at a time, on 2 threads" in said
    assert len(list(tmp_path.glob("*/merged.shards"))) == 2
    check(tmp_path, api, 2, twice=2)  # the turn it died in, and one before it of the same conversation
    done = played(tmp_path, "one", "--shard", "1/8", "--store", store)
    assert "nothing to play" in done
    assert f"harvest data merge {store}" in done


@pytest.mark.soak
@pytest.mark.parametrize(
    ("when", "twice"), [(inside_a_turn, 2), (between_conversations, 2), (before_the_task_returns, 0)]
)
def test_a_worker_may_die_at_any_moment(tmp_path: Path, api: CountingApi, s3: str, when: When, twice: int) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url, trials=10))
    with cluster(tmp_path, apart=two_places(tmp_path)) as dask:
        killer = Killer(lambda: when(tmp_path, api, s3))
        said = played(tmp_path, "merged", "--dask", dask.address, "--store", s3)
    assert killer.killed
    before = Counter(api.asked)
    check(tmp_path, api, 10, twice=twice)
    stored = open_store(s3)
    ended = Counter(
        one.key
        for shard in stored.folders()
        for one in _fetched(StoredRun(stored, shard), tmp_path / "fetched" / shard)
    )
    assert len(ended) == 40
    assert set(ended.values()) == {1}
    assert before.total() >= 40
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]
    assert CANARY not in said


def _fetched(run: StoredRun, folder: Path) -> list[Conversation]:
    folder.parent.mkdir(exist_ok=True)
    run.fetch(folder)
    return [one for one in read(folder).conversations if one.outcome is not None]


@pytest.mark.soak
def test_after_the_command_or_the_scheduler_died_the_same_command_plays_what_is_missing(
    tmp_path: Path, api: CountingApi, s3: str
) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT.format(url=api.url, trials=10))
    apart = two_places(tmp_path)
    with cluster(tmp_path, apart=apart) as dask:
        process = command(tmp_path, "merged", "--dask", dask.address, "--store", s3)
        while len(api.times) < 10:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        time.sleep(3)  # the workers see that nobody wants what they do
        asked = len(api.times)
        time.sleep(2)
        assert len(api.times) == asked
        process = command(tmp_path, "merged", "--dask", dask.address, "--store", s3)
        while len(api.times) < asked + 10:
            time.sleep(0.01)
        dask.scheduler.kill()
        _, said = process.communicate(timeout=120)
        assert process.returncode == 2
        assert "the same command" in said
    with cluster(tmp_path, apart=apart) as dask:
        played(tmp_path, "merged", "--dask", dask.address, "--store", s3)
    check(tmp_path, api, 10, twice=8)
