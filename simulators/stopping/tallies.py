"""Stop models that count answers: frustration, satiation, and a budget of patience.

The first two are the rules of D. H. Kraft and T. Lee, "Stopping rules and their effect on expected search length",
Information Processing & Management 15, 1979: stop after a number of useless documents, or of useful ones; their third,
whichever comes first, is `combined`. A width makes the limit gradual, because people differ.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from protocols.labels import NOT_USEFUL, USEFUL
from simulators.reasons import FRUSTRATED, PATIENCE, SATISFIED
from simulators.scenario import Observation
from simulators.stopping.model import Exit, Experience, rising
from topics.document import StrictModel, refusal


class Frustration(StrictModel):
    """Leaves after too many useless answers: n of them, in total or in a row.

    h = 0 for n = 0; else 1 if n ≥ after and 0 below (width 0), or logistic((n - after) / width). Defaults are
    illustrative. Reason: `frustrated`.
    """

    model: Literal["frustration"] = "frustration"
    after: float = Field(default=2, gt=0, le=1000, description="number of useless answers that is too many")
    in_a_row: bool = Field(default=False, description="count only useless answers in a row")
    width: float = Field(default=0.0, ge=0, le=1000, description="0: a step; else how gradually it rises, in answers")

    def hazard(self, memory: Experience, observation: Observation) -> float:
        n = memory.useless_in_a_row() if self.in_a_row else memory.labels.count(NOT_USEFUL)
        return rising(n - self.after, self.width) if n else 0.0

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        return ((FRUSTRATED, self.hazard(memory, observation)),)


class Satiation(StrictModel):
    """Leaves after enough useful answers: n of them.

    h = 0 for n = 0; else 1 if n ≥ after and 0 below (width 0), or logistic((n - after) / width). Defaults are
    illustrative. Reason: `satisfied`.
    """

    model: Literal["satiation"] = "satiation"
    after: float = Field(default=3, gt=0, le=1000, description="number of useful answers that is enough")
    width: float = Field(default=0.0, ge=0, le=1000, description="0: a step; else how gradually it rises, in answers")

    def hazard(self, memory: Experience, observation: Observation) -> float:
        n = memory.labels.count(USEFUL)
        return rising(n - self.after, self.width) if n else 0.0

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        return ((SATISFIED, self.hazard(memory, observation)),)


class PatienceBudget(StrictModel):
    """Leaves (h = 1, before that 0) when a budget of turns taken or words read is used up, whichever comes first.
    Reason: `patience`."""

    model: Literal["patience"] = "patience"
    turns: int | None = Field(default=None, ge=1, le=10_000, description="user turns; default: no limit")
    words: int | None = Field(default=None, ge=1, description="words of answers read; default: no limit")

    @model_validator(mode="after")
    def _some_budget(self) -> Self:
        if self.turns is None and self.words is None:
            raise refusal("give a budget of patience turns, words or both")
        return self

    def hazard(self, memory: Experience, observation: Observation) -> float:
        spent = (self.turns is not None and memory.turn >= self.turns) or (
            self.words is not None and sum(memory.words) >= self.words
        )
        return 1.0 if spent else 0.0

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        return ((PATIENCE, self.hazard(memory, observation)),)
