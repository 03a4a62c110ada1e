"""Delivery of one user turn at the system's pace and within the time-out. A turn is sent again only if that is safe.

A turn is sent again if the system never received it (`NotSent`). A turn that went unanswered is also sent again if the
system keeps no state, because asking again then changes nothing. The content of a reply is never considered.

A system may report too many requests, with a 429 or with any `Retry-After`. While the turn waits, none of the system's
sessions sends a turn, and later turns are sent more slowly (`Gate.slow`). If the system reports nothing else for too
long, it is given up (`BusyTracker`). If it says when to try again, Harvest tries again at that time. Such tries do not
count as `retries`. They end when the system is given up because it reports nothing but too many requests. `Load` limits
the number of turns under way.
"""

import asyncio
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from harvest.systems import driver
from harvest.systems.limits import LONGEST_WAIT, TOO_MUCH, Gate, Limits
from harvest.systems.toll import FREE, CapReached, Toll
from protocols.answer import Offer
from topics.identity import generator
from topics.sent_files import SentFile

# A shorter Retry-After in seconds is ignored: the system would be asked hundreds of times.
_SHORTEST_WAIT = 1.0


async def deliver(
    session: driver.Session,
    text: str,
    *,
    stateful: bool,
    limits: Limits,
    gate: Gate,
    seed: int,
    turn: int = 1,
    toll: Toll = FREE,
    pressed: Offer | None = None,
    files: Sequence[SentFile] = (),
) -> driver.Reply:
    """Return the reply to `text`, with the number of times that the text was sent. Raises the last DriverError, or
    CapReached. `turn` is the number of the turn, and `seed` the seed of the random waits. The wait before a turn is
    sent again doubles each time. A random addition of up to half a `retry_wait` keeps sessions that failed together
    from retrying together. `toll` is paid for each sending. `pressed` is the offer that is pressed instead of saying
    `text`, and `files` go with it."""
    chances, complaint = None, None
    sends = told = 0
    begun = gate.clock.monotonic()
    while True:
        complaints, sent_at = 0, 0.0
        sends += 1
        await toll.admit()
        tokens, received = None, True
        try:
            async with gate.load.place(turn) as place:
                complaints = await gate.wait_for_turn()
                place.mark_sent()
                answered, sent_at = False, gate.busy.note_sent()
                try:
                    reply = await _say_within(limits.turn_timeout, session, text, pressed, files)
                    answered, tokens = True, reply.turn.tokens
                finally:
                    gate.busy.note_end(answered=answered)
            return reply if reply.turn.sends == sends else replace(reply, turn=replace(reply.turn, sends=sends))
        except driver.DriverError as fault:
            received = not isinstance(fault, driver.NotSent)
            wait = fault.retry_after
            much = not isinstance(fault, driver.Denied) and (wait is not None or fault.reason == "http-429")
            says_when = much and wait is not None and _SHORTEST_WAIT <= wait <= LONGEST_WAIT
            if says_when and limits.retries and gate.clock.monotonic() - begun < gate.busy.longest:
                told += 1
            again = sends - told <= limits.retries and (wait is None or wait <= LONGEST_WAIT)
            if isinstance(fault, driver.Denied) or (stateful and not isinstance(fault, driver.NotSent)):
                again = False
            if wait is None:
                chances = chances or generator(seed, "wait")
                wait = limits.retry_wait * (2 ** min(sends - 1, 20) + chances.random() / 2)
            if much:
                # A wait of hours is too long: this attempt is invalid, and others only come more slowly.
                hours = fault.retry_after is not None and fault.retry_after > LONGEST_WAIT
                pause = 0.0 if hours else min(LONGEST_WAIT, wait)
                await gate.slow_down(complaints, pause, told=says_when)
                gate.busy.note_complaint(sent_at, pause)
                gate.busy.note_pause(fault.retry_after or 0.0)
                complaint = fault
            if not again or gate.busy.over:
                if fault.reason == TOO_MUCH and complaint is not None:  # the system's message says more
                    raise complaint from None
                raise
        finally:
            await toll.settle(tokens, received=received)
        if not much:
            await gate.clock.sleep(min(LONGEST_WAIT, wait))


async def _say_within(
    seconds: float, session: driver.Session, text: str, pressed: Offer | None, files: Sequence[SentFile]
) -> driver.Reply:
    try:
        async with asyncio.timeout(seconds) as bound:
            with convert_unexpected():
                if files:
                    if not isinstance(session, driver.Attaching):
                        raise driver.Denied("cannot-attach", "the driver of this system cannot send files")
                    return await session.attach(text, files)
                if pressed is None:
                    return await session.say(text)
                if not isinstance(session, driver.Pressing):
                    raise driver.Denied(
                        "cannot-press", f"the driver of this system cannot press {pressed.title[:80]!r}"
                    )
                return await session.press(pressed)
    except TimeoutError as fault:
        if not bound.expired():
            raise
        raise driver.Unanswered("timeout", f"no complete reply within {seconds:g} s (turn_timeout)") from fault


@contextmanager
def convert_unexpected(reason: str = "driver-fault") -> Iterator[None]:
    """Turn unexpected errors in the block into `Unanswered` with this `reason`, so that a driver's fault does not end a
    run. This includes a cancellation that was not requested. DriverErrors and CapReached are not changed."""
    task = asyncio.current_task()
    try:
        yield
    except (driver.DriverError, CapReached):
        raise
    except (Exception, asyncio.CancelledError) as fault:
        if isinstance(fault, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        detail = f"{type(fault).__name__}: {fault}"[:500]
        trace = "".join(traceback.format_exception(fault)).encode("utf-8", "backslashreplace")
        raise driver.Unanswered(reason, detail, exhibits=(driver.Exhibit("traceback", "text/plain", trace),)) from fault
