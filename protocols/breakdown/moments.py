"""A moment of a dialogue: a system turn together with the dialogue's latest system turns.

The latest turns tell how a dialogue compares with others. Their mean features vary less than those of one turn, and
their words, with the user's words, show which system is speaking.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protocols.breakdown.features import FEATURES, WINDOW, Utterance, feature_values, word_grams
from topics.arrays import Floats

# The columns of `values_of`: the features of a turn, then their means over the latest system turns.
COLUMNS: tuple[str, ...] = (*FEATURES, *(f"so far: {name}" for name in FEATURES))


@dataclass(frozen=True, eq=False)
class Moment:
    """The system turn that is predicted, with the system turns among the last `WINDOW` turns that end with it.

    rows: array (k, features) of the features of those system turns in order, the predicted one last.
    grams: the k sets of words and word pairs of those turns and of the user turns before them.
    """

    rows: Floats
    grams: tuple[frozenset[str], ...]


def collect_moments(turns: Sequence[Utterance], at: Sequence[int], *, passed: int = 0) -> list[Moment]:
    """Return the moment of each system turn in `at`. Later turns are not used. `passed` is the number of turns that
    preceded `turns`."""
    latest = [[k for k in range(max(0, end - WINDOW + 1), end) if turns[k].speaker == "S"] + [end] for end in at]
    needed = sorted({k for places in latest for k in places})
    rows = {k: np.array(feature_values(turns, k, passed=passed)) for k in needed}
    grams = {k: word_grams(turns, k) for k in needed}
    return [Moment(np.array([rows[k] for k in places]), tuple(grams[k] for k in places)) for places in latest]


def values_of(moments: Sequence[Moment]) -> Floats:
    """Return an array (n, 2 · features) with the columns `COLUMNS`."""
    if not moments:
        return np.empty((0, len(COLUMNS)))
    return np.array([np.concatenate([moment.rows[-1], moment.rows.mean(axis=0)]) for moment in moments])
