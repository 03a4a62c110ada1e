"""Worlds in which topics, sessions or trials hang together."""

import numpy as np
from scipy import special

from tests.support.torture.bounded import answered, moments
from tests.support.torture.laws import SCORES, USEFUL, Answers, Law, beta, by_topic, correlated, gamma, kinds, lognormal
from tests.support.torture.study import Floats, Integers, Kind, Study
from tests.support.torture.world import world

NOBODY = "nobody named the clusters"
UNDECLARED = "nobody declared that the trials are sessions that go on"
LOAD = "all topics share a load, which looks like a few good and bad trials"


def _equal(rng: np.random.Generator, topics: int) -> Integers:
    return np.arange(topics) // 5


def _unequal(rng: np.random.Generator, topics: int) -> Integers:
    sizes = rng.choice([1, 1, 2, 3, 5, 8, 13], topics)
    return np.repeat(np.arange(topics), sizes)[:topics]


def _half(rng: np.random.Generator, topics: int) -> Integers:
    return np.maximum(0, np.arange(topics) - (topics - 1) // 2)


SIZES = {"of five": _equal, "of 1 to 13": _unequal, "of half of the topics, the others alone": _half}


def _clusters(kind: Kind) -> list[dict[str, object]]:
    laws = [(beta(2, 2), USEFUL), (kinds((0.3, 0.1), (0.7, 0.9)), USEFUL), (kinds((0.9, 0.95), (0.1, 0.0)), USEFUL)]
    if kind is Kind.SCORE:
        laws = [(beta(2, 2), SCORES), (beta(8, 2), SCORES)]
    return [
        {"law": law, "answers": answers, "sizes": sizes, "alike_share": share, "named": named, "kind": kind}
        | ({"said": "named", "hidden": None} if named else {"said": "not named", "hidden": NOBODY})
        for law, answers in laws
        for sizes in SIZES
        for share in (1.0, 0.7)
        for named in (True, False)
        if sizes == "of five" or share == 1.0
    ]


@world(
    "clusters {sizes}, {said}, {alike_share:.0%} alike: {answers}, {law}",
    "Topics come in clusters {sizes}; {alike_share:.0%} of them have their cluster's value ({law}).",
    Kind.SHARE,
    "clusters of topics",
    [*_clusters(Kind.SHARE), *_clusters(Kind.SCORE)],
    least=(4, 1),
)
def clusters(
    rng: np.random.Generator,
    topics: int,
    trials: int,
    systems: int,
    law: Law,
    answers: Answers,
    sizes: str,
    alike_share: float,
    named: bool,
    said: str,
) -> Study:
    """Near-duplicates: what one topic of a cluster shows, the others show too, each system in its own way."""
    of = SIZES[sizes](rng, topics)
    shared = law.sample(rng, (systems, topics))[:, of]
    means = np.where(rng.random(topics) < alike_share, shared, law.sample(rng, (systems, topics)))
    study = answered(rng, means, trials, answers, moments(law, answers, systems))
    return Study(study.values, means, study.variances, clusters=of if named else None, exact=study.exact)


@world(
    "large clusters easier, {said}",
    "One topic in ten is alone (Beta mean .4), the others come in clusters of nine (Beta mean .8).",
    Kind.SHARE,
    "clusters of topics",
    [{"said": "named", "named": True, "hidden": None}, {"said": "not named", "named": False, "hidden": NOBODY}],
    least=(8, 1),
)
def informative_sizes(
    rng: np.random.Generator, topics: int, trials: int, systems: int, named: bool, said: str
) -> Study:
    """The size of a cluster says how easy it is. The truth counts topics, not clusters."""
    alone = rng.random(topics) < 0.1
    of = np.where(alone, np.arange(topics) + topics, np.cumsum(~alone) // 9)
    drawn = np.where(
        alone, rng.beta(4, 6, (systems, topics)), rng.beta(8, 2, (systems, topics))[:, np.cumsum(~alone) // 9]
    )
    study = answered(rng, drawn, trials, USEFUL, {"mean": np.full(systems, 0.76)})
    return Study(study.values, drawn, study.variances, clusters=of if named else None, exact=study.exact)


def _sessions() -> list[dict[str, object]]:
    return [
        {"good": good, "low": low, "declared": declared, "said": "declared" if declared else "not declared"}
        | {"hidden": None if declared else UNDECLARED}
        for good, low in ((0.5, 0.2), (0.7, 0.7), (0.9, 0.0))
        for declared in (True, False)
    ]


@world(
    "sessions with a state, {said}: {good:.0%} good, else ×{low}",
    "Each trial is a session through all topics; one in a bad state ({good:.0%} are not) answers ×{low} as often.",
    Kind.SHARE,
    "sessions",
    _sessions(),
    least=(2, 2),
)
def sessions(
    rng: np.random.Generator,
    topics: int,
    trials: int,
    systems: int,
    good: float,
    low: float,
    declared: bool,
    said: str,
) -> Study:
    """The state of a session holds for all its topics; each system has sessions of its own."""
    law = beta(6, 2)
    drawn = by_topic(rng, law, systems, topics)
    state = np.where(rng.random((systems, 1, trials)) < good, 1.0, low)
    middle = good + (1 - good) * low
    values = USEFUL.sample(rng, drawn[..., None] * state)
    exact = {"mean": np.full(systems, law.mean * middle), "between": np.full(systems, law.variance * middle**2)}
    return Study(values, drawn * middle, continued=declared, exact=exact)


@world(
    "sessions with a level, {said}: {what}",
    "Each trial is a session through all topics; its level moves all of its {what}.",
    Kind.SCORE,
    "sessions",
    [
        {"what": what, "kind": kind, "declared": declared, "said": "declared" if declared else "not declared"}
        | {"hidden": None if declared else UNDECLARED}
        for what, kind in (("scores", Kind.SCORE), ("latencies", Kind.UNBOUNDED))
        for declared in (True, False)
    ],
    least=(2, 2),
)
def session_levels(
    rng: np.random.Generator, topics: int, trials: int, systems: int, what: str, declared: bool, said: str
) -> Study:
    """Scores times a Beta(8, 2) level with mean .8, or latencies times a gamma 4 level with mean 1."""
    if what == "scores":
        law, middle = beta(6, 2), 0.8
        drawn = by_topic(rng, law, systems, topics)
        values = SCORES.sample(rng, drawn[..., None] * rng.beta(8, 2, (systems, 1, trials)))
    else:
        law, middle = lognormal(0.5), 1.0
        drawn = by_topic(rng, law, systems, topics)
        level = gamma(4).sample(rng, (systems, 1, trials)) * gamma(16).sample(rng, (systems, topics, trials))
        values = drawn[..., None] * level
    exact = {"mean": np.full(systems, law.mean * middle), "between": np.full(systems, law.variance * middle**2)}
    return Study(values, drawn * middle, continued=declared, exact=exact)


@world(
    "sessions that stay lost, {said}",
    "In a session an answer goes wrong for good now and then: ×.2 for about ten topics, until it recovers.",
    Kind.SHARE,
    "sessions",
    [
        {"said": "declared", "declared": True, "hidden": None},
        {"said": "not declared", "declared": False, "hidden": UNDECLARED},
    ],
    least=(4, 2),
)
def carry_over(rng: np.random.Generator, topics: int, trials: int, systems: int, declared: bool, said: str) -> Study:
    """A Markov chain over a session's topics in order: it goes bad with .05 and comes back with .1 at each."""
    law = beta(6, 2)
    drawn = by_topic(rng, law, systems, topics)
    bad = np.empty((systems, topics, trials), dtype=bool)
    bad[:, 0] = rng.random((systems, trials)) < 1 / 3
    for topic in range(1, topics):
        bad[:, topic] = np.where(
            bad[:, topic - 1], rng.random((systems, trials)) >= 0.1, rng.random((systems, trials)) < 0.05
        )
    middle = 2 / 3 + 0.2 / 3
    values = USEFUL.sample(rng, drawn[..., None] * np.where(bad, 0.2, 1.0))
    exact = {"mean": np.full(systems, law.mean * middle), "between": np.full(systems, law.variance * middle**2)}
    return Study(values, drawn * middle, continued=declared, exact=exact)


def autoregressive(rng: np.random.Generator, shape: tuple[int, ...], phi: float) -> Floats:
    """Standard normal values whose last axis is a stationary AR(1) with coefficient phi."""
    drawn = rng.standard_normal(shape)
    for at in range(1, shape[-1]):
        drawn[..., at] = phi * drawn[..., at - 1] + np.sqrt(1 - phi**2) * drawn[..., at]
    return drawn


def in_order(rng: np.random.Generator, systems: int, topics: int, trials: int) -> Floats:
    """(systems, topics, trials) times: trial after trial, and topics and systems in a new order in each."""
    within = rng.permuted(np.broadcast_to(np.arange(systems * topics), (trials, systems * topics)), axis=1)
    return ((np.arange(trials)[:, None] + within / (systems * topics)) / trials).T.reshape(systems, topics, trials)


@world(
    "trials in time, φ {phi}: {what}, {law}",
    "Trials of a topic follow an AR(1) with φ {phi}.",
    Kind.SHARE,
    "trials in time",
    [
        {"phi": phi, "what": what, "law": law, "load": 0.0, "kind": kind, "few": few if kind is Kind.SHARE else 0}
        for phi, few in ((0.5, 200), (0.8, 250))
        for what, kind in (("useful or not", Kind.SHARE), ("scores", Kind.SCORE))
        for law in (beta(4, 2), correlated(0.85, 0.2))
    ],
    least=(1, 4),
)
@world(
    "load over all topics, φ {phi}: {what}",
    "Trials share a load that follows an AR(1) with φ {phi} and makes half of their spread.",
    Kind.SHARE,
    "trials in time",
    [
        {"phi": phi, "what": what, "law": beta(4, 2), "load": 0.5, "kind": kind}
        for phi in (0.0, 0.5, 0.8)
        for what, kind in (("useful or not", Kind.SHARE), ("scores", Kind.SCORE))
    ],
    least=(2, 4),
    hidden=LOAD,
)
def in_time(
    rng: np.random.Generator, topics: int, trials: int, systems: int, phi: float, what: str, law: Law, load: float
) -> Study:
    """A Gaussian AR(1) under each value: the law of a single value is that of an independent trial."""
    means = by_topic(rng, law, systems, topics)
    under = np.sqrt(1 - load) * autoregressive(rng, (systems, topics, trials), phi)
    if load:
        under = under + np.sqrt(load) * autoregressive(rng, (systems, 1, trials), phi)
    chance = special.ndtr(under)
    repeated = np.repeat(means[..., None], trials, axis=-1)
    if what == "scores":
        inner = np.clip(repeated, 1e-6, 1 - 1e-6)
        values = special.betaincinv(9 * inner, 9 * (1 - inner), chance)
    else:
        values = (chance < repeated).astype(float)
    exact = {"mean": np.full(systems, law.mean), "between": np.full(systems, law.variance)}
    return Study(values, means, times=in_order(rng, systems, topics, trials), exact=exact)


@world(
    "a step half way: {who}",
    "Half way through the run {who} answers usefully .6 as often.",
    Kind.SHARE,
    "trials in time",
    [{"who": "every system"}, {"who": "the last system", "systems": (2, 8), "alike": False}],
    least=(2, 4),
)
def step(rng: np.random.Generator, topics: int, trials: int, systems: int, who: str) -> Study:
    """The truth is the mean over the run's own schedule."""
    law = beta(6, 2)
    drawn = by_topic(rng, law, systems, topics)
    after = np.where(np.arange(trials) < trials // 2, 1.0, 0.6)
    factor = np.broadcast_to(after, (systems, trials)).copy()
    if who == "the last system":
        factor[:-1] = 1.0
    middle = factor.mean(axis=1)
    values = USEFUL.sample(rng, drawn[..., None] * factor[:, None, :])
    return Study(
        values, drawn * middle[:, None], times=in_order(rng, systems, topics, trials), exact={"mean": law.mean * middle}
    )


@world(
    "time of day",
    "The run goes round the clock, and answers are useful up to .54 as often at the worst hour.",
    Kind.SHARE,
    "trials in time",
    least=(2, 4),
)
def time_of_day(rng: np.random.Generator, topics: int, trials: int, systems: int) -> Study:
    """The hour of the day moves all topics; over the whole day it comes to 1/1.3 of the best hour."""
    law = beta(6, 2)
    drawn = by_topic(rng, law, systems, topics)
    times = in_order(rng, systems, topics, trials)
    hour = (1 + 0.3 * np.sin(2 * np.pi * (times + rng.random()))) / 1.3
    values = USEFUL.sample(rng, drawn[..., None] * hour)
    return Study(values, drawn / 1.3, times=times, exact={"mean": np.full(systems, law.mean / 1.3)})


@world(
    "clusters of five, {said}: R",
    "Topics come in clusters of five with one level each (lognormal σ .5).",
    Kind.UNBOUNDED,
    "clusters of topics",
    [{"said": "named", "named": True, "hidden": None}, {"said": "not named", "named": False, "hidden": NOBODY}],
    least=(4, 1),
)
def clustered_levels(rng: np.random.Generator, topics: int, trials: int, systems: int, named: bool, said: str) -> Study:
    """Clusters of a measure without a top."""
    law, noise, of = lognormal(0.5), gamma(4), _equal(rng, topics)
    means = 0.01 * law.sample(rng, (systems, topics))[:, of]
    exact = {"mean": np.full(systems, 0.01), "between": np.full(systems, 1e-4 * law.variance)}
    values = means[..., None] * noise.sample(rng, (systems, topics, trials))
    return Study(values, means, means**2 * noise.variance, clusters=of if named else None, exact=exact)
