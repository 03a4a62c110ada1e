"""Worlds of judgments: preferences of pairs, judges who agree or do not, and a judge that people correct."""

from collections.abc import Callable

import numpy as np

from tests.support.torture.laws import USEFUL, Law, beta, correlated, fixed, kinds
from tests.support.torture.study import Floats, Kind, Study
from tests.support.torture.world import world

# Preferences


@world(
    "preferences, {law}, ties {ties}",
    "A is preferred by {law}; a share of {ties} of judgments is a tie.",
    Kind.PREFERENCES,
    "preferences",
    [
        {"law": law, "ties": ties}
        for law in (fixed(0.5), beta(2, 2), kinds((0.5, 0.0), (0.5, 1.0)), correlated(0.5, 0.8))
        for ties in (0.0, 0.3, 0.8)
    ]
    + [{"law": kinds((0.95, 0.9), (0.05, 0.0)), "ties": ties, "alike": False} for ties in (0.0, 0.3)],
    systems=(1, 1),
)
@world(
    "preferences alike in the mean, {law}, ties {ties}",
    "A wins on most topics a little, and loses on few nearly always: {law}.",
    Kind.PREFERENCES,
    "preferences",
    [
        {"law": kinds((0.95, 0.5 + 0.45 * 0.05 / 0.95), (0.05, 0.05)), "ties": 0.0},
        {"law": kinds((0.9, 0.55), (0.1, 0.05)), "ties": 0.3},
    ],
    systems=(1, 1),
)
def preferences(rng: np.random.Generator, topics: int, trials: int, systems: int, law: Law, ties: float) -> Study:
    """The truth is the share preferred, ties as one half."""
    chances = law.sample(rng, (systems, topics))
    values = USEFUL.sample(rng, np.repeat(chances[..., None], trials, axis=-1))
    values[rng.random(values.shape) < ties] = 0.5
    exact = {"mean": np.full(systems, (1 - ties) * law.mean + ties / 2)}
    return Study(values, (1 - ties) * chances + ties / 2, exact=exact)


@world(
    "preferences in clusters, {said}",
    "Topics come in clusters of five that prefer alike (Beta(1, 1)).",
    Kind.PREFERENCES,
    "clusters of topics",
    [{"said": "named", "hidden": None}, {"said": "not named", "hidden": "nobody named the clusters"}],
    systems=(1, 1),
    least=(4, 1),
)
def clustered_preferences(rng: np.random.Generator, topics: int, trials: int, systems: int, said: str) -> Study:
    """Near-duplicates are preferred alike."""
    of = np.arange(topics) // 5
    chances = rng.random((systems, topics))[:, of]
    values = (rng.random((systems, topics, trials)) < chances[..., None]).astype(float)
    exact = {"mean": np.full(systems, 0.5)}
    return Study(values, chances, clusters=of if said == "named" else None, exact=exact)


# Judges who agree or do not


@world(
    "{judges} judges right in {right}, {positive:.0%} positive",
    "Units are positive in {positive:.0%}; each judge is right in {right} of them, on its own.",
    Kind.JUDGES,
    "agreement",
    [
        {"judges": judges, "right": right, "positive": positive, "systems": (judges, judges)}
        for judges in (2, 5)
        for right in (0.98, 0.9, 0.6)
        for positive in (0.03, 0.05, 0.1, 0.5)
    ],
    least=(8, 1),
)
def nominal(
    rng: np.random.Generator, topics: int, trials: int, systems: int, judges: int, right: float, positive: float
) -> Study:
    """Krippendorff's alpha of exchangeable judges of many units: 1 − P(two disagree on a unit) / 2π(1 − π)."""
    units = rng.random(topics) < positive
    values = np.where(rng.random((judges, topics)) < right, units, ~units).astype(float)[..., None]
    said = positive * right + (1 - positive) * (1 - right)
    alpha = 1 - 2 * right * (1 - right) / (2 * said * (1 - said))
    chance = np.where(units, right, 1 - right)
    return Study(values, np.broadcast_to(chance, (judges, topics)), exact={"alpha": np.full(judges, alpha)})


