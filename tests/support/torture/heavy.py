"""Worlds of measures without a top: R, latency, tokens."""

import math

import numpy as np

from scoring.inference.interval import FEWEST_WITHOUT_END
from tests.support.torture.laws import (
    Law,
    by_topic,
    exponentials,
    fixed,
    folded_t,
    gamma,
    loglogistic,
    lognormal,
    pareto,
    slow,
    weibull,
    with_zeros,
)
from tests.support.torture.study import Floats, Kind, Study
from tests.support.torture.world import world

SCALE = 0.01
"""The mean of a system: that of R. Nothing may depend on it."""
QUIET = gamma(4)
"""How trials of one topic scatter about its level, where nothing else is said."""


def moments(law: Law, noise: Law, systems: int) -> dict[str, Floats]:
    """The truths of level · noise; infinite where a variance is."""
    square = law.variance + law.mean**2
    return {
        "mean": np.full(systems, SCALE * law.mean),
        "between": np.full(systems, SCALE**2 * law.variance),
        "within": np.full(systems, SCALE**2 * square * noise.variance),
    }


def levelled(rng: np.random.Generator, levels: Floats, trials: int, noise: Law, exact: dict[str, Floats]) -> Study:
    """A study with independent trials about levels (systems, topics)."""
    means = SCALE * levels
    values = means[..., None] * noise.sample(rng, (*means.shape, trials))
    variances = means**2 * noise.variance if math.isfinite(noise.variance) else None
    return Study(values, means, variances, exact=exact)


RARE = {
    law.name: share
    for law, share in (*((slow(rate, 10), rate) for rate in (0.03, 0.05, 0.10)), (exponentials(0.05, 20), 0.05))
}
"""Laws under which few topics decide the mean, and which share they are."""
LIGHT = [gamma(4), gamma(1), lognormal(0.5)]
HEAVY = [
    lognormal(1),
    lognormal(1.5),
    pareto(1.5),
    pareto(2.1),
    pareto(3),
    loglogistic(1.7),
    loglogistic(2.5),
    exponentials(0.05, 20),
    folded_t(2.5),
    folded_t(1.7),
    weibull(0.5),
]


def _over(laws: list[Law], *noises: Law) -> list[dict[str, object]]:
    return [
        {"law": law, "noise": noise} | ({"rare": RARE[law.name]} if law.name in RARE else {})
        for law in laws
        for noise in noises or (QUIET,)
    ]


@world("R, {law}", "Levels of topics: {law}.", Kind.UNBOUNDED, "light tails", _over(LIGHT))
@world("R, {law}", "Levels of topics: {law}.", Kind.UNBOUNDED, "heavy tails", _over(HEAVY))
@world(
    "R, {law}",
    "Levels of topics: {law}.",
    Kind.UNBOUNDED,
    "zero-inflated",
    _over([with_zeros(lognormal(0.5), 0.3), with_zeros(gamma(4), 0.8)]),
)
@world(
    "latency, {law}",
    "Few topics are slow: {law}.",
    Kind.UNBOUNDED,
    "rare bad topics",
    _over([slow(0.03, 10), slow(0.05, 10), slow(0.10, 10), slow(0.5, 4)]),
    fewest=FEWEST_WITHOUT_END,
)
@world(
    "R, {law}, trials {noise}",
    "Topics: {law}; trials scatter by {noise}.",
    Kind.UNBOUNDED,
    "heavy trials",
    _over([fixed(1), gamma(4)], lognormal(1), lognormal(1.5), pareto(2.1)),
)
def levels(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, noise: Law) -> Study:
    """Systems alike in law: half of the topics are the same for all, the others each system's own."""
    return levelled(rng, by_topic(rng, law, systems, topics), trials, noise, moments(law, noise, systems))


