"""What the labels of a system's answers add up to, over topics and trials: what shares of answers are made of."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Answers:
    """The labels of one system's answers. turns: (topics,) how many turns each topic can have. useful: (topics, trials,
    turns) 1.0 for a useful answer, 0.0 for another, NaN where nothing was asked or labelled. recovered, failed:
    (topics, trials) 1.0 where the second answer was useful after a first that was not, and where the first was not.
    invalid: (topics, trials) whether the infrastructure failed the trial in every attempt.
    """

    turns: npt.NDArray[np.int64]
    useful: Floats
    recovered: Floats
    failed: Floats
    invalid: Flags

    @classmethod
    def empty(cls, turns: npt.NDArray[np.int64], trials: int) -> "Answers":
        """Without a conversation so far. turns: (topics,)."""
        shape = (len(turns), trials)
        useful = np.full((*shape, int(turns.max(initial=0))), np.nan)
        return cls(turns, useful, np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, dtype=bool))


@dataclass(frozen=True, slots=True)
class Tally:
    """The two sides of a share, and what was lost of it. turn: of one turn, from 1; None for all.

    above, below: (topics, trials) answers that count, and answers, NaN where there is none. lost: (topics, trials)
    trials that would have had it and never became valid; whole: (topics,) the most answers that are lost with one.
    there: (topics,) whether a topic can have it. pooled: it is one ratio of sums, not a mean of shares. fewest: units
    that its interval needs, and what these are with, in words.
    """

    measure: str
    turn: int | None
    above: Floats
    below: Floats
    lost: Flags
    whole: Floats
    there: Flags
    pooled: bool = False
    fewest: tuple[int, str] = (0, "")
