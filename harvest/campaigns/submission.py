"""One run of a campaign, from its first request to its last, however often the program is killed in between.

An utterance is in the ledger before it is sent. It is sent again only if it never arrived. If that is not known (no
reply, or a program that was killed), the track's session is asked: it counts our utterances in the conversation. If the
track has one utterance fewer than were sent, and still has one fewer `settle` seconds after the last request, that
utterance is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass

from harvest.campaigns.ledger import Ledger
from harvest.campaigns.sides import Side
from harvest.campaigns.track import Held, Told, TrackServer
from harvest.systems.driver import Denied, DriverError, NotSent, Unanswered
from harvest.systems.timing import REAL_CLOCK, Clock
from recordings.files.errors import RunError
from recordings.files.times import stamp, unix_seconds
from topics.counting import pluralize

_NO_REPLY = "no-reply"
# How a track says that there is no such run.
_REFUSED = frozenset({"http-400", "http-404", "http-412", "http-428"})


@dataclass(slots=True)
class Submission:
    """A run: its `ledger`, the track's `server`, and our `side`. After a failure it waits `wait` seconds, doubled each
    time, and gives up after `attempts` failures in a row. `report` is called with a sentence for people."""

    ledger: Ledger
    server: TrackServer
    side: Side
    report: Callable[[str], object]
    settle: float = 30.0
    attempts: int = 5
    wait: float = 1.0
    clock: Clock = REAL_CLOCK
    _failures: int = 0  # since the last reply

    async def play(self) -> None:
        """Play the rest of the run. Raises DriverError if the track or our side fails, RunError if the track and the
        ledger disagree, and StoreError. The run can then be continued."""
        chain = self.ledger.chain
        if chain.pending is not None:
            await self._settle_pending()
        elif not chain.started:
            self.ledger.append("sending", call="start")
            await self._send()
        elif not chain.complete and not chain.ended:
            held = await self.server.held()
            if not isinstance(held, Held) or list(held.said) != chain.said:
                raise self._disagreement(held, chain.said)
        while not chain.complete:
            try:
                said = await self.side.next(chain)
            except DriverError as fault:
                self.ledger.append("failed", reason=fault.reason, detail=self.ledger.redacted(fault.detail))
                raise
            text = self.ledger.redacted(said.text)
            values = {"conversation": chain.conversation, "text": text, "last": said.last, "memory": said.memory}
            self.ledger.append("sending", call=said.call, **values, **said.more)
            before = chain.number, len(chain.said)
            await self._send()
            if chain.complete or chain.number != before[0]:
                self.report(f"conversation {before[0]} ended after {pluralize(before[1] + 1, 'utterance')}")

    async def check(self) -> tuple[bytes, str]:
        """Return the track's record of the run, and a sentence that says how it differs from our utterances, or "" if
        it has each of them once and in order. Raises DriverError if the track gives no record."""
        data, dumped = await self.server.dump()
        ours = self.ledger.chain.all_said
        if list(dumped) == ours:
            return data, ""
        place = next((i for i, (one, other) in enumerate(zip(dumped, ours, strict=False)) if one != other), None)
        place = min(len(dumped), len(ours)) if place is None else place
        what = f"the track's record has {pluralize(len(dumped), 'utterance')} of ours, and the ledger {len(ours)}"
        return data, f"{what}; the first difference is at utterance {place + 1}"

    async def _send(self) -> None:
        """Send what is pending, until its reply is in the ledger."""
        chain = self.ledger.chain
        while (pending := chain.pending) is not None:
            try:
                if pending["call"] == "start":
                    told = await self.server.start()
                else:
                    said = pending["text"]
                    told = await self.server.say(pending["conversation"], said, pending["at"], last=pending["last"])
            except DriverError as fault:
                self.ledger.append("failed", reason=fault.reason, detail=self.ledger.redacted(fault.detail))
                await self._pause(fault)
                if not isinstance(fault, NotSent):
                    await self._settle_pending()
                    return
                self.ledger.append("again")
            else:
                self.ledger.receive(await self._with_goal(told), "reply")
                self._failures = 0

    async def _pause(self, fault: DriverError) -> None:
        """Wait before the next try. Raises the failure if another try does not help, or if there were too many."""
        self._failures += 1
        if isinstance(fault, Denied) or self._failures >= self.attempts:
            raise fault
        await self.clock.sleep(fault.retry_after or self.wait * 2 ** (self._failures - 1))

    async def _settle_pending(self) -> None:
        """Find out whether what is pending arrived, and send it again if not, until its reply is in the ledger."""
        while True:
            try:
                if await self._has_arrived():
                    self._failures = 0
                    return
                break
            except DriverError as fault:
                if self._failures + 1 >= self.attempts and fault.reason != _NO_REPLY:
                    what = f"it is not known whether the last request arrived: {fault.detail or fault.reason}"
                    raise type(fault)(fault.reason, what) from fault
                await self._pause(fault)
        self.ledger.append("again")
        await self._send()

    async def _has_arrived(self) -> bool:
        """Return True once the reply to what is pending is in the ledger, and False if it never arrived. Raises
        DriverError if that cannot be known now, and RunError if the track has something else."""
        chain = self.ledger.chain
        pending = chain.pending
        assert pending is not None
        try:
            held = await self.server.held()
        except DriverError as fault:
            if pending["call"] == "start" and fault.reason in _REFUSED:
                return False
            told = await self.server.finished(chain.conversation) if pending["call"] == "say" else None
            if told is None:
                if pending["call"] == "next" and not isinstance(fault, NotSent):
                    return False  # the session of the conversation that ended is gone, and no other has begun
                raise
            self.ledger.receive(told, "status")
            return True
        if isinstance(held, Told):
            if pending["call"] == "start":
                return False
            self.ledger.receive(held, "session")
            return True
        if pending["call"] == "start" and held.said:
            raise RunError(
                f"the track has a run {self.server.run_id!r} already, with utterances that are not in the ledger",
                advice="begin a new run: another name or seed gives another run_id",
            )
        if pending["call"] == "start" or self._is_other(held):
            told = await self.server.where()
            if told is None or (told.conversation == chain.conversation and chain.number):
                raise RunError(
                    "the track began a conversation, but neither its session nor its status names the goal, and the "
                    "reply with the goal was lost",
                    advice="ask the organisers for the goal, or begin a new run: another name or seed",
                )
            text = held.heard[-1] if held.heard else None
            self.ledger.receive(
                Told(told.status, told.conversation, text, told.goal, begins=True, body=told.body), "session"
            )
            return True
        return await self._is_counted(held)

    def _is_other(self, held: Held) -> bool:
        """Return True if the session is about a later conversation than ours."""
        chain = self.ledger.chain
        if held.conversation:
            return held.conversation != chain.conversation
        return bool(chain.said) and not held.said and not held.heard

    async def _is_counted(self, held: Held) -> bool:
        chain = self.ledger.chain
        pending = chain.pending
        assert pending is not None
        known = [*chain.said, pending["text"]]
        if list(held.said) == known:
            if len(held.heard) <= len(chain.heard):
                raise Unanswered(_NO_REPLY, "the utterance arrived, but the track has no reply to it yet")
            self.ledger.receive(Told(200, chain.conversation, held.heard[-1]), "session")
            return True
        if list(held.said) != chain.said:
            raise self._disagreement(held, known)
        left = unix_seconds(chain.sent_at) + self.settle - unix_seconds(stamp(self.clock.now()))
        if left <= 0:
            return False
        await self.clock.sleep(min(left, max(self.wait, left / 4)))  # it may still be on its way
        return await self._has_arrived()

    def _disagreement(self, held: Held | Told, known: list[str]) -> RunError:
        theirs = held.said if isinstance(held, Held) else ()
        return RunError(
            f"the track has {pluralize(len(theirs), 'utterance')} from this side in the conversation "
            f"{self.ledger.chain.conversation!r}, which are not the {pluralize(len(known), 'utterance')} in the ledger",
            advice="the ledger lost lines, or something else continued this run; begin a new one: another name or seed",
        )

    async def _with_goal(self, told: Told) -> Told:
        """Return the reply. A new conversation without a goal in the reply gets it from the session or the status."""
        needed = self.server.track.side == "user" and not told.complete and told.goal is None
        if not (needed and (told.begins or not self.ledger.chain.number)):
            return told
        found = await self.server.where()
        if found is None:
            raise Unanswered("no-goal", "the track began a conversation without a goal")
        return Told(told.status, found.conversation, told.text, found.goal, begins=True, body=[told.body, found.body])
