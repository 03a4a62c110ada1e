"""Worlds of shares and of scores between 0 and 1 with independent topics and independent trials."""

import math

import numpy as np

from tests.support.torture.laws import (
    RATINGS,
    ROUGH,
    SAME,
    SCORES,
    USEFUL,
    Answers,
    Law,
    beta,
    by_topic,
    correlated,
    fixed,
    kinds,
    logistic_t,
)
from tests.support.torture.study import Floats, Kind, Study
from tests.support.torture.world import world


def moments(law: Law, answers: Answers, systems: int) -> dict[str, Floats]:
    """The truths that the law's mean and variance give."""
    if math.isnan(law.mean):
        return {}
    within = answers.factor * (law.mean - law.mean**2 - law.variance)
    return {
        "mean": np.full(systems, law.mean),
        "between": np.full(systems, law.variance),
        "within": np.full(systems, within),
    }


def answered(rng: np.random.Generator, means: Floats, trials: int, answers: Answers, exact: dict[str, Floats]) -> Study:
    """A study with independent trials. means: (systems, topics)."""
    values = answers.sample(rng, np.repeat(means[..., None], trials, axis=-1))
    return Study(values, means, answers.factor * means * (1 - means), exact=exact)


def _over(laws: list[Law], *answers: Answers) -> list[dict[str, object]]:
    kind = {USEFUL.name: Kind.SHARE}
    return [
        {"law": law, "answers": scatter, "kind": kind.get(scatter.name, Kind.SCORE)}
        for law in laws
        for scatter in answers
    ]


BENIGN = [fixed(0.8), fixed(0.5), beta(2, 2), beta(4, 1), beta(0.5, 0.5), beta(1, 6), logistic_t(1, 1, 2)]
HIGH = [correlated(0.85, 0.2), correlated(0.95, 0.1), correlated(0.97, 0.4), fixed(0.995), beta(30, 1)]
RARE_BAD = [
    *(kinds((1 - rate, 0.95), (rate, bad)) for rate in (0.03, 0.05, 0.10) for bad in (0.0, 0.1)),
    *(kinds((1 - rate, 0.95), (rate, 0.475)) for rate in (0.05, 0.10)),
    kinds((0.95, 1.0), (0.05, 0.0)),
]
RARE_GOOD = [kinds((1 - rate, 0.05), (rate, 0.95)) for rate in (0.03, 0.05, 0.10)]
KINDS = [
    kinds((0.3, 0.1), (0.7, 0.9)),
    kinds((0.5, 0.0), (0.5, 1.0)),
    kinds((0.9, 0.9), (0.1, 0.3)),
    kinds((1 / 3, 0.2), (1 / 3, 0.6), (1 / 3, 1.0)),
]
ALL = "{answers}, {law}"


@world(ALL, "Topics differ by {law}.", Kind.SHARE, "independent", _over(BENIGN, USEFUL, RATINGS, SCORES))
@world(ALL, "High means: {law}.", Kind.SHARE, "high mean", _over(HIGH, USEFUL, SCORES))
@world(ALL, "Few topics are bad: {law}.", Kind.SHARE, "rare bad topics", _over(RARE_BAD, USEFUL, SCORES))
@world(ALL, "Few topics are good: {law}.", Kind.SHARE, "rare good topics", _over(RARE_GOOD, USEFUL, SCORES))
@world(ALL, "Few kinds of topics: {law}.", Kind.SHARE, "few kinds of topics", _over(KINDS, USEFUL, SCORES))
@world(ALL, "Scores of 0, 1 and little between: {law}.", Kind.SCORE, "ties", _over([beta(2, 2), beta(9, 1)], ROUGH))
@world(ALL, "All trials of a topic agree: {law}.", Kind.SCORE, "ties", _over([beta(2, 2), KINDS[0], RARE_BAD[3]], SAME))
def independent(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, answers: Answers) -> Study:
    """Systems alike in law: half of the topics are the same for all, the others each system's own."""
    return answered(rng, by_topic(rng, law, systems, topics), trials, answers, moments(law, answers, systems))


@world(
    "each its own topics: {answers}, {law}",
    "Systems alike in the mean, and on no topic: {law}.",
    Kind.SHARE,
    "alike in the mean, not by topic",
    _over([beta(2, 2), beta(0.5, 0.5), KINDS[0], RARE_BAD[3]], USEFUL, SCORES),
    systems=(2, 8),
)
def own_topics(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, answers: Answers) -> Study:
    """Systems alike in the mean that agree on no topic."""
    return answered(rng, by_topic(rng, law, systems, topics, common=0), trials, answers, moments(law, answers, systems))


