"""The default stop model: a hazard that grows with the turn and with what was already found."""

from typing import Literal

from pydantic import Field

from simulators.reasons import PATIENCE, SATISFIED
from simulators.scenario import Observation
from simulators.stopping.model import Exit, Experience, logistic
from topics.document import StrictModel

# The source of the default coefficients: print it wherever they are used without refitting.
ORIGIN = "fitted to 223 search sessions of a public log; not to conversations with your users"


class Hazard(StrictModel):
    """logit h(t) = constant + turn·t + coverage·c, with t the user turn (from 1) and c the share of the need met.

    The default coefficients were fitted to 223 sessions of a public log, where they describe leaving much better than
    geometric patience or two-α (AIC 1048 against 1130 and 1132); they describe that log, not your users: fit them to
    your own data (`simulators.stopping.fitting.fit_hazard`). Reason: `satisfied` once the whole need is met (c = 1),
    else `patience`.
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