@world(
    "counts of {per}, {law}",
    "Small whole numbers, {per} in the mean (entities, turns): Poisson about levels {law}.",
    Kind.UNBOUNDED,
    "ties",
    [{"per": per, "law": law} for per in (0.3, 4) for law in (fixed(1), gamma(1), lognormal(1))],
)
def counts(rng: np.random.Generator, topics: int, trials: int, systems: int, per: float, law: Law) -> Study:
    """Many values are equal, and many 0."""
    means = per * by_topic(rng, law, systems, topics)
    values = rng.poisson(np.repeat(means[..., None], trials, axis=-1)).astype(float)
    exact = {
        "mean": np.full(systems, per),
        "between": np.full(systems, per**2 * law.variance),
        "within": np.full(systems, per),
    }
    return Study(values, means, means.copy(), exact=exact)


@world(
    "one system steady: R, {law}",
    "The first system has one level on all topics, the others {law}, all with one mean.",
    Kind.UNBOUNDED,
    "unequal spread of systems",
    _over([lognormal(0.5), lognormal(1), lognormal(1.5), pareto(2.1), loglogistic(2.5), slow(0.05, 10)]),
    systems=(2, 8),
)
def one_steady(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, noise: Law) -> Study:
    """Equal means; one system is steady, the others each draw topics of their own."""
    drawn = by_topic(rng, law, systems, topics, common=0)
    drawn[0] = 1.0
    exact = moments(law, noise, systems)
    exact["between"][0], exact["within"][0] = 0.0, SCALE**2 * noise.variance
    return levelled(rng, drawn, trials, noise, exact)


@world(
    "one system far off: R, {law}",
    "Systems are alike but for the last, whose levels are .4 of theirs: {law}.",
    Kind.UNBOUNDED,
    "one system far off",
    _over([lognormal(0.5), lognormal(1)]),
    systems=(2, 8),
    alike=False,
)
def one_far(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, noise: Law) -> Study:
    """The others are alike: among them every winner is a wrong one."""
    drawn = by_topic(rng, law, systems, topics)
    drawn[-1] *= 0.4
    exact = moments(law, noise, systems)
    exact["mean"][-1] *= 0.4
    exact["between"][-1] *= 0.16
    exact["within"][-1] *= 0.16
    return levelled(rng, drawn, trials, noise, exact)


@world(
    "trials of unequal spread: R",
    "One topic in five has trials that scatter by lognormal σ 1.5, the others by gamma 16.",
    Kind.UNBOUNDED,
    "trials of unequal spread",
)
def unequal_trials(rng: np.random.Generator, topics: int, trials: int, systems: int) -> Study:
    """The variance within a topic differs by topic, unrelated to its level."""
    law, calm, wild = gamma(4), gamma(16), lognormal(1.5)
    means = SCALE * by_topic(rng, law, systems, topics)
    rough = rng.random(topics) < 0.2
    shape = (systems, topics, trials)
    noise = np.where(rough[:, None], wild.sample(rng, shape), calm.sample(rng, shape))
    variance = np.where(rough, wild.variance, calm.variance)
    square = SCALE**2 * (1 + law.variance)
    exact = moments(law, calm, systems) | {
        "within": np.full(systems, square * (0.2 * wild.variance + 0.8 * calm.variance))
    }
    return Study(means[..., None] * noise, means, means**2 * variance, exact=exact)


@world(
    "warm cache: latency",
    "The first trial of a topic takes four times as long as the later ones.",
    Kind.UNBOUNDED,
    "trials in time",
    least=(2, 2),
    fewest=FEWEST_WITHOUT_END,
)
def warm_cache(rng: np.random.Generator, topics: int, trials: int, systems: int) -> Study:
    """The truth is the mean over the trials of this schedule: it depends on how many there are."""
    law = lognormal(0.5)
    drawn = SCALE * by_topic(rng, law, systems, topics)
    times = np.where(np.arange(trials) == 0, 4.0, 1.0)
    values = drawn[..., None] * times * QUIET.sample(rng, (systems, topics, trials))
    mean = times.mean()
    return Study(values, drawn * mean, exact={"mean": np.full(systems, SCALE * mean)})
