"""The user with hidden states, which plays a model fitted to recordings (`simulators.hidden.model`).

The memory is the belief about the hidden state given all acts and answers, so `distribution` lists the next acts
exactly.
"""

from dataclasses import dataclass, replace
from typing import Self

from pydantic import Field, model_validator

from simulators.act_table import ANY, STOP, UNKNOWN
from simulators.hidden.model import Belief, HiddenModel, Part
from simulators.markov import phrase_acts
from simulators.memory import memory_kind, topic_for_user
from simulators.moves import Memory, Move, Plan, PlanningUser, check_traits
from simulators.phrasing import Phrasebook, Words
from simulators.reasons import LEFT
from simulators.user import Observation, Scenario, Streams
from topics.document import StrictModel, validation_error

Rows = tuple[tuple[float, ...], ...]


class Transitions(StrictModel):
    answer: str = Field(default=ANY, min_length=1, description="the last answer; `*`: any other, or unknown")
    rows: Rows = Field(description="for each state, the probability of each state next")


class PartOptions(StrictModel):
    """One hidden Markov model. Rows sum to 1."""

    weight: float = Field(default=1, gt=0, le=1, description="probability of this part")
    classes: tuple[float, ...] = Field(description="the share of people in each class")
    initial: Rows = Field(description="for each class, the probability that a dialogue begins in each state")
    opening: Rows = Field(description="for each state, the probability of each act as the first")
    emissions: Rows = Field(description="for each state, the probability of each later act, and last of leaving")
    transitions: tuple[Transitions, ...] = Field(description="how the state changes, by the last answer")


class Options(StrictModel):
    """Options of the user with hidden states."""

    acts: tuple[str, ...] = Field(min_length=1, description="the acts, in the order of the columns")
    parts: tuple[PartOptions, ...] = Field(
        min_length=1, description="models of several sizes, fitted from several starts"
    )
    latent_class: int | None = Field(
        None, ge=1, description="play people of this class only; 1 leaves soonest; default: all classes"
    )
    words: Words = Field({}, description="ways to say each act")

    @model_validator(mode="after")
    def _check_model(self) -> Self:
        try:
            model = self.model()
        except ValueError as fault:
            raise validation_error(str(fault)) from None
        if self.latent_class is not None and self.latent_class > model.classes:
            raise validation_error(
                f"latent_class: there is no class {self.latent_class}; the classes are 1 to {model.classes}"
            )
        return self

    def model(self) -> HiddenModel:
        if len(set(self.acts)) < len(self.acts) or {STOP, ANY, UNKNOWN, "", "start"} & set(self.acts):
            raise ValueError("acts: each act must appear once, and no act may be called 'start' or 'stop'")
        return HiddenModel(
            self.acts,
            tuple(
                Part.from_rows(
                    one.weight,
                    len(self.acts),
                    one.classes,
                    one.initial,
                    one.opening,
                    one.emissions,
                    {moves.answer: moves.rows for moves in one.transitions},
                )
                for one in self.parts
            ),
        )


def model_options(model: HiddenModel) -> Options:
    """Return the options that play the model, rounded to six digits and without words."""

    def round_rows(rows: Rows) -> Rows:
        # Six significant digits: a fixed number of decimals would make rare acts impossible.
        return tuple(tuple(float(f"{value:.6g}") for value in row) for row in rows)

    return Options(
        latent_class=None,
        words={},
        acts=model.acts,
        parts=tuple(
            PartOptions(
                weight=round_rows(((part.weight,),))[0][0],
                classes=round_rows((part.classes,))[0],
                initial=round_rows(part.initial),
                opening=round_rows(part.opening),
                emissions=round_rows(part.emissions),
                transitions=tuple(
                    Transitions(answer=answer, rows=round_rows(rows)) for answer, rows in part.transitions.items()
                ),
            )
            for part in model.parts
        ),
    )


@memory_kind("hidden")
@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenMemory(Memory):
    """The memory of the hidden user. `belief` has the state probabilities after the last act, and is empty before."""

    belief: tuple[float, ...] = ()


@dataclass(frozen=True)
class HiddenUser(PlanningUser[HiddenMemory]):
    """A user that draws each act from the model's prediction given the belief, and leaves with the reason `left`. No
    traits are read. With `latent_class`, the user plays only people of this class."""

    model: HiddenModel
    phrasebook: Phrasebook
    latent_class: int | None = None
    name: str = "hidden"
    memory = HiddenMemory

    def start(self, scenario: Scenario, rng: Streams) -> HiddenMemory:
        check_traits(scenario, (), self.name)
        self.phrasebook.check(scenario.topic, {})
        return HiddenMemory(topic=topic_for_user(scenario.topic))

    def plan(self, memory: HiddenMemory, observation: Observation | None) -> Plan[HiddenMemory]:
        opening = observation is None
        belief: Belief
        if observation is None:
            belief = self.model.initial_belief(self.latent_class)
        else:
            belief = self.model.update_by_answer(memory.belief, observation.label or UNKNOWN)
        row = self.model.row(belief, opening=opening)
        leaving = row.pop(STOP, 0.0)
        staying = sum(row.values())
        moves = tuple(
            Move(p / staying, act, "", replace(memory, belief=self.model.update_by_act(belief, act, opening=opening)))
            for act, p in row.items()
            if p
        )
        return Plan(memory, self.phrasebook, ((LEFT, leaving),) if leaving else (), moves)


def build(options: Options) -> HiddenUser:
    """Build the user. Raises InputError if an act has no words, or if the options give words for an unknown one."""
    phrasebook = phrase_acts(options.acts, options.words, "user with hidden states")
    return HiddenUser(options.model(), phrasebook, options.latent_class)
