"""What a stop model remembers of a conversation: one memory for all of them, as plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulators.scenario import Observation

__all__ = ["Experience", "Memory", "after", "begin"]

Memory = Mapping[str, object]
"""{labels: ["o" | "x" | "-", …], coverage: [share, …], words: [n, …]}, an entry for each answer so far."""


@dataclass(frozen=True, slots=True)
class Experience:
    """A conversation as a stop model sees it; the last entries are of the answer that was just read.

    labels: `o` useful, `x` not, `-` nobody judged. coverage: share of the need that was met by then, in [0, 1]; the
    policy says what that is. words: white-space separated words of each answer.
    """

    labels: tuple[str, ...]
    coverage: tuple[float, ...]
    words: tuple[int, ...]

    @property
    def turn(self) -> int:
        """User turns taken, from 1."""
        return len(self.labels)

    @classmethod
    def of(cls, memory: Memory) -> Experience:
        """Raises ValueError where the memory is none of a stop model."""
        match memory:
            case {"labels": [*labels], "coverage": [*coverage], "words": [*words]}:
                found = cls(
                    tuple(label for label in labels if isinstance(label, str) and label in ("o", "x", "-")),
                    tuple(float(share) for share in coverage if isinstance(share, (int, float)) and 0 <= share <= 1),
                    tuple(count for count in words if isinstance(count, int) and count >= 0),
                )
                kept = {len(found.labels), len(found.coverage), len(found.words)}
                if kept == {len(labels)} == {len(coverage)} == {len(words)}:
                    return found
        raise ValueError("not a memory of a stop model")

    def useless_in_a_row(self) -> int:
        """How many answers in a row were not useful, up to the last; one nobody judged ends the row as a good one."""
        found = 0
        for label in reversed(self.labels):
            if label != "x":
                break
            found += 1
        return found


def begin() -> Memory:
    """Before anything was answered."""
    return {"labels": [], "coverage": [], "words": []}


def after(memory: Memory, observation: Observation, coverage: float) -> Memory:
    """The memory with one more answer. coverage: share of the need that is met now, in [0, 1]."""
    seen = Experience.of(memory)
    if not 0 <= coverage <= 1:
        raise ValueError(f"coverage is a share in [0, 1], not {coverage}")
    if observation.label not in ("o", "x", None):
        raise ValueError(f"a label is 'o', 'x' or None, not {observation.label!r}")
    return {
        "labels": [*seen.labels, observation.label or "-"],
        "coverage": [*seen.coverage, float(coverage)],
        "words": [*seen.words, len(observation.answer.text.split())],
    }
