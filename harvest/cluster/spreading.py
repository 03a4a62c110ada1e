"""Audits played by several workers, in a Dask cluster or on this machine, and the merging of their recordings.

The audit is divided into shards (`recordings.log.shard`), with one task for each. There are more shards than are
played at the same time, so that little is lost if a worker dies, and a quick worker plays more shards. Nothing is
stored in the cluster. If any part of it dies, the same command continues from the folders of the shards, or from the
store.
"""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from harvest.audits.audit import Audit
from harvest.cluster.client import connect_client, count_threads, scheduler_gone_error, wait_for_any
from harvest.cluster.shard_task import Assignment, ShardResult, audit_hash
from harvest.stores.merging import merge_stored
from harvest.stores.store import Store, open_store
from harvest.stores.stored_run import refuse_other_division, shard_counts
from recordings.files.evidence import write_safely
from recordings.merging.merge import MergeResult
from topics.counting import pluralize
from topics.errors import InputError, Place

Playing = TypeVar("Playing")

# The number of shards for each one that is played at a time.
_SHARDS_EACH = 4


class Crew(Protocol[Playing]):
    """Workers that play shards."""

    def start(self, task: Assignment) -> Playing:
        """Have a shard played."""
        ...

    def wait(self, shards: Sequence[Playing]) -> Mapping[Playing, ShardResult]:
        """Wait until at least one shard is done, and return the results of those that are. Raises InputError if a
        shard cannot be played, or if the workers are gone."""
        ...

    def abandon(self, shards: Sequence[Playing]) -> None:
        """Give up shards that were told to stop."""
        ...


class _DaskCrew:
    def __init__(self, client: Any) -> None:
        self._client, self._name = client, secrets.token_hex(4)

    def start(self, task: Assignment) -> Any:
        from harvest.cluster.shard_task import play_shard

        return self._client.submit(play_shard, task, key=f"harvest-{self._name}-{task.index}", pure=False)

    def wait(self, running: Sequence[Any]) -> Mapping[Any, ShardResult]:
        wait_for_any(self._client, running)
        done = {}
        for future in [future for future in running if future.done()]:
            if future.status == "error":
                raise InputError(f"a shard: {future.exception()}", advice="repeat the command to play what is missing")
            if future.status != "finished":
                raise scheduler_gone_error()
            done[future] = future.result()
        return done

    def abandon(self, running: Sequence[Any]) -> None:
        with suppress(Exception):  # it may be gone
            self._client.cancel(list(running))


def play_on_workers(
    audit: Audit, assignment: Assignment, address: str, out: Path, tell: Callable[[str], None]
) -> tuple[MergeResult, dict[str, str]]:
    """Play an audit on the cluster with the scheduler at `address`, and merge its shards into the new run `out`.

    `assignment` is any shard, with the store if there is one; the shards, their concurrency and their folder are chosen
    here. `tell` is called with progress messages. Returns the result of the merge, and the systems that were given up,
    with reasons. Raises InputError if the cluster cannot play the audit or is gone, and StoreFault if the store fails.
    After an error, the shards can be resumed.
    """
    _refuse_folder(out, "a cluster needs a new one", "to resume it on this machine, use harvest run without --dask")
    store = open_store(assignment.store) if assignment.store else None
    folder = _shard_folder(out) if store is None else out.with_name(f"{out.name}.shards")
    with connect_client(address) as client:
        most = count_threads(client, address)
        names = store.folders() if store else [entry.name for entry in folder.iterdir()]
        mine = _divided(audit, replace(assignment, folder=str(folder)), most, names, _SHARDS_EACH)
        if store is not None:
            refuse_other_division(store, mine.of)
        _refuse_workers(client, mine, audit, store)
        where = f"on {pluralize(most, 'thread')} of {address}"
        left = _play_shards(audit, mine, _DaskCrew(client), where, tell)
    named = [replace(mine, index=index) for index in range(1, mine.of + 1)]
    shards = [f"{store.url}/{one.name}" if store else str(one.run) for one in named]
    return merge_stored(shards, out), left


