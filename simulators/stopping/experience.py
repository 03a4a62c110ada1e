"""The memory of a conversation that all stop models share."""

from dataclasses import dataclass

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
        """The number of useless answers in a row, up to the last; an unjudged answer ends the row, like a useful
        one."""
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
