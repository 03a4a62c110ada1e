"""Worlds at the ends of what a measure can be: a system that is always right, never right or always zero."""

import numpy as np

from tests.support.torture.bounded import answered, moments
from tests.support.torture.heavy import SCALE, levelled
from tests.support.torture.laws import SCORES, USEFUL, Answers, Law, beta, fixed, gamma, kinds, lognormal, pareto
from tests.support.torture.study import Kind, Study
from tests.support.torture.turns import played
from tests.support.torture.watched import over_runs
from tests.support.torture.world import world

_LAWS = (beta(2, 2), fixed(0.9), kinds((0.95, 1.0), (0.05, 0.0)), kinds((0.5, 0.0), (0.5, 1.0)))


@world(
    "the first system always at {end:g}: {answers}, {law}",
    "All values of the first system are {end:g}; the others follow {law}.",
    Kind.SHARE,
    "one system at an end",
    [
        {"end": end, "law": law, "answers": answers, "kind": kind}
        for end in (0.0, 1.0)
        for law in _LAWS
        for answers, kind in ((USEFUL, Kind.SHARE), (SCORES, Kind.SCORE))
    ],
    systems=(2, 8),
    alike=False,
)
def one_at_an_end(
    rng: np.random.Generator, topics: int, trials: int, systems: int, end: float, law: Law, answers: Answers
) -> Study:
    """The first system has no spread at all."""
    means = law.sample(rng, (systems, topics))
    means[0] = end
    exact = {name: values.copy() for name, values in moments(law, answers, systems).items()}
    for name, value in (("mean", end), ("between", 0.0), ("within", 0.0)):
        exact[name][0] = value
    return answered(rng, means, trials, answers, exact)


@world(
    "all systems always at {end:g}",
    "All values of all systems are {end:g}.",
    Kind.SHARE,
    "one system at an end",
    [{"end": 0.0}, {"end": 1.0}],
)
def all_at_an_end(rng: np.random.Generator, topics: int, trials: int, systems: int, end: float) -> Study:
    """Nothing varies."""
    law = fixed(end)
    return answered(rng, law.sample(rng, (systems, topics)), trials, USEFUL, moments(law, USEFUL, systems))


@world(
    "watch, τ {tau}: level {level}, {end:g} at last",
    "All trials of the audit have the value {end:g}; run effects of sd {tau} in logits.",
    Kind.WATCH,
    "runs of a watch",
    [
        {"tau": tau, "level": level, "end": end}
        for tau in (0.0, 0.15, 0.3)
        for level in (0.3, 0.6, 0.95)
        for end in (0.0, 1.0)
    ],
    systems=(2, 16),
    alike=False,
)
def watch_to_an_end(
    rng: np.random.Generator, topics: int, trials: int, systems: int, tau: float, level: float, end: float
) -> Study:
    """The audit has no spread at all."""
    base = np.clip(rng.beta(8 * level, 8 * (1 - level), topics), 0.005, 0.995)
    logits = np.log(base / (1 - base)) + tau * rng.standard_normal((systems, 1))
    values = (rng.random((systems, topics, trials)) < (1 / (1 + np.exp(-logits)))[..., None]).astype(float)
    values[-1] = end
    means = np.repeat(over_runs(base, tau)[None], systems, axis=0)
    means[-1] = end
    return Study(values, means)


@world(
    "fails in {failing:.0%}, recovers in {first:.0%} against {others:.0%}",
    "First turns fail in {failing:.0%}; the first system recovers in {first:.0%}, the others in {others:.0%}.",
    Kind.TURNS,
    "recovery at an end",
    [
        {"failing": failing, "first": first, "others": others}
        for failing in (0.05, 0.3, 1.0)
        for first, others in ((1.0, 0.7), (0.0, 0.3), (1.0, 1.0), (1.0, 0.0))
    ],
    systems=(2, 8),
    alike=False,
)
def recovers_at_an_end(
    rng: np.random.Generator, topics: int, trials: int, systems: int, failing: float, first: float, others: float
) -> Study:
    """All or none of the first system's failures are recovered from."""
    fails = rng.beta(3 * failing, 3 * (1 - failing), (systems, topics)) if failing < 1 else np.ones((systems, topics))
    recovers = np.full((systems, topics), others)
    recovers[0] = first
    exact = {"recovery": recovers[:, 0].copy(), "mean": np.full(systems, 1 - failing)}
    return played(rng, fails, recovers, trials, exact)


@world(
    "the first system always at 0: levels {law}",
    "All values of the first system are 0; the others have levels of {law}.",
    Kind.UNBOUNDED,
    "one system at an end",
    [{"law": law} for law in (gamma(4), lognormal(1), pareto(2.1))],
    systems=(2, 8),
    alike=False,
)
def one_at_nothing(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law) -> Study:
    """A measure without a top, which one system never has."""
    levels = law.sample(rng, (systems, topics))
    levels[0] = 0.0
    mean = np.full(systems, SCALE * law.mean)
    mean[0] = 0.0
    return levelled(rng, levels, trials, gamma(4), {"mean": mean})


@world(
    "hard topics lose {lost:.0%}: {law}",
    "Systems are alike ({law}), and topics below .5 lose {lost:.0%} of their trials, whatever their values.",
    Kind.SHARE,
    "unequal numbers of trials",
    [{"law": law, "lost": lost} for law in (beta(2, 2), kinds((0.3, 0.1), (0.7, 0.9))) for lost in (0.5, 0.8)],
)
def hard_topics_lose(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, lost: float) -> Study:
    """Numbers of trials go with the mean of the topic; one trial of each stays."""
    study = answered(
        rng, law.sample(rng, (1, topics)).repeat(systems, axis=0), trials, USEFUL, moments(law, USEFUL, systems)
    )
    gone = (rng.random(study.values.shape) < lost) & (study.means < 0.5)[..., None]
    gone[..., 0] = False
    values = np.where(gone, np.nan, study.values)
    return Study(values, study.means, study.variances, complete=study.values, exact=study.exact)
