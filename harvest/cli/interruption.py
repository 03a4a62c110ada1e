"""Interruption of a command by ctrl-C (SIGINT), a scheduler (SIGTERM) or a closed terminal (SIGHUP).

On the first signal, the command closes its resources in order. A later SIGINT or SIGTERM ends the command at once. In
either case, recorded turns are safe and no started program or browser is left running. Signals that were ignored when
the command began, for example because of nohup, stay ignored.
"""

import atexit
import os
import signal
import sys
import termios
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from topics.errors import HarvestError

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

# The exit code of an interrupted command, for every signal.
CODE = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR = b"\x1b[?25h"


class Interrupted(HarvestError):
    """The command was interrupted and exits with `CODE`. The message describes the saved state."""


def handle_signals() -> None:
    """Make the first signal raise KeyboardInterrupt, and a second SIGINT or SIGTERM end the process at once."""
    restore = _terminal_restorer()

    def on_signal(_: int, __: FrameType | None) -> None:
        _ignore_signals(restore)
        raise KeyboardInterrupt

    for number in _handled_signals():
        signal.signal(number, on_signal)


def run_until_stopped(work: Coroutine[Any, Any, T]) -> T:
    """Run `asyncio.run(work)` and return its result. The first signal cancels the task. When the task has closed its
    resources, KeyboardInterrupt is raised."""
    import asyncio  # late: most commands need none of it

    stop = _StopRequest()

    async def cancellable() -> T:
        with stop.cancelling(asyncio.current_task(), asyncio.get_running_loop()):
            return await work

    with stop.handling_signals():
        try:
            found = asyncio.run(cancellable())
        except asyncio.CancelledError:
            if not stop.asked:
                raise
            raise KeyboardInterrupt from None
    if stop.asked:
        raise KeyboardInterrupt
    return found


class _StopRequest:
    def __init__(self) -> None:
        self.asked = False
        self._cancel: Callable[[], object] = lambda: None
        self._restore = _terminal_restorer()

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._on_signal) for number in _handled_signals()}
        try:
            yield
        finally:
            if not self.asked:
                for number, handler in before.items():
                    signal.signal(number, handler)

    @contextmanager
    def cancelling(self, task: "asyncio.Task[Any] | None", loop: "asyncio.AbstractEventLoop") -> Iterator[None]:
        assert task is not None
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        try:
            if self.asked:
                task.cancel()
            yield
        finally:
            self._cancel = lambda: None

    def _on_signal(self, _: int, __: FrameType | None) -> None:
        self.asked = True
        _ignore_signals(self._restore)
        self._cancel()


def _ignore_signals(restore: Callable[[], None]) -> None:
    """Ignore signals until the process ends, because an exception would change the exit code. However, a further
    SIGINT or SIGTERM restores the terminal and ends the process."""

    def on_signal(number: int, _: FrameType | None) -> None:
        if number != signal.SIGHUP:  # a closing terminal may send the signal twice
            restore()
            os._exit(CODE)

    for number in _handled_signals():
        signal.signal(number, on_signal)
    atexit.register(_ignore_at_exit)


def _handled_signals() -> list[signal.Signals]:
    return [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


def _ignore_at_exit() -> None:
    """Ignore signals while Python exits. Python restores its handlers, and a signal would change the exit code."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _terminal_restorer() -> Callable[[], None]:
    kept: list[Any] | None = None
    with suppress(OSError, ValueError, termios.error):
        kept = termios.tcgetattr(sys.stdin.fileno())

    def restore() -> None:
        with suppress(OSError, ValueError, termios.error):
            if kept is not None:
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, kept)
            if os.isatty(2):
                os.write(2, _SHOW_CURSOR)

    return restore
