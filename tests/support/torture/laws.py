"""How topics differ: laws of a chance or a level, with their mean and variance; and how trials differ given a topic."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.support.torture.study import Floats

Sampler = Callable[[np.random.Generator, tuple[int, ...]], Floats]


@dataclass(frozen=True)
class Law:
    """A law over topics. mean, variance: NaN if no formula gives them, inf if there are none."""

    name: str
    sample: Sampler
    mean: float
    variance: float

    def __str__(self) -> str:
        return self.name


def fixed(value: float) -> Law:
    """All topics alike."""
    return Law(f"all topics at {value:g}", lambda rng, shape: np.full(shape, value), value, 0.0)


def beta(a: float, b: float) -> Law:
    """A Beta law."""
    mean = a / (a + b)
    return Law(f"Beta({a:g}, {b:g})", lambda rng, shape: rng.beta(a, b, shape), mean, mean * (1 - mean) / (a + b + 1))


def correlated(mean: float, icc: float) -> Law:
    """The Beta law under which 0/1 answers have this mean and this ICC(1)."""
    size = 1 / icc - 1
    law = beta(mean * size, (1 - mean) * size)
    return Law(f"mean {mean:g}, ICC {icc:g}", law.sample, law.mean, law.variance)


def kinds(*of: tuple[float, float]) -> Law:
    """Few kinds of topics. of: (share of topics, value); shares sum to 1."""
    shares, values = np.array([share for share, _ in of]), np.array([value for _, value in of])
    mean = float(shares @ values)
    name = ", ".join(f"{value:g} in {share:.0%}" for share, value in of)
    return Law(
        name,
        lambda rng, shape: values[rng.choice(len(values), shape, p=shares)],
        mean,
        float(shares @ (values - mean) ** 2),
    )


def logistic_t(centre: float, scale: float, df: float) -> Law:
    """A chance whose logit has Student's t effects."""
    return Law(
        f"logit {centre:g} + {scale:g} t({df:g})",
        lambda rng, shape: 1 / (1 + np.exp(-np.clip(centre + scale * rng.standard_t(df, shape), -500, 500))),
        math.nan,
        math.nan,
    )


# Levels: positive, with a mean of 1.


def lognormal(sigma: float) -> Law:
    """A lognormal law with mean 1."""
    return Law(
        f"lognormal σ {sigma:g}",
        lambda rng, shape: np.exp(sigma * rng.standard_normal(shape) - sigma**2 / 2),
        1.0,
        math.expm1(sigma**2),
    )


def pareto(a: float) -> Law:
    """A Pareto law with mean 1; its variance is infinite up to a = 2."""
    return Law(
        f"Pareto {a:g}",
        lambda rng, shape: (1 + rng.pareto(a, shape)) * (a - 1) / a,
        1.0,
        1 / (a * (a - 2)) if a > 2 else math.inf,
    )


def loglogistic(a: float) -> Law:
    """A loglogistic law with mean 1; its variance is infinite up to a = 2."""
    mean = math.pi / a / math.sin(math.pi / a)
    square = 2 * math.pi / a / math.sin(2 * math.pi / a) if a > 2 else math.inf

    def sample(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        chance = rng.uniform(1e-300, 1, shape)
        return (chance / (1 - chance)) ** (1 / a) / mean

    return Law(f"loglogistic {a:g}", sample, 1.0, square / mean**2 - 1)


def exponentials(share: float, times: float) -> Law:
    """A mixture of two exponentials, one for a share of topics that are `times` as large in the mean; mean 1."""
    base = 1 / (1 - share + share * times)

    def sample(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return rng.exponential(base, shape) * np.where(rng.random(shape) < share, times, 1.0)

    square = 2 * base**2 * (1 - share + share * times**2)
    return Law(f"exponentials, {share:.0%} of them ×{times:g}", sample, 1.0, square - 1)


def folded_t(df: float) -> Law:
    """The size of Student's t, with mean 1; its variance is infinite up to 2 degrees."""
    log = math.lgamma((df + 1) / 2) - math.lgamma(df / 2)
    mean = 2 * math.sqrt(df / math.pi) * math.exp(log) / (df - 1)
    return Law(
        f"|t({df:g})|",
        lambda rng, shape: np.abs(rng.standard_t(df, shape)) / mean,
        1.0,
        df / (df - 2) / mean**2 - 1 if df > 2 else math.inf,
    )


def gamma(shape_: float) -> Law:
    """A gamma law with mean 1."""
    return Law(f"gamma {shape_:g}", lambda rng, shape: rng.gamma(shape_, 1 / shape_, shape), 1.0, 1 / shape_)


def weibull(k: float) -> Law:
    """A Weibull law with mean 1."""
    mean = math.gamma(1 + 1 / k)
    return Law(
        f"Weibull {k:g}", lambda rng, shape: rng.weibull(k, shape) / mean, 1.0, math.gamma(1 + 2 / k) / mean**2 - 1
    )


def with_zeros(law: Law, share: float) -> Law:
    """A law with a share of topics at 0; the mean stays what it was."""
    square = (law.variance + law.mean**2) / (1 - share)
    return Law(
        f"0 in {share:.0%} of topics, else {law}",
        lambda rng, shape: law.sample(rng, shape) * (rng.random(shape) >= share) / (1 - share),
        law.mean,
        square - law.mean**2,
    )


def slow(share: float, times: float) -> Law:
    """A share of topics is slow by a factor; mean 1."""
    base = 1 / (1 - share + share * times)
    law = kinds((1 - share, base), (share, base * times))
    return Law(f"{share:.0%} of topics ×{times:g}", law.sample, 1.0, law.variance)


def by_topic(rng: np.random.Generator, law: Law, systems: int, topics: int, common: float = 0.5) -> Floats:
    """(systems, topics) draws of a law: a share of topics, at random, is the same for all systems."""
    own = law.sample(rng, (systems, topics))
    if common == 0 or systems == 1:
        return own
    return np.where(rng.random(topics) < common, law.sample(rng, (1, topics)), own)


# Trials, given the mean of a topic: all have the variance factor · mean · (1 − mean).


@dataclass(frozen=True)
class Answers:
    """How the values of one topic's trials scatter between 0 and 1."""

    name: str
    sample: Callable[[np.random.Generator, Floats], Floats]
    """Of the means, each repeated for its trials."""
    factor: float

    def __str__(self) -> str:
        return self.name


def _beta_scores(rng: np.random.Generator, means: Floats, precision: float) -> Floats:
    inner = np.clip(means, 1e-6, 1 - 1e-6)  # at the ends a score has no spread, and numpy no Beta
    return np.where((means > 0) & (means < 1), rng.beta(inner * precision, (1 - inner) * precision), means)


USEFUL = Answers("useful or not", lambda rng, means: (rng.random(means.shape) < means).astype(float), 1.0)
RATINGS = Answers("five levels", lambda rng, means: rng.binomial(4, means) / 4.0, 0.25)
THREE_LEVELS = Answers("three levels", lambda rng, means: rng.binomial(2, means) / 2.0, 0.5)
SCORES = Answers("scores", functools.partial(_beta_scores, precision=9.0), 0.1)
ROUGH = Answers("rough scores", functools.partial(_beta_scores, precision=1.0), 0.5)
SAME = Answers("the same in all trials", lambda rng, means: means.copy(), 0.0)
