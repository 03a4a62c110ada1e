"""One decision of a user: whether to leave, what to do, and how to say it.

A policy makes a `Plan` from its memory and the last answer, without drawing. `draw_move` draws one outcome of the
plan, with one stream for each kind of decision (`stop`, `act`, `words`). `enumerate_moves` lists all outcomes with
their probabilities. Both use the same plan, so draws and listed outcomes cannot differ.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

from protocols.route import Choice, Say, Stop
from simulators.memory import check_order, recall
from simulators.phrasing import Phrasebook
from simulators.stopping.model import Exit
from simulators.user import Chance, Observation, Scenario, State, Streams
from topics.errors import InputError, nearest_name
from topics.topic import Topic

# Smaller probabilities count as 0: divided among wordings they would become 0.
_LEAST_PROBABILITY = 1e-290


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The common part of the memory of planning users: the user turns taken so far, and whether the user has left."""

    topic: Topic
    turn: int = 0
    over: bool = False


M = TypeVar("M", bound=Memory)


@dataclass(frozen=True, slots=True)
class Move(Generic[M]):
    """A possible act, with its probability given that the user stays. `item` is the subject of the act, or "".
    `memory` is the memory after the act, but its turn number increases only when the act is said."""

    probability: float
    act: str
    item: str
    memory: M


@dataclass(frozen=True, slots=True)
class Plan(Generic[M]):
    """All outcomes of one decision.

    `memory` is the memory before the decision, including the new facts from the answer. `exits` are the reasons for
    leaving, with probabilities that sum to at most 1. The probabilities of `moves` sum to 1, but `moves` may be empty
    if the exits sum to 1. `took` is the class of the answer, as in `protocols.route.Choice`. `coverage` is the share
    of the need that is met, if the user tracks it.
    """

    memory: M
    phrasebook: Phrasebook
    exits: tuple[Exit, ...]
    moves: tuple[Move[M], ...]
    took: str = ""
    coverage: float | None = None

    def make_stop(self, reason: str) -> tuple[Stop, M]:
        return Stop("user-stopped", reason), replace(self.memory, over=True)

    def make_say(self, move: Move[M], variant: int) -> tuple[Say, M]:
        turn = self.memory.turn + 1
        text = self.phrasebook.text(move.act, variant, self.memory.topic, turn, move.item)
        return Say(text, move.act, turn), replace(move.memory, turn=turn)

    def make_choice(self, choice: Say | Stop) -> Choice:
        """Return the record of the action `choice`: its probability over all wordings, and the options of the plan."""
        leaving: dict[str, float] = {}
        for reason, probability in self.exits:
            if probability > _LEAST_PROBABILITY:
                leaving[reason] = leaving.get(reason, 0.0) + probability
        if isinstance(choice, Stop):
            found = leaving.get(choice.reason, 0.0)  # 0 if only rounding left this exit
        else:
            staying = 1 - sum(leaving.values())
            found = staying * sum(move.probability for move in self.moves if move.act == choice.state)
        return Choice(min(found, 1.0) or None, leaving, self.took, self.coverage)


def draw_move(plan: Plan[M], rng: Streams) -> tuple[Say | Stop, M]:
    """Draw one outcome of the plan, and return it with its choice."""
    action, after = _draw_outcome(plan, rng)
    return replace(action, choice=plan.make_choice(action)), after


def _draw_outcome(plan: Plan[M], rng: Streams) -> tuple[Say | Stop, M]:
    if plan.exits:
        left = float(rng("stop").random())
        for reason, probability in plan.exits:
            if left < probability:
                return plan.make_stop(reason)
            left -= probability
        if not plan.moves:
            return plan.make_stop(plan.exits[-1][0])
    possible = [move for move in plan.moves if move.probability > _LEAST_PROBABILITY]
    chosen = possible[rng.pick("act", [move.probability for move in possible]) if len(possible) > 1 else 0]
    return plan.make_say(chosen, int(rng("words").integers(plan.phrasebook.variants(chosen.act))))


def enumerate_moves(plan: Plan[M]) -> tuple[Chance, ...]:
    """Return all outcomes of the plan with probabilities above 0, which sum to 1. Equal outcomes are merged."""
    found: list[Chance] = []
    for reason, probability in plan.exits:
        if probability > _LEAST_PROBABILITY:
            found.append(Chance(probability, *plan.make_stop(reason)))
    staying = 1 - sum(probability for _, probability in plan.exits)
    if plan.moves and staying > 1e-12:  # a rounding error is not a chance
        for move in plan.moves:
            ways = plan.phrasebook.variants(move.act) if move.probability > _LEAST_PROBABILITY else 0
            for variant in range(ways):
                found.append(Chance(staying * move.probability / ways, *plan.make_say(move, variant)))
    return merge_chances(found)


def merge_chances(chances: Iterable[Chance]) -> tuple[Chance, ...]:
    """Merge chances with the same action and memory, at the position of the first such chance."""
    found: list[Chance] = []
    places: dict[Say | Stop, list[int]] = {}
    for chance in chances:
        alike = places.setdefault(chance.action, [])
        same = next((place for place in alike if found[place].state == chance.state), None)
        if same is None:
            alike.append(len(found))
            found.append(chance)
        else:
            found[same] = replace(chance, probability=found[same].probability + chance.probability)
    return tuple(found)


class PlanningUser(ABC, Generic[M]):
    """A user defined by `plan`: `respond` draws from the plan, and `distribution` lists it. `memory` is the type of
    the user's memories."""

    name: str
    memory: ClassVar[type[Memory]]

    @abstractmethod
    def start(self, scenario: Scenario, rng: Streams) -> M:
        """Return the memory of a new person."""

    @abstractmethod
    def plan(self, memory: M, observation: Observation | None) -> Plan[M]:
        """Return all outcomes of the next turn. Calls are in order, and the observation is None at the opening."""

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        return draw_move(self._plan_move(state, observation), rng)

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        return enumerate_moves(self._plan_move(state, observation))

    def follow(self, state: State, observation: Observation | None, act: str | None) -> tuple[float, State]:
        """Return the probability that the user says `act` next, or leaves if it is None, and the memory after that act.
        This is the sum over such outcomes in `distribution`, without making their words."""
        plan = self._plan_move(state, observation)
        leaving = math.fsum(probability for _, probability in plan.exits)
        if act is None:
            return leaving, state
        moves = [move for move in plan.moves if move.act == act]
        if not moves:
            return 0.0, state
        return (1 - leaving) * math.fsum(move.probability for move in moves), plan.make_say(moves[0], 0)[1]

    def _plan_move(self, state: State, observation: Observation | None) -> Plan[M]:
        memory: M = recall(state, self.memory)  # type: ignore[assignment]  # a ClassVar cannot name M
        check_order(observation, opened=memory.turn > 0, over=memory.over)
        return self.plan(memory, observation)


def check_traits(scenario: Scenario, known: Collection[str], user: str) -> None:
    """Raise InputError for a trait that this user would ignore, because a persona must not be dropped silently."""
    for trait in scenario.traits:
        if trait not in known:
            meant = nearest_name(trait, known)
            raise InputError(
                f"topic {scenario.id!r}: the {user} user does not know the trait {trait!r}",
                allowed=", ".join(sorted(known)) or "no traits",
                advice=f"did you mean {meant!r}?" if meant else "remove it, or wrap the user in one that reads it",
            )
