"""Work whose duration grows with a reply, done outside the event loop so that other replies are not delayed."""

from collections.abc import Callable
from typing import TypeVar

# Characters or bytes from which work is done in a thread; shorter ones take a few milliseconds.
LONG = 2**17

_Result = TypeVar("_Result")


async def run_long_work(size: int, work: Callable[[], _Result]) -> _Result:
    """Return the result of `work`, which runs in a thread if the input's `size` is at least `LONG`."""
    if size < LONG:
        return work()
    import asyncio  # late: reading a run needs no event loop

    return await asyncio.to_thread(work)
