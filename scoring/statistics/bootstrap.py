"""Intervals for means over topics, with the topic as the unit and its trials nested in it.

Two ways of drawing anew, both read off as percentiles of the replicates:

`topics`         topics with all their trials. The percentiles are taken a little further out than the level says
                 (*expanded*: the t quantile with n - 1 degrees of freedom times sqrt(n/(n - 1)), for n topics), because
                 plain percentiles of n topics are too narrow by about that much (Hesterberg 2015, The American
                 Statistician 69, 371-386). Covers .94-.96 in simulation, whether topics differ or not.
`topics+trials`  topics, then trials within each topic drawn, plain percentiles. Counts the trials' noise twice where
                 topics are alike, and then covers .98-.99: the cautious choice.

docs/measures.md prints the simulation behind the default. The "basic" (reflected) bootstrap fails near the bounds of
a score and is not offered.

The weights depend on the generator's first draw and on the names of the topics only: systems that were asked the same
topics are resampled alike, and neither the order of the systems nor what else is scored changes an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scoring.settings import Resample
from scoring.statistics.beta import normal_cdf, student_quantile
from topics.errors import InputError
from topics.identity import generator

__all__ = ["FEWEST", "Interval", "Resampler", "expanded_tail", "no_interval", "too_few"]

Floats = npt.NDArray[np.float64]
_Draw = Callable[[np.random.Generator, int], Floats]
"""Draws so many rows of weights."""

_AT_ONCE = 64 * 2**20  # bytes of weights drawn at a time
_KEPT = 128 * 2**20  # bytes of weights kept for the next call: counts below 256, a byte each
_MOST = 512 * 2**20  # bytes of replicates: more is a slip in the settings
FEWEST = 4
"""Topics that an interval asks for: of three, it covers the truth much less often than it says (.74 to .76 of a nominal
.95), and of two it would be from the one to the other."""
_SAME = 1e-12  # topics that differ by less gave the same value


@dataclass(frozen=True, slots=True)
class Interval:
    """low, high: NaN where there is none; `note` then says why. method: how it was reckoned.

    resampled: `topics`, `topics+trials`, or `nothing` where a formula took the place of resampling.
    """

    low: float
    high: float
    method: str
    resampled: str
    note: str = ""


def no_interval(why: str = "") -> Interval:
    return Interval(math.nan, math.nan, "", "", why)


def too_few(topics: int) -> str:
    """Why so few topics, fewer than `FEWEST`, have no interval."""
    return "one topic: nothing to resample" if topics == 1 else f"{topics} topics: too few to resample"


@lru_cache(maxsize=4096)
def expanded_tail(n: int, level: float) -> float:
    """The share of replicates to leave out at each end for a mean over `n` >= 2 units at `level`."""
    return normal_cdf(student_quantile((1 - level) / 2, n - 1) * math.sqrt(n / (n - 1)))


class Resampler:
    """Draws bootstrap weights once for each set of topics, and reads intervals off them.

    rng: one number is drawn from it. replications: B. level: confidence in (0, 1).
    """

    def __init__(
        self, rng: np.random.Generator, *, replications: int = 2000, level: float = 0.95, resample: Resample = "topics"
    ) -> None:
        self._seed = int(rng.integers(2**63))
        self._replications, self._level, self._resample = replications, level, resample
        self._kept: dict[tuple[object, ...], npt.NDArray[np.uint8]] = {}

    def means(self, topics: Sequence[str], values: npt.ArrayLike) -> list[Interval]:
        """An interval for each measure's mean over topics of the topic's mean over its trials.

        topics: (topics,) names. values: (topics, trials, measures), NaN where a trial gave no value; a topic
        without any is left out of that measure. No interval on fewer than four topics, nor where all topics
        have the same value: replicates that cannot differ say nothing of the topics that were not asked.
        """
        cells = np.asarray(values, dtype=np.float64)
        found: list[Interval] = [no_interval("no value")] * cells.shape[2]
        for present, columns in _alike(~np.isnan(cells)):
            rows = np.asarray(present.any(axis=1))
            names = [name for name, row in zip(topics, rows, strict=True) if row]
            here, seen = cells[rows][:, :, columns], present[rows]
            if not names:
                continue
            if len(names) < FEWEST:
                for column in columns:
                    found[column] = no_interval(too_few(len(names)))
                continue
            filled = np.where(seen[:, :, None], here, 0.0) / seen.sum(axis=1)[:, None, None]
            each = filled.sum(axis=1)
            replicates = self._replicates(names, seen, filled, each)
            lows, highs = np.quantile(replicates, self._ends(len(names)), axis=0)
            for place, column in enumerate(columns):
                if np.ptp(each[:, place]) <= _SAME:
                    found[column] = no_interval("every topic has the same value")
                else:
                    found[column] = self._interval(lows[place], highs[place])
        return found

    def ratio(self, topics: Sequence[str], above: npt.ArrayLike, below: npt.ArrayLike) -> Interval:
        """`ratios` of one column: above, below are (topics, trials)."""
        top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
        return self.ratios(topics, top[..., None], bottom[..., None])[0]

    def ratios(self, topics: Sequence[str], above: npt.ArrayLike, below: npt.ArrayLike) -> list[Interval]:
        """An interval for each ratio of sums over topics and trials, such as recoveries over first-turn failures.

        topics: (topics,) names. above, below: (topics, trials, columns), NaN where a trial gave no value; below >= 0.
        Only topics with anything below the line are units of a column: the others say nothing of its ratio. Columns
        with the same units are read off the same draws.
        """
        top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
        seen = ~(np.isnan(top) | np.isnan(bottom))
        top, bottom = np.where(seen, top, 0.0), np.where(seen, bottom, 0.0)
        found: list[Interval] = [no_interval("no value")] * top.shape[2]
        for present, columns in _alike(seen & (bottom.sum(axis=1) > 0)[:, None, :]):
            rows = np.asarray(present.any(axis=1))
            names = [name for name, row in zip(topics, rows, strict=True) if row]
            if len(names) < FEWEST:
                for column in columns if names else ():
                    found[column] = no_interval(too_few(len(names)))
                continue
            both = np.concatenate([top[rows][:, :, columns], bottom[rows][:, :, columns]], axis=2)
            each = both.sum(axis=1)
            sums = self._replicates(names, present[rows], both, each)
            half = len(columns)
            for place, column in enumerate(columns):
                if np.ptp(each[:, place] / each[:, half + place]) <= _SAME:
                    found[column] = no_interval("every topic has the same value")
                    continue
                usable = sums[:, half + place] > 0  # trials drawn anew may all be without a first-turn failure
                drawn = sums[usable, place] / sums[usable, half + place]
                found[column] = self._interval(*np.quantile(drawn, self._ends(len(names))))
        return found

    def weighted_ratios(
        self, topics: Sequence[str], above: npt.ArrayLike, below: npt.ArrayLike, weights: npt.ArrayLike
    ) -> Interval:
        """An interval for a weighted mean of ratios of sums, as SWAN over pooled nuggets is one of WANs.

        topics: (topics,) names. above, below: (topics, trials, columns), NaN where there is no trial; below >= 0, and
        above 0 somewhere in each column. weights: (columns,), not negative. All columns are read off the same draws; a
        draw in which one of them has nothing below the line is of other columns, and left out. The expansion is that
        of the column with the fewest topics; with fewer than four topics in a column there is no interval.
        """
        top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
        seen: npt.NDArray[np.bool_] = np.asarray(~np.isnan(bottom).any(axis=2))
        top, bottom = np.where(seen[:, :, None], top, 0.0), np.where(seen[:, :, None], bottom, 0.0)
        fewest = int((bottom.sum(axis=1) > 0).sum(axis=0).min(initial=len(topics)))
        if fewest < FEWEST:
            return no_interval(f"a part of it has {too_few(fewest)}")
        rows = np.asarray((bottom > 0).any(axis=(1, 2)))
        names = [name for name, row in zip(topics, rows, strict=True) if row]
        both = np.concatenate([top[rows], bottom[rows]], axis=2)
        sums = self._replicates(names, seen[rows], both, both.sum(axis=1))
        half = top.shape[2]
        usable = (sums[:, half:] > 0).all(axis=1)
        shares = np.asarray(weights, dtype=np.float64)
        drawn = np.einsum("bc,c->b", sums[usable, :half] / sums[usable, half:], shares / shares.sum())
        if not drawn.size or np.ptp(drawn) <= _SAME:
            return no_interval("every topic has the same value")
        return self._interval(*np.quantile(drawn, self._ends(fewest)))

    def _replicates(self, names: Sequence[str], seen: npt.NDArray[np.bool_], cells: Floats, each: Floats) -> Floats:
        """(B, measures) means over the topics drawn. cells: (topics, trials, measures); each: its sum over trials."""
        key: tuple[object, ...] = (tuple(names),)
        if self._resample == "topics":
            return self._products(key, len(names), each, lambda rng, size: self._draw_topics(rng, len(names), size))
        trials = seen.sum(axis=1)
        key, most = (*key, tuple(int(count) for count in trials)), int(trials.max())
        packed = np.zeros((len(names), most, cells.shape[2]))
        for row, (cell, present) in enumerate(zip(cells, seen, strict=True)):
            packed[row, : present.sum()] = cell[present]
        values = packed.reshape(-1, cells.shape[2])
        return self._products(
            key, len(names), values, lambda rng, size: self._draw_trials(rng, len(names), trials, size)
        )

    def _draw_topics(self, rng: np.random.Generator, n: int, size: int) -> Floats:
        return rng.multinomial(n, [1 / n] * n, size=size).astype(np.float64)

    def _draw_trials(self, rng: np.random.Generator, n: int, trials: npt.NDArray[np.int64], size: int) -> Floats:
        """(size, n · most): how often each trial of each topic is drawn; a topic drawn twice draws its trials twice."""
        often = rng.multinomial(n, [1 / n] * n, size=size)
        shares = (np.arange(trials.max()) < trials[:, None]) / trials[:, None]
        drawn = rng.multinomial(often * trials, shares)
        return drawn.reshape(size, -1).astype(np.float64)

    def _products(self, key: tuple[object, ...], topics: int, values: Floats, draw: _Draw) -> Floats:
        """(B, measures): drawn weights times values (topics or cells, measures), over `topics`. Never more than
        `_AT_ONCE` bytes of weights at a time; they are kept for the next call where they fit into a byte each."""
        wanted = self._replications * values.shape[1] * values.itemsize
        if wanted > _MOST:
            raise InputError(
                f"{self._replications} replications of {values.shape[1]} measures take over {_MOST >> 20} MiB",
                advice="ask for fewer replications",
            )
        found = np.empty((self._replications, values.shape[1]))
        size = max(1, _AT_ONCE // (values.shape[0] * values.itemsize))
        parts = [slice(start, start + size) for start in range(0, self._replications, size)]
        kept = self._kept.get(key)
        if kept is not None:
            for part in parts:
                found[part] = _product(kept[part].astype(np.float64), values)
            return found / topics
        rng = generator(self._seed, "bootstrap", self._resample, repr(key))
        keep = self._replications * values.shape[0] <= _KEPT
        drawn = np.empty((self._replications, values.shape[0]) if keep else (0, 0), dtype=np.uint8)
        for part in parts:
            weights = draw(rng, len(found[part]))
            found[part] = _product(weights, values)
            keep = keep and weights.max(initial=0) <= np.iinfo(drawn.dtype).max
            if keep:
                drawn[part] = weights
        if keep:
            if sum(one.nbytes for one in self._kept.values()) + drawn.nbytes > _KEPT:
                self._kept.clear()
            self._kept[key] = drawn
        return found / topics

    def _ends(self, n: int) -> list[float]:
        tail = expanded_tail(n, self._level) if self._resample == "topics" else (1 - self._level) / 2
        return [tail, 1 - tail]

    def _interval(self, low: float, high: float) -> Interval:
        method = "bootstrap, expanded percentile" if self._resample == "topics" else "bootstrap, percentile"
        return Interval(float(low), float(high), method, self._resample)


def _product(weights: Floats, values: Floats) -> Floats:
    """Matrix product without BLAS, whose last bits vary with threads and alignment: files of scores are compared."""
    product: Floats = np.einsum("bn,nm->bm", weights, values)
    return product


def _alike(present: npt.NDArray[np.bool_]) -> Iterator[tuple[npt.NDArray[np.bool_], list[int]]]:
    """Measures grouped by which (topic, trial) cells they have: (cells, measures) for each group."""
    groups: dict[bytes, list[int]] = {}
    for column in range(present.shape[2]):
        groups.setdefault(present[:, :, column].tobytes(), []).append(column)
    for columns in groups.values():
        yield present[:, :, columns[0]], columns
