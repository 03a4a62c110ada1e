"""An attempt at a trial. User and system take turns, and every turn is on the disk before the next turn is sent.

An attempt ends for the first of these reasons that applies: an error of the infrastructure, an end by the system, or
an end on the user's side (protocol end or breakdown, user stopped, turn limit).

If a user fails before the first answer, the attempt is invalid. If a user fails later, the attempt counts up to the
failure. The failure may depend on the answers, so playing the trial again would select among answers.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from harvest.audits.groups import traits_of
from harvest.audits.system import System
from harvest.playing.meter import Meter
from harvest.playing.plan import Work
from harvest.systems.delivery import convert_unexpected, deliver
from harvest.systems.driver import (
    Denied,
    Driver,
    DriverError,
    Exhibit,
    Greeting,
    Opening,
    Session,
    Settling,
    Unanswered,
)
from harvest.systems.limits import Gate, OpeningQueue
from harvest.systems.timing import REAL_CLOCK, Clock
from harvest.systems.toll import FREE
from harvest.voices.endpoints import wording_exhibits
from protocols.answer import Answer, Exchange, Offer
from protocols.route import Say, Stop
from recordings.conversations.conversation import INVALID, Outcome, Turn
from recordings.conversations.endings import DIVERGED
from recordings.events.events import Answered, Asked, Failed, Routed, TrialEnded, TrialStarted
from recordings.files.times import stamp
from recordings.log.store import RunWriter
from simulators.outside import SilentSource, WordingSource, respond_with_words
from simulators.promises import check_offered, check_opening, check_turn, initial_state, waits_for_greeting
from simulators.reasons import ENDPOINT_FAILED, MEANING, NO_WORDS
from simulators.user import Observation, Scenario, State, Streams, User, last_route
from topics.errors import InputError
from topics.identity import derived_seed


class Lease:
    """A session that is opened on first use, so that a failure to open it counts as a failure of the first attempt.
    `openings` limits the openings of sessions with the same system. `name` is the session's name in the recording.
    `place` is the number of conversations so far. A user who comes back within a conversation continues in a new
    session."""

    def __init__(self, driver: Driver, opening: Opening, openings: OpeningQueue, name: str, place: int) -> None:
        self._driver, self._opening, self._openings = driver, opening, openings
        self._session: Session | None = None
        self._renewed = 0
        self.name, self.place = name, place

    @property
    def stateful(self) -> bool:
        return self._driver.capabilities.stateful

    @property
    def opened(self) -> bool:
        return self._session is not None

    async def session(self, said: Sequence[Exchange] = ()) -> Session:
        """Return the session, and open it with the conversation so far, `said`, if necessary."""
        if self._session is None:
            if said and self._driver.capabilities.editable_history:
                self._opening = replace(self._opening, history=(*self._opening.history, *said))
            async with self._openings.wait_for_opening():
                with convert_unexpected():
                    self._session = await self._driver.open(self._opening)
        return self._session

    async def start_new_session(self, turns: int) -> str:
        """Close the session, so that the next turn opens a new session without history. Returns the name of the new
        session. `turns` is the number of turns so far. Raises the DriverError of `settle` if the last reply was
        incomplete."""
        await self.settle()
        await self.close()
        self._session, self._renewed = None, self._renewed + 1
        # A system that draws numbers must not repeat the draws of the previous session.
        seed = derived_seed(self._opening.seed, "session", self._renewed)
        self._opening = replace(self._opening, history=(), before=turns, seed=seed)
        return f"{self.name}/{self._renewed + 1}"

    async def settle(self) -> None:
        """Raise DriverError if the last reply of a conversation turns out to be incomplete."""
        if isinstance(self._session, Settling):
            with convert_unexpected():
                await self._session.settle()

    async def close(self) -> None:
        if self._session is not None:
            with suppress(Exception):  # the conversation is on disk, so an error while closing the session does no harm
                await self._session.close()


@dataclass(slots=True)
class AttemptState:
    """The state of an attempt in progress.

    `labels` are the labels of the answers. `turn` is the user turn that was sent last, or 0. `denied` is True if the
    system will fail every time, so that it should not be asked again. `routes` are the routes of the last answer. They
    are written together with the next events, because a separate write would take as long as a turn. `offers` are those
    of the last answer, each as it is recorded and as it came: a value may be redacted. `heard` is the system's
    greeting, if the user waited for a greeting.
    """

    outcome: Outcome = field(default_factory=lambda: Outcome(INVALID, "unfinished"))
    exchanges: list[Exchange] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    turn: int = 0
    denied: bool = False
    routes: tuple[Routed, ...] = ()
    offers: tuple[tuple[Offer, Offer], ...] = ()
    heard: Answer | None = None


@dataclass(frozen=True, slots=True)
class Player:
    """Plays attempts into a store. `user` plays with all systems that are not played in arms. `seed` is the seed of
    the audit. `clock` paces and repeats turns, and stamps events. `words` is the source of wordings for users that
    cannot word their turns themselves. `meter` counts the requests of a run with a cap."""

    writer: RunWriter
    user: User
    seed: int
    keep_evidence: bool = True
    clock: Clock = REAL_CLOCK
    words: WordingSource | None = None
    meter: Meter | None = None

    async def play(
        self, work: Work, system: System, lease: Lease, gate: Gate, asked: Callable[[], None]
    ) -> AttemptState:
        """Play one attempt and record it, whatever happens. `asked` is called whenever a user turn is sent. Raises
        StoreError if a turn cannot be written to disk, and CapReached, which leaves the attempt interrupted."""
        played = AttemptState()
        lease.place += 1
        if lease.opened:  # it can no longer be given a history
            work = replace(work, carried=(), carried_from=0)
        await self.writer.append(
            TrialStarted(
                trial_id=work.trial_id,
                key=work.key,
                attempt=work.attempt,
                session=lease.name,
                place=lease.place,
                user=self._user(work).name,
                at=self._time_stamp(),
                goes_on_from=work.carried_from,
                member=work.member,
            )
        )
        try:
            outcome = await self._converse(work, system, lease, gate, asked, played)
            await lease.settle()
            played.outcome = outcome
        except DriverError as fault:
            played.denied = isinstance(fault, Denied)
            # A system may echo our key in its error, and the outcome is also shown on the terminal.
            played.outcome = self.writer.redacted(Outcome(INVALID, fault.reason, fault.detail))
            await self._record_fault(work, fault, played)
        ended = TrialEnded(work.trial_id, work.attempt, played.outcome, self._time_stamp())
        await self.writer.append(*played.routes, ended, sync=True)
        return played

    async def _converse(
        self, work: Work, system: System, lease: Lease, gate: Gate, asked: Callable[[], None], played: AttemptState
    ) -> Outcome:
        # Named without the system: every system meets a user that draws the same numbers.
        # Named after the user of the control in all arms and members of a population, too, for the same reason.
        rng = Streams(self.seed, (self.user.name, work.key.topic, work.key.trial), tries=work.lost)
        user = self._user(work)
        played.heard = greeting = await self._heard_first(user, work, lease, played)
        toll = FREE if self.meter is None else self.meter.toll(work, system.asked)
        source = self.words if self.meter is None else self.meter.words(work)
        with convert_unexpected("user-fault"):
            memory = initial_state(user, Scenario(work.topic, traits_of(work.group), greeting), rng.at(0))
        action, memory, wording = await self._next_action(user, memory, None, rng.at(1), source, 1)
        if isinstance(action, Say) and action.pressed is not None:
            with convert_unexpected("user-fault"):
                check_offered(action.pressed, greeting, user.name)
        if isinstance(action, Stop) and action.reason not in (ENDPOINT_FAILED, NO_WORDS):
            with convert_unexpected("user-fault"):
                check_opening(action, user.name)
        carried = {turn.number: turn for turn in work.carried}
        size = 0  # characters that the system has answered
        begun = 0  # exchanges of earlier sessions
        while isinstance(action, Say):
            # The answer that these words got before the attempt was interrupted. Once the user says something else, no
            # later answer belongs to these words.
            before = carried.pop(action.turn, None)
            if before is not None and _words(action, action.text) != _words(before, before.said):
                before = None
            known = before.reply if before is not None else None
            if before is None:
                carried.clear()
            renewed = ""
            if action.new_session and played.exchanges:
                renewed, begun = await lease.start_new_session(action.turn - 1), len(played.exchanges)
            session = await lease.session(played.exchanges[begun:]) if known is None else None
            if session is not None:
                await toll.admit()  # before the turn is recorded as asked: a turn that is refused was not
            await self.writer.append(
                *played.routes,
                Asked(
                    work.trial_id,
                    work.attempt,
                    action.turn,
                    action.state,
                    action.text,
                    self._time_stamp(),
                    action.user,
                    action.act,
                    action.worded,
                    action.choice,
                    renewed,
                    action.pressed,
                    action.attached,
                ),
            )
            played.turn, played.routes = action.turn, ()
            if session is not None:
                sent = _sent_exhibits(action)
                asked()
                try:
                    reply = await deliver(
                        session,
                        action.text,
                        stateful=lease.stateful,
                        limits=system.limits,
                        gate=gate,
                        seed=derived_seed(self.seed, work.trial_id, work.attempt, action.turn, "sending"),
                        turn=action.turn,
                        toll=toll,
                        pressed=next((came for kept, came in played.offers if kept == action.pressed), action.pressed),
                        files=action.attached,
                    )
                except Unanswered as missing:
                    if missing.reason == DIVERGED and played.exchanges:
                        return await self._cut_short(work, missing, played)
                    raise
                kept = await self._keep_exhibits((*reply.exhibits, *wording, *sent))
                known = replace(reply.turn, evidence={**reply.turn.evidence, **kept})
            assert known is not None
            answered = Answered(work.trial_id, work.attempt, action.turn, known)
            # Route on the stored text, so that evidence spans fit the recording including redactions.
            (stored,) = await self.writer.append(answered, sync=True)
            turn = stored.reply
            played.offers = tuple(zip(turn.answer.offers, known.answer.offers, strict=True))
            played.exchanges.append(Exchange(action.text, turn.answer, action.attached))
            # If the system has closed the conversation, only the route of the next turn counts, and not its words.
            words = SilentSource() if turn.ended else source
            seen = Observation(turn.answer)
            size += len(turn.answer.text)
            following = action.turn + 1
            fault = None
            try:
                action, memory, wording = await self._next_action(
                    user, memory, seen, rng.at(following), words, following, size
                )
                route = action.route
            except DriverError as caught:
                fault, route = caught, None
                with suppress(Exception):  # the protocol routes the last answer even if its user failed
                    route = last_route(user, memory, seen)
            if route is not None:
                played.routes = (Routed(work.trial_id, work.attempt, route),)
                played.labels.append(route.label)
            if turn.ended:
                return Outcome("system-ended", "system-ended", "the system closed the conversation")
            if fault is not None:
                return await self._cut_short(work, fault, played)
        if action.reason not in (ENDPOINT_FAILED, NO_WORDS):
            return Outcome(action.outcome, action.reason, choice=action.choice)
        said = " ".join(filter(None, (MEANING[action.reason], action.detail)))
        failed = Unanswered(action.reason, said, exhibits=wording)
        if not played.exchanges:
            raise failed
        return await self._cut_short(work, failed, played)

    async def _heard_first(self, user: User, work: Work, lease: Lease, played: AttemptState) -> Answer | None:
        """Return what a system that speaks first has said, as it is recorded, if the user waits for that."""
        if not waits_for_greeting(user):
            return None
        if work.carried and work.carried[0].reply is not None:
            return work.carried[0].reply.heard_first
        session = await lease.session()
        came = session.greeting if isinstance(session, Greeting) else None
        if came is None:
            return None
        stored = self.writer.redacted(came)
        played.offers = tuple(zip(stored.offers, came.offers, strict=True))
        return stored

    async def _cut_short(self, work: Work, fault: DriverError, played: AttemptState) -> Outcome:
        await self._record_fault(work, fault, played)
        return self.writer.redacted(Outcome("user-stopped", fault.reason, fault.detail))

    async def _record_fault(self, work: Work, fault: DriverError, played: AttemptState) -> None:
        evidence = await self._keep_exhibits(fault.exhibits, always=True)
        failed = Failed(
            trial_id=work.trial_id,
            attempt=work.attempt,
            reason=fault.reason,
            detail=fault.detail,
            partial=fault.partial,
            evidence=evidence,
            at=self._time_stamp(),
            turn=played.turn,
        )
        await self.writer.append(*played.routes, failed)
        played.routes = ()

    def _user(self, work: Work) -> User:
        return self.user if work.arm is None else work.arm.user

    async def _next_action(
        self,
        user: User,
        memory: State,
        observation: Observation | None,
        rng: Streams,
        words: WordingSource | None,
        turn: int,
        size: int = 0,
    ) -> tuple[Say | Stop, State, tuple[Exhibit, ...]]:
        """Return the user's next action, its memory, and the evidence of how the turn was worded. `size` counts the
        characters answered so far. An error in a user makes the attempt invalid, and the action is neither sent nor
        recorded."""
        with convert_unexpected("user-fault"):
            action, memory, taken = await respond_with_words(user, memory, observation, rng, words, size)
            check_turn(action, turn, user.name)
        if isinstance(action, Say) and not action.text.strip():
            raise Unanswered("user-fault", f"the user {user.name!r} said nothing at turn {action.turn}")
        return action, memory, wording_exhibits(taken)

    async def _keep_exhibits(self, exhibits: tuple[Exhibit, ...], *, always: bool = False) -> dict[str, str]:
        if not (self.keep_evidence or always):
            return {}
        return await self.writer.keep_all([(one.name, one.media_type, one.data) for one in exhibits])

    def _time_stamp(self) -> str:
        return stamp(self.clock.now())


def _words(spoken: Say | Turn, text: str) -> tuple[object, ...]:
    """Return what an earlier answer belongs to."""
    return text, spoken.state, spoken.user, spoken.act, spoken.pressed, spoken.attached


def _sent_exhibits(action: Say) -> tuple[Exhibit, ...]:
    """Return the files that go with the turn, as evidence. Raises Denied if one is gone or has changed, because the
    trial is about another file."""
    try:
        return tuple(Exhibit(f"sent-{at}", one.type, one.read()) for at, one in enumerate(action.attached, 1))
    except InputError as fault:
        raise Denied("file-changed", str(fault)) from None
