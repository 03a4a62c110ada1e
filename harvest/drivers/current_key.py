"""One key for all sessions of a system. It is obtained before the first request, renewed before it expires, and renewed
when a request was refused because of it. However many sessions wait, the key is asked for once."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from harvest.systems.driver import Denied, DriverError, NotSent
from harvest.systems.timing import Clock

_MARGIN = 60.0  # seconds before its end at which a key is renewed, or a quarter of a shorter life
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Issued(Generic[_Key]):
    """A key and the number of seconds for which it is valid after the request for it; None if that is not known."""

    key: _Key
    lifetime: float | None = None


class CurrentKey(Generic[_Key]):
    """The key that is valid now. `obtain` raises Denied with the reason `no-token` if the reply is not a key. Asking
    again does not help then, unless there has been a key before."""

    def __init__(self, obtain: Callable[[], Awaitable[Issued[_Key]]], clock: Clock) -> None:
        self._obtain, self._clock = obtain, clock
        self._key: _Key | None = None
        self._renew_at = math.inf
        self._renewing: asyncio.Task[_Key] | None = None
        self._denied: Denied | None = None
        self._had_one = False

    async def get(self) -> _Key:
        """Return the key. Raises NotSent, and Denied from the first time on that the key is denied."""
        if self._key is not None and self._clock.monotonic() < self._renew_at:
            return self._key
        if self._denied is not None:
            raise _copy(self._denied)
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew())
            self._renewing.add_done_callback(self._finish)
        try:
            # A session that is given up must not take the key from the others.
            return await asyncio.shield(self._renewing)
        except DriverError as fault:
            raise _copy(fault) from None

    def discard(self, key: _Key) -> None:
        if key == self._key:
            self._key = None

    async def close(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait([self._renewing])

    async def _renew(self) -> _Key:
        asked = self._clock.monotonic()
        try:
            issued = await self._obtain()
        except Denied as fault:
            if self._had_one and fault.reason == "no-token":
                raise NotSent(fault.reason, fault.detail) from None
            self._denied = fault
            raise
        life = issued.lifetime
        self._renew_at = math.inf if life is None else asked + life - min(_MARGIN, life / 4)
        self._key, self._had_one = issued.key, True
        return issued.key

    def _finish(self, task: asyncio.Task[_Key]) -> None:
        self._renewing = None
        if not task.cancelled():
            task.exception()  # else asyncio complains if every session that waited has been given up


def _copy(fault: DriverError) -> DriverError:
    """Each session raises an error of its own, without evidence: an answer to a request for a key may hold keys."""
    return type(fault)(fault.reason, fault.detail, retry_after=fault.retry_after)
