"""Delivering one user turn: at the system's pace, within the time-out, sent again only where that is safe.

A turn is sent again when the system never took it (`NotSent`), or when it went unanswered and the system keeps
no state, so that asking again changes nothing. What the system said is never looked at here.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import stamina

from harvest.systems.driver import Denied, DriverError, Exhibit, NotSent, Reply, Session, Unanswered
from harvest.systems.limits import LONGEST_WAIT, Gate, Limits

__all__ = ["deliver", "unforeseen"]

# Every failed sending is in the recording; stamina's own warnings would write over the progress display.
logging.getLogger("stamina").addHandler(logging.NullHandler())


async def deliver(session: Session, text: str, *, stateful: bool, limits: Limits, gate: Gate) -> Reply:
    """The reply to `text`, with the number of sendings on it. Raises the last DriverError."""

    def wait_before_next(fault: Exception) -> bool | float:
        if isinstance(fault, Denied) or not isinstance(fault, DriverError):
            return False
        if not isinstance(fault, NotSent) and stateful:
            return False
        if fault.retry_after is not None:
            return fault.retry_after if fault.retry_after <= LONGEST_WAIT else False
        return True

    sends = 0
    async for attempt in stamina.retry_context(
        on=wait_before_next,
        attempts=limits.retries + 1,
        timeout=None,
        wait_initial=limits.retry_wait,
        wait_max=LONGEST_WAIT,
        wait_jitter=limits.retry_wait / 2,
    ):
        with attempt:
            await gate.passed()
            sends += 1
            reply = await _within(limits.turn_timeout, session, text)
            return replace(reply, turn=replace(reply.turn, sends=sends))
    raise AssertionError("stamina raises the last error")


async def _within(seconds: float, session: Session, text: str) -> Reply:
    try:
        async with asyncio.timeout(seconds) as bound:
            with unforeseen():
                return await session.say(text)
    except TimeoutError as fault:
        if not bound.expired():
            raise
        raise Unanswered("timeout", f"no whole reply within {seconds:g} s (turn_timeout)") from fault


@contextmanager
def unforeseen(reason: str = "driver-fault") -> Iterator[None]:
    """Turns whatever a driver did not foresee into an invalid attempt: one system's odd reply must not end a run.

    A cancellation that nobody asked for is such a thing too. reason: of the invalid attempt.
    """
    task = asyncio.current_task()
    try:
        yield
    except DriverError:
        raise
    except (Exception, asyncio.CancelledError) as fault:
        if isinstance(fault, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        detail = f"{type(fault).__name__}: {fault}"[:500]
        trace = "".join(traceback.format_exception(fault)).encode("utf-8", "backslashreplace")
        raise Unanswered(reason, detail, exhibits=(Exhibit("traceback", "text/plain", trace),)) from fault
