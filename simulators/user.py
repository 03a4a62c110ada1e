"""The interface of every user: scripted, simulated or human.

A user is a pure policy over an immutable memory, which `simulators.memory` can write as JSON, so that any node of a
conversation tree can be forked and resumed. It sees the scenario and the system's answers, but never gold or the
driver.
"""

from typing import Protocol, runtime_checkable

from protocols.route import Route, Say, Stop
from simulators.scenario import Chance, Observation, Scenario, State
from simulators.streams import Streams

__all__ = ["EnumerableUser", "User", "route_by"]


@runtime_checkable
class User(Protocol):
    """A participant that takes the user's side of a conversation.

    The caller passes streams that are already at the turn about to be taken: `rng.at(turn)`, from 1, or `rng.at(0)`
    for the start. A user calls each stream at most once in a decision.
    """

    @property
    def name(self) -> str:
        """The user's name in recordings, for example `scripted`."""
        ...

    def start(self, scenario: Scenario, rng: Streams) -> State:
        """Return the memory before the opening. Raises InputError if the scenario does not have what the user needs."""
        ...

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """Return the next action after `observation` (None at the opening), and the memory after it.

        Raises ValueError for a call out of turn: with an answer before the opening, without one after it, or after
        the end.
        """
        ...


@runtime_checkable
class EnumerableUser(User, Protocol):
    """A user that can list every action it may take next, with its probability."""

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        """Return all outcomes of this turn, including stopping, with probabilities that sum to 1. `respond` draws one
        of them. Raises ValueError as `respond` does."""
        ...


def route_by(user: User, state: State, observation: Observation) -> Route | None:
    """Return the protocol's route for the last answer, or None if `user` plays no protocol. The route does not depend
    on what is said next, so the label is known even if a user that speaks in the protocol fails afterwards. Raises
    the errors of the protocol's rules."""
    routed = getattr(user, "route", None)
    return routed(state, observation) if callable(routed) else None
