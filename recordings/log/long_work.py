"""Work that grows with a reply is done beside the event loop: one system's megabytes must not delay the others."""

from collections.abc import Callable
from typing import TypeVar

# Characters or bytes from which work is done in a thread; shorter ones take a few milliseconds.
LONG = 2**17

_Result = TypeVar("_Result")


async def aside(size: int, work: Callable[[], _Result]) -> _Result:
    """Return the result of `work`, or raise its error. size: of its input; from `LONG` on it runs in a thread."""
    if size < LONG:
        return work()
    import asyncio  # late: reading a run needs no event loop

    return await asyncio.to_thread(work)
