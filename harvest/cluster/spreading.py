"""Audits played by the workers of a Dask cluster, and the merging of their recordings.

The audit is divided into shards (`recordings.log.shard`), with one task for each. There are more shards than are
played at the same time, so that little is lost if a worker dies, and a quick worker plays more shards. Nothing is
stored in the cluster. If any part of it dies, the same command continues from the folders of the shards, or from the
store.
"""

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

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

# The number of shards for each one that is played at a time.
_SHARDS_EACH = 4


def play_on_workers(
    audit: Audit, assignment: Assignment, address: str, out: Path, tell: Callable[[str], None]
) -> tuple[MergeResult, dict[str, str]]:
    """Play an audit on the cluster with the scheduler at `address`, and merge its shards into the new run `out`.

    `assignment` is any shard, with the store if there is one; the shards, their concurrency and their folder are
    chosen here. `tell` is called with progress messages. Returns the result of the merge, and the systems that were
    given up, with reasons. Raises InputError if the cluster cannot play the audit or is gone, and StoreFault if the
    store fails. After an error, the shards can be resumed.
    """
    if out.exists():
        raise InputError(
            "this folder exists, but a cluster needs a new one",
            place=Place(str(out)),
            advice="to resume it on this machine, use harvest run without --dask",
        )
    store = open_store(assignment.store) if assignment.store else None
    folder = out.with_name(f"{out.name}.shards")
    if store is None:
        folder = folder.absolute()
        folder.mkdir(parents=True, exist_ok=True)
    with connect_client(address) as client:
        most = count_threads(client, address)
        at_once = min(most, *(system.limits.concurrency for system in audit.systems))
        names = store.folders() if store else [entry.name for entry in folder.iterdir()]
        # The number of shards of an earlier command; 0 if there was none.
        where = assignment.store or str(folder)
        found = shard_counts(names)
        if len(found) > 1:
            raise InputError(
                "the shards in this folder belong to different divisions of the audit",
                place=Place(where),
                advice="remove all but one, or use another folder",
            )
        of = max(found, default=0) or min(_SHARDS_EACH * at_once, 1000)
        if store is not None:
            refuse_other_division(store, of)
        mine = replace(assignment, folder=str(folder), of=of, at_once=at_once)
        _refuse_workers(client, mine, audit, store)
        if store is None:
            mine.stop.unlink(missing_ok=True)
        tell(f"{pluralize(of, 'shard')}, {at_once} at a time, on {pluralize(most, 'thread')} of {address}")
        if audit.caps is not None:
            tell(f"each shard keeps to 1/{of} of the cap, so all of them together keep to it")
        tasks = [replace(mine, index=index) for index in range(1, of + 1)]
        left = _finish_tasks(client, tasks, tell)
    shards = [f"{store.url}/{one.name}" if store else str(one.run) for one in tasks]
    return merge_stored(shards, out), left


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


def _finish_tasks(client: Any, tasks: Sequence[Assignment], tell: Callable[[str], None]) -> dict[str, str]:
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
            wait_for_any(client, list(running))
            for future in [future for future in running if future.done()]:
                one = running.pop(future)
                if future.status == "error":
                    advice = "repeat the command to play what is missing"
                    raise InputError(f"shard {one.index}: {future.exception()}", advice=advice)
                if future.status != "finished":
                    raise scheduler_gone_error()
                told: ShardResult = future.result()
                if told.fault:
                    raise InputError(f"shard {one.index} was not finished: {told.fault}")
                done += 1
                left |= dict(told.left)
                tell(f"shard {one.index}: {pluralize(told.played, 'trial')} played; {done} of {len(tasks)} shards done")
    except BaseException as fault:
        if not tasks[0].store:
            tasks[0].stop.touch()  # shards that are being played stop after the current turn
        with suppress(Exception):  # it may be gone
            client.cancel(list(running))
        if isinstance(fault, OSError):  # of a connection: nothing else is open here
            raise scheduler_gone_error() from None
        raise
    return left
