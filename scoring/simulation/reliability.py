"""The reliability of a simulated user as a tester: whether it ranks systems as real users do.

A user that behaves unlike people may still rank systems correctly, and a user that behaves like people may not; so
realistic behaviour is reported separately. The agreement is Kendall's τ-b between the systems' mean scores.

How well two groups of people agree on the order depends on their number. So τ between real and simulated users is
compared with τ between halves of the real users (`ranking_floor`): a simulated user need not agree with people more
than people agree with each other.

Sources: M. G. Kendall, Biometrika 33, 1945 (τ-b); S. Labhishetty, C. Zhai, "An Exploration of Tester-based Evaluation
of User Simulators for Comparing Interactive Retrieval Systems", SIGIR 2021.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordings.acts.dialogue import Dialogue
from scoring.inference.relabelled import compare_with_relabelled
from scoring.simulation.halves import Spread
from scoring.simulation.relabelled_users import by_user, common_strata
from topics.arrays import Floats

_SAME = "nearly every draw gives the same order, so that its ends would be one point"


@dataclass(frozen=True, slots=True)
class RankingAgreement:
    """The agreement of real and simulated users on the order of systems.

    `tau` is τ-b in [-1, 1] over the systems with scores on both sides; NaN for fewer than two systems, or if one side's
    means are equal. `low` and `high` are its percentile interval, NaN if `tau` is NaN or if (nearly) all draws agree.
    `systems` are the systems compared, with their real and simulated means. `resampled` is `topics`, `users` or
    `dialogues`, and `note` is a remark for readers.
    """

    tau: float
    low: float
    high: float
    systems: tuple[str, ...]
    real: tuple[float, ...]
    simulated: tuple[float, ...]
    resampled: str
    note: str = ""


def kendall_tau(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return τ-b of two (n,) lists of values; NaN for n < 2, or if all values of a list are equal."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    above = np.triu_indices(a.size, 1)
    x = np.sign(a[:, None] - a[None, :])[above]
    y = np.sign(b[:, None] - b[None, :])[above]
    scale = math.sqrt(float(np.abs(x).sum()) * float(np.abs(y).sum()))
    return float((x * y).sum()) / scale if scale else math.nan


def ranking_agreement(
    real: Sequence[Dialogue],
    simulated: Sequence[Dialogue],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    replications: int = 2000,
) -> RankingAgreement:
    """Measure the agreement over the systems with scored dialogues on both sides.

    Topics are resampled, jointly for all systems and both sides, if every scored dialogue names a topic and all systems
    have the same topics on both sides. Otherwise the users of each side are resampled with all their dialogues or, if
    every dialogue has a different user, dialogues within each system. A draw that leaves a system without dialogues is
    dropped.
    """
    sides: tuple[dict[str, list[Dialogue]], ...] = ({}, {})
    for own, side in zip(sides, (real, simulated)):
        for one in side:
            if not math.isnan(one.score):
                own.setdefault(one.system, []).append(one)
    systems = tuple(sorted(sides[0].keys() & sides[1].keys()))
    means = [tuple(_mean([one.score for one in side[name]]) for name in systems) for side in sides]
    tau = kendall_tau(means[0], means[1]) if len(systems) > 1 else math.nan
    note = ""
    if len(systems) < 2:
        note = "an order needs at least two systems with scores on both sides"
    elif math.isnan(tau):
        note = "the systems of a side have the same mean: there is no order"
    elif len(systems) < 5:
        note = f"{len(systems)} systems have {math.factorial(len(systems))} orders: agreement by chance is likely"
    found = [{name: side[name] for name in systems} for side in sides]
    topics = [{one.topic for one in dialogues} for side in found for dialogues in side.values()]
    several = any(len({one.unit for one in side}) < len(side) for side in map(_all_dialogues, found))
    paired = bool(topics) and "" not in topics[0] and len(topics[0]) > 1 and all(one == topics[0] for one in topics)
    low = high = math.nan
    if not math.isnan(tau):
        draws = (
            _resample_topics(found, systems, sorted(topics[0]), rng, replications)
            if paired
            else _resample_users(found, systems, rng, replications)
            if several
            else _resample_dialogues(found, systems, rng, replications)
        )
        taus = np.array([kendall_tau(a, b) for a, b in zip(*draws)])
        known = taus[~np.isnan(taus)]
        ends = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if known.size else (math.nan, math.nan)
        if ends[0] < ends[1]:
            low, high = float(ends[0]), float(ends[1])
        elif known.size:
            note = "; ".join(filter(None, (note, f"no interval: {_SAME}")))
    resampled = "topics" if paired else "users" if several else "dialogues"
    return RankingAgreement(tau, low, high, systems, means[0], means[1], resampled, note)


def _all_dialogues(side: dict[str, list[Dialogue]]) -> list[Dialogue]:
    return [one for dialogues in side.values() for one in dialogues]


def _mean(scores: Sequence[float]) -> float:
    return float(np.mean(scores))


def _resample_topics(
    sides: Sequence[dict[str, list[Dialogue]]],
    systems: Sequence[str],
    topics: Sequence[str],
    rng: np.random.Generator,
    replications: int,
) -> list[Floats]:
    weights = rng.multinomial(len(topics), [1 / len(topics)] * len(topics), size=replications) / len(topics)
    found = []
    for side in sides:
        cells = [
            [_mean([one.score for one in side[name] if one.topic == topic]) for topic in topics] for name in systems
        ]
        found.append(weights @ np.array(cells).T)
    return found


def _resample_users(
    sides: Sequence[dict[str, list[Dialogue]]], systems: Sequence[str], rng: np.random.Generator, replications: int
) -> list[Floats]:
    found = []
    for side in sides:
        units = {unit: row for row, unit in enumerate(sorted({one.unit for one in _all_dialogues(side)}))}
        sums, counts = np.zeros((2, len(units), len(systems)))
        for column, name in enumerate(systems):
            for one in side[name]:
                sums[units[one.unit], column] += one.score
                counts[units[one.unit], column] += 1
        weights = rng.multinomial(len(units), [1 / len(units)] * len(units), size=replications).astype(np.float64)
        drawn = weights @ counts
        found.append(np.divide(weights @ sums, drawn, out=np.full(drawn.shape, np.nan), where=drawn > 0))
    return found


def _resample_dialogues(
    sides: Sequence[dict[str, list[Dialogue]]], systems: Sequence[str], rng: np.random.Generator, replications: int
) -> list[Floats]:
    found = []
    for side in sides:
        columns = []
        for name in systems:
            scores = np.array([one.score for one in side[name]])
            columns.append(scores[rng.integers(scores.size, size=(replications, scores.size))].mean(axis=1))
        found.append(np.stack(columns, axis=1))
    return found


@dataclass(frozen=True, slots=True)
class RankingFloor:
    """The noise floor of the order of systems.

    `floor` is τ-b between random halves of the real users, and `matched` τ-b between a half and a random group of
    simulated users with about as many dialogues. `people` is the smallest number of real users per system in a half.
    `p` tests whether systems differ as much for simulated users as for real users, by randomly assigning users to the
    two sides within each system; simulated users who are stricter with all systems by the same amount do not count as
    different. `p` is NaN if this cannot be tested. `needed` is the number of real users per system at which halves
    would agree better than by chance (τ above 0 in 97.5% of halves), if systems differ as observed; None if halves
    agree already, or no number is known.
    """

    floor: Spread
    matched: Spread
    people: int
    p: float
    needed: int | None

    @property
    def verdict(self) -> str:
        """`beyond`, `within` or `undecided`.

        The verdict is `beyond` if the median of `matched` is below the lower end of the middle 95% of `floor`, and
        otherwise `within` if halves of people agree. It is `undecided` if halves do not agree, or have too few users:
        the halves would then say more about these people than about systems.
        """
        if not self.floor.n or not self.matched.n or self.people < _FEWEST:
            return "undecided"
        if self.matched.median < self.floor.low:
            return "beyond"
        return "within" if self.floor.low > 0 else "undecided"


_FEWEST = 4  # real users per system in a half
_NEEDED = tuple(10 * 2**k for k in range(11))  # people per system that are tried
_DRAWS = 400  # of the noise floor


def ranking_floor(
    real: Sequence[Dialogue],
    simulated: Sequence[Dialogue],
    rng: np.random.Generator,
    *,
    splits: int = 200,
    draws: int = 2000,
) -> RankingFloor | None:
    """Compute the noise floor of the order of systems; Returns None for fewer than two systems with scores on both
    sides."""
    scored = [[one for one in side if not math.isnan(one.score)] for side in (real, simulated)]
    systems = sorted({one.system for one in scored[0]} & {one.system for one in scored[1]})
    if len(systems) < 2:
        return None
    sides = [by_user([one for one in side if one.system in systems]) for side in scored]
    if common_strata(*sides) is None:
        sides = [by_user([one for one in side if one.system in systems], by_system=True) for side in scored]
    strata = common_strata(*sides)
    place = {name: column for column, name in enumerate(systems)}
    both = []
    for side in sides:  # (users, 2 · systems) sums of scores, then numbers of dialogues
        sums = np.zeros((len(side), 2 * len(systems)))
        for row, held in enumerate(side.values()):
            for one in held:
                sums[row, place[one.system]] += one.score
                sums[row, len(systems) + place[one.system]] += 1
        both.append(sums)
    first, second = both
    groups = [""] * len(first) if strata is None else strata[0]
    one_half, other_half = _halves(groups, rng, splits)
    # As many dialogues as a half has, or all there are.
    share = min(1.0, first[:, len(systems) :].sum() / 2 / second[:, len(systems) :].sum())
    of_second = [""] * len(second) if strata is None else strata[1]
    others = np.zeros((splits, len(second)))  # 1 for a random share of the users, of about the same share in each group
    for split in range(splits):
        order = _shuffle_places(of_second, rng)
        size = max(1, round(share * len(order)))
        others[split, order[((np.arange(size) + rng.random()) * len(order) / size).astype(int)]] = 1
    floor = _taus(one_half @ first, other_half @ first)
    matched = _taus(one_half @ first, others @ second)
    centred = []  # the sums with the mean over systems of each side taken off every score
    for sums in both:
        mean = float(_means(sums.sum(axis=0)[None]).mean())
        scores, counts = sums[:, : len(systems)], sums[:, len(systems) :]
        centred.append(np.concatenate([scores - mean * counts, counts], axis=1))
    p = compare_with_relabelled(centred[0], centred[1], _interaction, rng, strata=strata, draws=draws).p[0]
    people = int((first[:, len(systems) :] > 0).sum(axis=0).min()) // 2
    spread = Spread.from_values(floor.tolist())
    agree = people >= _FEWEST and spread.n > 0 and spread.low > 0
    needed = None if agree else _people_needed(first, len(systems), rng)
    return RankingFloor(spread, Spread.from_values(matched.tolist()), people, p, needed)


def _halves(groups: Sequence[str], rng: np.random.Generator, splits: int) -> tuple[Floats, Floats]:
    """Return two (splits, users) arrays with 1 for users in the half. Users of a group are dealt in pairs, one user to
    each half; with an odd number, one user is in neither half."""
    first = np.zeros((splits, len(groups)))
    second = np.zeros_like(first)
    for split in range(splits):
        order = _shuffle_places(groups, rng)
        pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
        pairs = rng.permuted(pairs, axis=1)
        first[split, pairs[:, 0]] = second[split, pairs[:, 1]] = 1
    return first, second


def _shuffle_places(groups: Sequence[str], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    order: npt.NDArray[np.int64] = np.lexsort((rng.random(len(groups)), np.unique(groups, return_inverse=True)[1]))
    return order


def _means(sums: Floats) -> Floats:
    systems = sums.shape[1] // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = sums[:, :systems] / sums[:, systems:]
    return found


def _taus(first: Floats, second: Floats) -> Floats:
    means = zip(_means(first), _means(second), strict=True)
    return np.array([math.nan if np.isnan([a, b]).any() else kendall_tau(a, b) for a, b in means])


def _interaction(first: Floats, second: Floats) -> Floats:
    """Return (B, 1) squared differences between the sides, after subtracting each side's mean over systems."""
    apart = _means(first) - _means(second)
    found: Floats = np.square(apart - apart.mean(axis=1, keepdims=True)).sum(axis=1)
    return found[:, None]


def _people_needed(sums: Floats, systems: int, rng: np.random.Generator) -> int | None:
    counts = sums[:, systems:]
    with np.errstate(invalid="ignore", divide="ignore"):
        each = np.where(counts > 0, sums[:, :systems] / counts, np.nan)
    users = (counts > 0).sum(axis=0)
    if users.min() < 2:
        return None
    means, noise = np.nanmean(each, axis=0), np.nanvar(each, axis=0, ddof=1)
    seen = float(means.var(ddof=1))
    between = seen - float((noise / users).mean())
    if between <= 0:
        return None
    truth = means.mean() + (means - means.mean()) * math.sqrt(between / seen)
    for people in _NEEDED:
        groups = rng.normal(truth, np.sqrt(noise / people), size=(2, _DRAWS, systems))
        taus = [kendall_tau(a, b) for a, b in zip(*groups)]
        if float(np.quantile(taus, 0.025)) > 0:
            return int(2 * people)
    return None
