"""The events of an attempt, in the order of a recording. `recordings.events.event_lines` reads and writes events as
lines. Each event names its attempt by the trial's identity and the attempt's number."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from protocols.answer import Offer
from protocols.route import Choice, Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey
from topics.sent_files import SentFile

_EMPTY: Mapping[str, str] = MappingProxyType({})


def _empty() -> Mapping[str, str]:
    return _EMPTY


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """`trial-started`: an attempt begins.

    `at` is the time in UTC, ISO 8601. `hashes` are the content hashes of `protocol`, `topic` and `system`; the writer
    fills in the hashes from the run's header. After a merge, `worker` is the worker that recorded the attempt, if it is
    not the file's own worker. `original_attempt` is the attempt's number before a merge renumbered it; 0 if it was
    never renumbered. `goes_on_from` is the number of the interrupted attempt whose answered turns this attempt reuses,
    as long as the user says the same; 0 if this attempt starts fresh. `member` is as in Conversation.
    """

    trial_id: str
    key: TrialKey
    attempt: int
    session: str = ""
    place: int = 1
    user: str = "scripted"
    at: str = ""
    hashes: Mapping[str, str] = field(default_factory=_empty)
    worker: str = ""
    original_attempt: int = 0
    goes_on_from: int = 0
    member: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """`asked`: user turn `turn` (from 1) is about to be sent in the protocol state `state`. `user`, `act`, `worded`,
    `choice`, `session`, `pressed` and `attached` are as in Turn."""

    trial_id: str
    attempt: int
    turn: int
    state: str
    text: str
    at: str = ""
    user: str = ""
    act: str = ""
    worded: str = ""
    choice: Choice | None = None
    session: str = ""
    pressed: Offer | None = None
    attached: tuple[SentFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """`turn`: the system's complete reply to user turn `turn`."""

    trial_id: str
    attempt: int
    turn: int
    reply: SystemTurn


@dataclass(frozen=True, slots=True)
class Routed:
    """`route`: the decision on the answer to user turn `route.turn`."""

    trial_id: str
    attempt: int
    route: Route


@dataclass(frozen=True, slots=True)
class Failed:
    """`failed`: the connection to the system broke at user turn `turn`; 0 means before any turn was asked. The partial
    reply is kept and never scored."""

    trial_id: str
    attempt: int
    reason: str
    detail: str = ""
    partial: str = ""
    evidence: Mapping[str, str] = field(default_factory=_empty)
    at: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """`sent`: a request is about to go out, to the system, or to the endpoint `to` for the user's words. A request is
    recorded only if the run has a cap, because only a cap needs to know of requests that were never answered."""

    trial_id: str
    attempt: int
    to: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """`spent`: the request that was sent last has ended. `tokens` is as in SystemTurn. `received` is False if the
    request never arrived, and so took nothing."""

    trial_id: str
    attempt: int
    tokens: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    received: bool = True


@dataclass(frozen=True, slots=True)
class TrialEnded:
    """`trial-ended`: the last event. `redacted` counts the marks `[redacted:…]` in the attempt's lines and evidence."""

    trial_id: str
    attempt: int
    outcome: Outcome
    at: str = ""
    redacted: int = 0


Event = TrialStarted | Asked | Answered | Routed | Failed | Sent | Spent | TrialEnded


def events_of(conversation: Conversation, hashes: Mapping[str, str] = _EMPTY) -> tuple[Event, ...]:
    """Yield the events that record `conversation`, in the order in which an import or a copy writes them."""
    trial_id, attempt = conversation.trial_id, conversation.attempt
    events: list[Event] = [
        TrialStarted(
            trial_id,
            conversation.key,
            attempt,
            conversation.session,
            conversation.place,
            conversation.user,
            conversation.started_at,
            hashes,
            conversation.worker,
            member=conversation.member,
        )
    ]
    for turn in conversation.turns:
        at = turn.reply.asked_at if turn.reply else ""
        events.append(
            Asked(
                *(trial_id, attempt, turn.number, turn.state, turn.said, at),
                *(turn.user, turn.act, turn.worded, turn.choice, turn.session, turn.pressed),
                turn.attached,
            )
        )
        if turn.reply is not None:
            events.append(Answered(trial_id, attempt, turn.number, turn.reply))
        if turn.route is not None:
            events.append(Routed(trial_id, attempt, replace(turn.route, turn=turn.number)))
    if conversation.outcome is not None:
        events.append(TrialEnded(trial_id, attempt, conversation.outcome, conversation.ended_at))
    return tuple(events)
