"""Comparisons of each pair of systems, from their aligned cells."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from scoring.figure import Good
from scoring.inference.aligned import Aligned
from scoring.inference.in_time import common_time_p
from scoring.inference.interval import Interval, no_interval
from scoring.inference.losses import LostTrials, losses_matter, reasons_withheld
from scoring.inference.needed import NeededSize, needed
from scoring.inference.paired import (
    Estimand,
    Guard,
    PairedTest,
    Verdict,
    correct_intervals,
    decide,
    residual_variance,
)
from scoring.inference.ratios import Ratio, compare_ratio
from scoring.inference.sessions import needed_sessions
from scoring.inference.sides import combine_extremes, compare_sides
from scoring.statistics.exchange import holm_correction, smallest_p
from scoring.statistics.tukey import group_letters, tukey_p, undistinguished_sets
from topics.arrays import Floats


@dataclass(frozen=True, slots=True)
class Driver:
    """The part of one topic in the difference between two systems.

    `share` is the topic's part of the difference: shares sum to 1 over all topics, and are negative for topics that
    favour the other system. `without` is the difference over all other topics.
    """

    topic: str
    share: float
    without: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems compared in one measure.

    - `value`: the first system's figure minus the second's; NaN if undefined.
    - `interval`, `p`: the interval and the p of this difference alone.
    - `corrected`: p with one error probability over all pairs of the measure.
    - `outside`: the smallest error probability, over all pairs, at which the interval excludes 0, or NaN.
    - `least`: the smallest p possible with this number of topics; NaN if any p is possible.
    - `effect`: |value|/√V_E2 over the systems compared.
    - `why`: the reason why the systems cannot be told apart, unless the reason is a large p.
    - `bounds`: the lowest and the highest difference: one system's lost attempts are set to the low end of the measure
      and the other system's to the high end. None if losses do not matter.
    - `typical`: the median of the topics' differences and its interval, if the measure has no end near its values and
      topics are too few for a mean; else None.
    - `wins`, `ties`, `losses`: the numbers of topics on which the first system's own figure is better (higher, if
      neither end is good), equal, and worse.
    - `drivers`: every topic by its share, largest first; empty if the value is 0.
    - `needed`: the size of study that would settle the comparison.
    - `ratio`: the lower figure as a share of the higher one, if ratios were requested; else None.
    """

    first: str
    second: str
    value: float
    interval: Interval
    p: float
    corrected: float
    least: float
    effect: float
    wins: int
    ties: int
    losses: int
    drivers: tuple[Driver, ...]
    needed: NeededSize
    verdict: Verdict
    outside: float = math.nan
    why: str = ""
    bounds: tuple[float, float] | None = None
    typical: tuple[float, Interval] | None = None
    ratio: Ratio | None = None

    @property
    def is_distinguished(self) -> bool:
        return self.verdict in ("better", "worse", "higher", "lower")


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """All pairs of systems in one measure, over the topics for which all of them have a value.

    - `turn`, `topic_type`: the system turn compared and the type of topics; None for whole conversations and all types.
    - `estimand`: the population that intervals are about.
    - `figures`, `pairs`: the figure of each system, and the comparisons in the order of the systems.
    - `topics`, `left_out`: the topics compared, and the topics for which some system has no value.
    - `trials`: the fewest and the most conversations of a topic with a system.
    - `letters`: systems that share a letter cannot be told apart; "" if a system has no figure.
    - `pooled`: True if the figures are ratios of sums over all conversations, such as %recovery.
    - `sessions`: the number of sessions that run through all topics, for each system with such sessions.
    - `clusters`: the number of clusters of topics that are the units; 0 if topics are the units.
    - `in_time`: notes for systems whose trials are alike if they are near in time.
    - `standardised`: True if scores are relative to those of a reference group (`scoring.comparison.standardised`).
    """

    measure: str
    turn: int | None
    topic_type: str | None
    estimand: Estimand
    figures: Mapping[str, float]
    topics: tuple[str, ...]
    left_out: tuple[str, ...]
    trials: tuple[int, int]
    pairs: tuple[Pair, ...]
    letters: Mapping[str, str]
    pooled: bool = False
    sessions: Mapping[str, int] = field(default_factory=dict)
    clusters: int = 0
    in_time: Mapping[str, str] = field(default_factory=dict)
    standardised: bool = False

    @property
    def label(self) -> str:
        """The printed name of the measure, such as `%useful S1`."""
        return f"{self.measure} S{self.turn}" if self.turn else self.measure


