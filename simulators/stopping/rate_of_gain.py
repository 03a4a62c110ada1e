"""The stop model of foraging: leave when the last answers gained less per minute than is available elsewhere."""

from typing import Literal

from pydantic import Field

from simulators.reasons import FRUSTRATED, SATISFIED
from simulators.scenario import Observation
from simulators.stopping.model import Exit, Experience, rising
from topics.document import StrictModel


class RateOfGain(StrictModel):
    """After E. L. Charnov, "Optimal foraging, the marginal value theorem", Theoretical Population Biology 9, 1976:
    stay while the rate of gain here is above the rate elsewhere.

    Over the last `window` turns (or all, if fewer), the gain G is the increase in the share of the need met, and the
    time T in minutes is the sum over turns of seconds/60 + words/reading. With r = G/T,

        h = 1 where r ≤ elsewhere, else 0 (width 0);  h = logistic((elsewhere - r) / width) else.

    Nobody leaves before turn `least`. The defaults are illustrative, except `reading`: M. Brysbaert, "How many words
    do we read per minute?", Journal of Memory and Language 109, 2019 (English non-fiction, silent reading). Reason:
    `satisfied` if anything was found in the conversation, else `frustrated`.
    """

    model: Literal["rate-of-gain"] = "rate-of-gain"
    elsewhere: float = Field(default=0.2, ge=0, le=1000, description="rate of gain elsewhere, in needs per minute")
    width: float = Field(
        default=0.0, ge=0, le=1000, description="0: a step; else how gradually it rises, in needs per minute"
    )
    window: int = Field(default=2, ge=1, le=1000, description="turns over which the rate is computed")
    seconds: float = Field(default=15.0, gt=0, le=86_400, description="time to think and type a turn")
    reading: float = Field(default=238.0, gt=0, le=100_000, description="words read per minute")
    least: int = Field(default=2, ge=1, le=1000, description="the first turn after which the user may leave")

    def rate(self, memory: Experience) -> float:
        """Needs met per minute over the window, at least 0."""
        before = memory.coverage[-self.window - 1] if memory.turn > self.window else 0.0
        words = memory.words[-self.window :]
        minutes = sum(self.seconds / 60 + count / self.reading for count in words)
        return max(0.0, memory.coverage[-1] - before) / minutes

    def hazard(self, memory: Experience, observation: Observation) -> float:
        if memory.turn < self.least:
            return 0.0
        return rising(self.elsewhere - self.rate(memory), self.width)

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        reason = SATISFIED if memory.coverage[-1] > 0 else FRUSTRATED
        return ((reason, self.hazard(memory, observation)),)
