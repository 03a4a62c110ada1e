"""The random user: the floor. What it does has nothing to do with what was answered.

After every answer it leaves with probability `leave`; else its act is drawn from `acts` (not given: all alike), and its
words from the variants of that act, all alike. A simulator that predicts people no better than this one knows nothing
of them.

    P(stop) = leave,  P(a) = (1 - leave)·w(a) / Σ w,  lengths geometric with mean 1/leave, cut at `most` turns
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from pydantic import Field, model_validator

from protocols.route import Say, Stop
from simulators.memory import encode_topic
from simulators.moves import Move, Plan, check_traits, drawn, enumerated, opened
from simulators.phrasing import Phrasebook, Words, phrasebook
from simulators.reasons import BUDGET, LEFT
from simulators.scenario import Chance, Observation, Scenario, State
from simulators.streams import Streams
from topics.document import StrictModel, refused
from topics.errors import InputError

__all__ = ["WORDS", "Options", "RandomUser", "build"]

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ask": ("{{ topic.request }}",),
        "more": ("Can you name a few more?", "What else is there?"),
        "insist": ("That is not what I asked for. {{ topic.request }}",),
        "detail": ("Can you tell me more about the first one?",),
        "thank": ("Thank you.", "Thanks, that helps."),
    }
)

Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class Options(StrictModel):
    """Acts without words of their own have the shipped ones."""

    acts: dict[str, Weight] = Field(
        default={}, description="weight of each act; not given: all acts with words, equally"
    )
    leave: float = Field(default=0.25, ge=0, le=1, description="probability of leaving after each answer")
    most: int = Field(default=50, ge=1, le=10_000, description="maximum number of user turns")
    words: Words = Field(default={}, description="by act: ways to say it")

    @model_validator(mode="after")
    def _some_act(self) -> Options:
        if self.acts and not sum(self.acts.values()):
            raise refused("acts: no act has a weight above 0")
        return self


@dataclass(frozen=True)
class RandomUser:
    """weights: by act, at least 0, not all 0. leave: in [0, 1]. most: user turns at most, at least 1.

    Leaves with the reason `left`, or `budget` after `most` turns. Traits: none.
    """

    weights: Mapping[str, float]
    phrasebook: Phrasebook
    leave: float = 0.25
    most: int = 50
    name: str = "random"

    def start(self, scenario: Scenario, rng: Streams) -> State:
        """The memory before anything was said. Raises InputError for a trait, or words that the topic lacks."""
        check_traits(scenario, (), self.name)
        self.phrasebook.check(scenario.topic, {})
        return {"topic": encode_topic(scenario.topic), "turn": 0, "over": False}

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """The next act, or leaving, and the memory after it. Raises ValueError for what is out of turn."""
        return drawn(self._plan(state, observation), rng)

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        """Everything that `respond` may do, with its probability."""
        return enumerated(self._plan(state, observation))

    def _plan(self, state: State, observation: Observation | None) -> Plan:
        opens = opened(state, observation)
        if state["turn"] == self.most:
            return Plan(state, self.phrasebook, ((BUDGET, 1.0),), ())
        total = sum(self.weights.values())
        moves = tuple(Move(weight / total, act, "", {}) for act, weight in self.weights.items())
        if opens or not self.leave:
            return Plan(state, self.phrasebook, (), moves)
        return Plan(state, self.phrasebook, ((LEFT, self.leave),), moves if self.leave < 1 else ())


def build(options: Options) -> RandomUser:
    """Raises InputError for an act without words."""
    known = {**WORDS, **options.words}
    acts = options.acts or dict.fromkeys(known, 1.0)
    for act in acts:
        if act not in known:
            raise InputError(
                f"the act {act!r} of the random user has no words",
                allowed=", ".join(known),
                advice=f"add it to the options: words: {{{act}: […]}}",
            )
    for act in options.words:
        if act not in acts:
            raise InputError(f"words for the act {act!r}, which has no weight", allowed=", ".join(acts))
    book = phrasebook({}, {act: tuple(known[act]) for act in acts})
    return RandomUser(MappingProxyType(dict(acts)), book, options.leave, options.most)
