"""GF, the group fairness of a conversation, and GFR(C), which combines GF with R ([GFRC] Eq. 4, 5, 9, 10).

Each system turn with a relevant entity has an achieved distribution over the groups of an attribute set: the mean
membership of the turn's relevant nuggets (*independent*) or of all relevant nuggets so far (*cumulative*, GF_cum).
DistrSim is the similarity of that distribution to the gold distribution; GF of the set is the mean of DistrSim over
those turns.
"""

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from scoring.divergences import DIVERGENCES, distribution_similarity
from scoring.nuggets import Nugget, position_weight
from scoring.settings import Settings
from topics.arrays import Floats
from topics.attributes import AttributeSet

# (C,) shares of the groups of a set.
Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TurnFairness:
    """The fairness of one turn that counts. `achieved` (C,) is the distribution over the groups, and `similarity` is
    DistrSim in [0, 1]. `weight` is PW(S). `nuggets` is the number of relevant nuggets in the turn's distribution. It
    is 0 if a turn without relevant nuggets counts as uniform."""

    turn: int
    achieved: Shares
    similarity: float
    weight: float
    nuggets: int


# A turn, and the least and the greatest possible value of its similarity.
_Turn = tuple[TurnFairness, float, float]


@dataclass(frozen=True, slots=True)
class GroupFairness:
    """GF of one attribute set: `value` is in [0, 1], and 0 if no turn counts ([GFRC] under Eq. 10). `worst` and
    `best` bound the value over all possible groups of the entities of unknown group. The bounds for cumulative
    distributions are wider than necessary, because the distributions share entities."""

    attribute: str
    divergence: str
    value: float
    turns: tuple[TurnFairness, ...]
    worst: float = 0.0
    best: float = 0.0


def divergence_names(attribute: AttributeSet, settings: Settings) -> tuple[str, ...]:
    """Return JSD for nominal groups, or RNOD and NMD for ordinal groups. The main divergence is first."""
    if attribute.scale == "nominal":
        return ("JSD",)
    return (settings.ordinal, "NMD" if settings.ordinal == "RNOD" else "RNOD")


def group_fairness(
    nuggets: Sequence[Nugget],
    turns: Mapping[int, int],
    attribute: AttributeSet,
    settings: Settings,
    limit: int | None = None,
    *,
    cumulative: bool = False,
    weigh: Callable[[Nugget], float] | None = None,
) -> tuple[GroupFairness, ...]:
    """Compute GF^m, Eq. 10 with turn weights, for each of `divergence_names`.

    `nuggets` are the nuggets of one conversation, in reading order. `turns` has the position of the first word of
    each system turn, by turn number. `limit` is L in the unit of the positions, or None for words. `weigh` gives the
    weight of a nugget in the distributions, which is 1 by default; a turn whose nuggets weigh 0 does not count.

    Turns without relevant nuggets are left out by default. With `irrelevant="uniform"`, they count as a uniform
    distribution under both methods. With `turn_weight="largest-pw"`, the weight of such a turn is the largest
    possible: pw of its first word. The value is 0 if no turn counts, or if all turns that count have weight 0.
    """
    name, size = attribute.name, len(attribute.groups)
    names = divergence_names(attribute, settings)
    by_turn: dict[int, list[Nugget]] = {}
    for nugget in nuggets:
        if nugget.relevant:
            by_turn.setdefault(nugget.turn, []).append(nugget)
    counted: list[tuple[_Turn, ...]] = []
    so_far = known_so_far = (0.0,) * size
    total, heavy = 0, 0.0
    for number, first_position in turns.items():
        relevant = by_turn.get(number, ())
        if not relevant and settings.irrelevant != "uniform":
            continue
        rows: list[Shares] = [nugget.memberships[name] for nugget in relevant]
        count, whole = len(relevant), float(len(relevant))
        if weigh is not None:
            own = list(map(weigh, relevant))
            rows = [tuple([by * share for share in row]) for by, row in zip(own, rows, strict=True)]
            whole = math.fsum(own)
        here = _sum_groups(rows, size)
        sure = [row for nugget, row in zip(relevant, rows, strict=True) if name not in nugget.unknown]
        known = here if len(sure) == count else _sum_groups(sure, size)
        if cumulative and relevant:
            so_far, known_so_far = _sum_groups((so_far, here), size), _sum_groups((known_so_far, known), size)
            total, heavy = total + count, heavy + whole
            here, known, count, whole = so_far, known_so_far, total, heavy
        if relevant and whole <= 0:
            continue
        weight = 1.0
        if settings.turn_weight == "largest-pw":
            positions = [nugget.position for nugget in relevant] or [first_position]
            weight = float(position_weight(positions, limit or settings.patience).max())
        counted.append(_turn_fairness(number, here, known, count, whole, weight, attribute, names))
    if not counted:
        return tuple(GroupFairness(name, divergence, 0.0, ()) for divergence in names)
    weights = [of[0][0].weight for of in counted]
    sum_of_weights = math.fsum(weights)

    def mean(values: Iterable[float]) -> float:
        return math.fsum(map(operator.mul, values, weights)) / sum_of_weights if sum_of_weights > 0 else 0.0

    found = []
    for divergence, each in zip(names, zip(*counted, strict=True), strict=True):
        made, worst, best = zip(*each, strict=True)
        similar = tuple([turn.similarity for turn in made])
        value = mean(similar)
        ends = [value if end == similar else mean(end) for end in (worst, best)]
        found.append(GroupFairness(name, divergence, value, made, *ends))
    return tuple(found)


