"""How many topics a comparison needs, in closed form: Sakai's topic set size design.

    paired t test        power of finding an effect d = difference / standard deviation of the differences of topics:
                         t² ~ F'(1, n - 1; n·d²)
    one-way ANOVA        power of finding that m systems are not all alike, where the best and the worst lie d standard
                         deviations of one system's values apart, and the others halfway between them:
                         F ~ F'(m - 1, m·(n - 1); n·d²/2)
    interval width       the expected width of the t interval of a paired difference, 2·t·E(s)/√n,
                         E(s) = σ·√(2/(n - 1))·Γ(n/2)/Γ((n - 1)/2)

Values of topics are taken as normal. Power is that of the noncentral F distribution itself, a Poisson mixture of beta
distributions, where the source takes a normal approximation of it. Simulated power (`scoring.inference.power`) is held
to these.

Source: T. Sakai, Topic set size design, Information Retrieval Journal 19 (2016), 256-283,
doi 10.1007/s10791-015-9273-z.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from scoring.statistics.beta import beta_cdf, beta_quantile, student_quantile

__all__ = [
    "MOST_TOPICS",
    "anova_power",
    "expected_width",
    "paired_t_power",
    "topics_for_anova",
    "topics_for_paired_t",
    "topics_for_width",
]

MOST_TOPICS = 1_000_000
"""Where the search for a number of topics ends."""


def paired_t_power(topics: int, effect: float, *, alpha: float) -> float:
    """Power of the two-sided paired t test, in (0, 1).

    topics: at least 2. effect: difference / standard deviation of the differences. alpha: in (0, 1).
    """
    _refuse(topics, alpha)
    return _noncentral_tail(1, topics - 1, topics * effect**2, alpha)


def anova_power(topics: int, systems: int, effect: float, *, alpha: float) -> float:
    """Power of the one-way analysis of variance, in (0, 1).

    topics: asked of each system, at least 2. systems: at least 2. effect: how far the best lies from the worst, in
    standard deviations of one system's values over topics. alpha: in (0, 1).
    """
    _refuse(topics, alpha)
    if systems < 2:
        raise ValueError("a comparison takes at least two systems")
    return _noncentral_tail(systems - 1, systems * (topics - 1), topics * effect**2 / 2, alpha)


def expected_width(topics: int, spread: float, *, level: float) -> float:
    """How far the ends of the t interval of a paired difference lie apart, on average.

    topics: at least 2. spread: standard deviation of the differences of topics. level: in (0, 1).
    """
    _refuse(topics, level)
    bias = math.sqrt(2 / (topics - 1)) * math.exp(math.lgamma(topics / 2) - math.lgamma((topics - 1) / 2))
    return 2 * student_quantile(0.5 + level / 2, topics - 1) * spread * bias / math.sqrt(topics)


def topics_for_paired_t(effect: float, *, alpha: float, power: float) -> float:
    """The fewest topics with which the paired t test has that power; infinite beyond `MOST_TOPICS`."""
    return _fewest(lambda topics: paired_t_power(topics, effect, alpha=alpha) >= power)


def topics_for_anova(systems: int, effect: float, *, alpha: float, power: float) -> float:
    """The fewest topics with which the analysis of variance has that power; infinite beyond `MOST_TOPICS`."""
    return _fewest(lambda topics: anova_power(topics, systems, effect, alpha=alpha) >= power)


def topics_for_width(spread: float, width: float, *, level: float) -> float:
    """The fewest topics with which the interval is expected to be at most `width` wide; infinite beyond
    `MOST_TOPICS`."""
    return _fewest(lambda topics: expected_width(topics, spread, level=level) <= width)


def _refuse(topics: int, share: float) -> None:
    if topics < 2 or not 0 < share < 1:
        raise ValueError("a design takes at least two topics, and alpha and level inside (0, 1)")


def _noncentral_tail(above: int, below: int, noncentrality: float, alpha: float) -> float:
    """P(F' > w) of the noncentral F distribution, w being the point that central F exceeds with probability alpha.

    With x ~ Beta(above/2 + j, below/2) and j ~ Poisson(noncentrality/2), F' > w where x > w·above/(w·above + below).
    """
    at = float(beta_quantile(1 - alpha, above / 2, below / 2))
    half = noncentrality / 2
    reach = 12 * math.sqrt(half + 1) + 12  # terms beyond are below 1e-15
    terms = np.arange(max(0, math.floor(half - reach)), math.ceil(half + reach) + 1)
    logs = np.array([math.lgamma(term + 1) for term in terms])
    weights = np.exp(terms * math.log(half) - half - logs) if half > 0 else (terms == 0).astype(np.float64)
    return float(1 - weights @ beta_cdf(at, above / 2 + terms, below / 2))


def _fewest(enough: Callable[[int], bool]) -> float:
    """The smallest number of topics, from 2, that is enough, where more always are."""
    most = 2
    while not enough(most):
        most *= 2
        if most > MOST_TOPICS:
            return math.inf
    least = max(2, most // 2)
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle + 1, most)
    return most
