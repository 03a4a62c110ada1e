"""The interface of stop models, and the logistic curve that several of them use."""

import math
from dataclasses import dataclass
from typing import Protocol

from protocols.labels import LABELS, NOT_USEFUL, Judged, usefulness
from simulators.user import Observation


@dataclass(frozen=True, slots=True)
class Experience:
    """A conversation as a stop model sees it. The last entry of each field belongs to the answer that was just read.

    `labels` has `o` for a useful answer, `x` for a useless answer, and `-` for an unjudged answer. `coverage` is the
    share of the need met so far, in [0, 1], as defined by the policy. `words` is the number of words in each answer,
    separated by white space.
    """

    labels: tuple[Judged, ...] = ()
    coverage: tuple[float, ...] = ()
    words: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.labels) == len(self.coverage) == len(self.words):
            raise ValueError("labels, coverage and words must have the same length")

    @property
    def turn(self) -> int:
        """The number of user turns taken."""
        return len(self.labels)

    def useless_in_a_row(self) -> int:
        """Return the number of consecutive useless answers at the end. Unjudged and useful answers interrupt the
        sequence."""
        found = 0
        for label in reversed(self.labels):
            if label != NOT_USEFUL:
                break
            found += 1
        return found


def initial_experience() -> Experience:
    """Return the memory before any answer."""
    return Experience()


def update_experience(memory: Experience, observation: Observation, coverage: float) -> Experience:
    """Return the memory with the new answer added. `coverage` is the share of the need met now, in [0, 1]."""
    if not 0 <= coverage <= 1:
        raise ValueError(f"coverage must be in [0, 1], not {coverage}")
    label = usefulness(observation.label)
    if observation.label is not None and observation.label not in LABELS:
        raise ValueError(f"a label must be one of {', '.join(LABELS)}, or None, not {observation.label!r}")
    return Experience(
        (*memory.labels, label),
        (*memory.coverage, float(coverage)),
        (*memory.words, len(observation.answer.text.split())),
    )


# A typed reason (`simulators.reasons`) and the probability of leaving for it.
Exit = tuple[str, float]


class StopModel(Protocol):
    """A model of how likely a user is to leave after an answer. It is a pure value without clock, randomness or
    state."""

    def hazard(self, memory: Experience, observation: Observation) -> float:
        """Return the probability in [0, 1] of leaving now, given that the user has not left. The last entry of
        `memory` is this answer."""
        ...

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        """Return the probability of leaving for each reason. The sum is the hazard."""
        ...


def logistic(value: float) -> float:
    """Return 1 / (1 + exp(-value)) without overflow."""
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    grown = math.exp(value)
    return grown / (1 + grown)


def step_or_logistic(value: float, width: float) -> float:
    """Return logistic(value / width), which is 1/2 at 0 and flatter for larger widths. For width 0, return a step
    from 0 to 1 at 0."""
    if width == 0:
        return 1.0 if value >= 0 else 0.0
    return logistic(value / width)