# A turn has few relevant entities and few groups, so the same distributions recur in many conversations.
@lru_cache(maxsize=2**14)
def _turn_fairness(
    number: int,
    here: Shares,
    known: Shares,
    count: int,
    whole: float,
    weight: float,
    attribute: AttributeSet,
    names: tuple[str, ...],
) -> tuple[_Turn, ...]:
    """Return a turn that counts, for each divergence. `here` (C,) are sums over all relevant nuggets, and `known`
    (C,) are sums over nuggets of known group. `count` is the number of relevant nuggets, and `whole` the sum of their
    weights. If there are none, the distribution is uniform."""
    size = len(attribute.groups)
    row = tuple([one / whole for one in here]) if count else (1.0 / size,) * size
    sure = tuple([one / whole for one in known]) if count else row
    unknown = round(1.0 - math.fsum(sure), 9)
    found = []
    for name in names:
        similar = _similarity(row, attribute.gold, name)
        worst, best = (similar, similar) if unknown == 0 else _bounds(sure, attribute.gold, name)
        found.append((TurnFairness(number, row, similar, weight, count), worst, best))
    return tuple(found)


@lru_cache(maxsize=2**14)
def _similarity(row: Shares, gold: Shares, name: str) -> float:
    return float(distribution_similarity(row, gold, DIVERGENCES[name]))


@lru_cache(maxsize=2**14)
def _bounds(known: Shares, gold: Shares, name: str) -> tuple[float, float]:
    worst, best = similarity_bounds(known, gold, name)
    return float(worst), float(best)


def _sum_groups(shares: Iterable[Shares], size: int) -> Shares:
    """Sum by group with a loop, since the order in which `sum` adds floats differs between Python versions."""
    whole = [0.0] * size
    for one in shares:
        whole = list(map(operator.add, whole, one))
    return tuple(whole)


