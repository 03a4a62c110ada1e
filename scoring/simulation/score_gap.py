"""Whether systems get similar scores from simulated and real users: the Cramér-von Mises distance of the scores.

    T = n·m/(n + m)² · Σ over all n + m scores z of (F(z) - G(z))²

with F and G the shares of real and of simulated dialogues that score at most z. The p value is of a permutation test:
the share of random relabellings (this one included) with a T at least as large. It assumes that users are exchangeable:
the dialogues of one user are relabelled together.

Source: T. W. Anderson, Annals of Mathematical Statistics 33, 1962; ties are not broken (equal scores are one step).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoreGap:
    """The distance of scores; all NaN if a side has none.

    `statistic` is T, at least 0, which grows with the number of dialogues. `distance` is the mean over all scores of
    (F - G)², in [0, 1], which does not. `p` is that of the permutation test, and `n` and `m` are the numbers of real
    and simulated dialogues with a score.
    """

    statistic: float
    distance: float
    p: float
    n: int
    m: int


def cramer_von_mises(real: npt.ArrayLike, simulated: npt.ArrayLike) -> float:
    """Return T of two groups of finite scores, (n,) and (m,), at least one each."""
    both = np.concatenate([np.asarray(real, dtype=np.float64), np.asarray(simulated, dtype=np.float64)])
    first = np.zeros((1, both.size), dtype=bool)
    first[0, : np.asarray(real).size] = True
    return float(_statistics(both, first)[0])


def score_gap(
    real: Sequence[float],
    simulated: Sequence[float],
    rng: np.random.Generator,
    *,
    units: tuple[Sequence[str], Sequence[str]] | None = None,
    permutations: int = 2000,
) -> ScoreGap:
    """Return the distance between scores, ignoring NaN; `units` are (n,) and (m,) users, None if each has one score."""
    names = units or (range(len(real)), range(len(simulated)))
    known = [
        [(s, unit) for s, unit in zip(*side, strict=True) if not math.isnan(s)]
        for side in zip((real, simulated), names)
    ]
    sides = [np.array([score for score, _ in side]) for side in known]
    n, m = (side.size for side in sides)
    if not n or not m:
        return ScoreGap(math.nan, math.nan, math.nan, n, m)
    both = np.concatenate(sides)
    seen = cramer_von_mises(*sides)
    # (n + m,) users by number; one that is on both sides is two, since its label is what is drawn.
    places: dict[tuple[int, object], int] = {}
    owner = np.array([places.setdefault((at, unit), len(places)) for at, side in enumerate(known) for _, unit in side])
    users, first = len(places), sum(at == 0 for at, _ in places)
    labels = np.zeros((permutations, users), dtype=bool)
    np.put_along_axis(
        labels, rng.permuted(np.tile(np.arange(users), (permutations, 1)), axis=1)[:, :first], True, axis=1
    )
    chosen = labels[:, owner]
    as_far = int((_statistics(both, chosen) >= seen - 1e-12).sum())
    return ScoreGap(seen, seen * (n + m) / (n * m), (as_far + 1) / (permutations + 1), n, m)


def _statistics(both: Floats, first: npt.NDArray[np.bool_]) -> Floats:
    """Return (k,) T for k labellings of `both`, (n + m,) scores. `first`, (k, n + m), selects the first group."""
    order = np.argsort(both, kind="stable")
    ranked, labels = both[order], first[:, order]
    n = first.sum(axis=1)  # of each labelling: users have different numbers of dialogues
    m = both.size - n
    apart = np.cumsum(labels, axis=1) / n[:, None] - np.cumsum(~labels, axis=1) / m[:, None]
    last = np.searchsorted(ranked, ranked, side="right") - 1  # a step is taken whole
    found: Floats = n * m / both.size**2 * np.square(apart[:, last]).sum(axis=1)
    return found