# Aligns the systems with all losses of the first at the low end of the measure and of the second at the high end.
Extreme = Callable[[str, str], Aligned]

# Ends the reason why no winner is named, whatever the figures.
SEE_BOUNDS = ": see the bounds"

_SAME = 1e-12  # values that differ only by rounding must rank as equal on every machine
# Up to this p, trials of all topics are too alike in time for a comparison.
_SHARED = 0.01


def compare_pairs(
    measure: str,
    turn: int | None,
    aligned: Aligned,
    rng: np.random.Generator,
    *,
    estimand: Estimand,
    level: float,
    good: Good,
    reach: float,
    topic_type: str | None = None,
    guard: Guard = "unseen",
    lost: Mapping[str, LostTrials] | None = None,
    extreme: Extreme | None = None,
    ratios: bool = False,
    withheld: Mapping[tuple[str, str], str] | None = None,
) -> MeasureComparison:
    """Compare every pair of the systems.

    `good` is the good end of the measure. `reach` is the largest possible difference of two figures, infinite if the
    measure has no end near its values. `guard` is as in `compare_like_these`. `lost` are the attempts that each system
    lost, and `extreme` aligns two systems with lost attempts at both ends of the measure. `ratios` adds the ratio of
    the figures to each pair. `withheld` has the reasons why pairs have no interval and no p; "" if there is none.

    For topics like these, p is corrected by the closed randomised Tukey HSD. For these topics, for ratios of sums, and
    for sessions that run through all topics, p is corrected by Holm's method. A winner also needs an interval without
    0, corrected by Holm's method. If systems lost different shares of their attempts, or large shares, that interval
    spans the bounds of the losses. If the losses of a system depend on its answers, there are bounds and no winner.
    """
    values, figures, pairs = aligned.values, aligned.figures, list(combinations(range(len(aligned.systems)), 2))

    def compared(one: Aligned, place: tuple[int, int]) -> PairedTest:
        return compare_sides(one, *place, rng, estimand=estimand, level=level, reach=reach, guard=guard)

    def ratio_of(first: int, second: int, pair: Pair) -> Ratio:
        names = pair.first, pair.second
        ends = (extreme(*names), extreme(*names[::-1])) if extreme is not None and pair.bounds is not None else ()
        return compare_ratio(
            aligned,
            first,
            second,
            pair.interval,
            rng,
            estimand=estimand,
            level=level,
            reach=reach,
            guard=guard,
            bounds=ends,
        )

    found = [compared(aligned, place) for place in pairs]
    usual = estimand == "like-these" and not aligned.pooled and not aligned.sessions.any()
    known = bool(values.size) and not np.isnan(values).any()
    corrected = np.full((len(aligned.systems),) * 2, math.nan)
    if not usual:
        for place, p in zip(pairs, holm_correction([one.p for one in found]), strict=True):
            corrected[place] = p
    elif known:
        # The permuted values (U, m) of topics, or sums over clusters, since clusters are permuted as a whole.
        own = values
        if aligned.clusters is not None:
            own = np.asarray((np.arange(_units(aligned))[:, None] == aligned.clusters) @ values)
        table = tukey_p(own, rng)
        for place in pairs:
            corrected[place] = table[place]
    bounds: list[tuple[float, float] | None] = [None] * len(pairs)
    dependent = [""] * len(pairs)
    for at, (place, one) in enumerate(zip(pairs, found, strict=True)):
        names = aligned.systems[place[0]], aligned.systems[place[1]]
        sides = _losses_of_pair(lost or {}, names)
        dependent[at] = reasons_withheld(sides)
        if extreme is not None and lost is not None and (dependent[at] or _losses_matter(aligned, place, lost)):
            ends = compared(extreme(*names), place), compared(extreme(*names[::-1]), place)
            found[at], bounds[at] = combine_extremes(one, ends), (ends[0].value, ends[1].value)
            corrected[place] = min(1.0, max(corrected[place], found[at].p * len(pairs)))
        if why := (withheld or {}).get(names) or _time_dependence_reason(aligned, names):
            found[at] = replace(found[at], interval=no_interval(why), p=math.nan, outside=math.nan, typical=None)
            corrected[place] = math.nan
    outside = correct_intervals(found)
    least = smallest_p(_units(aligned)) if usual else math.nan
    alpha, without = 1 - level, aligned.figures_without_each_topic()
    made = tuple(
        _pair(
            aligned,
            values,
            without,
            place,
            one,
            float(corrected[place]),
            beside,
            least,
            bound,
            alpha,
            len(pairs),
            estimand,
            good,
            reach,
            guard,
            dependent=depends,
        )
        for place, one, beside, bound, depends in zip(pairs, found, outside, bounds, dependent, strict=True)
    )
    if ratios:  # last, so that no other number is drawn differently
        made = tuple(replace(pair, ratio=ratio_of(*place, pair)) for place, pair in zip(pairs, made, strict=True))
    apart = np.ones((len(aligned.systems),) * 2)
    for place, pair in zip(pairs, made, strict=True):
        apart[place] = apart[place[::-1]] = 0.0 if pair.is_distinguished else 1.0
    best = np.argsort(figures if good == "low" else -figures, kind="stable")
    sets = group_letters(undistinguished_sets(apart, alpha), [int(place) for place in best])
    spread = residual_variance(values) if known else math.nan
    noise = math.sqrt(spread) if spread > _SAME**2 else math.nan
    return MeasureComparison(
        measure=measure,
        turn=turn,
        topic_type=topic_type,
        estimand=estimand,
        figures={name: float(figure) for name, figure in zip(aligned.systems, figures, strict=True)},
        topics=aligned.topics,
        left_out=aligned.left_out,
        trials=(int(aligned.trials.min(initial=2**31)), int(aligned.trials.max(initial=0))) if values.size else (0, 0),
        pairs=tuple(replace(one, effect=abs(one.value) / noise) for one in made),
        letters={
            name: "" if math.isnan(figure) else own
            for name, figure, own in zip(aligned.systems, figures, sets, strict=True)
        },
        pooled=aligned.pooled,
        sessions={name: int(count) for name, count in zip(aligned.systems, aligned.sessions, strict=True) if count},
        clusters=_units(aligned) if aligned.clusters is not None else 0,
        in_time={name: one.note for name, one in aligned.in_time.items() if one.note},
    )


