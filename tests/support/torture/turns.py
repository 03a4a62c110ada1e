"""Worlds of two turns: a first answer that is useful or fails, and a second that recovers or does not."""

import numpy as np

from tests.support.torture.laws import Law, beta, fixed, kinds
from tests.support.torture.study import Floats, Kind, Study
from tests.support.torture.world import world


def played(
    rng: np.random.Generator, failing: Floats, recovering: Floats, trials: int, exact: dict[str, Floats]
) -> Study:
    """A study from the chances (systems, topics) that a first turn fails, and that a failed one is recovered from."""
    shape = (*failing.shape, trials)
    first = (rng.random(shape) >= failing[..., None]).astype(float)
    second = np.where(first == 1, np.nan, rng.random(shape) < recovering[..., None])
    variances = failing * (1 - failing)
    return Study(first, 1 - failing, variances, second=second, recoveries=recovering, exact=exact)


def _rates(systems: int, seldom: float, often: float) -> Floats:
    rates = np.full(systems, often)
    rates[0] = seldom
    return rates


PAIRS = [(0.01, 0.3), (0.02, 0.5), (0.05, 0.5), (0.1, 0.4), (0.03, 0.03), (0.3, 0.3), (0.5, 0.5)]


@world(
    "fails in {seldom:.0%} against {often:.0%}, recovers in {recovery} ({topics_differ})",
    "First turns fail in {seldom:.0%} of the first system and {often:.0%} of the others; all recover alike.",
    Kind.TURNS,
    "recovery",
    [
        {"seldom": seldom, "often": often, "recovery": recovery, "topics_differ": differ}
        for seldom, often in PAIRS
        for recovery in (0.5, 0.85)
        for differ in ("topics alike", "topics differ")
    ],
    alike=True,
)
def recovers_alike(
    rng: np.random.Generator,
    topics: int,
    trials: int,
    systems: int,
    seldom: float,
    often: float,
    recovery: float,
    topics_differ: str,
) -> Study:
    """Systems fail differently often and recover equally well."""
    rates = _rates(systems, seldom, often)[:, None]
    failing, recovering = np.broadcast_to(rates, (systems, topics)), np.full((systems, topics), recovery)
    if topics_differ == "topics differ":
        failing = rng.beta(3 * rates, 3 * (1 - rates), (systems, topics))
        recovering = rng.beta(4 * recovery, 4 * (1 - recovery), (1, topics)).repeat(systems, axis=0)
    exact = {"recovery": np.full(systems, recovery), "mean": 1 - rates[:, 0]}
    return played(rng, failing, recovering, trials, exact)


@world(
    "hard topics recover less: {seldom:.0%} against {often:.0%}",
    "A topic's hardness makes first turns fail ({seldom:.0%} and {often:.0%}) and recoveries rare, alike for all.",
    Kind.TURNS,
    "recovery",
    [{"seldom": seldom, "often": often} for seldom, often in ((0.05, 0.5), (0.1, 0.4), (0.3, 0.3))],
)
def hard_topics(rng: np.random.Generator, topics: int, trials: int, systems: int, seldom: float, often: float) -> Study:
    """Hardness h is uniform; a turn fails with 2·rate·h and recovers with .9 − .6 h, so the ratio of sums is .5."""
    hardness = rng.random((1, topics))
    failing = 2 * _rates(systems, seldom, often)[:, None] * hardness
    recovering = (0.9 - 0.6 * hardness).repeat(systems, axis=0)
    return played(rng, failing, recovering, trials, {"recovery": np.full(systems, 0.5)})


@world(
    "never recovers in {rate:.0%} of topics, else in {recovery}",
    "{rate:.0%} of topics are never recovered from; first turns fail in 40%.",
    Kind.TURNS,
    "recovery",
    [{"rate": rate, "recovery": recovery} for rate in (0.03, 0.05, 0.1) for recovery in (0.6, 0.95)],
)
def never(rng: np.random.Generator, topics: int, trials: int, systems: int, rate: float, recovery: float) -> Study:
    """Rare topics from which no conversation recovers."""
    recovering: Floats = np.where(rng.random((1, topics)) >= rate, recovery, 0.0).repeat(systems, axis=0)
    failing = rng.beta(2, 3, (systems, topics))
    return played(rng, failing, recovering, trials, {"recovery": np.full(systems, recovery * (1 - rate))})


@world(
    "fails on one kind of topic, {rate:.0%}",
    "The first system fails on {rate:.0%} of topics alone, in four trials of five; the others on all, in 30%.",
    Kind.TURNS,
    "recovery",
    [{"rate": rate} for rate in (0.05, 0.1, 0.3)],
)
def one_kind(rng: np.random.Generator, topics: int, trials: int, systems: int, rate: float) -> Study:
    """One side's failures sit on few topics, so few topics carry all that is known of its recovery."""
    failing = np.full((systems, topics), 0.3)
    failing[0] = 0.8 * (rng.random(topics) < rate)
    law: Law = beta(3, 3)
    recovering = law.sample(rng, (1, topics)).repeat(systems, axis=0)
    return played(rng, failing, recovering, trials, {"recovery": np.full(systems, 0.5)})


@world(
    "one recovers far better",
    "Both fail in 40%; the last system recovers in .2 of its failures, the others in .8.",
    Kind.TURNS,
    "one system far off",
    alike=False,
    systems=(2, 8),
)
def far_better(rng: np.random.Generator, topics: int, trials: int, systems: int) -> Study:
    """A difference that is there to be found."""
    recovering = np.full((systems, topics), 0.8)
    recovering[-1] = 0.2
    failing = kinds((0.5, 0.2), (0.5, 0.6)).sample(rng, (systems, topics))
    exact = {"recovery": recovering[:, 0].copy()}
    return played(rng, failing, recovering, trials, exact)


@world(
    "always recovers",
    "First turns fail in 20%, and each is recovered from.",
    Kind.TURNS,
    "recovery",
)
def always(rng: np.random.Generator, topics: int, trials: int, systems: int) -> Study:
    """A ratio at its end: no variance is to be seen on any side."""
    failing = fixed(0.2).sample(rng, (systems, topics))
    return played(rng, failing, np.ones((systems, topics)), trials, {"recovery": np.ones(systems)})
