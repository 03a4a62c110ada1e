"""Stop models that depend at most on the last label: geometric patience, and two-α."""

from typing import Literal

from pydantic import Field

from protocols.labels import MISSING, NOT_USEFUL, USEFUL
from simulators.reasons import FRUSTRATED, PATIENCE, SATISFIED
from simulators.scenario import Observation
from simulators.stopping.model import Exit, Experience
from topics.document import StrictModel


class Geometric(StrictModel):
    """The same hazard after every answer: h(t) = p, so lengths are geometric with mean 1/p. The default is
    illustrative. Reason: `patience`."""

    model: Literal["geometric"] = "geometric"
    p: float = Field(default=0.25, ge=0, le=1, description="probability of leaving after each answer")

    def hazard(self, memory: Experience, observation: Observation) -> float:
        return self.p

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        return ((PATIENCE, self.p),)


class TwoAlpha(StrictModel):
    """A user continues with probability α+ after a useful answer and α- after a useless one: h = 1 - α.

    The user of expected conversation satisfaction (ECS): A. Lipani, B. Carterette, E. Yilmaz, "How Am I Doing?:
    Evaluating Conversational Search Systems Offline", ACM TOIS 39(4), 2021. The defaults are illustrative. An unjudged
    answer counts as useful with probability `unjudged`. Reason: `satisfied` after a useful answer, `frustrated` after
    a useless one; after an unjudged one either, each with its share.
    """

    model: Literal["two-alpha"] = "two-alpha"
    useful: float = Field(default=0.85, ge=0, le=1, description="α+: probability of going on after a useful answer")
    useless: float = Field(default=0.6, ge=0, le=1, description="α-: probability of going on after a useless answer")
    unjudged: float = Field(default=0.5, ge=0, le=1, description="how far an unjudged answer counts as useful")

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        share = {USEFUL: 1.0, NOT_USEFUL: 0.0, MISSING: self.unjudged}[memory.labels[-1]]
        return (SATISFIED, share * (1 - self.useful)), (FRUSTRATED, (1 - share) * (1 - self.useless))

    def hazard(self, memory: Experience, observation: Observation) -> float:
        return min(1.0, sum(part for _, part in self.exits(memory, observation)))
