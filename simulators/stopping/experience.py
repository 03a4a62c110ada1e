"""What a stop model remembers of a conversation: one memory for all of them."""

from dataclasses import dataclass

from protocols.labels import LABELS, NOT_USEFUL, Judged, usefulness
from simulators.scenario import Observation


@dataclass(frozen=True, slots=True)
class Experience:
    """A conversation as a stop model sees it; the last entries are of the answer that was just read.

    labels: `o` useful, `x` not, `-` unjudged. coverage: share of the need that was met by then, in [0, 1]; the policy
    defines what that is. words: white-space separated words of each answer.
    """

    labels: tuple[Judged, ...] = ()
    coverage: tuple[float, ...] = ()
    words: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.labels) == len(self.coverage) == len(self.words):
            raise ValueError("not a memory of a stop model: as many labels, shares and counts of words are needed")

    @property
    def turn(self) -> int:
        """User turns taken, from 1."""
        return len(self.labels)

    def useless_in_a_row(self) -> int:
        """How many answers in a row were not useful, up to the last; like a useful answer, an unjudged one ends the
        row."""
        found = 0
        for label in reversed(self.labels):
            if label != NOT_USEFUL:
                break
            found += 1
        return found


def begin() -> Experience:
    """Before anything was answered."""
    return Experience()


def after(memory: Experience, observation: Observation, coverage: float) -> Experience:
    """The memory with one more answer. coverage: share of the need that is met now, in [0, 1]."""
    if not 0 <= coverage <= 1:
        raise ValueError(f"coverage is a share in [0, 1], not {coverage}")
    label = usefulness(observation.label)
    if observation.label is not None and observation.label not in LABELS:
        raise ValueError(f"a label is one of {', '.join(LABELS)}, or None, not {observation.label!r}")
    return Experience(
        (*memory.labels, label),
        (*memory.coverage, float(coverage)),
        (*memory.words, len(observation.answer.text.split())),
    )
