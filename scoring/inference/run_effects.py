"""The variation between audits that trials do not explain, estimated from few blessed runs.

All trials of one run share a day, a load and a region. This effect is assumed to be normal on the scale of log odds,
with an unknown standard deviation τ. The runs' means have the variance

    V(τ) = s² + (τ·g)²,     s² from one run's trials,     g = mean over topics of m·(1 - m)

with g the derivative of the mean over topics if all log odds move alike. So an effect that moves a mean of .95 by half
a point moves a mean of .55 by nearly three points. After a change, the effect is therefore computed at the audit's own
level.

Even if audits differ, the variance of four runs minus the variance due to trials (the method of moments) is 0 in every
second case, and intervals then covered .88 to .92 in simulations with τ from .15 to .3. Here every τ up to 2 is
weighted by its likelihood given the runs' variance, times the prior 1 / (τ + 0.1). The prior is flat in τ near 0 and
flat in log τ for large τ, so that runs that differ much lead to Student's t interval with the runs' degrees of freedom.
The figure's distribution is the mixture of normal distributions over τ, computed without random draws.

Fewer than four runs say little about τ, and an interval would restate the prior.

Sources: A. Gelman, Bayesian Analysis 1 (2006), 515-533, for priors of a standard deviation with few groups; the scale
of log odds and its slope are ours.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import normal_quantile
from topics.arrays import Floats

# Fewer runs of a baseline do not show how much audits differ.
FEWEST_RUNS = 4

_NEAR = 0.1  # below which sizes count alike: half of what moves a mean of .60 by five points
_SIZES = np.concatenate([[0.0], np.geomspace(0.01, 2.0, 30)])
_PRIOR = np.log(np.gradient(_SIZES) / (_SIZES + _NEAR))
_ROOT = math.sqrt(2)
_TINY = 1e-300  # so that an impossible size has a logarithm


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixture of normal distributions around 0, with (S,) standard deviations and (S,) weights that sum to 1."""

    spreads: Floats
    weights: Floats

    def tail_probability(self, distance: float) -> float:
        """Return the probability of a value above `distance`, which is at least 0."""
        parts = (distance / (_ROOT * self.spreads)).tolist()
        return 0.5 * math.fsum(w * math.erfc(z) for w, z in zip(self.weights.tolist(), parts, strict=True))

    def tail_distance(self, tail: float) -> float:
        """Return the distance that is exceeded with probability `tail`, from 0 to .5."""
        density = self.weights / (self.spreads * math.sqrt(2 * math.pi))
        # Right of 0 the tail is convex and falls, so Newton's steps come from the left and never pass the end. They
        # begin at the end of the narrowest normal distribution, before the end of any other.
        at = normal_quantile(1 - tail) * float(self.spreads.min())
        for _ in range(60):
            step = (self.tail_probability(at) - tail) / float(
                (density * np.exp(-0.5 * np.square(at / self.spreads))).sum()
            )
            at += step
            if step <= 1e-10 * at:
                break
        return at


@dataclass(frozen=True, slots=True)
class RunEffects:
    """A distribution of the standard deviation τ between runs, with (S,) weights that sum to 1, and the slope g."""

    sizes: Floats
    weights: Floats
    slope: float
    runs: int

    def difference_distribution(self, sampling: float, slope: float, *, audits: int = 1) -> Mixture:
        """Return the distribution, for an unchanged system, of a mean of `audits` audits minus the baseline's mean.

        `sampling` is the variance of the difference from trials, and `slope` is g at the level of the audits.
        """
        shared = slope**2 / audits + (self.slope**2 / self.runs if self.runs else 0.0)
        return Mixture(np.sqrt(sampling + np.square(self.sizes) * shared), self.weights)

    def include_audits(self, spread: float, sampling: float, slope: float, *, audits: int) -> "RunEffects":
        """Return the effects if the means of `audits` audits of one system have a variance of `spread` among them.

        `sampling` is the variance of one audit's mean from its trials, and `slope` is g at the level of the audits.
        """
        fit = np.log(np.maximum(self.weights, _TINY)) + _log_likelihood(self.sizes, spread, sampling, slope, audits)
        weights = np.exp(fit - fit.max())
        return RunEffects(self.sizes, weights / weights.sum(), self.slope, self.runs)


def run_effects(runs: npt.ArrayLike, sampling: float, slope: float) -> RunEffects:
    """Estimate the variation between runs from their means, (B,).

    `sampling` is the variance of one run's mean from its trials, above 0, and `slope` is g. With fewer than
    `FEWEST_RUNS`, τ is 0: results are then for these runs alone.
    """
    means = np.asarray(runs, dtype=np.float64)
    if len(means) < FEWEST_RUNS:
        return RunEffects(np.zeros(1), np.ones(1), slope, len(means))
    fit = _PRIOR + _log_likelihood(_SIZES, float(means.var(ddof=1)), sampling, slope, len(means))
    weights = np.exp(fit - fit.max())
    return RunEffects(_SIZES, weights / weights.sum(), slope, len(means))


def _log_likelihood(sizes: Floats, spread: float, sampling: float, slope: float, runs: int) -> Floats:
    """Return (S,) log likelihoods of sizes of τ, up to a constant, from the variance between means of runs."""
    variance = sampling + np.square(sizes * slope)
    return np.asarray(-(runs - 1) / 2 * (np.log(variance) + spread / variance))
