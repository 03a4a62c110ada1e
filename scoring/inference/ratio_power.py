"""The power of a comparison of two systems in a ratio of sums, such as %recovery, by simulating the actual test.

Some trials of a topic enter the ratio (those that need recovery), and some of these are successes:

    below ~ Binomial(trials, f)     f of the topic with this system, drawn from the pilot's topics, with all systems of
                                    a topic together
    above ~ Binomial(below, r)      r of the topic with this system, from components of variance of yes-or-no values

Each study takes its rates f from two different systems of the pilot, chosen at random. Topics without a trial in the
ratio drop out, and a study with fewer than four topics on one side finds nothing. Many studies are tested at once, as
in `scoring.inference.ratio_differences`. For these topics, variances are computed from trials around the ratio.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST
from scoring.inference.paired import Estimand
from scoring.inference.power import Power, check_room, deal_trials, judge_studies, summarize_power
from scoring.inference.proportions import clopper_pearson_ends
from scoring.inference.ratio_differences import has_few_turns, mover_ends
from scoring.inference.unseen_topic import append_unseen_topic, interval_ends, share_weights
from scoring.statistics.outcomes import Components, Outcomes, Trials, centres_of_these, draw_centres
from topics.arrays import Counts, Floats

Bools = npt.NDArray[np.bool_]

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_HALVINGS = 60  # enough for the last bit
_FARTHEST = 30.0  # log odds
_EDGE = 1e-9  # keeps probabilities off 0 and 1, which have no odds


def smoothed_shares(counts: npt.ArrayLike, trials: npt.ArrayLike) -> Floats:
    """Return (K, m) probabilities that a trial enters the ratio, without the spread that comes from sampling trials.

    For K topics with m systems, `counts` (K, m) are the trials in the ratio, and `trials` (K, m) all trials, at least
    2. Shares are shrunk towards their means by Σ^½·V^-½. V is the observed covariance matrix of systems, and Σ is V
    minus the variance due to trials.
    """
    of = np.asarray(trials, dtype=np.float64)
    shares = np.asarray(counts, dtype=np.float64) / of
    centre = shares.mean(axis=0)
    seen = np.atleast_2d(np.cov(shares, rowvar=False)) if len(shares) > 1 else np.zeros((shares.shape[1],) * 2)
    noise = (shares * (1 - shares) / (of - 1)).mean(axis=0)
    drawn = _root(seen - np.diag(noise), 0.5) @ _root(seen, -0.5)
    return np.asarray(np.clip(centre + (shares - centre) @ drawn.T, 0.0, 1.0))


def _root(matrix: Floats, power: float) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    kept = values > _SAME
    raised = np.where(kept, np.power(values, power, where=kept, out=np.zeros_like(values)), 0.0)
    return np.asarray((vectors * raised) @ vectors.T)


def simulate_ratio_power(
    components: Components,
    coming: Floats,
    difference: float,
    topics: int,
    trials: int | Sequence[int],
    rng: np.random.Generator,
    *,
    estimand: Estimand,
    level: float,
    alpha: float,
    studies: int,
) -> Power:
    """Simulate studies of a ratio, as `simulate_power` does for means.

    `components` are the components of r as a yes-or-no value. Their mean is the ratio of both systems together.
    `coming` (K, m) is the probability that a trial enters the ratio, for each topic and system of a pilot.
    """
    check_room(components, difference)
    each = trials if isinstance(trials, int) else deal_trials(trials, topics, studies, rng)
    if estimand == "these" and np.min(each) < 2:
        return Power(math.nan, math.nan, math.nan, math.nan)
    # Two different systems in each study; if there is only one system, it is used twice.
    systems = coming.shape[1]
    first = rng.integers(systems, size=studies)
    other = (first + 1 + rng.integers(systems - 1, size=studies)) % systems if systems > 1 else first
    pair = np.stack([first, other], axis=1)
    if estimand == "like-these":
        drawn = rng.integers(len(coming), size=(studies, topics, 1))
        chances = coming[drawn, pair[:, None, :]]
        ratios = draw_centres(components, difference, topics, studies, rng)
    else:
        chances, ratios = _judge_these_topics(components, coming, difference, topics, pair, rng)
    below = rng.binomial(np.broadcast_to(np.asarray(each), chances.shape), chances)
    above = rng.binomial(below, np.clip(ratios, 0.0, 1.0))
    whole = below.sum(axis=1)
    some = (whole > 0).all(axis=1)
    value = np.where(some, np.diff(above.sum(axis=1) / np.maximum(whole, 1), axis=1)[:, 0] * -1, 0.0)
    if estimand == "like-these":
        apart, widths = judge_ratio_studies(above, below, level=level, alpha=alpha)
        return summarize_power(apart & (value > 0), widths)
    values = np.stack([np.broadcast_to(value[:, None], (studies, topics)), np.zeros((studies, topics))], axis=-1)
    noise = np.where(some[:, None, None], _noise(above, below, each), 0.0)
    apart, widths = judge_studies(
        Outcomes(values, noise), each, rng, estimand=estimand, level=level, alpha=alpha, reach=1.0
    )
    tops = above.sum(axis=1)
    few = some & has_few_turns(tops, whole)
    ratios = tops[few] / whole[few]
    low, high = mover_ends(ratios, *clopper_pearson_ends(tops[few], whole[few], level))
    sure = mover_ends(ratios, *clopper_pearson_ends(tops[few], whole[few], 1 - alpha))
    apart[few], widths[few] = (sure[0] > 0) | (sure[1] < 0), high - low
    return summarize_power(np.asarray(apart & some & (value > 0)), np.where(some, widths, np.nan))


def judge_ratio_studies(above: Counts, below: Counts, *, level: float, alpha: float) -> tuple[Bools, Floats]:
    """Return (studies,) verdicts and interval widths for topics like these; False and NaN without an interval.

    The verdict is True if `ratios_like_these` gives a p of at most alpha. `above` and `below` are (studies, topics, 2).
    All studies use the same weights, because topics with a denominator of 0 have no influence on a ratio.
    """
    studies, topics, _ = above.shape
    there = (below > 0).sum(axis=1)
    sides: list[tuple[Floats, Floats, Floats, Floats]] = []
    weights = share_weights(topics)[:, ::3]  # a third of the weights is enough for many studies
    for side in (0, 1):
        values = append_unseen_topic(above[..., side].T.astype(float), below[..., side].T.astype(float), 0.0, 1.0)
        products = values.T @ weights
        lows, highs = (products[at * studies : (at + 1) * studies] for at in (0, 1))
        wholes = np.maximum(np.broadcast_to(products[2 * studies :], lows.shape), _EDGE)
        sides.append(
            (
                *interval_ends(lows / wholes, highs / wholes, level),
                *interval_ends(lows / wholes, highs / wholes, 1 - alpha),
            )
        )
    whole = np.maximum(below.sum(axis=1), 1)
    ratios = above.sum(axis=1) / whole
    first, second = sides
    low, high = mover_ends(ratios, np.stack([first[0], second[0]], 1), np.stack([first[1], second[1]], 1))
    sure = mover_ends(ratios, np.stack([first[2], second[2]], 1), np.stack([first[3], second[3]], 1))
    enough = there.min(axis=1) >= FEWEST
    outside = (sure[0] > 0) | (sure[1] < 0)
    return enough & outside, np.where(enough, high - low, np.nan)


def _judge_these_topics(
    components: Components, coming: Floats, difference: float, topics: int, pair: Counts, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    order = np.argsort(coming.mean(axis=1), kind="stable")
    own = coming[order[((np.arange(topics) + 0.5) / topics * len(coming)).astype(int)]]
    centres = rng.permutation(centres_of_these(components, difference, topics))
    moved = np.empty((coming.shape[1], 2, topics))
    for system in range(coming.shape[1]):
        for side, sign in enumerate((1, -1)):
            moved[system, side] = _move_odds(centres[:, side], own[:, system], components.mean + sign * difference / 2)
    return np.moveaxis(own[:, pair], 1, 0), np.stack([moved[pair[:, side], side] for side in (0, 1)], axis=-1)


def _move_odds(chances: Floats, weights: Floats, ratio: float) -> Floats:
    inside = np.clip(chances, _EDGE, 1 - _EDGE)
    odds = np.log(inside / (1 - inside))
    shares = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(shares @ (1 / (1 + np.exp(-odds - middle)))) < ratio else (low, middle)
    return np.asarray(1 / (1 + np.exp(-odds - low)))


def _noise(above: Counts, below: Counts, trials: Trials) -> Floats:
    topics = above.shape[1]
    whole = np.maximum(below.sum(axis=1, keepdims=True), 1)
    ratio = above.sum(axis=1, keepdims=True) / whole
    total = above - ratio * below
    squares = above * (1 - ratio) ** 2 + (below - above) * ratio**2
    variance = (squares - total**2 / trials) / (np.asarray(trials) - 1)
    return np.asarray((trials * topics / whole) ** 2 * np.maximum(variance, 0.0) / trials)