def play_in_processes(
    audit: Audit, assignment: Assignment, workers: int, out: Path, tell: Callable[[str], None]
) -> tuple[MergeResult, dict[str, str]]:
    """Play an audit in `workers` processes of this machine, and merge their shards into the new run `out`.

    Otherwise it is like `play_on_workers`, but without a store.
    """
    from harvest.cluster.processes import Processes

    _refuse_folder(out, "several workers need a new one", "to resume it, use harvest run without --workers")
    folder = _shard_folder(out)
    names = [entry.name for entry in folder.iterdir()]
    mine = _divided(audit, replace(assignment, folder=str(folder), command=os.getpid()), workers, names, 1)
    left = _play_shards(audit, mine, Processes(), "in processes of this machine", tell)
    return merge_stored([str(replace(mine, index=index).run) for index in range(1, mine.of + 1)], out), left


def _refuse_folder(out: Path, why: str, advice: str) -> None:
    if out.exists():
        raise InputError(f"this folder exists, but {why}", place=Place(str(out)), advice=advice)


def _shard_folder(out: Path) -> Path:
    folder = out.with_name(f"{out.name}.shards").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _divided(audit: Audit, assignment: Assignment, most: int, names: Sequence[str], each: int) -> Assignment:
    """Return the assignment with its division: that of an earlier command, whose shards are in `names`, or `each`
    shards for each of those that are played at a time. Raises InputError for shards of several divisions."""
    at_once = min(most, *(system.limits.concurrency for system in audit.systems))
    found = shard_counts(names)
    if len(found) > 1:
        raise InputError(
            "the shards in this folder belong to different divisions of the audit",
            place=Place(assignment.store or assignment.folder),
            advice="remove all but one, or use another folder",
        )
    return replace(assignment, of=max(found, default=0) or min(each * at_once, 1000), at_once=at_once)


def _refuse_workers(client: Any, assignment: Assignment, audit: Audit, store: Store | None) -> None:
    from harvest.cluster.shard_task import inspect_worker

    token = secrets.token_hex(16)
    path = Path(assignment.folder) / "token"
    if store is not None:
        store.put_new(f"token-{token}", token.encode())
    else:
        write_safely(path, token.encode())
    try:
        said: dict[str, str] = client.run(inspect_worker, assignment, token)
    finally:
        if store is not None:
            store.remove(f"token-{token}")
        else:
            path.unlink(missing_ok=True)
    own = f"<{audit_hash(audit.header())}>"
    for worker, found in said.items():
        if found != own:
            what = "it reads another audit: copy the audit and its files" if found.startswith("<") else found
            raise InputError(
                f"worker {worker} cannot play this audit: {what}",
                allowed="workers with the run's folder or its store, the audit's path, and its environment variables",
            )


def _play_shards(
    audit: Audit, assignment: Assignment, crew: Crew[Playing], where: str, tell: Callable[[str], None]
) -> dict[str, str]:
    """Play all shards. Returns the systems that were given up, with reasons."""
    of = assignment.of
    if not assignment.store:
        assignment.stop.unlink(missing_ok=True)
    tell(f"{pluralize(of, 'shard')}, {assignment.at_once} at a time, {where}")
    if audit.caps is not None:
        tell(f"each shard keeps to 1/{of} of the cap, so all of them together keep to it")
    waiting = [replace(assignment, index=index) for index in range(1, of + 1)]
    running: dict[Playing, Assignment] = {}
    left: dict[str, str] = {}
    done = 0
    try:
        while waiting or running:
            while waiting and len(running) < assignment.at_once:
                one = waiting.pop(0)
                running[crew.start(one)] = one
            for shard, told in crew.wait(list(running)).items():
                one = running.pop(shard)
                if told.fault:
                    raise InputError(f"shard {one.index} was not finished: {told.fault}")
                done += 1
                left |= dict(told.left)
                for sentence in told.notes:
                    tell(f"note: shard {one.index}: {sentence}")
                tell(f"shard {one.index}: {pluralize(told.played, 'trial')} played; {done} of {of} shards done")
    except BaseException as fault:
        if not assignment.store:
            assignment.stop.touch()  # shards that are being played stop after the current turn
        crew.abandon(list(running))
        if isinstance(fault, OSError):  # of a connection: nothing else is open here
            raise scheduler_gone_error() from None
        raise
    return left
