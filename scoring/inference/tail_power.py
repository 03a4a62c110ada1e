"""Simulation of how wide the interval of a tail is, and how often it lies entirely on one side of a bound.

The interval is computed by `scoring.inference.tails.pooled_tail`. A simulated study draws topics of a pilot. A trial of
a topic draws one of the topic's own scores with probability w, and otherwise a score of any topic:

    w = √(σ² / V)      V: the spread of the pilot's topic means; σ²: the part of V that is not chance within topics

So scores have the distribution of the pilot's scores, whose tail is the true tail, and topics differ as in the pilot
but without the noise of its few trials. If only components of variance are known, the scores of a "pilot" are quantiles
of two beta distributions: of topics around the mean, and of trials around the topic.

Fewer topics than `units_needed` have no interval, whatever the number of trials.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.inference.tails import TailKind, Worst, cvar, lower_quantile, pooled_tail, units_needed
from scoring.statistics.beta import beta_quantile
from scoring.statistics.outcomes import Components
from topics.arrays import Floats

# Why components are not enough.
NO_TOP = "where scores have no known top, mean and spread do not say how the worst of them lie"

_REPLICATIONS = 400  # so that a power of .8 is known to ±.02
_FEWEST_STUDIES, _MOST_STUDIES = 60, 300
_WORK = 25_000_000  # scores × studies × replications of one design
_PLACES = (60, 40)  # topics, and trials of each, at whose quantiles stated components are tabled
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal


@dataclass(frozen=True, slots=True, eq=False)
class TailModel:
    """A pilot's scores by topic, the share of trials with their own topic's score, and the highest score possible."""

    scores: tuple[Floats, ...]
    own: float
    top: float

    @property
    def weighted_scores(self) -> tuple[Floats, Floats]:
        """All scores, and weights with an equal sum for each topic."""
        weights = [np.full(len(one), 1 / len(one)) for one in self.scores]
        return np.concatenate(self.scores), np.concatenate(weights)

    def value(self, kind: TailKind, beta: float, worst: Worst = "low") -> float:
        flat, weights = self.weighted_scores
        return cvar(flat, beta, weights, worst=worst) if kind == "cvar" else lower_quantile(flat, beta, weights)

    def draw(self, topics: int, trials: int, rng: np.random.Generator) -> Floats:
        counts = np.array([len(one) for one in self.scores])
        starts, flat = np.cumsum(counts) - counts, np.concatenate(self.scores)
        own = np.broadcast_to(rng.integers(len(counts), size=(topics, 1)), (topics, trials))
        any_topic = rng.integers(len(counts), size=(topics, trials))
        of = np.where(rng.random((topics, trials)) < self.own, own, any_topic)
        return np.asarray(flat[starts[of] + (rng.random((topics, trials)) * counts[of]).astype(int)])


def tail_model(cells: npt.ArrayLike, top: float) -> TailModel:
    """Return the model of a pilot's (topics, trials) scores. Raises ValueError unless two topics have two scores."""
    rows = [row[~np.isnan(row)] for row in np.asarray(cells, dtype=np.float64)]
    scores = tuple(row for row in rows if len(row))
    several = [row for row in scores if len(row) > 1]
    if len(several) < 2:
        raise ValueError("at least 2 topics need 2 trials with a score")
    seen = float(np.var([row.mean() for row in several], ddof=1))
    chance = float(np.mean([row.var(ddof=1) / len(row) for row in several]))
    return TailModel(scores, math.sqrt(max(0.0, 1 - chance / seen)) if seen > _SAME**2 else 0.0, top)


def stated_tail_model(components: Components) -> TailModel:
    """Return the model of one system with stated components. Raises ValueError if values are unbounded."""
    if components.shape == "unbounded":
        raise ValueError(NO_TOP)
    width = components.high - components.low
    mean, between = (components.mean - components.low) / width, components.topic + components.both
    chances = _beta_quantiles(np.array([mean]), between / components.room, _PLACES[0])[0]
    share = 1.0 if components.shape == "yes or no" else components.within / (components.room - between)
    scores = components.low + width * _beta_quantiles(chances, min(share, 1.0), _PLACES[1])
    return TailModel(tuple(scores), 1.0, components.high)


def _beta_quantiles(means: Floats, share: float, places: int) -> Floats:
    at = (np.arange(places) + 0.5) / places
    if share <= _SAME:
        return np.repeat(means[:, None], places, axis=1)
    if share >= 1 - 1e-9:
        return np.asarray((at[None, :] > 1 - means[:, None]).astype(np.float64))
    size, inside = 1 / share - 1, np.clip(means, 1e-9, 1 - 1e-9)
    return np.stack([beta_quantile(at, one * size, (1 - one) * size) for one in inside])


@dataclass(frozen=True, slots=True)
class TailPower:
    """Results of a simulation; NaN if no study has an interval.

    - `below`, `above`: the shares of studies whose interval lies entirely below a bound `distance` above the true tail,
      and entirely above a bound `distance` below the true tail.
    - `error`: the largest Monte Carlo standard error of either share.
    - `width`, `covered`: the mean width of the intervals, and the share that covers the true tail.
    - `with_interval`, `note`: the share of studies with an interval, and why all other studies have none.
    """

    below: float
    above: float
    error: float
    width: float
    covered: float
    with_interval: float
    studies: int
    note: str


def simulate_tail(
    model: TailModel,
    kind: TailKind,
    beta: float,
    distance: float,
    topics: int,
    trials: int,
    rng: np.random.Generator,
    *,
    level: float,
    replications: int = _REPLICATIONS,
    studies: int | None = None,
    worst: Worst = "low",
    called: tuple[str, str] | None = None,
) -> TailPower:
    """Simulate studies of one system.

    `beta`, `worst` and `called` are as for `pooled_tail`, and `level` is the confidence level of the interval.
    `distance`, above 0, separates the bounds from the true tail. `replications` is the number for each interval: fewer
    than for a score make the ends less stable but the interval no wider. `studies` defaults to the number that takes
    about a second.
    """
    many = studies or max(_FEWEST_STUDIES, min(_MOST_STUDIES, _WORK // (topics * trials * replications)))
    names = [f"{number:05}" for number in range(topics)]
    truth = model.value(kind, beta, worst)
    ends, notes = np.full((many, 2), math.nan), dict[str, None]()
    for study in range(many):
        cells = model.draw(topics, trials, rng)
        tail = pooled_tail(
            names,
            cells,
            beta,
            rng,
            level=level,
            replications=replications,
            top=model.top,
            worst=worst,
            called=called,
        )
        interval = tail.cvar_interval if kind == "cvar" else tail.quantile_interval
        if interval.note:
            notes[interval.note] = None
            if topics < units_needed(kind, beta, worst=worst, top=model.top):
                break  # the reason holds for all studies
            continue
        ends[study] = interval.low - truth, interval.high - truth
    low, high = ends.T
    some = ~np.isnan(low)
    note = next(iter(notes), "")
    if not some.any():
        return TailPower(math.nan, math.nan, math.nan, math.nan, math.nan, 0.0, many, note)
    below, above = float((high < distance).mean()), float((low > -distance).mean())
    variance = max(below * (1 - below), above * (1 - above), 1 / many)
    return TailPower(
        below=below,
        above=above,
        error=math.sqrt(variance / many),
        width=float((high - low)[some].mean()),
        covered=float(((low <= _SAME) & (high >= -_SAME))[some].mean()),
        with_interval=float(some.mean()),
        studies=many,
        note=note,
    )