def _units(aligned: Aligned) -> int:
    return len(aligned.topics) if aligned.clusters is None else int(aligned.clusters.max()) + 1


def _losses_of_pair(lost: Mapping[str, LostTrials], names: tuple[str, str]) -> tuple[LostTrials, LostTrials]:
    first, second = (lost.get(name, LostTrials({}, {})) for name in names)
    return first.losses_in_comparison(names[1]), second.losses_in_comparison(names[0])


def _losses_matter(aligned: Aligned, place: tuple[int, int], lost: Mapping[str, LostTrials]) -> bool:
    topics = (*aligned.topics, *aligned.left_out)
    first, second = _losses_of_pair(lost, (aligned.systems[place[0]], aligned.systems[place[1]]))
    kept = [
        int(aligned.trials[:, at].sum()) - len(side.valued) for at, side in zip(place, (first, second), strict=True)
    ]
    return losses_matter((first.count_among(topics), second.count_among(topics)), (kept[0], kept[1]))


def _time_dependence_reason(aligned: Aligned, names: tuple[str, str]) -> str:
    """Return why two systems have no interval if their differences are alike in time; "" if they are not.

    An effect that all topics share, such as an undeclared session or a load on one system, does not average out over
    topics: up to 60% of studies with such an effect told equal systems apart. A load on both systems, which take turns,
    cancels out.
    """
    if not aligned.moments.keys() >= set(names):
        return ""
    (one, at), (other, then) = (aligned.moments[name] for name in names)
    if common_time_p(one - other, (at + then) / 2) > _SHARED:
        return ""
    return (
        "differences of trials near each other in time are alike whatever the topic, as if sessions went on (then "
        "declare it, session: continued) or a load was on one system only"
    )


