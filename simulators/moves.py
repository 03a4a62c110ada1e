"""One decision of an enumerable user: whether it leaves, what it does, and how it says it.

A policy makes a `Plan` of its memory and what it sees, without drawing. `drawn` takes one way through the plan, with
one stream for each kind of decision (`stop`, `act`, `words`); `enumerated` lists all of them with their probabilities.
So the two cannot differ.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from protocols.route import Say, Stop
from simulators.memory import decode_topic
from simulators.phrasing import Phrasebook
from simulators.scenario import Chance, Observation, Scenario, State
from simulators.stopping.model import Exit
from simulators.streams import Streams
from topics.errors import InputError
from topics.suggestions import nearest
from topics.topic import Topic

__all__ = ["Move", "Plan", "check_traits", "drawn", "enumerated", "opened"]


_LEAST = 1e-290
"""A probability so small is none: divided among wordings it would become 0."""


@dataclass(frozen=True, slots=True)
class Move:
    """Something a user may do next. probability: given that it stays. item: what the act is about ("" for nothing).

    memory: what the policy remembers after it, to be put into the state.
    """

    probability: float
    act: str
    item: str
    memory: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Plan:
    """All ways one decision can go.

    state: before the decision, with what was learnt from the answer. exits: reasons for leaving with their
    probabilities, together at most 1. moves: probabilities sum to 1; none are needed where the exits sum to 1.
    """

    state: Mapping[str, object]
    phrasebook: Phrasebook
    exits: tuple[Exit, ...]
    moves: tuple[Move, ...]

    def _left(self, reason: str) -> tuple[Stop, State]:
        return Stop("user-stopped", reason), {**self.state, "over": True}

    def _said(self, move: Move, variant: int, topic: Topic) -> tuple[Say, State]:
        turn = self._turn()
        text = self.phrasebook.text(move.act, variant, topic, turn, move.item)
        return Say(text, move.act, turn), {**self.state, **move.memory, "turn": turn}

    def _turn(self) -> int:
        turn = self.state["turn"]
        assert isinstance(turn, int)
        return turn + 1


def drawn(plan: Plan, rng: Streams) -> tuple[Say | Stop, State]:
    """One way through the plan: a draw from `enumerated`."""
    if plan.exits:
        left = float(rng("stop").random())
        for reason, probability in plan.exits:
            if left < probability:
                return plan._left(reason)
            left -= probability
        if not plan.moves:
            return plan._left(plan.exits[-1][0])
    possible = [move for move in plan.moves if move.probability > _LEAST]
    chosen = possible[-1]
    if len(possible) > 1:
        left = float(rng("act").random())
        for move in possible:
            if left < move.probability:
                chosen = move
                break
            left -= move.probability
    variant = int(rng("words").integers(plan.phrasebook.variants(chosen.act)))
    return plan._said(chosen, variant, decode_topic(plan.state["topic"]))


def enumerated(plan: Plan) -> tuple[Chance, ...]:
    """Every way through the plan that has a probability above 0, together 1; those that look alike are one."""
    found: dict[tuple[object, str], tuple[float, Say | Stop, State]] = {}

    def add(probability: float, action: Say | Stop, state: State) -> None:
        key = (action, repr(state))
        before = found[key][0] if key in found else 0.0
        found[key] = (before + probability, action, state)

    for reason, probability in plan.exits:
        if probability > _LEAST:
            add(probability, *plan._left(reason))
    staying = 1 - sum(probability for _, probability in plan.exits)
    if plan.moves and staying > 1e-12:  # what rounding leaves over is no chance
        topic = decode_topic(plan.state["topic"])
        for move in plan.moves:
            ways = plan.phrasebook.variants(move.act) if move.probability > _LEAST else 0
            for variant in range(ways):
                add(staying * move.probability / ways, *plan._said(move, variant, topic))
    return tuple(Chance(probability, action, state) for probability, action, state in found.values())


def opened(state: State, observation: Observation | None) -> bool:
    """Whether this is the opening. Raises ValueError where the memory waits for an answer and none is given, or the
    other way round, or the conversation is over."""
    match state:
        case {"turn": int(turn), "over": bool(over), "topic": Mapping()}:
            pass
        case _:
            raise ValueError("not a memory of this user")
    if over:
        raise ValueError("the conversation is over")
    if (observation is None) != (turn == 0):
        raise ValueError("the conversation is not open" if turn == 0 else "an answer is needed to go on")
    return turn == 0


def check_traits(scenario: Scenario, known: Collection[str], user: str) -> None:
    """Raises InputError for a trait this user would ignore: a persona that is dropped in silence is none."""
    for trait in scenario.traits:
        if trait not in known:
            meant = nearest(trait, known)
            raise InputError(
                f"topic {scenario.id!r}: the {user} user does not know the trait {trait!r}",
                allowed=", ".join(sorted(known)) or "no traits",
                advice=f"did you mean {meant!r}?" if meant else "take it out, or put a wrapper in front that reads it",
            )
