"""Work in a separate event loop, whether or not another loop is running, as in scripts, notebooks and servers; and work
whose duration grows with a reply, done outside the loop so that other replies are not delayed."""

import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

# Characters or bytes from which work is done in a thread; shorter ones take a few milliseconds.
LONG = 2**17
_LOOK_FOR_SIGNALS = 0.2  # seconds

_Result = TypeVar("_Result")


async def run_long_work(size: int, work: Callable[[], _Result]) -> _Result:
    """Return the result of `work`, which runs in a thread if the input's `size` is at least `LONG`."""
    if size < LONG:
        return work()
    import asyncio  # late: reading a run needs no event loop

    return await asyncio.to_thread(work)


def run_to_end(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run `work` in an event loop of its own, and return its result.

    If this thread runs an event loop already, as in a notebook, `work` is run by another thread while this thread, and
    its loop, wait. KeyboardInterrupt cancels `work`, and is raised when `work` has closed its resources.
    """
    import asyncio  # late: reading a run needs no event loop

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)

    from concurrent.futures import Future, ThreadPoolExecutor, wait
    from contextvars import copy_context

    cancel: Future[Any] = Future()

    async def cancellable() -> _Result:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        cancel.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        return await work

    with ThreadPoolExecutor(1, "harvest") as thread, _interruptible() as interrupted:
        running = thread.submit(copy_context().run, asyncio.run, cancellable())
        # A signal that the system hands to another thread does not end a wait of this one, which must look for it.
        while not running.done():
            wait([running], timeout=_LOOK_FOR_SIGNALS)
            if interrupted.is_set():
                with suppress(RuntimeError):  # the loop is closed, because the work has just ended
                    cancel.result()()
                wait([running])
                raise KeyboardInterrupt
        return running.result()


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Note SIGINT, of which a second one raises KeyboardInterrupt: `asyncio.run` would have it cancel the task that
    waits here, which would only be noticed after the wait."""
    interrupted = threading.Event()

    def note(number: int, frame: object) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
