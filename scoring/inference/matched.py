"""Differences between the scores of matched groups of users, which have the same topics and trials."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from scoring.inference.aligned import Cell, Trial, align
from scoring.inference.interval import FEWEST, Interval, no_interval
from scoring.inference.losses import WITHIN, End, Gain, SideWithLosses, needs_bounds, reasons_withheld
from scoring.inference.paired import Estimand
from scoring.inference.sides import compare_sides
from scoring.statistics.beta import student_tails
from scoring.statistics.exchange import holm_correction, smallest_p

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_DRAWS = 4999  # with one more, for the data themselves, a round number: p in steps of .0002
# The levels of each factor, with the reference level first.
Levels = Mapping[str, Sequence[str]]
# A level of each factor, in the order of the factors.
Combination = tuple[str, ...]
# (factor, level) of each factor in the effect.
Effect = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two groups in one measure, over these very topics, or over topics like them.

    - `value`: the other group's figure minus the base group's; NaN without any pair.
    - `n`, `topics`: the numbers of pairs of trials and of their topics.
    - `sessions`: the number of sessions that run through all topics; 0 if each conversation has its own session.
    - `invalid`, `unplayed`, `undefined`: the numbers of pairs left out because a side has no valid attempt (failed or
      interrupted), is not recorded, or has an undefined value.
    - `interval`: the interval of this difference by itself.
    - `p`, `adjusted`: the p by itself, and after Holm's correction. A null pair is not tested: `adjusted` is NaN.
    - `outside`: the smallest error probability at which the interval excludes 0, corrected like p.
    - `least`: the smallest p possible with this number of units; NaN if any p is possible.
    - `null`: the largest distance of a null pair in this measure; NaN without null pairs.
    - `base`, `other`: the figure of each side over these pairs.
    - `beyond`: whether the difference exceeds chance and the null pair; None if that cannot be decided.
    - `bounds`: the lowest and highest difference that lost attempts could have led to; None if losses do not matter.
    - `withheld`: the reason why no verdict may be given, whatever the figures; "" if a verdict may be given.
    """

    value: float
    n: int
    topics: int
    invalid: int
    unplayed: int
    undefined: int
    interval: Interval
    p: float
    adjusted: float = math.nan
    null: float = math.nan
    beyond: bool | None = None
    sessions: int = 0
    outside: float = math.nan
    least: float = math.nan
    base: float = math.nan
    other: float = math.nan
    bounds: tuple[float, float] | None = None
    withheld: str = ""


def difference(
    topics: Sequence[str],
    base: Mapping[Trial, Cell],
    other: Mapping[Trial, Cell],
    rng: np.random.Generator,
    *,
    level: float,
    reach: float = 1.0,
    pooled: bool = False,
    continued: bool = False,
    clusters: Mapping[str, str] | None = None,
    invalid: int = 0,
    unplayed: int = 0,
    estimand: Estimand = "like-these",
) -> Difference:
    """Return other - base over the trials with a value on both sides.

    `base` and `other` are the cells of each valid conversation. `reach` is the largest possible difference of a topic;
    it is infinite if values never come near the end of the range, as for R. `pooled` is True if figures are ratios of
    sums, such as %recovery. `continued` is True if all trials with one number are one session through all topics.
    `clusters` maps topics to clusters. `invalid` and `unplayed` count pairs in which a side failed or is not recorded.
    """
    both = [trial for trial in base if trial in other]
    known = [trial for trial in both if _is_defined(base[trial], pooled) and _is_defined(other[trial], pooled)]
    cells = {name: {trial: side[trial] for trial in known} for name, side in (("other", other), ("base", base))}
    sides = tuple(cells)
    aligned = align(topics, sides, cells, pooled=pooled, continued=sides if continued else (), clusters=clusters)
    found = compare_sides(aligned, 0, 1, rng, estimand=estimand, level=level, reach=reach)
    exchanged = estimand == "like-these" and not (continued or pooled)
    units = len(aligned.topics) if aligned.clusters is None else int(aligned.clusters.max()) + 1
    one, two = aligned.figures.tolist()
    return Difference(
        value=found.value,
        n=len(known),
        topics=len(aligned.topics),
        invalid=invalid,
        unplayed=unplayed,
        undefined=len(both) - len(known),
        interval=found.interval,
        p=found.p,
        sessions=int(aligned.sessions.max()) if continued else 0,
        outside=found.outside,
        least=float(np.fmax(smallest_p(units) if exchanged else math.nan, found.least)),
        base=two,
        other=one,
    )


