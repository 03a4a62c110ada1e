"""A whole audit of a parrot in memory: no disk, no clock, no event loop, thousands of turns a second.

It draws from the same streams as `harvest run`, so a rehearsal and a run with the same seed, names and profile hold
the same words. It is what the estimates of `scoring` are checked with against `tests.support.parrot_truth`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from harvest.parrot.parrot import Parrot, ParrotSession
from protocols.answer import Answer
from protocols.route import Say
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from simulators.user import Observation, Scenario, Streams, User
from topics.identity import derived_seed
from topics.topic import Topic


def rehearse(
    parrot: Parrot,
    user: User,
    topics: Sequence[Topic],
    *,
    trials: int,
    seed: int,
    system: str = "parrot",
    traits: Mapping[str, object] = MappingProxyType({}),
) -> Iterator[Conversation]:
    """Every trial in a fresh session, topic by topic, trials (from 1) within. traits: of every scenario."""
    for topic in topics:
        for trial in range(1, trials + 1):
            key = TrialKey(system, topic.id, trial)
            session = parrot.session(derived_seed(seed, system, topic.id, trial, "system"))
            yield converse(session, user, topic, key, seed, traits)


def sit(
    parrot: Parrot, user: User, topics: Iterable[Topic], *, trial: int, seed: int, system: str = "parrot"
) -> Iterator[Conversation]:
    """One trial of every topic, in this order, in one session that goes on (`session: continued`)."""
    session: ParrotSession | None = None
    for topic in topics:
        if session is None:  # named after its first conversation, as the runner does
            session = parrot.session(derived_seed(seed, system, topic.id, trial, "system"))
        yield converse(session, user, topic, TrialKey(system, topic.id, trial), seed)


class Answers(Protocol):
    """A session with a system in this process."""

    def answer(self, text: str) -> Answer:
        """The reply to one user turn."""
        ...


@runtime_checkable
class Returning(Answers, Protocol):
    """A session with a system to which a person may come back."""

    def anew(self) -> Answers:
        """A new session of the same person with the same system."""
        ...


def converse(
    session: Answers,
    user: User,
    topic: Topic,
    key: TrialKey,
    seed: int,
    traits: Mapping[str, object] = MappingProxyType({}),
) -> Conversation:
    """One conversation of `user` with `session`, as it would be recorded. Raises ValueError where the user comes back
    in a new session, and the system has none."""
    rng = Streams(seed, (user.name, key.topic, key.trial))
    turns: list[Turn] = []
    action, memory = user.respond(user.start(Scenario(topic, traits), rng.at(0)), None, rng.at(1))
    name = f"{key.system}/{key.topic}/{key.trial}"
    sessions = 1
    while isinstance(action, Say):
        begins = ""
        if action.new_session and turns:
            if not isinstance(session, Returning):
                raise ValueError(f"the user {user.name!r} comes back, and the system has no new session")
            session, sessions = session.anew(), sessions + 1
            begins = f"{name}/{sessions}"
        answer = session.answer(action.text)
        following, memory = user.respond(memory, Observation(answer), rng.at(action.turn + 1))
        reply = SystemTurn(answer)
        turns.append(
            Turn(
                *(action.turn, action.state, action.text, reply, following.route, action.user, action.act),
                choice=action.choice,
                session=begins,
            )
        )
        action = following
    outcome = Outcome(action.outcome, action.reason, choice=action.choice)
    return Conversation(key, name, 1, tuple(turns), outcome, user=user.name)
