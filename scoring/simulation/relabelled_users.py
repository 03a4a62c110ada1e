"""Tests of whether real and simulated users differ, on all users: the distances of `realism`, by relabelling users.

The split-half floor compares a distance with the distance between people. It uses groups of half the size, so it can
miss a difference that all dialogues together show. Here each distance is computed over all dialogues, and again with
whole users dealt to the two sides at random (`scoring.inference.relabelled`). Systems differ, so users are dealt among
the users who talked to the same systems, and scores are compared within each system.

Every distance is a function of sums over users, so that a deal costs one product of matrices. The distances of
`scoring.simulation.realism` and `lengths` are computed independently here (a test checks that both agree).
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from recordings.acts.dialogue import Dialogue
from scoring.inference.relabelled import RelabellingTest, compare_with_relabelled
from scoring.simulation.act_model import closest_context, decisions_of
from scoring.simulation.lengths import cut_at_horizon
from topics.arrays import Floats

Name = TypeVar("Name", bound=Hashable)

_SCORES = 64  # different scores that are told apart within a system; more are put together by rank


def behaviour_test(
    real: Sequence[Dialogue], simulated: Sequence[Dialogue], rng: np.random.Generator, *, order: int, draws: int
) -> RelabellingTest:
    """Test acts, transitions, and the KS and W1 distances of lengths, in this order."""
    # Lengths are compared over the turns that both sides cover, and this range must not change from deal to deal.
    cut = cut_at_horizon([real, simulated])
    sides = [by_user(side) for side in (real, simulated)]
    short = [by_user(side) for side in cut]
    acts = _places(turn.act for side in (real, simulated) for one in side for turn in one.turns)
    followed = _places(
        (closest_context(decision, order, False), decision.act)
        for side in (real, simulated)
        for one in side
        for decision in decisions_of(one)
    )
    rows = _places(context for context, _ in followed)
    outcomes = _places(act for _, act in followed)
    longest = max(one.length for side in cut for one in side)
    widths = (len(acts), len(rows) * len(outcomes), longest + 1, longest + 1)
    ends = np.cumsum(widths)

    def sums(dialogues: Sequence[Dialogue], short: Sequence[Dialogue]) -> Floats:
        found = np.zeros(ends[-1])
        for one in dialogues:
            for turn in one.turns:
                found[acts[turn.act]] += 1
            for decision in decisions_of(one):
                row = rows[closest_context(decision, order, False)]
                found[ends[0] + row * len(outcomes) + outcomes[decision.act]] += 1
        for one in short:
            found[ends[1 if one.ended else 2] + one.length] += 1
        return found

    def statistic(first: Floats, second: Floats) -> Floats:
        of = [np.split(side, ends[:-1], axis=1) for side in (first, second)]
        shape = (-1, len(rows), len(outcomes))
        survivals = [_survival(left, cut_off) for _, _, left, cut_off in of]
        apart = np.abs(survivals[0] - survivals[1])
        # Before the first decision that was seen both are 1, so that some turn is always known.
        return np.stack(
            [
                divergence(of[0][0], of[1][0]),
                _transitions(of[0][1].reshape(shape), of[1][1].reshape(shape)),
                np.nanmax(apart, axis=1),
                np.nansum(apart, axis=1),
            ],
            axis=1,
        )

    first, second = (np.array([sums(side[unit], kept[unit]) for unit in side]) for side, kept in zip(sides, short))
    return compare_with_relabelled(first, second, statistic, rng, strata=common_strata(*sides), draws=draws)


def scores_test(
    real: Sequence[Dialogue], simulated: Sequence[Dialogue], rng: np.random.Generator, *, draws: int
) -> RelabellingTest:
    """Test whether scores differ within common systems, by the Cramér-von Mises statistic summed over systems."""
    common = {one.system for one in real} & {one.system for one in simulated}
    kept = [[one for one in side if one.system in common and not math.isnan(one.score)] for side in (real, simulated)]
    if not all(kept):
        return RelabellingTest((math.nan,), math.nan, (0, 0), draws)
    systems = sorted(common)
    steps = {name: _steps([one.score for side in kept for one in side if one.system == name]) for name in systems}
    starts = dict(zip(systems, np.cumsum([0, *(len(steps[name]) for name in systems)])))
    width = sum(len(one) for one in steps.values())
    sides = [by_user(side) for side in kept]
    if common_strata(*sides) is None:
        # Nobody on one side talked to the same systems as somebody on the other: each user counts once per system.
        sides = [by_user(side, by_system=True) for side in kept]

    def sums(dialogues: Sequence[Dialogue]) -> Floats:
        found = np.zeros(width)
        for one in dialogues:
            found[starts[one.system] + int(np.searchsorted(steps[one.system], one.score, side="left"))] += 1
        return found

    def statistic(first: Floats, second: Floats) -> Floats:
        total = np.zeros(len(first))
        for name in systems:
            here = slice(starts[name], starts[name] + len(steps[name]))
            one, other = first[:, here], second[:, here]
            n, m = one.sum(axis=1), other.sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                gap = np.cumsum(one, axis=1) / n[:, None] - np.cumsum(other, axis=1) / m[:, None]
                total += n * m / (n + m) ** 2 * ((one + other) * gap**2).sum(axis=1)
        return total[:, None]

    first, second = (np.array([sums(held) for held in side.values()]) for side in sides)
    return compare_with_relabelled(first, second, statistic, rng, strata=common_strata(*sides), draws=draws)


def by_user(dialogues: Sequence[Dialogue], *, by_system: bool = False) -> dict[str, list[Dialogue]]:
    """Return the dialogues of each user, ordered by name. With `by_system`, a user counts once for each system."""
    found: dict[str, list[Dialogue]] = {}
    for one in sorted(dialogues, key=lambda one: (one.unit, one.system)):
        found.setdefault(f"{one.unit} {one.system}" if by_system else one.unit, []).append(one)
    return found


def common_strata(
    first: dict[str, list[Dialogue]], second: dict[str, list[Dialogue]]
) -> tuple[list[str], list[str]] | None:
    """Return the strata within which users are dealt; None if no stratum has users of both sides, for example if people
    have one system each and simulated users have all systems. Users of the same systems are a stratum if both sides
    have such users; all other users form one stratum."""
    one, other = ([repr(sorted({one.system for one in held})) for held in side.values()] for side in (first, second))
    common = set(one) & set(other)
    if not common:
        return None
    found = [[name if name in common else "" for name in side] for side in (one, other)]
    return found[0], found[1]


def _steps(scores: Sequence[float]) -> Floats:
    different = np.unique(scores)
    if len(different) > _SCORES:
        different = np.unique(np.quantile(scores, np.linspace(0, 1, _SCORES + 1)[1:], method="inverted_cdf"))
    found: Floats = different
    return found


def _places(names: Iterable[Name]) -> dict[Name, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _entropy(shares: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = -np.where(shares > 0, shares * np.log2(shares), 0.0).sum(axis=-1)
    return found


def divergence(first: Floats, second: Floats) -> Floats:
    """Return the Jensen-Shannon divergence of counts along the last axis, in bits; NaN if a side has no counts."""
    with np.errstate(invalid="ignore"):
        p, q = (side / side.sum(axis=-1, keepdims=True) for side in (first, second))
    found: Floats = np.maximum(0.0, _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2)
    return np.where(np.isnan(p).any(axis=-1) | np.isnan(q).any(axis=-1), np.nan, found)


def _transitions(first: Floats, second: Floats) -> Floats:
    """Return (B,) weighted divergences of (B, R, V) counts. A row that occurs on one side only counts as 1 bit."""
    totals = [side.sum(axis=(1, 2)) for side in (first, second)]
    shares = [side.sum(axis=2) / total[:, None] for side, total in zip((first, second), totals)]
    apart = divergence(first, second)
    apart = np.where(np.isnan(apart), 1.0, apart)
    found: Floats = (np.mean(shares, axis=0) * apart).sum(axis=1)
    return np.minimum(found, 1.0)


def _survival(left: Floats, cut: Floats) -> Floats:
    gone = np.cumsum(left + cut, axis=1)
    everybody = gone[:, -1:]
    at_risk = everybody - np.concatenate([np.zeros_like(everybody), gone[:, :-1]], axis=1) - cut
    with np.errstate(invalid="ignore", divide="ignore"):
        stays = 1 - left / at_risk
    stays[:, 0] = 1.0
    found = np.cumprod(stays, axis=1)
    # Where all have left the share stays 0; 0/0 there is no ignorance.
    over = np.cumsum(stays == 0, axis=1) > 0
    return np.where(over, 0.0, found)
