"""Comparisons of each pair of systems, from their aligned cells."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scoring.comparison.pairs import SEE_BOUNDS, Driver, MeasureComparison, Pair, Pairs
from scoring.figure import Good
from scoring.inference.aligned import Aligned
from scoring.inference.in_time import common_time_ps
from scoring.inference.interval import no_interval
from scoring.inference.losses import LostTrials, losses_matter, reasons_withheld
from scoring.inference.needed import NeededSize, needed
from scoring.inference.pair_tests import MOST_AT_ONCE, PairTests
from scoring.inference.paired import Estimand, PairedTest, decide, residual_variance, tells_apart
from scoring.inference.ratios import Ratio, compare_ratio
from scoring.inference.sameness import Sameness, sameness
from scoring.inference.sessions import needed_sessions
from scoring.inference.sides import combine_extremes
from scoring.settings import Guard
from scoring.statistics.exchange import holm_correction, smallest_p
from scoring.statistics.tukey import group_letters, tukey_p, undistinguished_sets
from topics.arrays import Floats

# Aligns the systems with all losses of the first at the low end of the measure and of the second at the high end.
Extreme = Callable[[str, str], Aligned]

_SAME = 1e-12  # values that differ only by rounding must rank as equal on every machine
# Up to this p, trials of all topics are too alike in time for a comparison.
_SHARED = 0.01
_TIME_DEPENDENCE = (
    "differences of trials near each other in time are alike whatever the topic, as if sessions went on (then "
    "declare it, session: continued) or a load was on one system only; once in a hundred runs that is chance, which "
    "another run tells"
)


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
    values, figures = aligned.values, aligned.figures
    tests = PairTests(aligned, rng, estimand=estimand, level=level, reach=reach, guard=guard)
    pairs = tests.places
    usual = estimand == "like-these" and not aligned.pooled and not aligned.sessions.any()
    known = bool(values.size) and not np.isnan(values).any()
    corrected = np.full((len(aligned.systems),) * 2, math.nan)
    if not usual:
        for place, p in zip(pairs, holm_correction(tests.p), strict=True):
            corrected[place] = p
    elif known:
        # The permuted values (U, m) of topics, or sums over clusters, since clusters are permuted as a whole.
        own = values
        if aligned.clusters is not None:
            own = np.asarray((np.arange(_units(aligned))[:, None] == aligned.clusters) @ values)
        corrected = tukey_p(own, rng)
    bounds: list[tuple[float, float] | None] = [None] * len(pairs)
    dependent = [""] * len(pairs)
    reached: dict[str, list[float]] = {}
    alike = _find_time_dependence(aligned, pairs)
    for at, place in enumerate(pairs):
        names = aligned.systems[place[0]], aligned.systems[place[1]]
        if lost:
            dependent[at] = reasons_withheld(_losses_of_pair(lost, names))
            if extreme is not None and (dependent[at] or _losses_matter(aligned, place, lost)):
                one, low, high = tests.test(at), extreme(*names), extreme(*names[::-1])
                ends = tests.compare(low, place, rng), tests.compare(high, place, rng)
                tests.replace(at, combine_extremes(one, ends))
                bounds[at] = (ends[0].value, ends[1].value)
                for name in names if dependent[at] else ():
                    reached.setdefault(name, []).extend(
                        float(end.figures[end.systems.index(name)]) for end in (low, high)
                    )
                corrected[place] = min(1.0, max(corrected[place], tests.p[at] * len(pairs)))
        if why := (withheld or {}).get(names) or _TIME_DEPENDENCE * bool(alike[at]):
            without = replace(tests.test(at), interval=no_interval(why), p=math.nan, outside=math.nan, typical=None)
            tests.replace(at, without)
            corrected[place] = math.nan
    outside = holm_correction(tests.outside)
    least = smallest_p(_units(aligned)) if usual else math.nan
    alpha = 1 - level
    enough = not least > alpha + _SAME
    apart = np.ones((len(aligned.systems),) * 2)
    for at, place in enumerate(pairs):
        if enough and not dependent[at] and tells_apart(float(corrected[place]), outside[at], alpha):
            apart[place] = apart[place[::-1]] = 0.0
    best = np.argsort(figures if good == "low" else -figures, kind="stable")
    sets = group_letters(undistinguished_sets(apart, alpha), [int(place) for place in best])
    spread = residual_variance(values) if known else math.nan
    described = _Described(
        aligned,
        values,
        aligned.figures_without_each_topic(),
        tests,
        corrected,
        outside,
        bounds,
        dependent,
        estimand=estimand,
        level=level,
        good=good,
        reach=reach,
        guard=guard,
        least=least,
        noise=math.sqrt(spread) if spread > _SAME**2 else math.nan,
    )
    made: Sequence[Pair] = Pairs(len(pairs), described.pair)
    if len(pairs) <= MOST_AT_ONCE or ratios:
        made = tuple(made)
    if ratios:  # last, so that no other number is drawn differently

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

        made = tuple(replace(pair, ratio=ratio_of(*place, pair)) for place, pair in zip(pairs, made, strict=True))
    return MeasureComparison(
        measure=measure,
        turn=turn,
        topic_type=topic_type,
        estimand=estimand,
        figures={name: float(figure) for name, figure in zip(aligned.systems, figures, strict=True)},
        topics=aligned.topics,
        left_out=aligned.left_out,
        trials=(int(aligned.trials.min(initial=2**31)), int(aligned.trials.max(initial=0))) if values.size else (0, 0),
        pairs=made,
        letters={
            name: "" if math.isnan(figure) else own
            for name, figure, own in zip(aligned.systems, figures, sets, strict=True)
        },
        pooled=aligned.pooled,
        sessions={name: int(count) for name, count in zip(aligned.systems, aligned.sessions, strict=True) if count},
        clusters=_units(aligned) if aligned.clusters is not None else 0,
        in_time={name: one.note for name, one in aligned.in_time.items() if one.note},
        ranges={name: (min(ends), max(ends)) for name, ends in reached.items()},
    )


def _units(aligned: Aligned) -> int:
    return len(aligned.topics) if aligned.clusters is None else int(aligned.clusters.max()) + 1


def _losses_of_pair(lost: Mapping[str, LostTrials], names: tuple[str, str]) -> tuple[LostTrials, LostTrials]:
    first, second = (lost.get(name, LostTrials({}, {})) for name in names)
    return first.losses_in_comparison(names[1]), second.losses_in_comparison(names[0])


def _losses_matter(aligned: Aligned, place: tuple[int, int], lost: Mapping[str, LostTrials]) -> bool:
    first, second = _losses_of_pair(lost, (aligned.systems[place[0]], aligned.systems[place[1]]))
    if not first.low and not second.low:
        return False
    topics = (*aligned.topics, *aligned.left_out)
    kept = [
        int(aligned.trials[:, at].sum()) - len(side.valued) for at, side in zip(place, (first, second), strict=True)
    ]
    return losses_matter((first.count_among(topics), second.count_among(topics)), (kept[0], kept[1]))


def _find_time_dependence(aligned: Aligned, pairs: Sequence[tuple[int, int]]) -> npt.NDArray[np.bool_]:
    """Return (pairs,) True for systems that have no interval, since their differences are alike in time.

    An effect that all topics share, such as an undeclared session or a load on one system, does not average out over
    topics: up to 60% of studies with such an effect told equal systems apart. A load on both systems, which take turns,
    cancels out.
    """
    found = np.zeros(len(pairs), dtype=bool)
    timed = [at for at, name in enumerate(aligned.systems) if name in aligned.moments]
    of = [number for number, place in enumerate(pairs) if {*place} <= {*timed}]
    if of:
        rows = np.searchsorted(timed, np.array(pairs)[of])
        values, times = (np.stack(side) for side in zip(*(aligned.moments[aligned.systems[at]] for at in timed)))
        found[of] = common_time_ps(values, times, rows) <= _SHARED
    return found


@dataclass(frozen=True, slots=True)
class _Described:
    """What is said of pairs, once all of them are decided. Sequences and fields are as in `compare_pairs`."""

    aligned: Aligned
    values: Floats
    without: Floats
    tests: PairTests
    corrected: Floats
    outside: Sequence[float]
    bounds: Sequence[tuple[float, float] | None]
    dependent: Sequence[str]
    estimand: Estimand
    level: float
    good: Good
    reach: float
    guard: Guard
    least: float
    noise: float

    def pair(self, at: int) -> Pair:
        place, found, bounds, pairs = self.tests.places[at], self.tests.test(at), self.bounds[at], len(self.outside)
        (first, second), aligned, alpha = place, self.aligned, 1 - self.level
        corrected = float(self.corrected[place])
        each = self.values[:, first] - self.values[:, second]
        apart = aligned.topic_figures[:, first] - aligned.topic_figures[:, second]
        apart = np.where(np.abs(apart) <= _SAME, 0.0, apart) * (-1 if self.good == "low" else 1)
        verdict, why = decide(found, corrected, self.outside[at], self.least, alpha=alpha, good=self.good, pairs=pairs)
        if bounds is not None and verdict == "cannot tell" and not found.interval.note:
            why = "the systems lost different shares of their attempts, or many, and what was lost could turn it round"
        if self.dependent[at] and verdict not in ("no value", "too few"):
            verdict = "cannot tell"
            why = f"{self.dependent[at]}{SEE_BOUNDS}"
        enough, alike = _find_needed(
            aligned, each, found, place, bounds, (alpha + _SAME) / pairs, alpha, self.estimand, self.reach, self.guard
        )
        if verdict in ("cannot tell", "too few"):  # the trials played so far do not decide
            enough = enough.omit_reached(len(each), int(aligned.trials[:, list(place)].max(initial=0)))
        return Pair(
            first=aligned.systems[first],
            second=aligned.systems[second],
            value=found.value,
            interval=found.interval,
            p=found.p,
            corrected=corrected,
            outside=self.outside[at],
            least=self.least,
            effect=abs(found.value) / self.noise,
            wins=int((apart > 0).sum()),
            ties=int((apart == 0).sum()),
            losses=int((apart < 0).sum()),
            drivers=tuple(_drivers(aligned, each, self.without[:, first] - self.without[:, second])),
            needed=enough,
            verdict=verdict,
            why=why,
            bounds=bounds,
            selected=bounds is not None and bool(self.dependent[at]),
            typical=found.typical,
            sameness=alike,
        )


def _find_needed(
    aligned: Aligned,
    each: Floats,
    found: PairedTest,
    place: tuple[int, int],
    bounds: tuple[float, float] | None,
    alpha: float,
    own_alpha: float,
    estimand: Estimand,
    reach: float,
    guard: Guard,
) -> tuple[NeededSize, Sameness | None]:
    """Estimate the size of study that would settle the comparison, at the `alpha` of the family, and what is known of
    the size that would show the two to be the same, at the `own_alpha` of the pair.

    The size is unknown if no study would settle it, or if the model fails. The model has the spread of topics and
    trials only. It does not cover lost attempts (a larger study loses as many), clusters, trials alike in time, or
    ratios with too few turns for an interval.
    """
    withheld = math.isnan(found.p) and not found.interval.is_defined
    if bounds is not None or aligned.clusters is not None or withheld:
        return NeededSize(math.nan, math.nan), None
    both = list(place)
    noise, trials = aligned.noise[:, both], aligned.trials[:, both]
    if not aligned.sessions[both].any():
        return (
            needed(each, noise, trials, alpha=alpha, estimand=estimand, reach=reach, guard=guard),
            sameness(each, noise, trials, alpha=own_alpha, estimand=estimand, reach=reach, guard=guard),
        )
    whole, counts = aligned.shared[both], aligned.sessions[both]
    return needed_sessions(each, noise, whole, counts, trials, alpha=alpha, estimand=estimand), None


def _drivers(aligned: Aligned, each: Floats, without: Floats) -> Iterator[Driver]:
    whole = float(each.sum())
    if len(each) < 2 or math.isnan(whole) or abs(whole) <= _SAME:
        return
    shares = each / whole
    for row in np.argsort(-shares, kind="stable"):
        yield Driver(aligned.topics[row], float(shares[row]), float(without[row]))
