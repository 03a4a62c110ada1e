"""The work of a cluster worker: playing one shard of an audit in its folder, from the point at which it stopped.

A cluster runs a task again if its worker dies, even if the work was done and only the result was lost. So a task
starts by reading the recordings, and holds the folder's lock while it plays. If a worker is only unreachable, it
continues undisturbed. The task that was started in its place waits for the lock and then has nothing left to play.

If workers share a store but no folder, a task cannot wait for an unreachable worker. Instead, the unreachable worker
is shut out (`harvest.stores.stored_run`), and stops by itself when the cluster no longer wants its task.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harvest.audits.audit import Audit, load_audit
from harvest.cluster.shared_folder import folder_state
from harvest.cluster.shared_pace import Board, Semaphore, SharedGates
from harvest.playing.live_spans import require_opentelemetry, tracing_to
from harvest.playing.plan import Plan
from harvest.playing.play import SilentWatcher, first_error, play_audit, untraced
from harvest.playing.runner import Watcher
from harvest.playing.stored_play import play_stored
from harvest.stores.store import open_store
from harvest.stores.stored_run import StoredRun
from harvest.systems.timing import REAL_CLOCK, Clock
from recordings.conversations.conversation import Outcome
from recordings.files.lock import RunLocked
from recordings.log.header import Header
from recordings.log.shard import Shard
from topics.errors import HarvestError
from topics.identity import content_hash


@dataclass(frozen=True, slots=True)
class Assignment:
    """A shard of an audit.

    `audit` is the audit file, as a path that exists for all workers. `trials`, `seed` and `only` are arguments of the
    command, or None for the values of the audit. `index` is the number of the shard, and `of` the number of shards.
    `folder` is the folder of all shards, which all workers share; if there is a store, each worker has its own folder,
    relative to its working directory. `store` is the address of the store, or "". `at_once` is the number of shards
    played at the same time. `command` is the process of a command whose workers are processes of this machine, or 0.
    `caps` replaces caps of the audit; each shard has a part of them. `keys_in_clear` allows keys to be sent to other
    machines over http. `spans` is whether each worker sends its spans while it plays, as its own environment says.
    """

    audit: str
    trials: int | None = None
    seed: int | None = None
    only: tuple[str, ...] | None = None
    index: int = 1
    of: int = 1
    folder: str = ""
    store: str = ""
    at_once: int = 1
    command: int = 0
    caps: Mapping[str, float] = field(default_factory=dict)
    keys_in_clear: bool = False
    spans: bool = False

    @property
    def name(self) -> str:
        """The name of the shard in the folder and in the store."""
        return f"{self.index}-of-{self.of}"

    @property
    def run(self) -> Path:
        """The run folder of the shard."""
        return Path(self.folder) / self.name

    @property
    def stop(self) -> Path:
        """The file that stops all shards if it exists."""
        return Path(self.folder) / "stop"

    def load(self) -> Audit:
        """Load the audit with this worker's share of the sessions. Workers take turns, so the rate limit is not
        divided. Raises InputError."""
        audit = load_audit(
            self.audit,
            trials=self.trials,
            seed=self.seed,
            only=self.only,
            caps=self.caps,
            keys_in_clear=self.keys_in_clear,
        )
        systems = tuple(
            replace(
                system, limits=replace(system.limits, concurrency=max(1, system.limits.concurrency // self.at_once))
            )
            for system in audit.systems
        )
        return replace(audit, systems=systems, shard=Shard(self.index, self.of))


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The result of an assignment. `played` is the number of trials played now. `left` has the systems that were
    given up, with reasons. `fault` is the reason why the shard was not finished, or "" for a finished shard. `notes`
    are sentences for people."""

    played: int = 0
    left: tuple[tuple[str, str], ...] = ()
    fault: str = ""
    notes: tuple[str, ...] = ()


def audit_hash(header: Header) -> str:
    """Return a hash that is equal on two machines if they would play the same audit."""
    hashes = {key: header.hashes[key] for key in sorted(header.hashes)}
    return content_hash("audit", {"seed": header.seed, "hashes": hashes})


_LOOK_EVERY = 0.5  # seconds between looks at whether to stop
_STARTED_IN = Path.cwd()  # a system in this process may move it later
_LONGEST_LOCK = 3600.0  # seconds for which another process may go on with the shard