@world(
    "each good at the other's bad topics: {answers}",
    "Every topic suits half of the systems (.95) and not the others (.35); all have one mean.",
    Kind.SHARE,
    "alike in the mean, not by topic",
    [{"answers": USEFUL}, {"answers": SCORES, "kind": Kind.SCORE}],
    systems=(2, 8),
)
def crossed(rng: np.random.Generator, topics: int, trials: int, systems: int, answers: Answers) -> Study:
    """Differences by topic are as large as they can be, and cancel."""
    suits = (np.arange(systems)[:, None] % 2) == rng.integers(0, 2, topics)
    exact = moments(kinds((0.5, 0.95), (0.5, 0.35)), answers, systems)
    return answered(rng, np.where(suits, 0.95, 0.35), trials, answers, exact)


@world(
    "one system steady: {answers}, {law}",
    "The first system is the same on all topics, the others differ by {law}, all with one mean.",
    Kind.SHARE,
    "unequal spread of systems",
    _over([beta(2, 2), RARE_BAD[1], RARE_BAD[2], RARE_BAD[4], RARE_GOOD[1], KINDS[2]], USEFUL, SCORES, SAME),
    systems=(2, 8),
)
def one_steady(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, answers: Answers) -> Study:
    """Equal means; one system has the mean on every topic, the others follow the law, each its own draws."""
    means = by_topic(rng, law, systems, topics, common=0)
    means[0] = law.mean
    exact = {key: value.copy() for key, value in moments(law, answers, systems).items()}
    exact["between"][0], exact["within"][0] = 0.0, answers.factor * law.mean * (1 - law.mean)
    return answered(rng, means, trials, answers, exact)


@world(
    "one system far off: {answers}, {law}",
    "Systems are alike but for the last, whose means are .4 of theirs: {law}.",
    Kind.SHARE,
    "one system far off",
    _over([beta(4, 1), RARE_BAD[2]], USEFUL, SCORES),
    systems=(2, 8),
    alike=False,
)
def one_far(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, answers: Answers) -> Study:
    """The others are alike: among them every winner is a wrong one."""
    means = by_topic(rng, law, systems, topics)
    means[-1] *= 0.4
    exact = moments(law, answers, systems)
    exact["mean"][-1] *= 0.4
    exact["between"][-1] *= 0.16
    mean, variance = exact["mean"][-1], exact["between"][-1]
    exact["within"][-1] = answers.factor * (mean - mean**2 - variance)
    return answered(rng, means, trials, answers, exact)


@world(
    "trials at zero in {zeros:.0%}: scores, {law}",
    "A score is 0 in {zeros:.0%} of trials, whatever the topic; else topics differ by {law}.",
    Kind.SCORE,
    "zero-inflated",
    [{"zeros": zeros, "law": law} for zeros in (0.2, 0.6) for law in (beta(8, 2), beta(2, 2))],
)
@world(
    "topics at zero in {missing:.0%}: scores, {law}",
    "A score is 0 in all trials of {missing:.0%} of topics; else topics differ by {law}.",
    Kind.SCORE,
    "zero-inflated",
    [{"zeros": 0.0, "missing": missing, "law": beta(8, 2)} for missing in (0.03, 0.15, 0.4)],
)
def zeros_among_scores(
    rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, zeros: float, missing: float = 0.0
) -> Study:
    """Scores with zeros by trial or by topic (a SWAN that is 0 where a conversation broke down)."""
    there = rng.random((systems, topics)) >= missing
    inner = by_topic(rng, law, systems, topics) * there
    kept = 1 - zeros
    values = SCORES.sample(rng, np.repeat(inner[..., None], trials, axis=-1))
    values *= rng.random(values.shape) < kept
    square = inner**2 + SCORES.factor * inner * (1 - inner)
    mean = (1 - missing) * law.mean
    second = (1 - missing) * (law.variance + law.mean**2)
    exact = {
        "mean": np.full(systems, kept * mean),
        "between": np.full(systems, kept**2 * (second - mean**2)),
        "within": np.full(systems, kept * (second + SCORES.factor * (mean - second)) - kept**2 * second),
    }
    return Study(values, kept * inner, kept * square - (kept * inner) ** 2, exact=exact)
