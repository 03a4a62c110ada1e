"""Allocation of trials to topics so that the interval for these topics is narrowest, as predicted from a pilot.

With n_k trials of topic k, the mean over topics has the variance Σ v_k/n_k / T². For a given total this variance is
smallest if n_k is proportional to √v_k (J. Neyman, Journal of the Royal Statistical Society 97 (1934), 558-625). A
pilot of few trials says little about v_k, so estimates are shrunk towards the estimate over all topics:

    yes or no     probabilities have a beta distribution over topics, with the pilot's mean and ICC; v_k is the mean of
                  p(1 - p) given the topic's outcomes. Other systems' outcomes on the topic count as far as systems
                  agree on which topics are hard
    other values  variances have an inverse gamma distribution over topics, with the pilot's mean and spread
                  (G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004), article 3, with
                  moments in place of equations on logarithms, since variances can be 0)

No topic gets fewer trials than a floor. Every floor from two trials up to equal trials is tried by simulation, and the
floor with the narrowest interval is proposed: very few trials on many topics cost degrees of freedom.

The pilot's own trials must not be part of the estimate: a topic that by chance did not vary gets few new trials, so its
luck would persist. docs/planning.md shows how often the intervals then fail.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from scoring.statistics.beta import student_quantile
from topics.arrays import Counts, Floats

# The fewest trials of a topic: a single trial does not show how much trials differ.
FLOOR = 2

_FLOORS = 8  # floors that are tried
_TRIED, _STUDIES = 200, 1000
_NOTABLE = 0.005  # smaller gains do not count
_MANY, _MOST = 100, 1000  # degrees of freedom that hardly matter
_LEAST_ICC, _MOST_ICC = 0.01, 0.95
_NARROW, _WIDE = 0.05, 0.95  # the range of nine studies in ten


class Variances(Protocol):
    """Variances of trials, (S, T) for S systems and T topics, estimated from a pilot."""

    @property
    def expected(self) -> Floats:
        """Expected variances of a trial, (S, T)."""
        ...

    def draw(self, studies: int, rng: np.random.Generator) -> Floats:
        """Draw (studies, S, T) plausible true values."""
        ...

    def draw_estimates(self, truth: Floats, trials: Counts, rng: np.random.Generator) -> Floats: ...


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """Success probabilities of yes-or-no trials by topic: `yes` and `no` are (S, T) beta parameters."""

    yes: Floats
    no: Floats

    @classmethod
    def from_cells(cls, cells: Floats) -> "Chances":
        """Estimate the probabilities from `cells`, (S, T, n) outcomes of 0 and 1, NaN for missing trials."""
        seen = (~np.isnan(cells)).sum(axis=2)
        hits = np.nansum(cells, axis=2)
        priors = [_prior(own[over > 0], over[over > 0]) for own, over in zip(hits, seen, strict=True)]
        yes, no = np.empty(hits.shape), np.empty(hits.shape)
        for row, prior in enumerate(priors):
            others, over = np.delete(hits, row, axis=0).sum(axis=0), np.delete(seen, row, axis=0).sum(axis=0)
            lent, trials = _borrowed_trials(hits[row], seen[row], others, over, prior)
            yes[row] = prior.mean * prior.size + hits[row] + lent
            no[row] = (1 - prior.mean) * prior.size + seen[row] - hits[row] + trials - lent
        return cls(yes, no)

    @property
    def expected(self) -> Floats:
        size = self.yes + self.no
        return np.asarray(self.yes * self.no / (size * (size + 1)))

    def draw(self, studies: int, rng: np.random.Generator) -> Floats:
        return rng.beta(self.yes, self.no, (studies, *self.yes.shape))

    def draw_estimates(self, truth: Floats, trials: Counts, rng: np.random.Generator) -> Floats:
        means = rng.binomial(trials, truth) / trials
        return np.asarray(means * (1 - means) / (trials - 1))


@dataclass(frozen=True, slots=True)
class _Prior:
    """Beta distribution of the success probabilities of topics, fitted by moments. `size` is yes + no = 1/ICC - 1."""

    mean: float
    size: float
    between: float
    inner: float


def _prior(hits: Floats, seen: Counts) -> _Prior:
    several = seen > 1
    if not several.any():
        raise ValueError("at least one topic needs two trials, to estimate the variance of trials")
    means = hits / seen
    within = means * (1 - means) * seen / np.maximum(1, seen - 1)
    inner = float(within[several].mean())
    between = max(0.0, float(means.var(ddof=1)) - inner * float((1 / seen).mean())) if len(means) > 1 else 0.0
    icc = between / (between + inner) if between + inner > 0 else _MOST_ICC
    edge = 0.5 / float(seen.sum())  # a pilot without a miss does not show that misses never occur
    mean = min(1 - edge, max(edge, float(means.mean())))
    return _Prior(mean, 1 / min(_MOST_ICC, max(_LEAST_ICC, icc)) - 1, between, inner)


def _borrowed_trials(own: Floats, seen: Counts, others: Floats, over: Counts, prior: _Prior) -> tuple[Floats, Floats]:
    """Return the (T,) hits and (T,) trials that other systems' outcomes on each topic add to this system's own.

    The number of added trials is the number of own trials that would be equally informative. This number depends on how
    much systems differ in a topic's success probability after their means are aligned.
    """
    nothing = np.zeros(len(own)), np.zeros(len(own))
    both = (seen > 0) & (over > 0)
    if both.sum() < 3 or prior.between <= 0 or prior.inner <= 0:
        return nothing
    there = over > 0
    rest, mine = others[there] / over[there], own[both] / seen[both]
    other = _prior(others[there], over[there])
    spread, middle = other.between, other.mean
    if spread <= 0:
        return nothing
    together = float(np.cov(mine, others[both] / over[both])[0, 1])
    link = min(1.0, max(0.0, together / np.sqrt(spread * prior.between)))
    unlike = (1 - link**2) * prior.between
    trials, moved = np.zeros(len(own)), np.zeros(len(own))
    # Unrelated systems say only as much as the mean over topics, which the prior already contains.
    trials[there] = np.maximum(0.0, prior.inner / (prior.inner / over[there] + unlike) - prior.inner / prior.between)
    odds = prior.mean / (1 - prior.mean) * (1 - middle) / middle  # moves the other systems' mean, and leaves 0 and 1
    moved[there] = rest * odds / (rest * odds + 1 - rest)
    return trials * moved, trials


@dataclass(frozen=True, slots=True, eq=False)
class Spreads:
    """Variances of trials of any kind of value, by topic, as inverse gamma distributions.

    All arrays are (S, T). `degrees` of freedom are infinite if topics are alike. `squares` are the scale parameters,
    and `mean` the expected variances.
    """

    degrees: Floats
    squares: Floats
    mean: Floats

    @classmethod
    def from_cells(cls, cells: Floats) -> "Spreads":
        """Estimate the variances from `cells`, (S, T, n), NaN for missing trials."""
        seen = ~np.isnan(cells)
        counts = seen.sum(axis=2)
        free = np.maximum(0, counts - 1).astype(np.float64)
        middle = np.where(seen, cells, 0.0).sum(axis=2) / np.maximum(1, counts)
        squares = np.square(np.where(seen, cells - middle[..., None], 0.0)).sum(axis=2)
        parts = [_spread_parameters(own, over) for own, over in zip(squares, free, strict=True)]
        degrees, sums, mean = (np.stack(each) for each in zip(*parts, strict=True))
        return cls(degrees, sums, mean)

    @property
    def expected(self) -> Floats:
        return self.mean

    def draw(self, studies: int, rng: np.random.Generator) -> Floats:
        known = np.isfinite(self.degrees)
        drawn = rng.chisquare(np.where(known, self.degrees, 1.0), (studies, *self.degrees.shape))
        return np.where(known, self.squares / drawn, self.mean)

    def draw_estimates(self, truth: Floats, trials: Counts, rng: np.random.Generator) -> Floats:
        drawn = rng.chisquare(np.broadcast_to(trials - 1, truth.shape))
        return np.asarray(truth * drawn / (trials - 1) / trials)


def _spread_parameters(squares: Floats, free: Floats) -> tuple[Floats, Floats, Floats]:
    several = free > 0
    if not several.any():
        raise ValueError("at least one topic needs two trials, to estimate the variance of trials")
    own = squares[several] / free[several]
    mean, usual = float(own.mean()), float(free[several].mean())
    spread = float(own.var(ddof=1)) / mean**2 if len(own) > 1 and mean > 0 else 0.0
    beyond = usual * spread - 2  # the part of the variances' differences that chance does not explain
    if beyond <= 0:
        alike = np.full(len(free), np.inf)
        return alike, np.full(len(free), np.nan), np.full(len(free), mean)
    prior = (4 * usual * spread + 2 * usual - 4) / beyond
    degrees, sums = prior + free, (prior - 2) * mean + squares
    return degrees, sums, sums / (degrees - 2)


def neyman_allocation(variances: npt.ArrayLike, total: int, floor: int) -> Counts:
    """Allocate `total` trials to T topics in proportion to their standard deviations, at least `floor` to each.

    `variances` is (T,), not negative. If all are 0, topics get equal numbers. Trials left over by rounding go to the
    topics with the largest remainders, and in a tie to the first topic. Raises ValueError for a total below floor·T.
    """
    spread = np.sqrt(np.asarray(variances, dtype=np.float64))
    if total < floor * len(spread):
        raise ValueError(f"{total} trials are too few: each of the {len(spread)} topics needs {floor}")
    if not spread.any():
        spread = np.ones(len(spread))
    free, wanted = np.ones(len(spread), dtype=np.bool_), np.full(len(spread), float(floor))
    while free.any():
        whole = float(spread[free].sum())
        share = spread * (total - floor * int((~free).sum())) / whole if whole else np.zeros(len(spread))
        low = free & (share < floor)
        if not low.any():
            wanted[free] = share[free]
            break
        free &= ~low
    found: Counts = np.floor(wanted + 1e-9).astype(np.int64)
    rest = np.argsort(-(wanted - found), kind="stable")
    for place in range(total - int(found.sum())):
        found[rest[place % len(rest)]] += 1
    return found


@dataclass(frozen=True, slots=True)
class Allocation:
    """A proposed allocation of trials to T topics.

    - `trials`, `equal`: (T,) the proposed numbers of trials, and equal numbers with the same total.
    - `floor`: the smallest number of trials that a topic may get.
    - `width`, `equal_width`: mean widths, with either allocation, of the interval of a difference between two systems
      for these topics, over simulated studies; NaN if there is no interval.
    - `narrower`: 1 - width/equal_width.
    - `low`, `high`: the range of `narrower` in nine of ten studies.
    """

    trials: Counts
    equal: Counts
    floor: int
    width: float
    equal_width: float
    narrower: float
    low: float
    high: float


def allocate(known: Variances, total: int, rng: np.random.Generator, *, level: float = 0.95) -> Allocation:
    """Propose one allocation of `total` trials per system, to be used for all systems.

    All topics get equal numbers unless another allocation makes the interval narrower. Raises ValueError if `total` is
    less than two trials for each topic.
    """
    together = known.expected.mean(axis=0)
    equal = neyman_allocation(np.ones(len(together)), total, FLOOR)
    most = int(equal.min())
    floors = sorted({round(floor) for floor in np.linspace(FLOOR, most, _FLOORS)})
    tried = {floor: neyman_allocation(together, total, floor) for floor in floors}
    first, second = (int(seed) for seed in rng.integers(2**63, size=2))

    def mean(trials: Counts) -> float:
        return _mean(predict_widths(known, trials, first, level=level, studies=_TRIED))

    widths = {floor: width for floor, trials in tried.items() if (width := mean(trials)) == width}
    best = min(widths, key=lambda floor: (widths[floor], -floor), default=most)
    other = predict_widths(known, equal, second, level=level, studies=_STUDIES)
    plain = _mean(other)
    alike = Allocation(equal, equal, most, plain, plain, 0.0, 0.0, 0.0)
    if not widths or widths[best] >= (1 - _NOTABLE) * mean(equal) or (tried[best] == equal).all():
        return alike
    own = predict_widths(known, tried[best], second, level=level, studies=_STUDIES)
    width = _mean(own)
    if not width < (1 - _NOTABLE) * plain:  # the few studies behind the choice were lucky
        return alike
    low, high = np.nanquantile(1 - own / other, [_NARROW, _WIDE]).tolist()
    return Allocation(tried[best], equal, best, width, plain, 1 - width / plain, low, high)


def _mean(widths: Floats) -> float:
    known = widths[~np.isnan(widths)]
    return float(known.mean()) if len(known) else float("nan")


def predict_widths(known: Variances, trials: Counts, seed: int, *, level: float, studies: int = _STUDIES) -> Floats:
    """Predict the width of the interval of a difference for these topics (`paired.compare_these`) in simulated studies.

    The difference is between two systems of the pilot, or between two runs if the pilot has one system. The widths are
    (studies,), NaN if trials never differ. The true values depend on `seed` alone and not on `trials`.
    """
    rng = np.random.default_rng(seed)
    truth = known.draw(studies, rng)
    systems = truth.shape[1]
    first = rng.integers(systems, size=studies)
    other = (first + rng.integers(1, systems, size=studies)) % systems if systems > 1 else first
    rows = np.arange(studies)
    noise = np.stack([known.draw_estimates(truth, trials, rng)[rows, side] for side in (first, other)])
    variance = noise.sum(axis=(0, 2))
    some = variance > 0
    squares = (np.square(noise) / (trials - 1)).sum(axis=(0, 2))
    widths = np.full(studies, np.nan)
    degrees = np.maximum(1.0, np.floor(variance[some] ** 2 / squares[some]))
    degrees = np.where(degrees > _MANY, np.minimum(_MOST, np.round(degrees, -1)), degrees)
    half = np.array([student_quantile(0.5 + level / 2, int(one)) for one in degrees.tolist()])
    widths[some] = 2 * half * np.sqrt(variance[some]) / len(trials)
    return widths
