"""The toll that is paid for each request: the amounts that a run with a cap counts before it sends the request."""

from collections.abc import Mapping
from typing import Protocol as Seam

from topics.errors import HarvestError


class CapReached(HarvestError):
    """The cap of the run does not allow another request."""


class Toll(Seam):
    """The amount paid each time a turn is sent."""

    async def admit(self) -> None:
        """Return once the next request may go out. Has no effect if it was admitted before. Raises CapReached."""
        ...

    async def settle(self, tokens: Mapping[str, int] | None, *, received: bool = True) -> None:
        """Note the end of the request: `tokens` has the counts of its reply, and is None if no reply came. `received`
        is False if the request never arrived."""
        ...


class NoToll:
    """The toll of a run without a cap."""

    async def admit(self) -> None: ...

    async def settle(self, tokens: Mapping[str, int] | None, *, received: bool = True) -> None: ...


FREE = NoToll()
