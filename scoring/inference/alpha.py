"""An interval for Krippendorff's alpha that allows for a unit unlike the judged units.

    α = 1 - D_o/D_e     D_o: disagreement between judgments of one thing; D_e: between any two judgments

If nearly all judgments have one value, the data say little about alpha, since only the few other judgments show whether
judges agree on the rare value. If 3% of things are harmful and two judges are right in 98% of cases, a jackknife of
log(1 - α) covers .39 with 20 things and .70 with 45 in the studies that have an interval at all. Requiring ten things
with the rare value does not help: in samples with that many, the jackknife covers .6. So units (things, or
conversations with several) get random weights, and three quarters of a unit that was not judged are added, as in
`scoring.inference.unseen_topic`:

    low     judges disagree about the things of the added unit as much as they can
    high    judges agree about these things, on the value that raises alpha most

For scores, disagreement is largest between the ends of the scale. For values without an order, disagreement is largest
if half of the judges give the most frequent value and half give the next. In simulated studies the interval covers .93
to 1.0 with 3% to 50% of things of the rare value, two to five judges, missing judgments, scores with two to five levels
or a continuous scale, values without an order, and 6 to 150 things (tests/support/rare_worlds.py). For rare values the
interval is narrower than the jackknife's (1.0 against 1.9 with 20 things, 5% rare). For close scores on a fine scale it
is up to 4 times as wide.

Source of alpha: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011.
"""

import math
from collections.abc import Hashable, Sequence
from functools import lru_cache

import numpy as np

from scoring.inference.interval import Interval, no_interval
from scoring.inference.unseen_topic import UNSEEN, drawn_weights, weighted_sums
from topics.arrays import Floats
from topics.identity import generator

# The fewest units for an interval of alpha.
FEWEST_UNITS = 6

_DRAWS = 4000  # at most, and fewer for many units, so that memory is bounded
_AT_ONCE = 2_000_000  # weights of one number of units
_METHOD = "weighted units with an unseen unit"
_ASSUMES = "things, or the conversations they are of, are independent draws"


def alpha_interval(
    alpha: float, rows: Sequence[Floats], units: Sequence[Hashable], *, level: float, values: bool = False
) -> Interval:
    """Return the interval of `alpha`, with ends of at most 1.

    `rows` are the judgments of each thing, (people, d) with at least two people. A judgment is a score (d = 1), or a
    corner of a simplex for values without an order (`values` is True). `units` are the units of the rows. There is no
    interval on fewer than six units, or if alpha is NaN.
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
    # The two values that lie furthest apart, and the values that judges may agree on.
    apart: tuple[Floats, Floats]
    agreed: tuple[Floats, ...]
    if values:
        corners, often = np.unique(every, axis=0, return_counts=True)
        order = np.argsort(-often, kind="stable")
        apart, agreed = (corners[order[0]], corners[order[1]]), tuple(corners)
    else:
        # The ends of the scale, which is from 0 to 1 unless a score lies beyond.
        apart = agreed = np.minimum(0.0, every.min(axis=0)), np.maximum(1.0, every.max(axis=0))
    weights = _unit_weights(len(place))
    seen, unseen = weighted_sums(sums, weights[:-1]), weights[-1]
    half = math.ceil(judges / 2)
    worst = _parts(np.repeat(np.stack(apart), [half, int(judges) - half], axis=0))
    low = _alpha(seen + np.outer(size * np.array(worst), unseen))
    same = [_parts(np.repeat(one[None], int(judges), axis=0)) for one in agreed]
    high = np.max([_alpha(seen + np.outer(size * np.array(one), unseen)) for one in same], axis=0)
    tail = (1 - level) / 2
    ends = float(np.quantile(low, tail)), float(np.quantile(high, 1 - tail))
    return Interval(min(ends[0], alpha), min(1.0, max(ends[1], alpha)), _METHOD, "units", assumes=_ASSUMES)


@lru_cache(maxsize=2)  # to draw them takes longer than everything else
def _unit_weights(units: int) -> Floats:
    """Return (units + 1, draws) weights that sum to 1 in each draw. They depend on the number of units alone."""
    draws = max(1000, min(_DRAWS, _AT_ONCE // units))
    drawn = drawn_weights(generator(0, "unseen unit", str(units)), units, draws, UNSEEN)
    weights = np.asarray(drawn / drawn.sum(axis=0))
    weights.flags.writeable = False
    return weights


def _parts(row: Floats) -> list[float]:
    """Return the sums that one thing adds to alpha, (3 + d): distances, people, Σ score² and Σ score.

    Distances are squared, summed over ordered pairs of people, and divided by (people - 1).
    """
    spread = float(np.square(row - row.mean(axis=0)).sum())
    return [2 * len(row) * spread / (len(row) - 1), float(len(row)), float(np.square(row).sum()), *row.sum(axis=0)]


def _alpha(sums: Floats) -> Floats:
    """Compute (B,) alphas from (3 + d, B) sums over things. Weights are not integers, so n² replaces n(n - 1)."""
    within, n, squares, totals = sums[0], sums[1], sums[2], sums[3:]
    apart = 2 * (n * squares - np.square(totals).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(apart > 0, 1 - within * n / apart, 1.0)
