"""The interface of stop models, and the logistic curve that several of them use."""

import math
from typing import Protocol

from simulators.scenario import Observation
from simulators.stopping.experience import Experience

# A typed reason (`simulators.reasons`) and the probability of leaving for it.
Exit = tuple[str, float]


class StopModel(Protocol):
    """How likely a user is to leave after an answer. A pure value without clock, randomness or other state."""

    def hazard(self, memory: Experience, observation: Observation) -> float:
        """Return the probability in [0, 1] of leaving now, given that the user is still there.

        memory: its last entry is this answer. observation: the answer.
        """
        ...

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        """Return the hazard by reason for leaving; the probabilities sum to it."""
        ...


def logistic(value: float) -> float:
    """1 / (1 + exp(-value)), without overflow."""
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    grown = math.exp(value)
    return grown / (1 + grown)


def rising(value: float, width: float) -> float:
    """Return 0 below 0 and 1 from 0 on if width is 0; else logistic(value / width): a half at 0, softer as width
    grows."""
    if width == 0:
        return 1.0 if value >= 0 else 0.0
    return logistic(value / width)
