"""All conversations of a system together, and what a measure over many conversations makes of some topics."""

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
from topics.attributes import AttributeSet
from topics.gold import GoldTable
from topics.topic import Topic

Floats = npt.NDArray[np.float64]


class Scores(Protocol):
    """What was measured of each conversation of a system, over topics and trials."""

    system: str
    topics: Sequence[Topic]
    trials: Sequence[int]
    turns: Mapping[str, int]
    settings: Settings
    design: Design

    def values(self, measure: str) -> Floats:
        """(topics, trials) of a measure of conversations, NaN where a trial has none."""
        ...

    @property
    def invalid(self) -> npt.NDArray[np.bool_]:
        """(topics, trials) whether the infrastructure failed the trial in every attempt."""
        ...


@dataclass(frozen=True, slots=True)
class Pool:
    """conversations: the valid ones of the system. assessments: of several systems, where judgments were asked for.
    resampler: of the scores' design.
    planned: trials of each topic that the run is to have; 0: as many as there are. seed: of what is drawn here.
    """

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
    """Rows of the topics a figure is over, and what names it."""

    rows: Sequence[int]
    topic: str | None = None
    topic_type: str | None = None


def parts(topics: Sequence[Topic], *, each: bool = False) -> Iterator[Part]:
    """Every topic type and everything; each: also every topic."""
    types: dict[str, list[int]] = {}
    for row, topic in enumerate(topics):
        types.setdefault(topic.type.name, []).append(row)
        if each:
            yield Part([row], topic.id, topic.type.name)
    yield from (Part(rows, None, name) for name, rows in types.items())
    yield Part(range(len(topics)))


@dataclass(frozen=True, slots=True)
class Reading:
    """What a measure gives of some topics. value: NaN where undefined. n: what it is over. topics: None within one."""

    part: Part
    value: float
    n: int
    interval: Interval
    topics: int | None
    note: str = ""
    invalid: int = 0
    worst: float = math.nan
    best: float = math.nan
