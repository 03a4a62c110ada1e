"""Playing of an audit into a local folder, with a copy of the run in a store.

A turn is written to the folder before the next turn is sent. After every attempt, a thread sends new events to the
store while turns continue. A trial that is in the store is finished for all workers.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from harvest.audits.audit import Audit
from harvest.playing.plan import Plan, Work
from harvest.playing.play import SilentWatcher, Tracing, Watching, play_audit, untraced
from harvest.playing.runner import Watcher
from harvest.stores.stint import Sender, take_over
from harvest.stores.stored_run import Stint, StoredRun, refuse_other_audit
from harvest.systems.limits import Gates, local_gate
from recordings.conversations.conversation import Outcome
from recordings.log.continuation import refuse_differences
from recordings.log.header import Header
from recordings.log.store import check_worker


class _Waking:
    def __init__(self, watcher: Watcher, wake: Callable[[], None]) -> None:
        self._watcher, self._wake = watcher, wake

    def turn_asked(self, work: Work) -> None:
        self._watcher.turn_asked(work)

    def attempt_ended(self, work: Work, outcome: Outcome, labels: tuple[str, ...], *, again: bool) -> None:
        self._watcher.attempt_ended(work, outcome, labels, again=again)
        self._wake()

    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        self._watcher.system_left(system, reason, unplayed)

    def pace_lowered(self, system: str, why: str) -> None:
        self._watcher.pace_lowered(system, why)


async def play_stored(
    audit: Audit,
    folder: Path,
    stored: StoredRun,
    *,
    worker: str = "",
    watching: Watching = lambda plan, damage: nullcontext(SilentWatcher()),
    gates: Gates = local_gate,
    tracing: Tracing = untraced,
) -> Path | None:
    """Play the rest of a run in a store, as `play_audit` does. Only this worker may use `folder`. Raises the errors
    of `play_audit`, StoreFault if the store fails, and TakenOver if another worker takes over the run, alone or in an
    exception group (see `first_error`). After any of these errors, the complete recording is in `folder`."""
    check_worker(worker)  # before the run is taken up, which would shut out its current worker
    header = audit.header()

    def refuse(recorded: Header) -> None:
        refuse_differences(recorded, header, stored.url)

    await asyncio.to_thread(refuse_other_audit, stored, header)
    taken = await asyncio.to_thread(take_over, stored, folder, refuse)
    sender = Sender(stored, folder, Stint(taken.number))
    more, ended = asyncio.Event(), False
    notes = (f"trials that others had played again were moved to {taken.aside}",) if taken.aside else ()

    @contextmanager
    def waking(plan: Plan, damage: tuple[str, ...]) -> Iterator[Watcher]:
        more.set()  # before the end of the first turn, so that a worker that was shut out learns it at once
        with watching(plan, (*notes, *damage)) as watcher:
            yield _Waking(watcher, more.set)

    async def send() -> None:
        last = False
        while not last:
            await more.wait()
            more.clear()
            last = ended
            await asyncio.to_thread(sender.send, last=last)

    async with asyncio.TaskGroup() as group:
        group.create_task(send())
        played = await play_audit(
            audit, folder, worker=taken.worker(worker), watching=waking, gates=gates, tracing=tracing
        )
        ended = True
        more.set()
    return played