@world(
    "{judges} judges, some silent, {positive:.0%} positive",
    "As judges right in .9, and each is silent on three units of ten.",
    Kind.JUDGES,
    "agreement",
    [
        {"judges": judges, "positive": positive, "systems": (judges, judges)}
        for judges in (3, 5)
        for positive in (0.05, 0.5)
    ],
    least=(8, 1),
)
def silent(rng: np.random.Generator, topics: int, trials: int, systems: int, judges: int, positive: float) -> Study:
    """Missing judgments, at random."""
    study = nominal(rng, topics, trials, systems, judges, 0.9, positive)
    gone = rng.random(study.values.shape) < 0.3
    return Study(np.where(gone, np.nan, study.values), study.means, complete=study.values, exact=study.exact)


@world(
    "{judges} judges in steps, {law}",
    "Units have a quality ({law}), and judges rate it in five steps (binomial), compared as numbers.",
    Kind.JUDGES,
    "agreement",
    [
        {"judges": judges, "law": law, "systems": (judges, judges)}
        for judges in (2, 5)
        for law in (beta(1, 1), beta(9, 1))
    ],
    least=(8, 1),
)
def intervals(rng: np.random.Generator, topics: int, trials: int, systems: int, judges: int, law: Law) -> Study:
    """For a metric of squared differences alpha is 1 − E[within] / total variance, which is ICC(1)."""
    quality = law.sample(rng, (topics,))
    values = rng.binomial(4, np.broadcast_to(quality, (judges, topics)))[..., None] / 4.0
    within = (law.mean - law.mean**2 - law.variance) / 4
    exact = {"alpha of intervals": np.full(judges, law.variance / (law.variance + within))}
    return Study(values, np.broadcast_to(quality, (judges, topics)), exact=exact)


# A judge that people correct


def _noise(rng: np.random.Generator, people: Floats, chances: Floats) -> Floats:
    return np.where(rng.random(people.shape) < 0.9, people, 1 - people)


def _coin(rng: np.random.Generator, people: Floats, chances: Floats) -> Floats:
    return (rng.random(people.shape) < 0.5).astype(float)


def _constant(rng: np.random.Generator, people: Floats, chances: Floats) -> Floats:
    return np.ones_like(people)


def _biased_by_topic(rng: np.random.Generator, people: Floats, chances: Floats) -> Floats:
    kind = rng.random((chances.shape[0], 1)) < 0.3
    return np.where(kind, 1.0, _noise(rng, people, chances))


def _lenient_on_bad(rng: np.random.Generator, people: Floats, chances: Floats) -> Floats:
    return np.where(chances[:, None] < 0.4, 1.0, _noise(rng, people, chances))


def _right(rng: np.random.Generator, people: Floats, chances: Floats) -> Floats:
    return people.copy()


def _contrary(rng: np.random.Generator, people: Floats, chances: Floats) -> Floats:
    return 1 - _noise(rng, people, chances)


JUDGES: dict[str, Callable[[np.random.Generator, Floats, Floats], Floats]] = {
    "right in .9": _noise,
    "a coin": _coin,
    "always useful": _constant,
    "biased by topic": _biased_by_topic,
    "lenient on bad topics": _lenient_on_bad,
    "always right": _right,
    "contrary": _contrary,
}


@world(
    "judge {judge}, {law}, people on {labelled} trials a topic",
    "A judge ({judge}) labels all, people label {labelled} trials of each topic; topics {law}.",
    Kind.CORRECTED,
    "corrected judge",
    [
        {"judge": judge, "law": law, "labelled": labelled}
        for judge in JUDGES
        for law, labelled in (
            (beta(3, 2), 1),
            (beta(3, 2), 2),
            (kinds((0.95, 0.95), (0.05, 0.1)), 2),
            (kinds((0.97, 0.98), (0.03, 0.0)), 2),
        )
    ],
    systems=(2, 2),
    least=(8, 3),
)
def corrected(
    rng: np.random.Generator, topics: int, trials: int, systems: int, judge: str, law: Law, labelled: int
) -> Study:
    """The truth is what people would say of all."""
    chances = law.sample(rng, (topics,))
    people = (rng.random((topics, trials)) < chances[:, None]).astype(float)
    said = JUDGES[judge](rng, people, chances)
    looked = rng.permuted(np.broadcast_to(np.arange(trials) < labelled, (topics, trials)), axis=1)
    values = np.stack([np.where(looked, people, np.nan), said])
    means = np.stack([chances, said.mean(axis=1)])
    return Study(values, means, complete=np.stack([people, said]), exact={"mean": np.full(2, law.mean)})
