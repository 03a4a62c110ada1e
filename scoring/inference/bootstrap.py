"""Intervals for means over topics, with the topic as the unit and its trials nested in it.

- `topics` gives random weights to topics with all their trials, and adds part of a topic that was not asked
  (`scoring.inference.unseen_topic`). This is the default.
- `topics+trials` draws topics, then trials within each topic, with replacement, and uses plain percentiles.
- `bootstrap-t` draws topics with all their trials, and uses the ends of the studentised mean, which follow the skew of
  the topics (`studentised_ends`).

The last two methods use only the topics that were asked. If one topic in ten is of another kind and the sample is five
topics without that kind, these methods cover .44. So their ends are used only if they lie further out than the ends
from `topics` (docs/calibration.md). The "basic" (reflected) bootstrap is not offered: it fails near bounds.

The weights depend only on the generator's first draw and on the names of the topics: systems that were asked the same
topics are resampled alike, and no interval depends on the order of systems or on other measures.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from scoring.inference import unseen_topic
from scoring.inference.design import INDEPENDENT, Design, combine_intervals, too_few_sessions_reason
from scoring.inference.interval import FEWEST, METHOD, Interval, no_end_reason, no_interval, too_few_reason
from scoring.inference.these_topics import these_interval
from scoring.settings import Resample
from scoring.statistics.two_levels import two_level_counts
from topics.arrays import Floats
from topics.errors import InputError
from topics.identity import generator

Seen = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.unsignedinteger]


# Draws this number of columns of weights.
_Draw = Callable[[np.random.Generator, int], Floats | Counts]


class Resampler:
    """Intervals from random weights, which are drawn once for each set of topics.

    One number is drawn from `rng`. `replications` is the number of resamples, and `level` the confidence level, in (0,
    1). In all methods, `bottom` and `top` are the lowest and the highest possible value of a topic, as one number or
    one per column. Unknown bounds are infinite, as for R. `unit` names a row, "trial" for trials of one topic.
    """

    bytes_at_once = 64 * 2**20  # of weights drawn at a time
    bytes_kept = 128 * 2**20  # of weights kept for the next call
    most_bytes = 512 * 2**20  # of replicates: more is a slip in the settings

    def __init__(
        self, rng: np.random.Generator, *, replications: int = 2000, level: float = 0.95, resample: Resample = "topics"
    ) -> None:
        self._seed = int(rng.integers(2**63))
        self._replications, self._level, self._resample = replications, level, resample
        self._kept: dict[tuple[object, ...], npt.NDArray[np.generic]] = {}
        self._design = INDEPENDENT

    def with_design(self, design: Design) -> "Resampler":
        found = copy(self)
        found._design = design
        return found

    def means(
        self,
        topics: Sequence[str],
        values: npt.ArrayLike,
        *,
        bottom: npt.ArrayLike = 0.0,
        top: npt.ArrayLike = 1.0,
        fewest: npt.ArrayLike = FEWEST,
        unit: str = "topic",
    ) -> list[Interval]:
        """Return an interval for each measure's mean over topics of the topic's mean over trials.

        `values` is (topics, trials, measures), NaN if missing. In each measure, topics without a value are left out.
        There is no interval on fewer than four topics, nor on fewer than `fewest` for topics like these. Raises
        ValueError for values beyond `bottom` or `top`.
        """
        cells = np.asarray(values, dtype=np.float64)
        seen = ~np.isnan(cells)
        counts = seen.sum(axis=1, keepdims=True)
        below = np.where(seen, 1.0 / np.maximum(counts, 1), np.nan)
        return self.ratios(topics, cells * below, below, bottom=bottom, top=top, fewest=fewest, unit=unit)

    def ratio(self, topics: Sequence[str], above: npt.ArrayLike, below: npt.ArrayLike, unit: str = "topic") -> Interval:
        """Return the interval of one ratio. `above` and `below` are (topics, trials); see `ratios`."""
        top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
        return self.ratios(topics, top[..., None], bottom[..., None], unit=unit)[0]

    def ratios(
        self,
        topics: Sequence[str],
        above: npt.ArrayLike,
        below: npt.ArrayLike,
        *,
        bottom: npt.ArrayLike = 0.0,
        top: npt.ArrayLike = 1.0,
        fewest: npt.ArrayLike = FEWEST,
        unit: str = "topic",
    ) -> list[Interval]:
        """Return an interval for each ratio of sums over topics and trials, such as recoveries over failures.

        `above` and `below` are (topics, trials, columns), NaN for missing values, with below >= 0. Topics with
        denominator 0 say nothing about a column's ratio, so the column's units are the topics with a positive
        denominator. Columns with the same units use the same draws. The design may add clusters or sessions as units; a
        column of trials is then a session.
        """
        upper, lower = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
        least, most = (np.broadcast_to(np.asarray(end, dtype=np.float64), upper.shape[2]) for end in (bottom, top))
        if unit == "trial":
            if self._design.inflation == 1:
                return self._ratios(topics, upper, lower, least, most, unit)
            return self._trial_intervals(np.swapaxes(upper, 0, 1), np.swapaxes(lower, 0, 1), least, most)
        if self._design.is_about_these_topics and not self._design.continued:
            return self._trial_intervals(upper, lower, least, most)
        of_topics: list[Interval] = []
        if not self._design.is_about_these_topics:
            names, (tall, flat) = list(topics), (upper, lower)
            if self._design.has_clusters(topics):
                names, (tall, flat) = self._design.group_topics(topics, upper, lower)
            of_topics = self._ratios(names, tall, flat, least, most, self._design.unit(topics), fewest)
        if not self._design.continued:
            return of_topics
        of_sessions = self._session_intervals(upper, lower, least, most)
        if self._design.is_about_these_topics:
            return of_sessions
        seen = ~(np.isnan(upper) | np.isnan(lower))
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.where(seen, upper, 0).sum(axis=(0, 1)) / np.where(seen, lower, 0).sum(axis=(0, 1))
        each = zip(values.tolist(), of_topics, of_sessions, least.tolist(), most.tolist(), strict=True)
        return [combine_intervals(value, one, two, bottom=first, top=last) for value, one, two, first, last in each]

    def _session_intervals(self, upper: Floats, lower: Floats, least: Floats, most: Floats) -> list[Interval]:
        played = ~np.isnan(lower).all(axis=(0, 2))
        why = too_few_sessions_reason(int(played.sum()))
        if why:
            there: list[bool] = np.any(~np.isnan(lower), axis=(0, 1)).tolist()
            return [no_interval(why if one else "no value") for one in there]
        names = [f"session {number}" for number in np.flatnonzero(played)]
        above, below = (np.swapaxes(side, 0, 1)[played] for side in (upper, lower))
        return self._ratios(names, above, below, least, most, "session")

    def _trial_intervals(self, upper: Floats, lower: Floats, least: Floats, most: Floats) -> list[Interval]:
        sides = zip(np.moveaxis(upper, 2, 0), np.moveaxis(lower, 2, 0), least.tolist(), most.tolist(), strict=True)
        level, inflation = self._level, self._design.inflation
        return [
            these_interval(above, below, level=level, bottom=first, top=last, inflation=inflation)
            for above, below, first, last in sides
        ]

    def _ratios(
        self,
        topics: Sequence[str],
        upper: Floats,
        lower: Floats,
        least: Floats,
        most: Floats,
        unit: str,
        fewest: npt.ArrayLike = FEWEST,
    ) -> list[Interval]:
        needed = np.broadcast_to(fewest, upper.shape[2])
        seen = ~(np.isnan(upper) | np.isnan(lower))
        upper, lower = np.where(seen, upper, 0.0), np.where(seen, lower, 0.0)
        found: list[Interval] = [no_interval("no value")] * upper.shape[2]
        cells = seen & (lower.sum(axis=1) > 0)[:, None, :]
        groups: dict[bytes, list[int]] = {}  # measures with the same cells
        for column in range(cells.shape[2]):
            groups.setdefault(cells[:, :, column].tobytes(), []).append(column)
        for columns in groups.values():
            present = cells[:, :, columns[0]]
            rows = np.asarray(present.any(axis=1))
            names = [name for name, row in zip(topics, rows, strict=True) if row]
            if len(names) < FEWEST:
                for column in columns if names else ():
                    found[column] = no_interval(too_few_reason(len(names), unit))
                continue
            sides = upper[rows][:, :, columns], lower[rows][:, :, columns]
            lows, highs = self._interval_ends(names, present[rows], *sides, least[columns], most[columns])
            for place, column in enumerate(columns):
                if len(names) < needed[column]:
                    found[column] = no_interval(no_end_reason(len(names), unit, int(needed[column])))
                elif lows[place] == highs[place]:
                    found[column] = no_interval(f"every {unit} has the same value")
                else:
                    found[column] = self._interval(lows[place], highs[place], unit)
        return found

    def weighted_ratios(
        self,
        topics: Sequence[str],
        above: npt.ArrayLike,
        below: npt.ArrayLike,
        weights: npt.ArrayLike,
        unit: str = "topic",
    ) -> Interval:
        """Return an interval for a weighted mean of ratios of sums, such as SWAN over pooled nuggets, a mean of WANs.

        `above` and `below` are (topics, trials, columns), NaN for missing trials, with below >= 0 and a positive sum in
        each column. `weights` are (columns,), not negative. All columns use the same draws. There is no interval if a
        column has fewer than four topics. In a design for these topics only, the units are unstratified trials, so the
        interval includes the variation between topics.
        """
        upper, lower = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
        if unit != "topic" or self._design.has_independent_topics(topics):
            return self._weighted_ratios(topics, upper, lower, weights, unit)
        if self._design.is_about_these_topics and not self._design.continued:
            there = ~np.isnan(lower).any(axis=2)
            names = [f"trial {number}" for number in range(int(there.sum()))]
            found = self._weighted_ratios(names, upper[there][:, None], lower[there][:, None], weights, "trial")
            return replace(found, resampled="trials of topics") if found.is_defined else found
        of_topics = no_interval()
        if not self._design.is_about_these_topics:
            names, (tall, flat) = self._design.group_topics(topics, upper, lower)
            of_topics = self._weighted_ratios(names, tall, flat, weights, self._design.unit(topics))
        if not self._design.continued:
            return of_topics
        played = ~np.isnan(lower).all(axis=(0, 2))
        why = too_few_sessions_reason(int(played.sum()))
        if why:
            return no_interval(why)
        names = [f"session {number}" for number in np.flatnonzero(played)]
        tall, flat = (np.swapaxes(side, 0, 1)[played] for side in (upper, lower))
        of_sessions = self._weighted_ratios(names, tall, flat, weights, "session")
        if self._design.is_about_these_topics:
            return of_sessions
        shares = np.asarray(weights, dtype=np.float64)
        value = float((shares * np.nansum(upper, axis=(0, 1)) / np.nansum(lower, axis=(0, 1))).sum() / shares.sum())
        return combine_intervals(value, of_topics, of_sessions, bottom=0.0, top=1.0)

    def _weighted_ratios(
        self, topics: Sequence[str], upper: Floats, lower: Floats, weights: npt.ArrayLike, unit: str
    ) -> Interval:
        seen: Seen = np.asarray(~np.isnan(lower).any(axis=2))
        upper, lower = np.where(seen[:, :, None], upper, 0.0), np.where(seen[:, :, None], lower, 0.0)
        fewest = int((lower.sum(axis=1) > 0).sum(axis=0).min(initial=len(topics)))
        if fewest < FEWEST:
            return no_interval(f"a part of it has {too_few_reason(fewest, unit)}")
        rows = np.asarray((lower > 0).any(axis=(1, 2)))
        names = [name for name, row in zip(topics, rows, strict=True) if row]
        each = upper[rows].sum(axis=1), lower[rows].sum(axis=1)
        shares = np.asarray(weights, dtype=np.float64)
        shares = shares / shares.sum()
        sides = self._weighted_means(names, *each, 0.0, 1.0)
        least, most = (np.einsum("c,cb->b", shares, side)[None] for side in sides)
        (first,), (last,) = unseen_topic.interval_ends(least, most, self._level)
        if self._resample == "topics+trials":
            both = np.concatenate([upper[rows], lower[rows]], axis=2)
            sums = self._resample_trials(names, seen[rows], both)
            sums = sums[:, (sums[upper.shape[2] :] > 0).all(axis=0)]
            drawn = np.einsum("c,cb->b", shares, sums[: upper.shape[2]] / sums[upper.shape[2] :])
            first, last = min(first, np.quantile(drawn, self._tail)), max(last, np.quantile(drawn, 1 - self._tail))
        limit = unseen_topic.highest_low_end(fewest, self._level)
        return self._interval(min(first, limit), max(last, 1 - limit), unit)

    @property
    def _tail(self) -> float:
        return (1 - self._level) / 2

    def _interval_ends(
        self, names: Sequence[str], seen: Seen, above: Floats, below: Floats, bottom: Floats, top: Floats
    ) -> tuple[Floats, Floats]:
        each, size = above.sum(axis=1), below.sum(axis=1)
        values = each / size
        if np.any(values < bottom - _ROUNDING) or np.any(values > top + _ROUNDING):
            raise ValueError(f"values must be from bottom to top, but go from {values.min():g} to {values.max():g}")
        far = unseen_topic.unseen_distance(values)
        least, most = np.where(np.isinf(bottom), -far, bottom), np.where(np.isinf(top), far, top)
        low, high = unseen_topic.interval_ends(*self._weighted_means(names, each, size, least, most), self._level)
        if self._resample == "topics+trials":
            sums = self._resample_trials(names, seen, np.concatenate([above, below], axis=2))
            with np.errstate(invalid="ignore", divide="ignore"):
                drawn = sums[: len(low)] / sums[len(low) :]  # all drawn trials may have a denominator of 0
            tails = np.nanquantile(drawn, [self._tail, 1 - self._tail], axis=1)
            low, high = np.minimum(low, tails[0]), np.maximum(high, tails[1])
        elif self._resample == "bootstrap-t":
            counts = self._draw_topics(self._generator("bootstrap-t", names), len(names), self._replications)
            outer = studentised_ends(counts, each, size, self._level)
            low, high = np.fmin(low, outer[0]), np.fmax(high, outer[1])
        # With given ranges, the interval is at least as wide as if all topics were at the opposite end.
        limit = (most - least) * unseen_topic.highest_low_end(len(names), self._level)
        low = np.where(np.isinf(bottom) | np.isinf(top), low, np.minimum(low, least + limit))
        high = np.where(np.isinf(bottom) | np.isinf(top), high, np.maximum(high, most - limit))
        return np.clip(low, least, most), np.clip(high, least, most)

    def _weighted_means(
        self, names: Sequence[str], above: Floats, below: Floats, bottom: npt.ArrayLike, top: npt.ArrayLike
    ) -> tuple[Floats, Floats]:
        values, key = unseen_topic.append_unseen_topic(above, below, bottom, top), ("unseen", tuple(names))
        sums = self._products(key, values, lambda rng, size: unseen_topic.drawn_weights(rng, len(names), size), names)
        return unseen_topic.weighted_means(sums, above.shape[1])

    def _resample_trials(self, names: Sequence[str], seen: Seen, cells: Floats) -> Floats:
        trials = seen.sum(axis=1)
        key, most = ("topics+trials", tuple(names), tuple(int(count) for count in trials)), int(trials.max())
        packed = np.zeros((len(names), most, cells.shape[2]))
        for row, (cell, present) in enumerate(zip(cells, seen, strict=True)):
            packed[row, : present.sum()] = cell[present]
        values = packed.reshape(-1, cells.shape[2])
        return self._products(key, values, lambda rng, size: two_level_counts(rng, trials, size), names)

    def _draw_topics(self, rng: np.random.Generator, n: int, size: int) -> Floats:
        return rng.multinomial(n, [1 / n] * n, size=size).T.astype(np.float64)

    def _generator(self, purpose: str, names: Sequence[str]) -> np.random.Generator:
        return generator(self._seed, "bootstrap", purpose, repr(tuple(names)))

    def _products(self, key: tuple[object, ...], values: Floats, draw: _Draw, names: Sequence[str]) -> Floats:
        wanted = self._replications * values.shape[1] * values.itemsize
        if wanted > self.most_bytes:
            raise InputError(
                f"{self._replications} replications of {values.shape[1]} measures take over "
                f"{self.most_bytes >> 20} MiB",
                advice="ask for fewer replications",
            )
        found = np.empty((values.shape[1], self._replications))
        kept = self._kept.get(key)
        size = max(1, self.bytes_at_once // (values.shape[0] * values.itemsize))
        parts = [slice(start, start + size) for start in range(0, self._replications, size)]
        if kept is not None:
            for part in parts:
                found[:, part] = unseen_topic.weighted_sums(values, kept[:, part].astype(np.float64))
            return found
        rng = self._generator(str(key[0]), names)
        counted = key[0] == "topics+trials"  # counts below 256 take a byte each
        each = 1 if counted else values.itemsize
        keep = self._replications * values.shape[0] * each <= self.bytes_kept
        drawn = np.empty((values.shape[0], self._replications) if keep else (0, 0), np.uint8 if counted else np.float64)
        for part in parts:
            weights = draw(rng, found[:, part].shape[1])
            found[:, part] = unseen_topic.weighted_sums(values, weights.astype(np.float64, copy=False))
            keep = keep and weights.dtype == drawn.dtype
            if keep:
                drawn[:, part] = weights
        if keep:
            if sum(one.nbytes for one in self._kept.values()) + drawn.nbytes > self.bytes_kept:
                self._kept.clear()
            self._kept[key] = drawn
        return found

    def _interval(self, low: float, high: float, unit: str) -> Interval:
        if self._resample == "topics":
            return Interval(float(low), float(high), f"{METHOD} {unit}", f"{unit}s")
        method = {"topics+trials": "or bootstrap percentile", "bootstrap-t": "or bootstrap-t"}[self._resample]
        resampled = self._resample if unit == "topic" and self._resample == "topics+trials" else f"{unit}s"
        return Interval(float(low), float(high), f"{METHOD} {unit}, {method}, the wider", resampled)


_ROUNDING = 1e-9  # what rounding leaves beyond a range


def studentised_ends(counts: Floats, above: Floats, below: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the (C,) low and (C,) high ends of bootstrap-t intervals for C ratios of sums over K topics.

        t* = (r* - r)/se*,   low = r - q(t*, 1 - a/2)·se,   high = r - q(t*, a/2)·se

    r is a ratio of sums, se is its standard error computed from the contribution of each topic, and * marks a resample
    of K topics. `counts` is (K, B), the number of times each topic was drawn in each of B resamples. `above` and
    `below` are (K, C), the numerators and positive denominators of the topics. `level` is in (0, 1). Ends are NaN if
    all topics have the same ratio. A resample whose topics all have the same ratio has se* = 0, and too many such
    resamples make an end infinite. Source: B. Efron, Censored data and the bootstrap, JASA 76 (1981), 312-319.
    """
    value = above.sum(axis=0) / below.sum(axis=0)
    error = _ratio_errors(np.ones((len(above), 1)), above, below)[:, 0]
    drawn = unseen_topic.weighted_sums(above, counts) / unseen_topic.weighted_sums(below, counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (drawn - value[:, None]) / _ratio_errors(counts, above, below)
    t = np.where(np.isnan(t), 0.0, t)
    tail = (1 - level) / 2
    least = np.quantile(t, tail, axis=1, method="lower")
    most = np.quantile(t, 1 - tail, axis=1, method="higher")
    with np.errstate(invalid="ignore"):
        return value - most * error, value - least * error


def _ratio_errors(counts: Floats, above: Floats, below: Floats) -> Floats:
    whole, units = unseen_topic.weighted_sums(below, counts), len(counts)
    ratio = unseen_topic.weighted_sums(above, counts) / whole
    own = unseen_topic.weighted_sums(above**2, counts)
    squares = (
        own
        - 2 * ratio * unseen_topic.weighted_sums(above * below, counts)
        + ratio**2 * unseen_topic.weighted_sums(below**2, counts)
    )
    squares = np.where(squares > 1e-12 * own, squares, 0.0)
    found: Floats = np.sqrt(squares * units / (units - 1)) / whole
    return found
