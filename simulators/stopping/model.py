"""The interface of stop models, and the logistic curve that several of them use."""

import math
from dataclasses import dataclass
from typing import Protocol

from protocols.labels import LABELS, NOT_USEFUL, Judged, usefulness
from simulators.scenario import Observation


@dataclass(frozen=True, slots=True)
class Experience:
    """A conversation as a stop model sees it; the last entries belong to the answer that was just read.

    labels: `o` useful, `x` useless, `-` unjudged. coverage: share of the need met so far, in [0, 1], as defined by the
    policy. words: number of words in each answer, separated by white space.
    """

    labels: tuple[Judged, ...] = ()
    coverage: tuple[float, ...] = ()
    words: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.labels) == len(self.coverage) == len(self.words):
            raise ValueError("not a memory of a stop model: labels, coverage and words must have the same length")

    @property
    def turn(self) -> int:
        """User turns taken, from 1."""
        return len(self.labels)

    def useless_in_a_row(self) -> int:
        """The number of useless answers in a row at the end; an unjudged answer ends the row like a useful one."""
        found = 0
        for label in reversed(self.labels):
            if label != NOT_USEFUL:
                break
            found += 1
        return found


def begin() -> Experience:
    """Return the memory before any answer."""
    return Experience()


def after(memory: Experience, observation: Observation, coverage: float) -> Experience:
    """Return the memory with one more answer. coverage: share of the need met now, in [0, 1]."""
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
    """How likely a user is to leave after an answer. A pure value without clock, randomness or other state."""

    def hazard(self, memory: Experience, observation: Observation) -> float:
        """Return the probability in [0, 1] of leaving now, given that the user is still there. memory: its last
        entry is this answer."""
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
    """Return a step from 0 to 1 at 0 if width is 0; else logistic(value / width), a half at 0 and softer as width
    grows."""
    if width == 0:
        return 1.0 if value >= 0 else 0.0
    return logistic(value / width)
