"""A simulated study: what was measured, and what is true of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Kind(StrEnum):
    """What the values of a world are."""

    SHARE = "share"
    """0 or 1."""
    SCORE = "bounded score"
    """Between 0 and 1."""
    UNBOUNDED = "unbounded"
    """0 or more, without a top: R, latency, tokens."""
    TURNS = "two turns"
    """A useful first answer or none, and whether the second one recovers."""
    WATCH = "watch"
    """The runs of a watch in the place of systems: blessed ones, then an audit."""
    PREFERENCES = "preferences"
    """1 if A was preferred, 0 if B, .5 for a tie; one system."""
    JUDGES = "judges"
    """Judges in the place of systems, units in the place of topics, one trial."""
    CORRECTED = "corrected judge"
    """Two systems: people's labels (NaN where nobody looked) and a judge's."""


@dataclass(frozen=True, eq=False)
class Study:
    """One simulated study. The axes are systems, topics, trials.

    `means` and `variances` are those of a value given its topic, over sessions, time and runs; they make the truths
    for these very topics. `exact` has the truths for topics like these that a formula gives, (systems,) each; the
    others are integrated (`World.truth`)."""

    values: Floats
    """(systems, topics, trials) what was measured; NaN if it was lost."""
    means: Floats
    """(systems, topics) the mean of a value given the topic."""
    variances: Floats | None = None
    """(systems, topics) the variance of a value given the topic; None where trials are not independent given it."""
    complete: Floats | None = None
    """(systems, topics, trials) what would have been measured without loss; None: nothing was lost."""
    second: Floats | None = None
    """(systems, topics, trials) 1 if the second turn recovered, 0 if not, NaN if the first turn was useful or lost."""
    recoveries: Floats | None = None
    """(systems, topics) the chance that a failed first turn is recovered from, given the topic."""
    clusters: Integers | None = None
    """(topics,) the cluster that each topic was said to be of; None: nobody named any."""
    continued: bool = False
    """Whether each trial is one session through all topics, and was declared so."""
    times: Floats | None = None
    """(systems, topics, trials) when each trial began, in days since the first."""
    exact: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def whole(self) -> Floats:
        """(systems, topics, trials) the values without loss."""
        return self.values if self.complete is None else self.complete


def interleaved(rng: np.random.Generator, systems: int, topics: int, trials: int) -> Floats:
    """(systems, topics, trials) times within one day: trial after trial, topics and systems in a new order in each."""
    order = rng.permuted(np.broadcast_to(np.arange(systems * topics), (trials, systems * topics)), axis=1)
    begun = np.arange(trials)[:, None] + order / (systems * topics)
    return begun.T.reshape(systems, topics, trials) / trials
