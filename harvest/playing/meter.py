"""The meter of a run with a cap: each request is counted, and its line is in the journal, before it goes out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from harvest.audits.audit import Audit
from harvest.audits.caps import uncounted_error
from harvest.playing.plan import Work, own_caps
from harvest.systems.toll import CapReached
from harvest.voices.endpoints import Endpoints
from recordings.events.events import Sent, Spent
from recordings.log.caps import Door, Ledger, is_uncounted, read_ledger, round_of
from recordings.log.run_folder import Run
from recordings.log.shard import Shard
from recordings.log.store import RunWriter
from simulators.outside import Prompt, Sample
from topics.errors import InputError, Place


def make_meter(audit: Audit, recorded: Run, writer: RunWriter) -> Meter | None:
    """Return the meter for the rest of a run, or None for an audit without a cap. Raises InputError if the amounts that
    the recorded part used are unknown."""
    caps = own_caps(audit)
    if caps is None:
        return None
    if audit.endpoints and set(caps.most) != {"turns"} and any(map(is_uncounted, recorded.attempts)):
        raise InputError(
            "a part of this run was played without a cap, so the use of its user models is unknown",
            place=Place(str(recorded.path)),
            advice="play into another folder (--out), or use only max_turns",
        )
    ledger = read_ledger(caps, recorded.header, recorded.attempts, audit.shard)
    return Meter(ledger, writer, audit.endpoints, audit.shard)


class Meter:
    """Counts the requests of a run in its `ledger`. The cap is never exceeded by more than the requests under way take.

    `over` is True once a request was refused: from then on, all are refused, so that everything ends in the same round.
    `fault` is the reason why the cap cannot be kept, or None. `shard` is the part of the trials that is played.
    """

    def __init__(self, ledger: Ledger, writer: RunWriter, endpoints: Endpoints, shard: Shard | None) -> None:
        self.ledger, self.over = ledger, False
        self.fault: InputError | None = None
        self._writer, self._endpoints, self._shard = writer, endpoints, shard
        self._under_way = 0
        self._ended = asyncio.Event()

    def round(self, trial: int) -> int:
        """Return the round in which trial number `trial` is played."""
        return round_of(trial, self._shard)

    def toll(self, work: Work, system: str) -> RequestToll:
        """Return the toll of the turns of an attempt. `system` is the name of the system that is asked."""
        return RequestToll(self, work, Door(system))

    def words(self, work: Work) -> MeteredWords:
        """Return the source of words for the user of an attempt."""
        return MeteredWords(self, work, self._endpoints)

    async def admit(self, door: Door, work: Work) -> None:
        """Wait until another request fits, and record it. Raises CapReached if none fits although nothing is under way,
        so that a run is not stopped for requests that turn out to take less."""
        while not self.over and self._under_way and not self.ledger.may_send(door):
            self._ended.clear()
            await self._ended.wait()
        if self.over or not self.ledger.may_send(door):
            self.over = True
            raise CapReached
        self._under_way += 1
        self.ledger.send(self.round(work.key.trial), door)
        await self._writer.append(Sent(work.trial_id, work.attempt, "" if door.is_system else door.name))

    async def settle(self, door: Door, work: Work, tokens: Mapping[str, int] | None, *, received: bool) -> None:
        """Record the end of a request. `tokens` is None if no reply came."""
        self._under_way -= 1
        self._ended.set()
        self.ledger.settle(self.round(work.key.trial), door, tokens, received=received)
        if tokens is not None and self.ledger.caps.needs_counts(door) and not self.ledger.knows(door):
            self.over, self.fault = True, uncounted_error(door.name, "its reply came without counts of tokens")
        if tokens is not None or not received:
            await self._writer.append(Spent(work.trial_id, work.attempt, tokens or {}, received))


@dataclass(slots=True)
class RequestToll:
    """A `harvest.systems.delivery.Toll` for the requests of one attempt to one door."""

    meter: Meter
    work: Work
    door: Door
    _open: bool = field(default=False, init=False)

    async def admit(self) -> None:
        if not self._open:
            await self.meter.admit(self.door, self.work)
            self._open = True

    async def settle(self, tokens: Mapping[str, int] | None, *, received: bool = True) -> None:
        if self._open:
            self._open = False
            await self.meter.settle(self.door, self.work, tokens, received=received)


@dataclass(frozen=True, slots=True)
class MeteredWords:
    """A source of words that counts the requests to endpoints."""

    meter: Meter
    work: Work
    endpoints: Endpoints

    async def sample(self, prompt: Prompt) -> Sample:
        """Return a sample. Raises EndpointError, and CapReached."""
        return await self.endpoints.sample(
            prompt, RequestToll(self.meter, self.work, Door(prompt.source, is_system=False))
        )
