"""Whether a simulated user is a reliable tester: does it rank systems as real users do?

A user that behaves unlike people may still rank systems correctly, and one that behaves like them may not; so this is
reported separately from how realistic the behaviour is. The agreement is Kendall's τ-b between the systems' mean
scores.

Sources: M. G. Kendall, Biometrika 33, 1945 (τ-b); S. Labhishetty, C. Zhai, "An Exploration of Tester-based Evaluation
of User Simulators for Comparing Interactive Retrieval Systems", SIGIR 2021.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recordings.acts.dialogue import Dialogue

__all__ = ["RankingAgreement", "kendall_tau", "ranking_agreement"]

Floats = npt.NDArray[np.float64]

_SAME = "nearly every draw gives the same order, so that its ends would be one point"


@dataclass(frozen=True, slots=True)
class RankingAgreement:
    """tau: τ-b in [-1, 1] over the systems both sides have scores of; NaN for fewer than two, or where one side's means
    are all equal. low, high: percentile interval; NaN with tau, or where (nearly) all draws agree. systems: compared,
    with real and simulated means beside them. resampled: `topics`, `users` or `dialogues`. note: what a reader must
    know."""

    tau: float
    low: float
    high: float
    systems: tuple[str, ...]
    real: tuple[float, ...]
    simulated: tuple[float, ...]
    resampled: str
    note: str = ""


def kendall_tau(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """τ-b of two lists of values of the same things, (n,) each. NaN for n < 2, or where either list has one value."""
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
    """Agreement on the systems that both sides have scored dialogues of.

    What is resampled: topics, the same for all systems and both sides, if every scored dialogue names one and all
    systems have the same topics on both sides; else the users of each side with all their dialogues; or, if every
    dialogue is another user's, dialogues within each system. A draw that leaves a system without dialogues is left out.
    """
    sides = [_by_system(side) for side in (real, simulated)]
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
    several = any(len({one.unit for one in side}) < len(side) for side in map(_of_all, found))
    paired = bool(topics) and "" not in topics[0] and len(topics[0]) > 1 and all(one == topics[0] for one in topics)
    low = high = math.nan
    if not math.isnan(tau):
        draws = (
            _over_topics(found, systems, sorted(topics[0]), rng, replications)
            if paired
            else _over_users(found, systems, rng, replications)
            if several
            else _over_dialogues(found, systems, rng, replications)
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


def _by_system(dialogues: Sequence[Dialogue]) -> dict[str, list[Dialogue]]:
    found: dict[str, list[Dialogue]] = {}
    for one in dialogues:
        if not math.isnan(one.score):
            found.setdefault(one.system, []).append(one)
    return found


def _of_all(side: dict[str, list[Dialogue]]) -> list[Dialogue]:
    return [one for dialogues in side.values() for one in dialogues]


def _mean(scores: Sequence[float]) -> float:
    return float(np.mean(scores))


def _over_topics(
    sides: Sequence[dict[str, list[Dialogue]]],
    systems: Sequence[str],
    topics: Sequence[str],
    rng: np.random.Generator,
    replications: int,
) -> list[Floats]:
    """For each side (replications, systems) means over topics resampled, each topic's mean weighing alike."""
    weights = rng.multinomial(len(topics), [1 / len(topics)] * len(topics), size=replications) / len(topics)
    found = []
    for side in sides:
        cells = [
            [_mean([one.score for one in side[name] if one.topic == topic]) for topic in topics] for name in systems
        ]
        found.append(weights @ np.array(cells).T)
    return found


def _over_users(
    sides: Sequence[dict[str, list[Dialogue]]], systems: Sequence[str], rng: np.random.Generator, replications: int
) -> list[Floats]:
    """For each side (replications, systems) means over users resampled; NaN where a system got no dialogue."""
    found = []
    for side in sides:
        units = {unit: row for row, unit in enumerate(sorted({one.unit for one in _of_all(side)}))}
        sums, counts = np.zeros((2, len(units), len(systems)))
        for column, name in enumerate(systems):
            for one in side[name]:
                sums[units[one.unit], column] += one.score
                counts[units[one.unit], column] += 1
        weights = rng.multinomial(len(units), [1 / len(units)] * len(units), size=replications).astype(np.float64)
        drawn = weights @ counts
        found.append(np.divide(weights @ sums, drawn, out=np.full(drawn.shape, np.nan), where=drawn > 0))
    return found


def _over_dialogues(
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