def combine(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Compute GF(C) = Σ w_m·GF^m, Eq. 9, with weights scaled to sum to 1. Sets without a weight have weight 1.
    Returns NaN if M is 0 or all weights are 0."""
    scale = [weights.get(name, 1.0) for name in values]
    if math.fsum(scale) <= 0:
        return math.nan
    return math.fsum(weight * value for weight, value in zip(scale, values.values(), strict=True)) / math.fsum(scale)


def summary(relevance: float, fairness: float, alpha: float) -> float:
    """Compute GFR(C) = alpha·R + (1 - alpha)·GF, Eq. 5, in [0, 1]. Returns NaN if either part is NaN."""
    return alpha * relevance + (1 - alpha) * fairness


def similarity_bounds(known: npt.ArrayLike, gold: npt.ArrayLike, divergence: str) -> tuple[Floats, Floats]:
    """Return the lowest (...) and highest (...) DistrSim of distributions that are at least `known` in every group.

    `known` (..., C) is the part of the achieved distribution from entities of known group; each row sums to the share
    of these entities, at most 1. `gold` is (C,), and `divergence` is `JSD`, `RNOD` or `NMD`. If all groups are known,
    both bounds equal DistrSim.
    """
    rows, wanted = np.asarray(known, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    least = rows.reshape(-1, rows.shape[-1])
    free = np.maximum(0.0, 1.0 - least.sum(axis=1, keepdims=True))
    corners = least[:, None, :] + free[:, :, None] * np.eye(least.shape[1])
    nearest = _NEAREST[divergence](least, wanted, free)
    spread = np.maximum(nearest - least, 0.0)
    sums = spread.sum(axis=1, keepdims=True)
    moved = least + spread * np.divide(free, sums, out=np.zeros_like(free), where=sums > 0)
    nearest = np.where(sums > 0, moved, nearest)  # rounding in the search must not change known shares
    worst = distribution_similarity(corners, wanted, DIVERGENCES[divergence]).min(axis=1)
    best = distribution_similarity(nearest / nearest.sum(axis=1, keepdims=True), wanted, DIVERGENCES[divergence])
    return worst.reshape(rows.shape[:-1]), np.maximum(worst, best).reshape(rows.shape[:-1])


def _fit_jsd(least: Floats, gold: Floats, free: Floats) -> Floats:
    """Minimise JSD, which grows with p/q in each group: p = max(known, level·gold)."""
    return _solve_level(lambda level: np.maximum(least, level * gold), np.zeros_like(free), np.ones_like(free))


def _fit_od(least: Floats, gold: Floats, free: Floats) -> Floats:
    """Minimise OD, a sum of w·(p - q)² with w a group's mean distance to the gold groups: p = max(known, gold +
    level/w)."""
    places = np.arange(len(gold))
    weights = np.abs(places[:, None] - places)[gold > 0].mean(axis=0)
    weights = np.maximum(weights, 1e-9)
    lowest = np.full_like(free, -float((weights * gold).max()))
    return _solve_level(lambda level: np.maximum(least, gold + level / weights), lowest, np.zeros_like(free))


def _fit_nmd(least: Floats, gold: Floats, free: Floats) -> Floats:
    """Minimise NMD by isotonic regression with medians, since cumulated sums cannot decrease."""
    wanted = (np.cumsum(gold) - np.cumsum(least, axis=1))[:, :-1]
    grown = np.array([_isotonic_fit(row) for row in wanted.tolist()]).reshape(wanted.shape)
    spread = np.concatenate([np.zeros_like(free), np.clip(grown, 0.0, free), free], axis=1)
    return least + np.diff(spread, axis=1)


def _isotonic_fit(wanted: Sequence[float]) -> list[float]:
    blocks: list[list[float]] = []
    for value in wanted:
        blocks.append([value])
        while len(blocks) > 1 and median(blocks[-2]) > median(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    return [median(block) for block in blocks for _ in block]


def _solve_level(filled: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    for _ in range(100):
        middle = (low + high) / 2
        between = middle != high  # else there is no number between the two
        if not between.any():
            break
        less = filled(middle).sum(axis=1, keepdims=True) < 1
        low, high = np.where(between & less, middle, low), np.where(between & ~less, middle, high)
    return filled(high)


_NEAREST: Mapping[str, Callable[[Floats, Floats, Floats], Floats]] = MappingProxyType(
    {"JSD": _fit_jsd, "RNOD": _fit_od, "NMD": _fit_nmd}
)
