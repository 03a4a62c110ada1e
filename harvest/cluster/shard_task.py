"""What a worker of a cluster does: play one shard of an audit into its folder, from where it stopped.

A cluster runs a task again if its worker dies, even if the work was done and only the answer was lost. So a task begins
by reading what is recorded, and holds the folder's lock while it plays: a worker that is only out of reach goes on
undisturbed, and the task that was to replace it waits for it and then has nothing left to play.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from harvest.audits.audit import System
from harvest.cluster.assignment import Assignment, Told, audit_hash
from harvest.cluster.shared_pace import Board, Semaphore, SharedGates
from harvest.playing.plan import Plan
from harvest.playing.play import Silent, first_of, play_audit
from harvest.playing.runner import Watcher
from harvest.systems.timing import REAL_CLOCK, Clock
from recordings.conversation import Outcome
from recordings.lock import Locked
from topics.errors import HarvestError
from topics.identity import content_hash

__all__ = ["look", "play_shard"]

_LOOK_EVERY = 0.5  # seconds between looks at whether to stop
_LONGEST_LOCK = 3600.0  # seconds for which another process may go on with the shard


def look(assignment: Assignment, token: str) -> str:
    """What this worker cannot do for the audit, as a sentence; "<hash of the audit>" where it can play it. token: what
    stands in the file `token` of the shared folder."""
    try:
        found = (assignment.run.parent / "token").read_text(encoding="utf-8")
    except OSError:
        found = ""
    if found != token:
        return f"it does not see the folder {assignment.folder}"
    try:
        return f"<{audit_hash(assignment.load().header())}>"
    except HarvestError as fault:
        return str(fault)


def play_shard(assignment: Assignment) -> Told:
    """Play what is still to be played of a shard."""
    notes, fault = _Notes(), ""
    try:
        asyncio.run(_played(assignment, notes))
    except* HarvestError as group:
        fault = str(first_of(group))
    return Told(notes.played, tuple(notes.left.items()), fault or ("stopped" if notes.stopped else ""))


class _Notes(Silent):
    def __init__(self) -> None:
        self.played, self.stopped = 0, False
        self.left: dict[str, str] = {}

    def attempt_ended(self, work: object, outcome: Outcome, labels: tuple[str, ...], *, again: bool) -> None:
        self.played += outcome.valid

    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        self.left[system] = reason


def _semaphore(system: System) -> str:
    """The same for all audits of one system on a cluster."""
    definition = content_hash("pace", system.definition())
    return f"harvest {system.asked} {definition[:12]}"


class _SchedulerBoard:
    """A board in the memory of the scheduler."""

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name

    def read(self) -> Mapping[str, Any]:
        found: dict[str, Any] = self._client.get_metadata([self._name], default={})
        return found

    def write(self, key: str, value: Any) -> None:
        self._client.set_metadata([self._name, key], value)


def _shared(name: str) -> tuple[Semaphore, Board]:
    """The semaphore and the board of a name, in a task."""
    import distributed  # late: of the extra `cluster`

    return distributed.Semaphore(max_leases=1, name=name), _SchedulerBoard(distributed.get_client(), name)


async def _played(assignment: Assignment, notes: _Notes, clock: Clock = REAL_CLOCK) -> None:
    audit = assignment.load()
    named = {system.asked: _semaphore(system) for system in audit.systems}
    gates = SharedGates(_shared, named)

    @contextmanager
    def watching(plan: Plan, damage: tuple[str, ...]) -> Iterator[Watcher]:
        yield notes

    async def play() -> None:
        try:
            deadline = clock.monotonic() + _LONGEST_LOCK
            while True:
                try:
                    await play_audit(
                        audit, assignment.run, worker=f"shard{assignment.index}", watching=watching, gates=gates
                    )
                    return
                except Locked:
                    if clock.monotonic() > deadline:
                        raise
                    await clock.sleep(_LOOK_EVERY)
        finally:
            await gates.close()

    playing = asyncio.create_task(play())
    while not playing.done():
        await asyncio.wait([playing], timeout=_LOOK_EVERY)
        if assignment.stop.exists() and not playing.done():
            notes.stopped = True
            playing.cancel()
            with suppress(asyncio.CancelledError):
                await playing
            return
    await playing
