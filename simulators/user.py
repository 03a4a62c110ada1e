"""The interface of every user, scripted, simulated or human.

A user is a pure policy over an immutable memory, which `simulators.memory` can convert to JSON, so that any node of a
conversation tree can be forked and resumed. A user sees the scenario and the system's answers, but never gold or the
driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from protocols.answer import Answer
from protocols.route import Route, Say, Stop
from topics.identity import generator
from topics.topic import Topic

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, slots=True)
class Streams:
    """Reproducible random streams: equal arguments give equal numbers on every machine.

        rng = Streams(seed, ("agenda", "M002", 3))      simulator, scenario, trial
        here = rng.at(4)                                 the user turn about to be taken
        here("act").choice(…)                            one numpy Generator for the act, another for its wording

    A draw does not depend on the order of work, on concurrency, or on decisions drawn before. A conversation that is
    forked at a turn continues with new streams if the fork has a name (`at("fork", 7)`). Two users that differ only
    in a cue draw the same numbers from the same names. A wrapper passes the wrapped user
    `rng.inside("reformulating")`, with the wrapper's kind as the name, and draws its own numbers from
    `rng.own("reformulating", …)`. The wrapped user then draws the same numbers as without the wrapper.

    - `seed`: the seed of the audit.
    - `names`: the purpose of the streams, from the general to the specific.
    - `holders`: the kinds of the users that wrap the user who draws, the outermost first.
    - `tries`: the number of times the trial was lost before. A user draws the same numbers in every attempt; words
      from outside are requested with new seeds (`simulators.outside`).
    """

    seed: int
    names: tuple[str | int, ...] = ()
    holders: tuple[str, ...] = ()
    tries: int = 0

    def at(self, *names: str | int) -> Streams:
        """Return the streams for a part, such as a turn, a fork or a part of a user."""
        return replace(self, names=(*self.names, *names))

    def inside(self, kind: str) -> Streams:
        """Return the streams for the user that a user of this kind wraps."""
        return replace(self, holders=(*self.holders, kind))

    def own(self, kind: str, purpose: str) -> str:
        """Return the name of a wrapper's own stream: `purpose`, with the depth below other wrappers of the same
        kind."""
        depth = self.holders.count(kind)
        return f"{purpose}/{kind}/{depth}" if depth else purpose

    def pick(self, purpose: str, shares: Sequence[float]) -> int:
        """Draw an index into `shares`, which sum to 1."""
        number = float(self(purpose).random())
        for place, share in enumerate(shares):
            if number < share:
                return place
            number -= share
        return len(shares) - 1

    def __call__(self, purpose: str) -> numpy.random.Generator:
        """Return the stream of one kind of decision from its beginning. A second call gives the same numbers again."""
        return generator(self.seed, *self.names, purpose)


# A user's memory between turns, private to the user: an immutable value, so that any node of a tree can be
# forked and resumed. A frozen dataclass with a `simulators.memory.memory_kind`, or a mapping of plain JSON values.
State: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Scenario:
    """The information that a user is given before the conversation.

    - `topic`: the need as a user knows it, without anything about right answers.
    - `traits`: the identity and wishes of the user, as JSON values by name, for example `group`, `goal`, `facet`.
      Each simulator documents the traits that it reads.
    - `greeting`: the system's greeting with its offers, if the user waits for a greeting (`greeted`).
    """

    topic: Topic
    traits: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    greeting: Answer | None = None

    @property
    def id(self) -> str:
        """The name of the random streams, which is equal for matched users."""
        return self.topic.id


@dataclass(frozen=True, slots=True)
class Observation:
    """The system's last turn as a user sees it on the screen. `label` is `o` or `x` from the protocol's rules, or
    None if no rule judged the answer. Rules see the same answer as the user, never gold."""

    answer: Answer
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Chance:
    """A possible outcome of a turn: the words of the user or a stop, with the memory afterwards. The probability is
    in (0, 1]. The chances of a turn, including stops, sum to 1."""

    probability: float
    action: Say | Stop
    state: State


__all__ = ["EnumerableUser", "User", "last_route"]


@runtime_checkable
class User(Protocol):
    """A participant that takes the user's side of a conversation. The caller passes streams that are already at the
    turn about to be taken: `rng.at(turn)`, from 1, or `rng.at(0)` for the start. A user calls each stream at most
    once in a decision."""

    @property
    def name(self) -> str:
        """The user's name in recordings, for example `scripted`."""
        ...

    def start(self, scenario: Scenario, rng: Streams) -> State:
        """Return the memory before the opening. Raises InputError if the scenario is incomplete for the user."""
        ...

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """Return the next action after `observation` (None at the opening), and the memory after the action.

        Raises ValueError for a call out of turn: with an answer before the opening, without an answer after the
        opening, or after the end.
        """
        ...


@runtime_checkable
class EnumerableUser(User, Protocol):
    """A user that can list every action it may take next, with its probability."""

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        """Return all outcomes of this turn, including stopping, with probabilities that sum to 1. `respond` draws
        from these outcomes, and both raise the same ValueError."""
        ...


def last_route(user: User, state: State, observation: Observation) -> Route | None:
    """Return the protocol's route for the last answer, or None if `user` plays no protocol. The route does not depend
    on the next words, so the label is known even if a user that speaks in the protocol fails afterwards. Raises the
    errors of the protocol's rules."""
    routed = getattr(user, "route", None)
    return routed(state, observation) if callable(routed) else None
