"""The interval of Krippendorff's alpha, with allowance for a unit unlike those that were judged.

    α = 1 - D_o/D_e     D_o: disagreement between judgments of one thing; D_e: between any two judgments

If few judgments are unlike the others, the data say little about alpha: whether judges agree on the rare ones is seen
on those few alone. If 3% of things are harmful and two judges are right in 98% of cases, a jackknife of log(1 - α)
covers .39 with 20 things and .70 with 45, where it gives an interval. Requiring ten things with the rare value does not
help: if that many occur by chance, it covers .6. So units (things, or conversations with several) get random weights,
and three quarters of a unit that was not judged are added, as in `scoring.inference.unseen_topic`:

    low     its things are judged as differently as they can be
    high    its judgments agree, on the value that raises alpha most

Scores differ most at the ends of their scale; values without an order differ most if half of the judges give the most
frequent value and half the next. In simulated studies the interval covers .93 to 1.0 with 3% to 50% of things of the
rare value, two to five judges, missing judgments, scores with two to five levels or none, values without an order, and
6 to 150 things (tests/support/rare_worlds.py). For rare values it is narrower than the jackknife (1.0 against 1.9 at 20
things, 5% rare); for close scores on a fine scale it is 1.3 to 4 times as wide.

Source of alpha: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011.
"""

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import Interval, no_interval
from scoring.inference.unseen_topic import UNSEEN, drawn_weights, weighted_sums
from topics.identity import generator

Floats = npt.NDArray[np.float64]

# Units that an interval of alpha needs.
FEWEST_UNITS = 6

_DRAWS = 4000  # at most, and fewer for many units, so that memory is bounded
_AT_ONCE = 2_000_000  # weights of one number of units
_METHOD = "weighted units with an unseen unit"
_ASSUMES = "things, or the conversations they are of, are independent draws"


def alpha_interval(
    alpha: float, rows: Sequence[Floats], units: Sequence[Hashable], *, level: float, values: bool = False
) -> Interval:
    """Return the interval of `alpha`, with ends of at most 1; none on fewer than six units, or if alpha is NaN.

    rows: for each thing its judgments, (people, d), at least two: scores (d = 1), or values without an order as
    corners of a simplex. units: the unit of each row. values: whether judgments are values without an order.
    """
    place = {unit: column for column, unit in enumerate(dict.fromkeys(units))}
    if math.isnan(alpha):
        return no_interval("alpha is undefined: all judgments are the same")
    if len(place) < FEWEST_UNITS:
        return no_interval(f"{len(place)} units: an interval of alpha needs {FEWEST_UNITS}")
    sums = np.zeros((len(place), 3 + rows[0].shape[1]))
    np.add.at(sums, [place[unit] for unit in units], np.array([_parts(row) for row in rows]))
    # So that neither the order of things nor what a value is called changes an interval.
    usual = np.square(sums[:, 3:] - sums[:, 1:2] * sums[:, 3:].sum(axis=0) / sums[:, 1].sum()).sum(axis=1)
    sums = sums[np.lexsort([*sums[:, 3:].T, *np.round([usual, sums[:, 0], sums[:, 1]], 9)])]
    judges = max(2.0, float(np.round(np.mean([len(row) for row in rows]))))
    size = math.sqrt(float(np.square(sums[:, 1]).mean())) / judges  # things of the unseen unit
    every = np.concatenate(rows)
    # The two values that lie furthest apart, and those that judges may agree on.
    apart: tuple[Floats, Floats]
    agreed: tuple[Floats, ...]
    if values:
        corners, often = np.unique(every, axis=0, return_counts=True)
        order = np.argsort(-often, kind="stable")
        apart, agreed = (corners[order[0]], corners[order[1]]), tuple(corners)
    else:
        # The ends of the scale, which is from 0 to 1 unless a score lies beyond.
        apart = agreed = np.minimum(0.0, every.min(axis=0)), np.maximum(1.0, every.max(axis=0))
    draws = max(1000, min(_DRAWS, _AT_ONCE // len(place)))
    drawn = drawn_weights(generator(0, "unseen unit", str(len(place))), len(place), draws, UNSEEN)
    weights = np.asarray(drawn / drawn.sum(axis=0))
    seen, unseen = weighted_sums(sums, weights[:-1]), weights[-1]
    half = math.ceil(judges / 2)
    worst = _parts(np.repeat(np.stack(apart), [half, int(judges) - half], axis=0))
    low = _alpha(seen + np.outer(size * np.array(worst), unseen))
    same = [_parts(np.repeat(one[None], int(judges), axis=0)) for one in agreed]
    high = np.max([_alpha(seen + np.outer(size * np.array(one), unseen)) for one in same], axis=0)
    tail = (1 - level) / 2
    ends = float(np.quantile(low, tail)), float(np.quantile(high, 1 - tail))
    return Interval(min(ends[0], alpha), min(1.0, max(ends[1], alpha)), _METHOD, "units", assumes=_ASSUMES)


def _parts(row: Floats) -> list[float]:
    """Return a thing's squared distances of ordered pairs over (people - 1), people, Σ score² and Σ score."""
    spread = float(np.square(row - row.mean(axis=0)).sum())
    return [2 * len(row) * spread / (len(row) - 1), float(len(row)), float(np.square(row).sum()), *row.sum(axis=0)]


def _alpha(sums: Floats) -> Floats:
    """Return (B,) alphas from (3 + d, B) sums over things, with n² for n(n - 1): weights are not integers."""
    within, n, squares, totals = sums[0], sums[1], sums[2], sums[3:]
    apart = 2 * (n * squares - np.square(totals).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(apart > 0, 1 - within * n / apart, 1.0)
