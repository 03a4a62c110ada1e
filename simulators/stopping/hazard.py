"""The stop models that `simulators.stopping.fitting` can fit: the default hazard, geometric patience, and two-α."""

from typing import Literal

from pydantic import Field

from protocols.labels import MISSING, NOT_USEFUL, USEFUL
from simulators.reasons import FRUSTRATED, PATIENCE, SATISFIED
from simulators.stopping.model import Exit, Experience, logistic
from simulators.user import Observation
from topics.document import StrictModel

# The source of the default coefficients: print it wherever they are used without refitting.
ORIGIN = "fitted to 223 search sessions of a public log; not to conversations with your users"


class Hazard(StrictModel):
    """A user with a logistic hazard that grows with the turn and with the share of the need met.

    logit h(t) = constant + turn·t + coverage·c, where t is the user turn (from 1) and c the share of the need met.
    The default coefficients were fitted to 223 sessions of a public log, where they describe leaving much better than
    geometric patience or two-α (AIC 1048 against 1130 and 1132). They describe that log, not your users: fit the
    coefficients to your own data (`simulators.stopping.fitting.fit_hazard`). The reason for leaving is `satisfied` if
    the whole need is met (c = 1), and `patience` otherwise.
    """

    model: Literal["hazard"] = "hazard"
    constant: float = Field(
        default=-2.72, allow_inf_nan=False, description="logit of leaving at turn 0 with nothing found"
    )
    turn: float = Field(default=0.110, allow_inf_nan=False, description="added to the logit by every turn")
    coverage: float = Field(
        default=1.78, allow_inf_nan=False, description="added to the logit when the whole need is met"
    )

    def hazard(self, memory: Experience, observation: Observation) -> float:
        return logistic(self.constant + self.turn * memory.turn + self.coverage * memory.coverage[-1])

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        reason = SATISFIED if memory.coverage[-1] >= 1 else PATIENCE
        return ((reason, self.hazard(memory, observation)),)


class Geometric(StrictModel):
    """A user with the constant hazard h(t) = p after every answer, so lengths are geometric with mean 1/p. The
    default is illustrative. The reason for leaving is `patience`."""

    model: Literal["geometric"] = "geometric"
    p: float = Field(default=0.25, ge=0, le=1, description="probability of leaving after each answer")

    def hazard(self, memory: Experience, observation: Observation) -> float:
        return self.p

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        return ((PATIENCE, self.p),)


class TwoAlpha(StrictModel):
    """A user that continues with probability α+ after a useful answer and α- after a useless answer: h = 1 - α.

    This is the user of expected conversation satisfaction (ECS): A. Lipani, B. Carterette, E. Yilmaz, "How Am I
    Doing?: Evaluating Conversational Search Systems Offline", ACM TOIS 39(4), 2021. The defaults are illustrative. An
    unjudged answer counts as useful with probability `unjudged`. The reason for leaving is `satisfied` after a useful
    answer and `frustrated` after a useless answer. After an unjudged answer, the hazard is divided between the two
    reasons.
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
