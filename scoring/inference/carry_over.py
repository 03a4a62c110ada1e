"""A test of whether answers depend on what came before them in the session.

In the pilot study of GFRC a system answered R012 (SIGIR) with researchers of KDD, the subject of R011: "previous
conversations do seem to affect the current response in some cases" (T. Sakai, EVIA 2023, section 5, fourth
observation).

Two figures are tested: the slope of the value over the position in the session and, if the same system was also played
in fresh sessions, the loss in continued sessions compared with fresh sessions. Without carry-over, some exchanges of
values do not change the distribution of the figures. The first exchange in this list that can give a small enough p is
used:

    sessions   whole sessions are exchanged with whole trials of fresh conversations. Both the loss and the slope of
               the difference are tested, corrected for two tests (Holm)
    orders     sessions that asked the topics in different orders exchange their orders
    topics     if most sessions had one order, topics of one type exchange their positions. Without fresh
               conversations, the difficulty of a topic and its position are confounded: the test is valid if the
               order is unrelated to difficulty

All tests are two-sided. The first two exchanges keep a session's answers together. The third exchanges topics over all
sessions at once.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, Interval, no_interval, too_few_reason
from scoring.statistics.beta import student_quantile
from scoring.statistics.exchange import holm_correction
from topics.arrays import Floats

Seen = npt.NDArray[np.bool_]
Exchanged = Literal["sessions", "orders", "topics"]
_DRAWS = 1999  # with one more, for the data themselves, a round number: p in steps of .0005
_CELLS = 2**20  # of drawn values held at a time
_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_SWEEPS = 5  # of alternating means, for sessions that lack topics


class _Counts(TypedDict):
    sessions: int
    topics: int
    conversations: int
    fresh: int
    places: int


@dataclass(frozen=True, slots=True)
class CarryOver:
    """The carry-over in continued sessions.

    - `slope`: the change per position of the value or, with fresh conversations, of the value minus the fresh mean.
    - `interval`: the interval of the slope, clustered by session and by topic.
    - `p`: the p of the slope, corrected by Holm's method if the loss is tested too.
    - `lost`, `interval_lost`: the mean over topics of continued minus fresh; NaN without fresh conversations.
    - `p_lost`: the p of the loss; NaN if there are no or too few fresh conversations.
    - `exchanged`, `units`: the kind of units that are exchanged for p, and the number of units.
    - `sessions`, `topics`, `conversations`: numbers of continued sessions, topics and conversations with a value.
    - `fresh`: the number of fresh conversations.
    - `places`: the last position in a session.
    - `found`: True if a p is at most 1 - level; None if no p can be that small.
    """

    slope: float
    interval: Interval
    p: float
    lost: float
    interval_lost: Interval
    p_lost: float
    exchanged: Exchanged
    units: int
    sessions: int
    topics: int
    conversations: int
    fresh: int
    places: int
    found: bool | None


def carry_over(
    values: npt.ArrayLike,
    places: npt.ArrayLike,
    types: Sequence[str],
    rng: np.random.Generator,
    *,
    level: float,
    fresh: npt.ArrayLike | None = None,
) -> CarryOver | None:
    """Test one system for carry-over. Returns None if fewer than two positions have a value.

    `values` are (topics, sessions) in [0, 1], and `places` the positions of the values, from 1. Missing cells are NaN.
    Topics exchange positions only with topics of the same type (`types`). `fresh` are (topics, trials) values of the
    same system in fresh sessions; topics without them are left out. Raises ValueError for a value without a position.
    """
    own, place = np.asarray(values, dtype=np.float64), np.asarray(places, dtype=np.float64)
    if (~np.isnan(own) & np.isnan(place)).any():
        raise ValueError("every value needs a position in the session")
    alone = None if fresh is None else np.asarray(fresh, dtype=np.float64)
    kept = np.asarray((~np.isnan(own)).sum(axis=1) > 0)
    if alone is not None:
        both = kept & np.asarray((~np.isnan(alone)).sum(axis=1) > 0)
        kept, alone = (both, alone) if both.sum() > 1 else (kept, None)
    there = np.asarray((~np.isnan(own[kept])).sum(axis=0) > 0)
    own, place = own[kept][:, there], place[kept][:, there]
    kinds = [kind for kind, keep in zip(types, kept, strict=True) if keep]
    if alone is not None:
        alone = alone[kept]
        alone = alone[:, (~np.isnan(alone)).sum(axis=0) > 0]
    if len(np.unique(place[~np.isnan(own)])) < 2:
        return None
    # If a session has no value of a topic, the topic's mean position stands in for the missing one.
    place, alpha = np.where(np.isnan(place), _means(place)[:, None], place), 1 - level + _SAME
    sessions = own.shape[1]
    if alone is not None and 4 / math.comb(sessions + alone.shape[1], sessions) <= alpha:
        return _fresh_test(own, place, alone, rng, level)
    above = own if alone is None else own - _means(alone)[:, None]
    seen = ~np.isnan(above)
    orders = Counter(map(tuple, place.T.tolist())).values()
    arrangements = math.factorial(sessions) / math.prod(map(math.factorial, orders))
    if max(orders) * 2 <= sessions and arrangements * alpha >= 1:
        high, far = _within_both(above, seen), _within_both(place, seen)
        shuffled = _shuffle_labels(np.zeros(sessions, dtype=np.int64), rng)
        return _slope_test(high, far, high.T @ place, shuffled, "orders", (above, place, alone), level)
    labels = np.unique(kinds, return_inverse=True)[1]
    high, far = _within_types(above, seen, labels), _within_types(place, seen, labels)
    enough = math.factorial(int(np.bincount(labels).max())) * alpha >= 2
    shuffled = _shuffle_labels(labels, rng)[: _DRAWS if enough else 0]
    return _slope_test(high, far, high @ place.T, shuffled, "topics", (above, place, alone), level)


def _means(cells: Floats) -> Floats:
    return np.asarray(np.nanmean(cells, axis=1))


def _shuffle_labels(labels: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    found = np.empty((_DRAWS, len(labels)), dtype=np.int64)
    found[:, np.argsort(labels, kind="stable")] = np.argsort(rng.random(found.shape) + 2 * labels, axis=1)
    return found


def _within_types(cells: Floats, seen: Seen, labels: npt.NDArray[np.int64]) -> Floats:
    inside = np.where(seen, cells, 0.0)
    sums, counts = np.bincount(labels, inside.sum(axis=1)), np.bincount(labels, seen.sum(axis=1))
    return np.where(seen, inside - (sums / counts)[labels][:, None], 0.0)


def _within_both(cells: Floats, seen: Seen) -> Floats:
    found = np.where(seen, cells, 0.0)
    for _ in range(_SWEEPS):  # one sweep is enough if every session has every topic
        for axis in (1, 0):
            means = found.sum(axis=axis, keepdims=True) / seen.sum(axis=axis, keepdims=True)
            found = np.where(seen, found - means, 0.0)
    return found


def _slope(values: Floats, places: Floats) -> float:
    square = float((places**2).sum())
    return float((values * places).sum()) / square if square > _SAME else math.nan


def _slope_test(
    high: Floats,
    far: Floats,
    products: Floats,
    shuffled: npt.NDArray[np.int64],
    exchanged: Exchanged,
    played: tuple[Floats, Floats, Floats | None],
    level: float,
) -> CarryOver:
    """Test the slope and gather the result.

    `high` and `far` are centred values and positions. `products` (units, units) multiplies each unit's values by each
    unit's positions; the trace, the numerator of the slope, is the test statistic. `shuffled` (draws, units) names the
    unit whose positions each unit gets.
    """
    above, place, fresh = played
    slope, units = _slope(high, far), len(products)
    p = math.nan
    if len(shuffled) and not math.isnan(slope):
        drawn = products[np.arange(units), shuffled].sum(axis=1)
        p = _permutation_p(drawn, float(np.trace(products)))
    lost, interval_lost = (math.nan, no_interval("no fresh conversations")) if fresh is None else _loss(above, level)
    return CarryOver(
        slope=slope,
        interval=_slope_interval(high, far, slope, level),
        p=p,
        lost=lost,
        interval_lost=interval_lost,
        p_lost=math.nan,
        exchanged=exchanged,
        units=units,
        **_counts(~np.isnan(above), place, fresh),
        found=None if math.isnan(p) else p <= 1 - level + _SAME,
    )


def _fresh_test(own: Floats, place: Floats, alone: Floats, rng: np.random.Generator, level: float) -> CarryOver:
    """Test the loss and the slope. In each draw, random sessions and fresh trials act as the continued sessions."""
    every = np.concatenate([own, alone], axis=1)
    units = every.shape[1]
    orders = np.vstack([np.arange(units), _shuffle_labels(np.zeros(units, dtype=np.int64), rng)])
    at_once = max(1, _CELLS // every.size)
    parts = [orders[start : start + at_once] for start in range(0, len(orders), at_once)]
    drawn = np.concatenate([_drawn_figures(every[:, part], place) for part in parts])
    p_lost, p = holm_correction([_permutation_p(drawn[1:, column], float(drawn[0, column])) for column in (0, 1)])
    above = own - _means(alone)[:, None]
    seen, one_type = ~np.isnan(above), np.zeros(len(own), dtype=np.int64)
    high, far = (_within_types(part, seen, one_type) for part in (above, place))
    slope = _slope(high, far)
    lost, interval_lost = _loss(above, level)
    return CarryOver(
        slope=slope,
        interval=_slope_interval(high, far, slope, level),
        p=p,
        lost=lost,
        interval_lost=interval_lost,
        p_lost=p_lost,
        exchanged="sessions",
        units=units,
        **_counts(seen, place, alone),
        found=min(p, p_lost) <= 1 - level + _SAME,
    )


def _drawn_figures(drawn: Floats, place: Floats) -> Floats:
    """Return (draws, 2) losses and slope numerators from `drawn` (topics, draws, units), with continued units first."""
    sessions = place.shape[1]
    seen = ~np.isnan(drawn)
    inside, counts = np.where(seen, drawn, 0.0), seen.astype(np.float64)
    sums = [part[:, :, :sessions].sum(axis=2) for part in (inside, counts)]
    rest = [part[:, :, sessions:].sum(axis=2) for part in (inside, counts)]
    both = (sums[1] > 0) & (rest[1] > 0)  # a draw may leave a topic without a value on one side
    fresh = rest[0] / np.maximum(1, rest[1])
    loss = np.where(both, sums[0] / np.maximum(1, sums[1]) - fresh, 0.0)
    known = counts[:, :, :sessions] * both[:, :, None]
    above = np.where(known > 0, inside[:, :, :sessions] - fresh[:, :, None], 0.0)
    size = known.sum(axis=(0, 2))
    middle = np.einsum("tbs,ts->b", known, place) / np.maximum(1, size)
    product = np.einsum("tbs,ts->b", above, place) - above.sum(axis=(0, 2)) * middle
    return np.stack([loss.sum(axis=0) / np.maximum(1, both.sum(axis=0)), product], axis=1)


def _counts(seen: Seen, place: Floats, fresh: Floats | None) -> _Counts:
    return {
        "sessions": seen.shape[1],
        "topics": seen.shape[0],
        "conversations": int(seen.sum()),
        "fresh": 0 if fresh is None else int((~np.isnan(fresh)).sum()),
        "places": round(float(place[seen].max())),
    }


def _permutation_p(drawn: Floats, seen: float) -> float:
    return float((1 + (np.abs(drawn) >= abs(seen) - _SAME).sum()) / (1 + len(drawn)))


def _slope_interval(high: Floats, far: Floats, slope: float, level: float) -> Interval:
    square = float((far**2).sum())
    if not square > _SAME:
        return no_interval("every topic has one place")
    return crossed_interval(slope, far * (high - slope * far) / square, level=level)


def _loss(above: Floats, level: float) -> tuple[float, Interval]:
    seen = ~np.isnan(above)
    lost = float(_means(above).mean())
    influence = np.where(seen, above - lost, 0.0) / seen.sum(axis=1, keepdims=True) / len(above)
    return lost, crossed_interval(lost, influence, level=level)


def crossed_interval(value: float, influence: npt.ArrayLike, *, level: float) -> Interval:
    """Return the interval of a figure over sessions and topics, clipped to [-1, 1].

    `influence` is (topics, sessions), each cell's contribution to the value beyond its expected share. The
    contributions sum to 0, and missing cells are 0. No row or column may be empty. There is no interval for fewer than
    four topics or sessions, or if nothing differs.
    """
    cells = np.asarray(influence, dtype=np.float64)
    topics, sessions = cells.shape
    if topics < FEWEST:
        return no_interval(too_few_reason(topics) if topics else "no value")
    if sessions < FEWEST:
        return no_interval(
            "one session: nothing to compare it with" if sessions == 1 else f"{sessions} sessions: too few to compare"
        )
    by_topic, by_session, by_cell = (
        len(sums) / (len(sums) - 1) * float(np.square(sums).sum())
        for sums in (cells.sum(axis=1), cells.sum(axis=0), cells.reshape(-1))
    )
    spread = math.sqrt(max(by_topic + by_session - by_cell, by_topic, by_session))
    if spread <= _SAME:
        return no_interval("every session and topic has the same value")
    reach = student_quantile(0.5 + level / 2, min(topics, sessions) - 1) * spread
    return Interval(max(-1.0, value - reach), min(1.0, value + reach), "t, clustered both ways", "nothing")