def within_bounds(between: Callable[[End], Difference], sides: Sequence[SideWithLosses]) -> Difference:
    """Return the recorded difference, with bounds if losses of the sides matter.

    `between` computes the difference with all losses at one end, or as recorded for None. The interval spans the
    intervals of the recorded difference and of both extremes, and p is the largest of the three. There is no p, and
    therefore no verdict, if a side's losses depend on its answers.
    """
    found = between(None)
    if not needs_bounds(sides):
        return found
    low, high = (between(end) for end in ("low", "high"))
    bounds, why = (low.value, high.value), reasons_withheld(one.lost for one in sides)
    each = [one for one in (found, low, high) if one.n]
    unprinted = next((one for one in each if not one.interval.is_defined), None)
    if unprinted is not None or not each:
        note = unprinted.interval.note if unprinted is not None else "no value"
        interval = no_interval(note)
        return replace(found, interval=interval, p=math.nan, outside=math.nan, bounds=bounds, withheld=why)
    # The recorded difference omits pairs with a lost side, so it may lie outside the bounds.
    interval = Interval(
        min(one.interval.low for one in each),
        max(one.interval.high for one in each),
        f"{low.interval.method}, {WITHIN}",
        low.interval.resampled,
        assumes=low.interval.assumes,
    )
    if why:
        return replace(found, interval=interval, p=math.nan, outside=math.nan, bounds=bounds, withheld=why)
    agree = len({math.copysign(1.0, one.value) if one.value else 0.0 for one in each}) == 1
    p, outside = (max(getattr(one, name) for one in each) if agree else 1.0 for name in ("p", "outside"))
    if any(math.isnan(getattr(one, name)) for one in each for name in ("p", "outside")):
        p = outside = math.nan
    least = max(found.least, low.least, high.least)
    return replace(found, interval=interval, p=p, outside=outside, least=least, bounds=bounds)


def _is_defined(cell: Cell, pooled: bool) -> bool:
    return not math.isnan(cell[0]) and (pooled or cell[1] > 0)


def compare_family(differences: Sequence[Difference], nulls: Sequence[float], *, level: float) -> list[Difference]:
    """Test the differences as one family, with Holm's correction; null pairs are not part of the family.

    `nulls` are the null pairs' distances in each measure, NaN for a measure without null pairs. A difference is
    `beyond` chance if its adjusted p and its interval's adjusted p are at most 1 - level, and if it exceeds the null
    pair's distance. If all groups are alike, the probability of finding any difference is at most 1 - level. `beyond`
    is None without a p, or if no p can be that small with the number of units.
    """
    adjusted, outside = (
        holm_correction([one.p for one in differences]),
        holm_correction([one.outside for one in differences]),
    )
    family, alpha = sum(not math.isnan(one.p) for one in differences), 1 - level + _SAME
    found = []
    for one, p, beside, null in zip(differences, adjusted, outside, nulls, strict=True):
        told = p <= alpha and beside <= alpha and not abs(one.value) <= null + _SAME
        possible = not math.isnan(p + beside) and not one.least * family > alpha
        found.append(replace(one, adjusted=p, outside=beside, null=null, beyond=told if told or possible else None))
    return found


def is_crossed(levels: Levels, played: Mapping[Combination, object]) -> bool:
    """Return True if every factor has at least two levels and every combination of levels was played."""
    crossed = all(len(own) > 1 for own in levels.values()) and bool(levels)
    return crossed and all(one in played for one in product(*levels.values()))


def effect_names(levels: Levels) -> Iterator[Effect]:
    """Yield main effects first, then interactions of two factors, and so on."""
    for size in range(1, len(levels) + 1):
        for factors in combinations(levels, size):
            yield from (
                tuple(zip(factors, chosen, strict=True)) for chosen in product(*(levels[one][1:] for one in factors))
            )


