"""Worlds in which attempts are lost, and what is lost depends on what it would have been."""

import functools

import numpy as np

from tests.support.torture.bounded import answered, moments
from tests.support.torture.laws import SCORES, USEFUL, Answers, Law, beta, by_topic, correlated, gamma, kinds, lognormal
from tests.support.torture.study import Floats, Kind, Study
from tests.support.torture.world import world
from topics.identity import generator

_ALL = [
    {"law": law, "answers": answers, "kind": kind, **loss}
    for answers, kind in ((USEFUL, Kind.SHARE), (SCORES, Kind.SCORE))
    for law in (beta(3, 2), correlated(0.85, 0.2), kinds((0.9, 0.95), (0.1, 0.1)))
    for loss in (
        {"of": "half of its failures", "bad": 0.5, "good": 0.0},
        {"of": "a tenth of its failures", "bad": 0.1, "good": 0.0},
        {"of": "a third of its useful ones", "bad": 0.0, "good": 0.33},
        {"of": "a fifth of all, at random", "bad": 0.2, "good": 0.2},
    )
]


@world(
    "the last system loses {of}: {answers}, {law}",
    "Systems are alike ({law}), and the last one loses {of}.",
    Kind.SHARE,
    "unequal loss",
    _ALL,
)
def loses(
    rng: np.random.Generator,
    topics: int,
    trials: int,
    systems: int,
    law: Law,
    answers: Answers,
    of: str,
    bad: float,
    good: float,
) -> Study:
    """bad, good: the chance that a value below .5, or not below it, is lost."""
    study = answered(rng, by_topic(rng, law, systems, topics), trials, answers, moments(law, answers, systems))
    chance = np.where(study.values[-1] < 0.5, bad, good)
    values = study.values.copy()
    values[-1][rng.random(chance.shape) < chance] = np.nan
    return Study(values, study.means, study.variances, complete=study.values, exact=study.exact)


@world(
    "every system loses a third of its failures: {answers}, {law}",
    "Systems are alike ({law}), and each loses a third of its failures.",
    Kind.SHARE,
    "equal loss",
    [{"law": law, "answers": USEFUL} for law in (beta(3, 2), correlated(0.85, 0.2))],
)
def all_lose(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, answers: Answers) -> Study:
    """Loss depends on the outcome and is alike for all."""
    study = answered(rng, by_topic(rng, law, systems, topics), trials, answers, moments(law, answers, systems))
    gone = (study.values < 0.5) & (rng.random(study.values.shape) < 0.33)
    return Study(
        np.where(gone, np.nan, study.values), study.means, study.variances, complete=study.values, exact=study.exact
    )


@world(
    "the last system loses whole topics, {which}",
    "Systems are alike (Beta(3, 2)), and the last one loses all trials of some topics: {which}.",
    Kind.SHARE,
    "unequal loss",
    [{"which": "a tenth at random"}, {"which": "half of those below .5"}],
    least=(4, 1),
)
def whole_topics(rng: np.random.Generator, topics: int, trials: int, systems: int, which: str) -> Study:
    """A site that never answers some topics."""
    law = beta(3, 2)
    study = answered(rng, by_topic(rng, law, systems, topics), trials, USEFUL, moments(law, USEFUL, systems))
    chance = 0.1 if which == "a tenth at random" else 0.5 * (study.means[-1] < 0.5)
    gone = rng.random(topics) < chance
    gone[0] = False  # a study without any topic is none
    values = study.values.copy()
    values[-1, gone] = np.nan
    return Study(values, study.means, study.variances, complete=study.values, exact=study.exact)


@world(
    "each loses {rate:.0%}, in opposite directions: {answers}, {law}",
    "Systems are alike ({law}); {rate:.0%} of attempts are lost, low ones of the first system and high ones of others.",
    Kind.SHARE,
    "unequal loss",
    [
        {"rate": rate, "law": law, "answers": answers, "kind": kind}
        for rate in (0.01, 0.02, 0.04)
        for law in (beta(3, 2), kinds((0.9, 0.95), (0.1, 0.1)))
        for answers, kind in ((USEFUL, Kind.SHARE), (SCORES, Kind.SCORE))
    ],
    least=(4, 1),
    systems=(2, 8),
)
def opposite(
    rng: np.random.Generator, topics: int, trials: int, systems: int, rate: float, law: Law, answers: Answers
) -> Study:
    """Equal shares are lost, so that nothing seems to be wrong."""
    study = answered(rng, by_topic(rng, law, systems, topics), trials, answers, moments(law, answers, systems))
    values = study.values.copy()
    for at, own in enumerate(values):
        below = own < 0.5
        kind = below if at == 0 else ~below
        chance = np.where(kind, min(1.0, rate / max(float(kind.mean()), 1e-9)), 0.0)
        own[rng.random(own.shape) < chance] = np.nan
    return Study(values, study.means, study.variances, complete=study.values, exact=study.exact)


@functools.cache
def _long(sigma: float) -> float:
    rng = generator(31, "long answers", str(sigma))
    return float(np.quantile(lognormal(sigma).sample(rng, (1_000_000,)) * gamma(4).sample(rng, (1_000_000,)), 0.9))


@world(
    "the last system loses long answers: latency, σ {sigma}",
    "Systems are alike, and of the last one's longest tenth four in five are lost, as after a time limit.",
    Kind.UNBOUNDED,
    "unequal loss",
    [{"sigma": 0.5}, {"sigma": 1.0}],
)
def long_ones(rng: np.random.Generator, topics: int, trials: int, systems: int, sigma: float) -> Study:
    """A measure without a top has no worst case for what was lost."""
    law, noise = lognormal(sigma), gamma(4)
    means = by_topic(rng, law, systems, topics)
    complete = means[..., None] * noise.sample(rng, (systems, topics, trials))
    values: Floats = complete.copy()
    values[-1][(complete[-1] > _long(sigma)) & (rng.random(complete[-1].shape) < 0.8)] = np.nan
    exact = {"mean": np.ones(systems), "between": np.full(systems, law.variance)}
    return Study(values, means, means**2 * noise.variance, complete=complete, exact=exact)
