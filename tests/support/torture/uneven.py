"""Worlds in which one system, some topics or some trials are unlike the others."""

import numpy as np

from tests.support.torture.bounded import answered, moments
from tests.support.torture.dependent import in_order
from tests.support.torture.heavy import SCALE, levelled
from tests.support.torture.laws import (
    SCORES,
    THREE_LEVELS,
    USEFUL,
    Answers,
    Law,
    beta,
    by_topic,
    fixed,
    gamma,
    kinds,
    slow,
)
from tests.support.torture.study import Floats, Kind, Study
from tests.support.torture.world import world

_ANSWERS = ((USEFUL, Kind.SHARE), (SCORES, Kind.SCORE), (THREE_LEVELS, Kind.SCORE))
ONE_IN_15 = kinds((14 / 15, 12 / 14), (1 / 15, 0.0))
"""One topic in 15 is never answered; the mean is .8."""


@world(
    "{first} for the first system only: {answers}, else {law}",
    "The first system's topics are {first}, the others' {law}; all have one mean.",
    Kind.SHARE,
    "unequal spread of systems",
    [
        {"first": first, "law": law, "answers": answers, "kind": kind}
        for first, law in (
            (ONE_IN_15, beta(8, 2)),
            (ONE_IN_15, kinds((0.5, 0.65), (0.5, 0.95))),
            (beta(3, 2), beta(93, 62)),
        )
        for answers, kind in _ANSWERS
    ],
    systems=(2, 8),
)
def first_alone(
    rng: np.random.Generator, topics: int, trials: int, systems: int, first: Law, law: Law, answers: Answers
) -> Study:
    """Equal means; Beta(3, 2) spreads five times as far as Beta(93, 62)."""
    means = by_topic(rng, law, systems, topics)
    means[0] = first.sample(rng, (topics,))
    exact = {name: values.copy() for name, values in moments(law, answers, systems).items()}
    for name, values in moments(first, answers, 1).items():
        exact[name][0] = values[0]
    return answered(rng, means, trials, answers, exact)


@world(
    "levels {first} for the first system only, else {law}",
    "The first system's levels are {first}, the others' {law}; all have one mean.",
    Kind.UNBOUNDED,
    "unequal spread of systems",
    [
        {"first": slow(1 / 15, 10), "law": gamma(16), "rare": 1 / 15},
        {"first": gamma(1), "law": gamma(25)},
    ],
    systems=(2, 8),
)
def first_levels(rng: np.random.Generator, topics: int, trials: int, systems: int, first: Law, law: Law) -> Study:
    """As above, of a measure without a top."""
    levels = by_topic(rng, law, systems, topics)
    levels[0] = first.sample(rng, (topics,))
    return levelled(rng, levels, trials, gamma(16), {"mean": np.full(systems, SCALE)})


@world(
    "{rate:.0%} of {what} fail wholly, the rest hardly ever: {answers}",
    "A value is near the top ({answers} of .99) but for {rate:.0%} of {what}, where it is 0.",
    Kind.SHARE,
    "high mean",
    [
        {"rate": rate, "what": what, "answers": answers, "kind": kind}
        for rate in (0.01, 0.04)
        for what in ("topics", "trials")
        for answers, kind in _ANSWERS[:2]
    ],
)
def fails_wholly(
    rng: np.random.Generator, topics: int, trials: int, systems: int, rate: float, what: str, answers: Answers
) -> Study:
    """A ceiling with a rare total failure, each system's own."""
    up, kept = 0.99, 1 - rate
    if what == "topics":
        law = kinds((kept, up), (rate, 0.0))
        return answered(rng, law.sample(rng, (systems, topics)), trials, answers, moments(law, answers, systems))
    means = np.full((systems, topics), up * kept)
    values = answers.sample(rng, np.full((systems, topics, trials), up))
    values = values * (rng.random(values.shape) < kept)
    within = kept * (answers.factor * up * (1 - up) + up**2) - (kept * up) ** 2
    exact = {
        "mean": np.full(systems, up * kept),
        "between": np.zeros(systems),
        "within": np.full(systems, within),
    }
    return Study(values, means, np.full_like(means, within), exact=exact)


@world(
    "{copied:.0%} of topics repeat their first trial: {answers}, {law}",
    "In {copied:.0%} of topics a cache gives the first trial again; topics differ by {law}.",
    Kind.SHARE,
    "copied trials",
    [
        {"copied": copied, "law": law, "answers": answers, "kind": kind}
        for copied in (0.2, 0.5)
        for law in (beta(3, 2), fixed(0.7))
        for answers, kind in _ANSWERS
    ],
    least=(2, 2),
    hidden="nobody said that trials are copies of each other",
)
def copies(
    rng: np.random.Generator, topics: int, trials: int, systems: int, copied: float, law: Law, answers: Answers
) -> Study:
    """The truth of these topics is what they would give without the cache."""
    study = answered(rng, by_topic(rng, law, systems, topics), trials, answers, {})
    again = (rng.random((systems, topics)) < copied)[..., None]
    exact = {name: moments(law, answers, systems)[name] for name in ("mean", "between")}
    return Study(np.where(again, study.values[..., :1], study.values), study.means, exact=exact)


@world(
    "every system misses {what}: {answers}, {law}",
    "Systems are alike ({law}), and each lacks {what}, whatever the values.",
    Kind.SHARE,
    "equal loss",
    [
        {"what": what, "law": law, "answers": answers, "kind": kind}
        for what in ("a tenth of its topics", "all but a few trials of half of its topics")
        for law in (beta(3, 2), kinds((0.9, 0.95), (0.1, 0.1)))
        for answers, kind in _ANSWERS[:2]
    ],
    least=(4, 1),
    systems=(2, 8),
)
def missing_cells(
    rng: np.random.Generator, topics: int, trials: int, systems: int, what: str, law: Law, answers: Answers
) -> Study:
    """Each system lacks cells of its own, at random."""
    study = answered(rng, by_topic(rng, law, systems, topics), trials, answers, moments(law, answers, systems))
    if what == "a tenth of its topics":
        gone = np.broadcast_to((rng.random((systems, topics)) < 0.1)[..., None], study.values.shape).copy()
        gone[:, 0] = False  # a study without any topic is none
    else:
        gone = (rng.random((systems, topics)) < 0.5)[..., None] & (rng.random(study.values.shape) < 0.6)
        gone[..., 0] = False
    values: Floats = np.where(gone, np.nan, study.values)
    return Study(values, study.means, study.variances, complete=study.values, exact=study.exact)


@world(
    "the first system {way}: {answers}",
    "The first system's answers {way} linearly in the course of the run, from .2 to 1 or back; all have one mean.",
    Kind.SHARE,
    "trials in time",
    [{"way": way, "answers": answers, "kind": kind} for way in ("rises", "falls") for answers, kind in _ANSWERS[:2]],
    least=(2, 4),
    systems=(2, 8),
)
def trend_of_one(rng: np.random.Generator, topics: int, trials: int, systems: int, way: str, answers: Answers) -> Study:
    """The truth is the mean over the run's own schedule."""
    law = beta(12, 8)
    means = by_topic(rng, law, systems, topics)
    factor = np.ones((systems, trials))
    factor[0] += 2 / 3 * np.linspace(-1, 1, trials) * (1 if way == "rises" else -1)
    values = answers.sample(rng, np.minimum(means[..., None] * factor[:, None, :], 1.0))
    own = np.minimum(means[..., None] * factor[:, None, :], 1.0).mean(axis=-1)
    return Study(values, own, times=in_order(rng, systems, topics, trials), exact={})