def _pair(
    aligned: Aligned,
    values: Floats,
    without: Floats,
    place: tuple[int, int],
    found: PairedTest,
    corrected: float,
    outside: float,
    least: float,
    bounds: tuple[float, float] | None,
    alpha: float,
    pairs: int,
    estimand: Estimand,
    good: Good,
    reach: float,
    guard: Guard,
    *,
    dependent: str,
) -> Pair:
    first, second = place
    each = values[:, first] - values[:, second]
    apart = aligned.topic_figures[:, first] - aligned.topic_figures[:, second]
    apart = np.where(np.abs(apart) <= _SAME, 0.0, apart) * (-1 if good == "low" else 1)
    verdict, why = decide(found, corrected, outside, least, alpha=alpha, good=good, pairs=pairs)
    if bounds is not None and verdict == "cannot tell" and not found.interval.note:
        why = "the systems lost different shares of their attempts, or many, and what was lost could turn it round"
    if dependent and verdict not in ("no value", "too few"):
        verdict = "cannot tell"
        why = f"{dependent}{SEE_BOUNDS}"
    enough = _find_needed(aligned, each, found, place, bounds, (alpha + _SAME) / pairs, estimand, reach, guard)
    if verdict in ("cannot tell", "too few"):  # the trials played so far do not decide
        enough = enough.omit_reached(len(each), int(aligned.trials[:, list(place)].max(initial=0)))
    return Pair(
        first=aligned.systems[first],
        second=aligned.systems[second],
        value=found.value,
        interval=found.interval,
        p=found.p,
        corrected=corrected,
        outside=outside,
        least=least,
        effect=math.nan,
        wins=int((apart > 0).sum()),
        ties=int((apart == 0).sum()),
        losses=int((apart < 0).sum()),
        drivers=tuple(_drivers(aligned, each, without[:, first] - without[:, second])),
        needed=enough,
        verdict=verdict,
        why=why,
        bounds=bounds,
        typical=found.typical,
    )


def _find_needed(
    aligned: Aligned,
    each: Floats,
    found: PairedTest,
    place: tuple[int, int],
    bounds: tuple[float, float] | None,
    alpha: float,
    estimand: Estimand,
    reach: float,
    guard: Guard,
) -> NeededSize:
    """Estimate the size of study that would settle the comparison.

    The size is unknown if no study would settle it, or if the model fails. The model has the spread of topics and
    trials only. It does not cover lost attempts (a larger study loses as many), clusters, trials alike in time, or
    ratios with too few turns for an interval.
    """
    withheld = math.isnan(found.p) and not found.interval.is_defined
    if bounds is not None or aligned.clusters is not None or withheld:
        return NeededSize(math.nan, math.nan)
    both = list(place)
    noise, trials = aligned.noise[:, both], aligned.trials[:, both]
    if not aligned.sessions[both].any():
        return needed(each, noise, trials, alpha=alpha, estimand=estimand, reach=reach, guard=guard)
    whole, counts = aligned.shared[both], aligned.sessions[both]
    return needed_sessions(each, noise, whole, counts, trials, alpha=alpha, estimand=estimand)


def _drivers(aligned: Aligned, each: Floats, without: Floats) -> Iterator[Driver]:
    whole = float(each.sum())
    if len(each) < 2 or math.isnan(whole) or abs(whole) <= _SAME:
        return
    shares = each / whole
    for row in np.argsort(-shares, kind="stable"):
        yield Driver(aligned.topics[row], float(shares[row]), float(without[row]))
