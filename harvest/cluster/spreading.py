"""Spreading an audit over the workers of a Dask cluster, and uniting what they recorded.

The audit is dealt out in shards (`recordings.shard`), a task each, more of them than are played at a time, so that a
worker that dies costs little and a quick one gets more. Nothing is kept in the cluster: whatever dies, the same command
goes on from the folders of the shards, or from the store that they are in.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from harvest.audits.audit import Audit
from harvest.cluster.assignment import Assignment, Told, audit_hash
from harvest.stores.store import Store, open_store
from harvest.stores.stored_run import local_copies
from recordings.evidence import write_safely
from recordings.merge import Merged, merge
from topics.counting import pluralize
from topics.errors import InputError, Place

__all__ = ["spread"]

_EACH = 4
"""Shards for each that is played at a time."""

_SECONDS = 10
"""How long a scheduler may take to answer at first."""

_GONE = 15
"""Seconds without a scheduler after which it is taken to be gone; one that was only out of reach comes back."""

_FOLDER = re.compile(r"(\d+)-of-(\d+)")


def spread(
    audit: Audit, assignment: Assignment, address: str, out: Path, tell: Callable[[str], None]
) -> tuple[Merged, dict[str, str]]:
    """Play an audit on the cluster whose scheduler is at `address`, and merge its shards into the new run `out`.

    assignment: of any shard, with the store, if there is one; which shards there are, how many at a time, and in which
    folder, is decided here. tell: is told what happens, in sentences. Returns what the merge did, and the systems that
    were left alone, with the reasons. Raises InputError where the cluster cannot play the audit or is gone, StoreFault
    where the store fails; the shards then resume.
    """
    if out.exists():
        raise InputError(
            "this exists already, and a cluster plays into a new run",
            place=Place(str(out)),
            advice="harvest run without --dask goes on with it on this machine",
        )
    distributed = _library()
    store = open_store(assignment.store) if assignment.store else None
    folder = out.with_name(f"{out.name}.shards")
    if store is None:
        folder = folder.absolute()
        folder.mkdir(parents=True, exist_ok=True)
    try:
        client = distributed.Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as fault:
        raise InputError(f"there is no scheduler of Dask at {address}: {fault}", advice="check the address") from None
    with client:
        threads = sum(one["nthreads"] for one in client.scheduler_info(n_workers=-1)["workers"].values())
        if not threads:
            raise InputError(f"the scheduler at {address} has no workers", advice="start one: dask worker ADDRESS")
        at_once = min(threads, *(system.limits.concurrency for system in audit.systems))
        names = store.folders() if store else [entry.name for entry in folder.iterdir()]
        of = _shards(names, assignment.store or str(folder)) or min(_EACH * at_once, 1000)
        mine = replace(assignment, folder=str(folder), of=of, at_once=at_once)
        _refuse_workers(client, mine, audit, store)
        if store is None:
            mine.stop.unlink(missing_ok=True)
        tell(f"{pluralize(of, 'shard')}, {at_once} at a time, on {pluralize(threads, 'thread')} of {address}")
        tasks = [replace(mine, index=index) for index in range(1, of + 1)]
        left = _finished(client, tasks, tell)
    shards = [f"{store.url}/{one.name}" if store else str(one.run) for one in tasks]
    with local_copies(shards, out) as folders:
        return merge(folders, out), left


def _library() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError(
            "a cluster needs Dask, which is not installed", advice="pip install 'conversation-harvest[cluster]'"
        ) from None
    return distributed


def _shards(names: Iterable[str], where: str) -> int:
    """How many shards an earlier command dealt the audit out in; 0 where none was begun."""
    found = {int(match[2]) for name in names if (match := _FOLDER.fullmatch(name))}
    if len(found) > 1:
        raise InputError("here are shards of several deals", place=Place(where), advice="remove them, or take another")
    return max(found, default=0)


def _refuse_workers(client: Any, assignment: Assignment, audit: Audit, store: Store | None) -> None:
    """Raise InputError unless every worker sees the folder or the store, and would play the same audit."""
    from harvest.cluster.shard_task import look

    token = secrets.token_hex(16)
    path = Path(assignment.folder) / "token"
    if store is not None:
        store.put_new(f"token-{token}", token.encode())
    else:
        write_safely(path, token.encode())
    try:
        said: dict[str, str] = client.run(look, assignment, token)
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


def _finished(client: Any, tasks: Sequence[Assignment], tell: Callable[[str], None]) -> dict[str, str]:
    """Have every task played, at most so many at a time; the systems that were left alone."""
    from harvest.cluster.shard_task import play_shard

    waiting = list(tasks)
    running: dict[Any, Assignment] = {}
    left: dict[str, str] = {}
    name = secrets.token_hex(4)
    done = 0
    try:
        while waiting or running:
            while waiting and len(running) < tasks[0].at_once:
                one = waiting.pop(0)
                running[client.submit(play_shard, one, key=f"harvest-{name}-{one.index}", pure=False)] = one
            _wait(client, list(running))
            for future in [future for future in running if future.done()]:
                one = running.pop(future)
                told = _told(future, one)
                done += 1
                left |= dict(told.left)
                tell(f"shard {one.index}: {pluralize(told.played, 'trial')} played; {done} of {len(tasks)} shards done")
    except BaseException as fault:
        if not tasks[0].store:
            tasks[0].stop.touch()  # shards that are being played end after what is recorded
        with suppress(Exception):  # it may be gone
            client.cancel(list(running))
        if isinstance(fault, OSError):  # of a connection: nothing else is open here
            raise _gone() from None
        raise
    return left


def _wait(client: Any, running: Sequence[Any]) -> None:
    """Until one is done. Raises InputError where the scheduler is gone for good."""
    arrived = threading.Event()
    for future in running:
        future.add_done_callback(lambda _: arrived.set())
    silent = 0
    while silent < _GONE and not arrived.wait(1.0):
        silent = 0 if client.status == "running" else silent + 1
    if silent == _GONE:
        raise _gone()


def _gone() -> InputError:
    return InputError(
        "the scheduler is gone; every finished turn is saved",
        advice="start it and its workers again, and give the same command: it plays what is missing",
    )


def _told(future: Any, one: Assignment) -> Told:
    if future.status == "finished":
        told: Told = future.result()
        if not told.fault:
            return told
        raise InputError(f"shard {one.index} was not played to its end: {told.fault}")
    if future.status == "error":
        raise InputError(f"shard {one.index}: {future.exception()}", advice="the same command plays what is missing")
    raise _gone()
