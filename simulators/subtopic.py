"""The subtopic user, which moves between the subtopics of its need, depending on whether the last answer was useful.

A. Lipani, B. Carterette, E. Yilmaz, "How Am I Doing?: Evaluating Conversational Search Systems Offline", ACM TOIS 39
(4), 2021: a need is a set of subtopics; the next subtopic depends on the previous one and on whether the answer was
relevant. Two matrices give the probabilities, M⁺ after a useful answer and M⁻ after a useless answer:

    P(next = j | now = i, answer) = w·M⁺[i, j] + (1 - w)·M⁻[i, j],   w = 1 after o, 0 after x, `unjudged` after neither.

Without matrices, the user asks about the same subtopic again with probability `requery`, and moves to each other
subtopic with equal probability.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

from pydantic import Field, model_validator

from protocols.labels import MISSING, NOT_USEFUL, USEFUL, usefulness
from protocols.route import answer_class
from simulators.memory import memory_kind, topic_for_user
from simulators.moves import Memory, Move, Plan, PlanningUser, check_traits
from simulators.phrasing import ItemWords, Phrasebook, Template, fill_template, phrasebook
from simulators.stopping.hazard import Hazard
from simulators.stopping.library import StopOption
from simulators.stopping.model import Experience, update_experience
from simulators.user import Observation, Scenario, Streams
from topics.document import StrictModel, validation_error
from topics.errors import InputError

WORDS: Mapping[str, tuple[str, ...]] = {
    "ask": ("{{ item }}",),
    "requery": (
        "I still want to know: {{ item }}",
        "Let me ask that once more. {{ item }}",
        "Is there more on this? {{ item }}",
    ),
    "move": ("{{ item }}", "Something else: {{ item }}", "And another question. {{ item }}"),
    "return": ("Back to what I asked before: {{ item }}", "Once more on this: {{ item }}"),
}

# `ask` opens; `requery` stays on the subtopic; `move` goes to one not asked about yet, `return` to one that was.
ACTS = tuple(WORDS)

Probability = Annotated[float, Field(ge=0, le=1)]


class Requery(StrictModel):
    """The probability that a user asks about the same subtopic again. Illustrative defaults: 34% after an irrelevant
    answer and 12% after a relevant answer, as counted in a public log of search sessions, not among your users."""

    useful: Probability = Field(default=0.12, description="after a useful answer")
    useless: Probability = Field(default=0.34, description="after a useless one")


class Matrices(StrictModel):
    """Transition matrices. Rows are the current subtopic and sum to 1; columns are the next subtopic."""

    useful: tuple[tuple[Probability, ...], ...] = Field(description="M⁺, used after a useful answer")
    useless: tuple[tuple[Probability, ...], ...] = Field(description="M⁻, after a useless one")

    @model_validator(mode="after")
    def _stochastic(self) -> Self:
        for name, matrix in (("useful", self.useful), ("useless", self.useless)):
            if len(matrix) != len(self.useful) or any(len(row) != len(self.useful) for row in matrix):
                raise validation_error(f"{name}: both matrices must be square and of the same size")
            if any(abs(sum(row) - 1) > 1e-6 for row in matrix):
                raise validation_error(f"{name}: each row must sum to 1")
        return self


class Options(StrictModel):
    """Options of the subtopic user. The subtopics are the trait `subtopics`, or else this option, or else the topic's
    seed turns."""

    subtopics: tuple[Template, ...] = Field(default=(), description="what is asked about each subtopic")
    requery: Requery = Field(default=Requery(), description="probability of asking about the same subtopic again")
    matrices: Matrices | None = Field(default=None, description="transitions between subtopics, instead of `requery`")
    first: tuple[Probability, ...] = Field(
        default=(), description="probability of opening with each subtopic; default: equal"
    )
    unjudged: Probability = Field(default=0.5, description="how far an unjudged answer counts as useful")
    words: ItemWords = Field(default={}, description="ways to say each act")
    stop: StopOption | None = Field(default=Hazard(), description="stop model; null: the user never leaves on its own")

    @model_validator(mode="after")
    def _sums(self) -> Self:
        if self.first and abs(sum(self.first) - 1) > 1e-6:
            raise validation_error("first: the probabilities must sum to 1")
        return self


@memory_kind("subtopic")
@dataclass(frozen=True, slots=True, kw_only=True)
class SubtopicMemory(Memory):
    """The memory of the subtopic user: the texts of the subtopics, with the indices of the subtopics asked about and
    answered, in order."""

    subtopics: tuple[str, ...]
    asked: tuple[int, ...] = ()
    met: tuple[int, ...] = ()
    experience: Experience = field(default_factory=Experience)


@dataclass(frozen=True)
class SubtopicUser(PlanningUser[SubtopicMemory]):
    """A user with several subtopics, the texts in the trait `subtopics`, as described in the module docstring. The
    coverage for stop models is the share of subtopics that had a useful answer. The user leaves with the stop model's
    reason."""

    options: Options
    phrasebook: Phrasebook
    name: str = "subtopic"
    memory = SubtopicMemory

    def start(self, scenario: Scenario, rng: Streams) -> SubtopicMemory:
        check_traits(scenario, ("subtopics",), self.name)
        subtopics = self._subtopics(scenario)
        matrices = self.options.matrices
        sizes = {"matrices": len(matrices.useful) if matrices else 0, "first": len(self.options.first)}
        for option, size in sizes.items():
            if size and size != len(subtopics):
                raise InputError(
                    f"topic {scenario.id!r} has {len(subtopics)} subtopics, but the option {option} has {size}",
                    advice="give the same number of both",
                )
        self.phrasebook.check(scenario.topic, dict.fromkeys(ACTS, subtopics))
        return SubtopicMemory(topic=topic_for_user(scenario.topic), subtopics=tuple(subtopics))

    def _subtopics(self, scenario: Scenario) -> list[str]:
        topic, given = scenario.topic, scenario.traits.get("subtopics")
        if given is None:
            own = [
                fill_template(one, topic, f"subtopic {number}") for number, one in enumerate(self.options.subtopics, 1)
            ]
            found = own or list(topic.turns)
        elif isinstance(given, (list, tuple)) and all(isinstance(one, str) for one in given):
            found = [str(one) for one in given]
        else:
            raise InputError(f"topic {topic.id!r}: the trait 'subtopics' is not a list of texts")
        if not found or not all(one.strip() for one in found):
            raise InputError(
                f"topic {topic.id!r} has no subtopics for the subtopic user, or one of them is empty",
                advice="give the topic seed turns, or the user the option subtopics",
            )
        return found

    def plan(self, memory: SubtopicMemory, observation: Observation | None) -> Plan[SubtopicMemory]:
        size = len(memory.subtopics)
        if observation is None:
            row: Sequence[float] = self.options.first or [1 / size] * size
            return Plan(memory, self.phrasebook, (), _moves(row, memory))
        now, met = memory.asked[-1], memory.met
        if observation.label == USEFUL and now not in met:
            met = (*met, now)
        lived = update_experience(memory.experience, observation, len(met) / size)
        exits = self.options.stop.exits(lived, observation) if self.options.stop else ()
        useful = {USEFUL: 1.0, NOT_USEFUL: 0.0, MISSING: self.options.unjudged}[usefulness(observation.label)]
        row = [useful * a + (1 - useful) * b for a, b in zip(*self._rows(now, size))]
        learnt = replace(memory, met=met, experience=lived)
        took = answer_class(observation.label)
        return Plan(learnt, self.phrasebook, exits, _moves(row, learnt), took, len(met) / size)

    def _rows(self, now: int, n: int) -> tuple[Sequence[float], Sequence[float]]:
        if self.options.matrices:
            return self.options.matrices.useful[now], self.options.matrices.useless[now]

        def row(again: float) -> list[float]:
            if n == 1:  # there is nothing else to ask about
                return [1.0]
            return [again if j == now else (1 - again) / (n - 1) for j in range(n)]

        return row(self.options.requery.useful), row(self.options.requery.useless)


def _moves(row: Sequence[float], memory: SubtopicMemory) -> tuple[Move[SubtopicMemory], ...]:
    total, asked = sum(row), memory.asked
    return tuple(
        Move(p / total, _act_for(j, asked), memory.subtopics[j], replace(memory, asked=(*asked, j)))
        for j, p in enumerate(row)
        if p
    )


def _act_for(subtopic: int, asked: Sequence[int]) -> str:
    if not asked:
        return "ask"
    if asked[-1] == subtopic:
        return "requery"
    return "return" if subtopic in asked else "move"


def build(options: Options) -> SubtopicUser:
    """Build the user. Raises InputError if the options give words for an unknown act."""
    return SubtopicUser(options, phrasebook(options.words, WORDS))
