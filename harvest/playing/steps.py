"""Keeps the systems of a run in step, so that what is compared was played at the same time.

Nobody waits for the slowest answer: a system may begin a trial as soon as all others have begun the one before. The
whole takes as long as the slowest system does, as it would otherwise.
"""

import asyncio
from collections import deque
from collections.abc import Mapping

from harvest.playing.plan import Sitting


class Steps:
    """Hands out sittings. queues: of each system that is asked, by name; one that has nothing left, or is not asked any
    more, keeps nobody waiting."""

    def __init__(self, queues: Mapping[str, deque[Sitting]]) -> None:
        self._queues = queues
        self._moved = asyncio.Condition()

    async def take(self, system: str) -> Sitting | None:
        """The next sitting of a system, when it is due; None where nothing is left."""
        queue = self._queues[system]
        async with self._moved:
            await self._moved.wait_for(lambda: not queue or not self._ahead(system, queue[0]))
            taken = queue.popleft() if queue else None
            self._moved.notify_all()
        return taken

    async def leave(self, system: str) -> int:
        """Ask the system nothing more; returns how many trials are left unplayed."""
        async with self._moved:
            unplayed = sum(len(sitting.works) for sitting in self._queues[system])
            self._queues[system].clear()
            self._moved.notify_all()
        return unplayed

    def _ahead(self, system: str, sitting: Sitting) -> bool:
        trial, _ = sitting.block
        return any(
            queue[0].block[0] < trial - 1 for name, queue in self._queues.items() if name != system and len(queue) > 0
        )