def inspect_worker(assignment: Assignment, token: str) -> str:
    """Return "<hash of the audit>" if this worker can play the audit, or else a sentence with the reason. `token` is
    the content of the file `token` in the shared folder, or of the object in the store whose name contains the token.
    """
    try:
        if assignment.store and open_store(assignment.store, reading=True).get(f"token-{token}") != token.encode():
            return f"it does not see the store {assignment.store}"
        seen = ""
        with suppress(OSError):
            seen = "" if assignment.store else (assignment.run.parent / "token").read_text(encoding="utf-8")
        if not assignment.store and seen != token:
            return f"it does not see the folder {assignment.folder}"
        if assignment.spans:
            require_opentelemetry()
        return f"<{audit_hash(assignment.load().header())}>"
    except HarvestError as fault:
        return str(fault)


def play_shard(assignment: Assignment) -> ShardResult:
    """Play the rest of a shard, and report how much was played and why playing stopped."""
    notes, fault = _Notes(), ""
    try:
        asyncio.run(_play_shard(assignment, notes))
    except* HarvestError as group:
        fault = str(first_error(group))
    fault = fault or ("stopped" if notes.stopped else "")
    return ShardResult(notes.played, tuple(notes.left.items()), fault, tuple(notes.sentences))


class _Notes(SilentWatcher):
    def __init__(self) -> None:
        self.played, self.stopped = 0, False
        self.left: dict[str, str] = {}
        self.sentences: list[str] = []

    def attempt_ended(self, work: object, outcome: Outcome, labels: tuple[str, ...], *, again: bool) -> None:
        self.played += outcome.valid

    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        self.left[system] = reason


class _SchedulerSemaphore:
    """A Dask semaphore with one lease. It is never `abandoned`: the scheduler waits until a dead worker's lease
    expires."""

    abandoned = False

    def __init__(self, name: str) -> None:
        import distributed  # late: of the extra `cluster`

        self._semaphore = distributed.Semaphore(max_leases=1, name=name)

    def acquire(self, timeout: float | None = None) -> bool:
        return bool(self._semaphore.acquire(timeout))

    def release(self) -> bool:
        return bool(self._semaphore.release())


class _SchedulerBoard:
    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name

    def read(self) -> Mapping[str, Any]:
        found: dict[str, Any] = self._client.get_metadata([self._name], default={})
        return found

    def write(self, key: str, value: Any) -> None:
        self._client.set_metadata([self._name, key], value)


def _stop_check(assignment: Assignment) -> Callable[[], bool]:
    """Return a function that returns True if playing should stop. Without a shared folder, playing should stop when
    the cluster no longer wants the task, or when the worker has lost its cluster."""
    if assignment.command:
        return lambda: assignment.stop.exists() or os.getppid() != assignment.command
    if not assignment.store:
        return assignment.stop.exists
    import distributed

    worker = distributed.get_worker()
    key = worker.get_current_task()

    def unwanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled" or worker.status.name not in ("running", "paused")

    return unwanted


async def _play_shard(assignment: Assignment, notes: _Notes, clock: Clock = REAL_CLOCK) -> None:
    audit = assignment.load()
    named = {  # the same for all audits of one system on a cluster
        system.asked: f"harvest {system.asked} {content_hash('pace', system.definition())[:12]}"
        for system in audit.systems
    }

    def shared_state(name: str) -> tuple[Semaphore, Board]:
        if assignment.command:
            return folder_state(Path(assignment.folder) / "pace", content_hash("system", name)[:12])
        import distributed

        return _SchedulerSemaphore(name), _SchedulerBoard(distributed.get_client(), name)

    gates = SharedGates(shared_state, named)
    worker, stopped = f"shard{assignment.index}", _stop_check(assignment)
    tracing = tracing_to(notes.sentences.append) if assignment.spans else untraced
    ways: dict[str, Any] = {"worker": worker, "gates": gates, "tracing": tracing}

    @contextmanager
    def watching(plan: Plan, damage: tuple[str, ...]) -> Iterator[Watcher]:
        yield notes

    async def play() -> None:
        try:
            deadline = clock.monotonic() + _LONGEST_LOCK
            while True:
                try:
                    if assignment.store:
                        stored = StoredRun(open_store(assignment.store), assignment.name)
                        own = _STARTED_IN / assignment.run
                        await play_stored(audit, own, stored, watching=watching, **ways)
                    else:
                        await play_audit(audit, assignment.run, watching=watching, **ways)
                    return
                except RunLocked:
                    if clock.monotonic() > deadline:
                        raise
                    await clock.sleep(_LOOK_EVERY)
        finally:
            await gates.close()

    playing = asyncio.create_task(play())
    while not playing.done():
        await asyncio.wait([playing], timeout=_LOOK_EVERY)
        if stopped() and not playing.done():
            notes.stopped = True
            playing.cancel()
            with suppress(asyncio.CancelledError):
                await playing
            return
    await playing
