"""Kinds that a later run shows and an earlier one does not: whether they are new, or were merely not drawn before.

Most kinds are rare, so that any two runs of an unchanged system differ in them. If nothing changed, the trials of a
topic could have been played in either run. A kind that m_k of the trials of topic k show is then in the later run alone
with probability

    p = Π_k C(a_k, m_k) / C(a_k + b_k, m_k)        a_k, b_k: trials of topic k in the later and the earlier run

This holds for each kind, whatever its frequency, and for kinds that hang together in an answer. p is corrected by
Holm's method over the kinds of both runs. A kind that could not be called new, even if all its trials were in the later
run, is not one of the family (Tarone's method): this depends on its number of trials alone, and not on where they are.

The number of new kinds that an unchanged system would have shown comes from randomly reassigning the trials of each
topic to the runs.

Sources: R. A. Fisher's exact test, stratified by topic; R. E. Tarone, Biometrics 46 (1990), 515-522; I. J. Good,
Biometrika 40 (1953), 237-264 (the mass that an earlier sample did not show).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.statistics.exchange import holm_correction
from topics.arrays import Floats

_DRAWS = 1999  # with one more, for the data themselves, a round number

Shown = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Appeared:
    """The kinds that a later run shows and an earlier run does not.

    - `new`: the columns of the kinds that only the later run shows.
    - `trials`: for each of them, how many trials show it.
    - `p`, `corrected`: for each of them, the probability that an unchanged system would show it only in the later run,
      and the same corrected over all kinds; NaN if it could not have been called new.
    - `expected`, `range`: how many new kinds an unchanged system would have shown, on average and in 95% of draws.
    - `chance`: the share of draws with at least as many new kinds.
    """

    new: npt.NDArray[np.intp]
    trials: npt.NDArray[np.int64]
    p: Floats
    corrected: Floats
    expected: float
    range: tuple[float, float]
    chance: float


def appeared(
    shown: npt.ArrayLike, topics: npt.ArrayLike, later: npt.ArrayLike, rng: np.random.Generator, *, alpha: float = 0.05
) -> Appeared:
    """Compare two runs of a system over the same topics.

    `shown` (trials, kinds) is true if a trial shows a kind, `topics` (trials,) numbers the topic of each trial, and
    `later` (trials,) is true for trials of the later run. Trials of a topic that only one run played are left out.
    """
    table, own, late = np.asarray(shown, dtype=bool), np.asarray(topics), np.asarray(later, dtype=bool)
    both = np.isin(own, np.intersect1d(own[late], own[~late]))
    table, own, late = table[both], np.unique(own[both], return_inverse=True)[1], late[both]
    kinds = np.flatnonzero(table.any(axis=0))
    least = _chances(table[:, kinds], own, late)
    new = ~table[~late][:, kinds].any(axis=0)
    family = _testable(least, alpha)
    p = np.where(new, least, 1.0)  # a kind that the earlier run shows, too, cannot be called new
    corrected = np.full(len(kinds), math.nan)
    corrected[family] = holm_correction(p[family].tolist())
    drawn = _dealt(table[:, kinds], own, late, rng)
    seen = int(new.sum())
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist() if len(drawn) else (math.nan, math.nan)
    return Appeared(
        new=kinds[new],
        trials=table[:, kinds[new]].sum(axis=0),
        p=p[new],
        corrected=corrected[new],
        expected=float(drawn.mean()),
        range=(low, high),
        chance=(1 + int((drawn >= seen).sum())) / (1 + len(drawn)),
    )


def _chances(shown: Shown, topics: npt.NDArray[np.intp], later: Shown) -> Floats:
    """Return (kinds,) chances that all trials with a kind are of the later run; 1 if they are too many for it."""
    logs = np.zeros(shown.shape[1])
    for topic in range(int(topics.max(initial=-1)) + 1):
        here = topics == topic
        trials, late = int(here.sum()), int(later[here].sum())
        chances = [math.comb(late, m) / math.comb(trials, m) for m in range(trials + 1)]
        with np.errstate(divide="ignore"):
            logs += np.log(chances)[shown[here].sum(axis=0)]
    return np.asarray(np.where(np.isinf(logs), 1.0, np.exp(logs)))


def _testable(least: Floats, alpha: float) -> npt.NDArray[np.bool_]:
    """Return the kinds that could be significant: at most k of them have a smallest p of at most alpha/k."""
    ordered = np.sort(least)
    k = 1
    while k < len(ordered) and int((ordered <= alpha / k).sum()) > k:
        k += 1
    return np.asarray(least <= alpha / k)


def _dealt(shown: Shown, topics: npt.NDArray[np.intp], later: Shown, rng: np.random.Generator) -> Floats:
    """Return (draws,) numbers of kinds in the later run alone, after dealing trials to runs within topics."""
    order = np.argsort(topics, kind="stable")
    topics, later = topics[order], later[order]
    values = shown[order].astype(np.float32)  # sums of ones, which are exact in any order
    keys = rng.random((_DRAWS, len(topics))) + topics  # a random order within topics
    earlier = ~later[np.argsort(keys, axis=1)]
    return np.asarray((earlier.astype(np.float32) @ values == 0).sum(axis=1), dtype=np.float64)
