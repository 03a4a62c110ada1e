"""Worlds of known truth for the calibration of intervals: topics that differ in five ways, and conversations on them.

A world says how topics differ. Each topic has a quality q in [0, 1], how often its first answer is useful, and a level,
what its R is on average. A conversation takes two turns: after a useless first answer one in five breaks down, and the
second answer is useful with probability q after a useful one, else with .1 + .6·q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import beta_cdf

Floats = npt.NDArray[np.float64]
Law = Callable[[np.random.Generator, tuple[int, ...]], Floats]

BREAKS = 0.2
THRESHOLD = 0.3
_GRID = 200_000  # topics that a truth is taken over


@dataclass(frozen=True, slots=True)
class World:
    """quality, level, shift: laws over topics; shift is how much the quality is another for a second group of users.
    common: how much of what a topic says belongs to answers that all topics share.
    """

    name: str
    said: str
    quality: Law
    level: Law
    shift: Law
    common: Law


def _two(share: float, one: float, other: float) -> Law:
    return lambda rng, shape: np.where(rng.random(shape) < share, one, other)


WORLDS = (
    World(
        "heterogeneous",
        "quality Beta(4, 2); R level Beta(2, 5)/25; groups differ by N(-.05, .1)",
        lambda rng, shape: rng.beta(4, 2, shape),
        lambda rng, shape: 0.04 * rng.beta(2, 5, shape),
        lambda rng, shape: rng.normal(-0.05, 0.1, shape),
        lambda rng, shape: rng.beta(4, 2, shape),
    ),
    World(
        "bimodal",
        "quality .1 (30%) or .9; R level .003 (30%) or .02; groups differ by .3 (30%) or -.1",
        _two(0.3, 0.1, 0.9),
        _two(0.3, 0.003, 0.02),
        _two(0.3, 0.3, -0.1),
        _two(0.3, 0.2, 0.9),
    ),
    World(
        "rare",
        "one topic in ten fails: quality .05, else .95; R level .0005, else .015; groups differ by -.6, else not",
        _two(0.1, 0.05, 0.95),
        _two(0.1, 0.0005, 0.015),
        _two(0.1, -0.6, 0.0),
        _two(0.1, 0.1, 0.95),
    ),
    World(
        "heavy-tailed",
        "quality logistic(1 + Student's t with 2 degrees); R level lognormal, sigma 1; groups differ by t/10",
        lambda rng, shape: 1 / (1 + np.exp(-1 - rng.standard_t(2, shape))),
        lambda rng, shape: 0.008 * np.exp(rng.normal(size=shape)),
        lambda rng, shape: rng.standard_t(2, shape) / 10,
        lambda rng, shape: 1 / (1 + np.exp(-1 - rng.standard_t(2, shape))),
    ),
    World(
        "skewed",
        "quality Beta(1, 6); R level exponential; groups differ by an exponential with mean .1",
        lambda rng, shape: rng.beta(1, 6, shape),
        lambda rng, shape: 0.015 * rng.exponential(size=shape),
        lambda rng, shape: rng.exponential(0.1, shape),
        lambda rng, shape: rng.beta(6, 1, shape),
    ),
)

SIZES = ((45, 5), (15, 5), (8, 3), (45, 1), (5, 20), (1, 60))
"""Topics × trials."""


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """Simulations of conversations: (S, K) of topics, (S, K, n) of conversations.

    first, second: whether the turn was useful; broke: whether the conversation broke down after the first. score: in
    [0, 1], 0 where it broke down. relevance: as R. nuggets, earned: a denominator and a numerator of WAN; rare, lost:
    those of a criterion that half of the conversations have. other: whether the first turn was useful for the second
    group of users; gap: how much higher its relevance is.
    """

    quality: Floats
    level: Floats
    changed: Floats
    first: npt.NDArray[np.bool_]
    second: npt.NDArray[np.bool_]
    broke: npt.NDArray[np.bool_]
    score: Floats
    relevance: Floats
    nuggets: Floats
    earned: Floats
    rare: Floats
    lost: Floats
    other: npt.NDArray[np.bool_]
    gap: Floats


def played(world: World, rng: np.random.Generator, shape: tuple[int, int, int]) -> Played:
    """shape: simulations, topics, trials."""
    quality, level = world.quality(rng, shape[:2]), world.level(rng, shape[:2])
    changed = np.clip(quality + world.shift(rng, shape[:2]), 0, 1)
    q = quality[:, :, None]
    first = rng.random(shape) < q
    broke = ~first & (rng.random(shape) < BREAKS)
    second = ~broke & (rng.random(shape) < np.where(first, q, _recovers(q)))
    mean = _mean(q)
    score = rng.beta(8 * mean, 8 * (1 - mean), shape) * ~broke
    noise = rng.gamma(4, 0.25, (2, *shape))
    relevance = level[:, :, None] * noise[0] * ~broke
    nuggets = 1 + rng.poisson(2 + 4 * np.broadcast_to(q, shape)).astype(np.float64)
    rare = (rng.random(shape) < 0.5).astype(np.float64)
    return Played(
        quality,
        level,
        changed,
        first,
        second,
        broke,
        score,
        relevance,
        nuggets,
        nuggets * score,
        rare,
        rare * rng.beta(8 * (1 - mean), 8 * mean, shape),
        rng.random(shape) < changed[:, :, None],
        level[:, :, None] * (1 + changed - quality)[:, :, None] * noise[1] - relevance,
    )


def _recovers(q: Floats) -> Floats:
    return 0.1 + 0.6 * q


def _mean(q: Floats) -> Floats:
    return np.clip(q, 0.02, 0.98)


def truths(world: World, here: Played) -> dict[str, Floats]:
    """By figure, (S,) what its interval is to hold: of topics like these, or of the one topic that is played."""
    if here.quality.shape[1] == 1:
        q, level, changed = (part.T for part in (here.quality, here.level, here.changed))
    else:
        rng = np.random.default_rng(1)
        q, level = world.quality(rng, (_GRID, 1)), world.level(rng, (_GRID, 1))
        changed = np.clip(q + world.shift(rng, (_GRID, 1)), 0, 1)

    def over(above: Floats, below: Floats | float = 1.0) -> Floats:
        found: Floats = above.mean(axis=0) / (np.ones_like(above) * below).mean(axis=0)
        return np.broadcast_to(found, here.quality.shape[:1]).copy()

    stays, good, mean = 1 - BREAKS * (1 - q), (1 - BREAKS) * _recovers(q), _mean(q)
    useful = q * q + (1 - q) * good
    missed = 1 - stays + stays * beta_cdf(THRESHOLD, 8 * mean, 8 * (1 - mean))
    rare = 1 - mean
    pooled, second = over((3 + 4 * q) * mean * stays, 3 + 4 * q), over(rare)
    return {
        "useful 1": over(q),
        "useful 2": over(useful),
        "useful": over((q + useful) / 2),
        "x to o": over((1 - q) * good, 1 - q),
        "o to x": over(q * (1 - q), q),
        "x to end": over((1 - q) * BREAKS, 1 - q),
        "insist to o": over((1 - q) * _recovers(q), 1 - q),
        "broke": over(BREAKS * (1 - q)),
        "below": over(missed),
        "score": over(mean * stays),
        "relevance": over(level * stays),
        "pooled": pooled,
        "both": (pooled + 2 * second) / 3,
        "other": over(changed - q),
        "gap": over(level * (1 + changed - q) - level * stays),
    }


def scores_of(world: World, here: Played, trials: int = 20_000) -> tuple[Floats, Floats]:
    """((S, trials) scores, (S, trials) relevances) of one topic each, or (1, …) of topics like these."""
    rng = np.random.default_rng(2)
    if here.quality.shape[1] == 1:
        found = [_more(rng, here.quality, here.level, trials)]
    else:
        found = [_more(rng, world.quality(rng, (1, trials)), world.level(rng, (1, trials)), trials) for _ in range(20)]
    scores, relevances = (np.concatenate([one[side] for one in found], axis=1) for side in (0, 1))
    return scores, relevances


def _more(rng: np.random.Generator, quality: Floats, level: Floats, trials: int) -> tuple[Floats, Floats]:
    shape = len(quality), trials
    stays = (rng.random(shape) < quality) | (rng.random(shape) >= BREAKS)
    mean = _mean(quality)
    return rng.beta(8 * mean, 8 * (1 - mean), shape) * stays, level * rng.gamma(4, 0.25, shape) * stays


COMMON = 6
"""Answers that all topics share, the more frequent the earlier; each topic has as many of its own."""


def answers(
    world: World, rng: np.random.Generator, shape: tuple[int, int, int]
) -> tuple[npt.NDArray[np.int64], Floats]:
    """((S, K, n) which answer was given, (S, K) how much of a topic's answers are common ones)."""
    common = np.clip(world.common(rng, shape[:2]), 0, 1)
    kinds = rng.choice(COMMON, p=chances(), size=shape)
    own = COMMON * (1 + np.arange(shape[1]))[None, :, None]
    return np.where(rng.random(shape) < common[:, :, None], kinds, kinds + own), common


def chances() -> Floats:
    weights = 1 / np.arange(1, COMMON + 1) ** 1.5
    found: Floats = weights / weights.sum()
    return found


def unseen_truth(world: World, given: npt.NDArray[np.int64], common: Floats) -> Floats:
    """(S,) probability that the next trial, of another topic or of the one there is, gives an answer not given yet."""
    share = common[:, 0] if common.shape[1] == 1 else np.full(len(given), _mean_common(world))
    missing = np.stack([~(given == kind).any(axis=(1, 2)) for kind in range(2 * COMMON)], axis=1)
    new = missing[:, :COMMON] @ chances()
    own = missing[:, COMMON:] @ chances() if common.shape[1] == 1 else 1.0
    found: Floats = share * new + (1 - share) * own
    return found


def _mean_common(world: World) -> float:
    return float(np.clip(world.common(np.random.default_rng(1), (_GRID,)), 0, 1).mean())
