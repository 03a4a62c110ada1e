"""All conversations of a system together, and the values of a measure over many conversations."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recordings.conversations.conversation import Conversation
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import Design
from scoring.inference.interval import Interval
from scoring.material import Judged
from scoring.settings import Settings
from scoring.swan.assessment import Assessment
from topics.arrays import Floats
from topics.attributes import AttributeSet
from topics.gold import GoldTable
from topics.topic import Topic


class Scores(Protocol):
    """The values of all measures for one system, over topics and trials."""

    system: str
    topics: Sequence[Topic]
    trials: Sequence[int]
    turns: Mapping[str, int]
    settings: Settings
    design: Design

    def values(self, measure: str) -> Floats:
        """Return the (topics, trials) values of a measure of conversations. Trials without a value are NaN."""
        ...

    @property
    def invalid(self) -> npt.NDArray[np.bool_]:
        """Boolean array (topics, trials), True if every attempt of the trial failed for reasons of infrastructure."""
        ...


@dataclass(frozen=True, slots=True)
class Pool:
    """The input of a measure over many conversations of one system. `assessments` are of conversations of several
    systems, if judgments were requested. `resampler` has the design of `scores`. `seed` is for the random numbers
    that measures draw. `planned` is the planned number of trials of each topic, or 0 if unknown."""

    scores: Scores
    conversations: Sequence[Conversation]
    assessments: Sequence[Assessment]
    gold: GoldTable | None
    attributes: Mapping[str, AttributeSet]
    judged: Callable[[], Judged]
    resampler: Resampler
    seed: int
    planned: int


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of the topics in a figure, and the single topic or topic type of these topics."""

    rows: Sequence[int]
    topic: str | None = None
    topic_type: str | None = None


def parts(topics: Sequence[Topic], *, each: bool = False) -> Iterator[Part]:
    """Yield each topic type, then all topics. With `each`, every single topic comes before the types."""
    types: dict[str, list[int]] = {}
    for row, topic in enumerate(topics):
        types.setdefault(topic.type.name, []).append(row)
        if each:
            yield Part([row], topic.id, topic.type.name)
    yield from (Part(rows, None, name) for name, rows in types.items())
    yield Part(range(len(topics)))


@dataclass(frozen=True, slots=True)
class Reading:
    """A measure's value over a part of the topics, or NaN if undefined. `n` is the number of things that the measure
    counts. `topics` is the number of topics with a value, or None within one topic."""

    part: Part
    value: float
    n: int
    interval: Interval
    topics: int | None
    note: str = ""
    invalid: int = 0
    worst: float = math.nan
    best: float = math.nan
