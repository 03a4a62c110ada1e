"""The random user, a baseline whose acts do not depend on the answers.

After every answer the user leaves with probability `leave`. Otherwise the act is drawn from `acts` (by default all
equally likely), and the words from the variants of that act, all equally likely. A simulator is useless if it
predicts people no better than this user.

    P(stop) = leave,  P(a) = (1 - leave)·w(a) / Σ w,  lengths geometric with mean 1/leave, cut at `most` turns
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from pydantic import Field, model_validator

from simulators.memory import memory_kind, topic_for_user
from simulators.moves import Memory, Move, Plan, PlanningUser, check_traits
from simulators.phrasing import Phrasebook, Words, phrasebook
from simulators.reasons import BUDGET, LEFT
from simulators.user import Observation, Scenario, Streams
from topics.document import StrictModel, validation_error
from topics.errors import InputError

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
    """Options of the random user. Acts without words in the options have default words."""

    acts: dict[str, Weight] = Field(default={}, description="weight of each act; default: all acts with words, equally")
    leave: float = Field(default=0.25, ge=0, le=1, description="probability of leaving after each answer")
    most: int = Field(default=50, ge=1, le=10_000, description="maximum number of user turns")
    words: Words = Field(default={}, description="ways to say each act")

    @model_validator(mode="after")
    def _check_weights(self) -> "Options":
        if self.acts and not sum(self.acts.values()):
            raise validation_error("acts: no act has a weight above 0")
        return self


@memory_kind("random")
@dataclass(frozen=True, slots=True, kw_only=True)
class RandomMemory(Memory):
    """The memory of the random user: only the topic and the turn."""


@dataclass(frozen=True)
class RandomUser(PlanningUser[RandomMemory]):
    """A user that draws its acts and reads no traits. `weights` by act are at least 0, and not all 0. `leave` is in
    [0, 1]. `most` is the maximum number of user turns, at least 1. The user leaves with the reason `left`, or
    `budget` after `most` turns."""

    weights: Mapping[str, float]
    phrasebook: Phrasebook
    leave: float = 0.25
    most: int = 50
    name: str = "random"
    memory = RandomMemory

    @property
    def acts(self) -> tuple[str, ...]:
        return tuple(self.weights)

    def start(self, scenario: Scenario, rng: Streams) -> RandomMemory:
        check_traits(scenario, (), self.name)
        self.phrasebook.check(scenario.topic, {})
        return RandomMemory(topic=topic_for_user(scenario.topic))

    def plan(self, memory: RandomMemory, observation: Observation | None) -> Plan[RandomMemory]:
        if memory.turn == self.most:
            return Plan(memory, self.phrasebook, ((BUDGET, 1.0),), ())
        total = sum(self.weights.values())
        moves = tuple(Move(weight / total, act, "", memory) for act, weight in self.weights.items())
        if observation is None or not self.leave:
            return Plan(memory, self.phrasebook, (), moves)
        return Plan(memory, self.phrasebook, ((LEFT, self.leave),), moves if self.leave < 1 else ())


def build(options: Options) -> RandomUser:
    """Build the user. Raises InputError for an act without words."""
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
            raise InputError(f"the act {act!r} has words but no weight", allowed=", ".join(acts))
    book = phrasebook({}, {act: tuple(known[act]) for act in acts})
    return RandomUser(MappingProxyType(dict(acts)), book, options.leave, options.most)
