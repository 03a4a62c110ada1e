"""Calls of third-party Python functions in separate threads, so that they can neither block nor end Harvest.

Each plain call has its own thread. All `async` calls of a system share one event loop in another thread, because the
clients and connections that a bot keeps between turns belong to the loop that created them. If a function blocks the
loop beyond its time limit, the loop is abandoned and later calls get a new loop. Any exception of a function, even
KeyboardInterrupt, is returned as a value.
"""

import asyncio
import contextlib
import inspect
import sys
import threading
from collections.abc import Callable
from typing import Any, TextIO, cast

from harvest.systems.timing import REAL_CLOCK, Clock

Function = Callable[..., Any]
_RECOVERY_SECONDS = 0.2  # seconds for a loop to show that it still runs after a call timed out

# The result of a call, or the exception.
Result = tuple[Any, BaseException | None]


class Calls:
    """Calls of the functions of one system."""

    def __init__(self, clock: Clock = REAL_CLOCK) -> None:
        self._clock = clock
        self._loops: list[_LoopThread] = []

    async def result(self, function: Function, arguments: tuple[Any, ...], seconds: float) -> Result:
        """Call the function and return its result. Raises TimeoutError after `seconds`. An `async` function is then
        cancelled. A plain function keeps running, but its result is ignored."""
        async with asyncio.timeout(seconds):
            if is_async(function):
                return await self._on_loop(lambda: function(*arguments))
            returned, raised = await _in_thread(function, arguments)
            if raised is None and inspect.isawaitable(returned):
                return await self._on_loop(lambda: returned)
            return returned, raised

    def close(self) -> None:
        while self._loops:
            self._loops.pop().stop()

    async def _on_loop(self, start: Callable[[], Any]) -> Result:
        if self._loops and not self._loops[-1].responsive:
            await self._clock.sleep(_RECOVERY_SECONDS)
        if not self._loops or not self._loops[-1].responsive:
            # The previous loop is not stopped: it may be slow rather than stuck, and have other calls to finish.
            self._loops.append(_LoopThread())
        return await self._loops[-1].result(start)


def is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - an object with an async __call__, not a question
    )


class _LoopThread:
    """An event loop in a daemon thread. `responsive` is False from the time-out of a call until the loop runs again."""

    def __init__(self) -> None:
        self.responsive = True
        self._loop = asyncio.new_event_loop()
        _start_thread(self._run_loop)

    async def result(self, start: Callable[[], Any]) -> Result:
        settle, settled = _make_future()
        tasks: list[asyncio.Task[None]] = []

        async def work() -> None:
            try:
                settle(await start(), None)
            except BaseException as error:  # raised out of a task, KeyboardInterrupt and SystemExit would end the loop
                settle(None, error)

        def begin() -> None:
            tasks.append(self._loop.create_task(work()))

        self._loop.call_soon_threadsafe(begin)
        try:
            return await settled
        except asyncio.CancelledError:  # out of time, or the audit is stopping
            self.responsive = False
            self._loop.call_soon_threadsafe(self._give_up, tasks)
            raise

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _give_up(self, tasks: list[asyncio.Task[None]]) -> None:
        self.responsive = True
        for task in tasks:
            task.cancel()

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        while True:
            try:
                self._loop.run_forever()
                break
            except BaseException:  # of a task that a function left behind; other calls go on
                continue
        self._loop.set_exception_handler(lambda loop, context: None)  # tasks that refuse to end are not reported
        with contextlib.suppress(BaseException):
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.wait(left, timeout=0.5))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        with contextlib.suppress(BaseException):
            self._loop.close()


async def _in_thread(function: Function, arguments: tuple[Any, ...]) -> Result:
    settle, settled = _make_future()

    def work() -> None:
        try:
            settle(function(*arguments), None)
        except BaseException as error:
            settle(None, error)

    _start_thread(work)
    return await settled


def _make_future() -> tuple[Callable[[Any, BaseException | None], None], asyncio.Future[Result]]:
    """Return a future of the running loop and a function by which other threads set its result. Only the first call
    has an effect, and only while the loop runs."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def set_result(result: Result) -> None:
        if not future.done():
            future.set_result(result)

    def settle(returned: Any, raised: BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):  # our loop has ended meanwhile
            loop.call_soon_threadsafe(set_result, (returned, raised))

    return settle, future


def _start_thread(work: Callable[[], None]) -> None:
    # A daemon and not a pool's thread, because a thread that never returns must not keep the program alive.
    threading.Thread(target=work, name="harvest-python-driver", daemon=True).start()


class _OutputAside:
    """A standard output that redirects the output of all threads except `keepers` to standard error."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.keepers = stream, {threading.main_thread().ident}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream if threading.get_ident() in self.keepers else sys.stderr, name)


def keep_output_aside() -> None:
    """Redirect `sys.stdout` to `sys.stderr` for all threads except the main thread and the calling thread. Otherwise a
    bot's `print` would be mixed with Harvest's own results. The redirection is never undone, because a function may
    print long after its driver was closed."""
    output: Any = sys.stdout
    if not isinstance(output, _OutputAside):
        output = _OutputAside(output)
        sys.stdout = cast(TextIO, output)
    output.keepers.add(threading.get_ident())