def factorial_effects(
    topics: Sequence[str],
    levels: Levels,
    cells: Mapping[Combination, Mapping[Trial, Cell]],
    rng: np.random.Generator,
    *,
    level: float,
    reach: float,
    continued: bool = False,
    clusters: Mapping[str, str] | None = None,
    invalid: Mapping[Combination, int] | None = None,
    whole: Mapping[Combination, Gain] | None = None,
) -> dict[Effect, Difference]:
    """Return every main effect and interaction, without correction for multiple tests.

    For a set of factors S, each at one of its levels other than the first:

        effect = Σ_{T ⊆ S} (-1)^(|S| - |T|) · m(T)

    m(T) is the mean figure, over all levels of the factors outside S, with the factors in T at the given levels and the
    rest of S at their first level. For one factor, the effect is a main effect: how far the level lies above the first
    level on average. For two factors, the effect is an interaction: how much larger the effect of one factor is at the
    given level of the other factor. Source: F. Yates, The Design and Analysis of Factorial Experiments (1937).

    All combinations use the same topics, and a trial draws the same random numbers in each combination, so effects are
    differences over matched trials. A trial counts if it has a value in all combinations of the effect.

    `cells` are the values of each trial, by combination, and `invalid` are the numbers of trials without a valid
    attempt. `whole` holds the cells together with the lost attempts, which bound the effects; None if nothing was lost.
    All other arguments are as for `difference`. Raises ValueError if a combination is missing.
    """
    if not is_crossed(levels, cells):
        raise ValueError("every combination of the levels must be played")
    lost = invalid or {}
    played = whole or {at: Gain(SideWithLosses(own)) for at, own in cells.items()}
    found: dict[Effect, Difference] = {}
    for effect in effect_names(levels):
        against, counted = _effect_sides(levels, effect)
        scale = 2.0 ** (len(effect) - 1)  # 2^|S| means, half of them on each side
        found[effect] = contrast(
            topics,
            [played[one] for one in against],
            [played[one] for one in counted],
            rng,
            scale=scale,
            level=level,
            reach=reach,
            continued=continued,
            clusters=clusters,
            invalid=sum(lost.get(one, 0) for one in (*against, *counted)),
        )
    return found


def contrast(
    topics: Sequence[str],
    below: Sequence[Gain],
    above: Sequence[Gain],
    rng: np.random.Generator,
    *,
    scale: float = 1.0,
    level: float,
    reach: float,
    continued: bool = False,
    clusters: Mapping[str, str] | None = None,
    invalid: int = 0,
) -> Difference:
    """Return `scale` times the mean over the cells `above`, minus the mean over the cells `below`, over the trials that
    all of them have. The other arguments are as for `difference`."""

    def between(end: End) -> Difference:
        return difference(
            topics,
            _average_sides([one.cells_at(end, against=True) for one in below], scale),
            _average_sides([one.cells_at(end) for one in above], scale),
            rng,
            level=level,
            reach=scale * reach,
            continued=continued,
            clusters=clusters,
            invalid=invalid,
        )

    return within_bounds(between, [part for one in (*below, *above) for part in one.sides])


def _effect_sides(levels: Levels, effect: Effect) -> tuple[list[Combination], list[Combination]]:
    meant = dict(effect)
    own = [(levels[name][0], meant[name]) if name in meant else tuple(levels[name]) for name in levels]
    against: list[Combination] = []
    counted: list[Combination] = []
    for one in product(*own):
        at_first = sum(name in meant and at != meant[name] for name, at in zip(levels, one, strict=True))
        (against if at_first % 2 else counted).append(one)
    return against, counted


def _average_sides(sides: Sequence[Mapping[Trial, Cell]], scale: float) -> dict[Trial, Cell]:
    common = set(sides[0]).intersection(*sides[1:])
    found: dict[Trial, Cell] = {}
    for trial in sorted(common):
        values = [above / below if below > 0 else math.nan for above, below in (side[trial] for side in sides)]
        found[trial] = (scale * math.fsum(values) / len(values), 1.0)
    return found


def simultaneous_level(differences: npt.ArrayLike, rng: np.random.Generator, *, level: float) -> float:
    """Return the level for single intervals at which all of them together cover the truth with probability `level`.

    An arm that was chosen as the worst may be worst by chance, so its own 95% interval covers the truth less often.
    Intervals that are valid for all arms at once are valid for the chosen arm. The largest |t| over arms is resampled
    over topics by changing the signs of the residuals of the differences (R. Y. Liu, Annals of Statistics 16 (1988),
    1696-1708; for the maximum, P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, 1993, 2.3). All arms
    get the same signs, which makes intervals narrower if arms are correlated. The resulting level is for t intervals,
    but other methods can use it too.

    `differences` is (T, A), the difference of each arm from one control on each topic, without NaN. The result is at
    most Bonferroni's 1 - (1 - level)/A, and equals Bonferroni's on fewer than four topics. An arm whose difference is
    the same on all topics counts only in A.
    """
    each = np.asarray(differences, dtype=np.float64)
    topics, arms = each.shape
    most: float = 1 - (1 - level) / max(1, arms)
    if arms < 2 or topics < FEWEST:
        return most
    rest = each - each.mean(axis=0)
    squares = np.square(rest).sum(axis=0)
    varies = squares > _SAME
    if not varies.any():
        return most
    signs = rng.integers(2, size=(_DRAWS, topics)) * 2.0 - 1.0
    means = signs @ rest[:, varies] / topics
    left = np.maximum(squares[varies] - topics * np.square(means), _SAME)
    largest = np.abs(means * np.sqrt(topics * (topics - 1) / left)).max(axis=1)
    reached = float(np.quantile(largest, level, method="higher"))
    return float(min(most, max(level, 1 - student_tails(reached, topics - 1))))
