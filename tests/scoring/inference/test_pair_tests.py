"""The tests of many pairs: each is what it would be by itself, whichever are asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scoring.comparison.compared_pairs import compare_pairs
from scoring.inference.aligned import Aligned, Cell, Trial, align
from scoring.inference.differences import guarded_differences, guarded_ps
from scoring.inference.in_time import common_time_p, common_time_ps
from scoring.inference.losses import LostTrials, fill_losses
from scoring.inference.pair_tests import PairTests
from scoring.inference.paired import Estimand
from scoring.inference.sides import compare_sides
from scoring.settings import Guard
from topics.arrays import Floats
from topics.identity import generator

TOPICS, TRIALS = 31, 3
SYSTEMS = tuple("ABCDEFG")  # 21 pairs


def cells(law: str) -> dict[str, dict[Trial, Cell]]:
    """Systems that get better by the alphabet, two of them alike."""
    rng, found = np.random.default_rng(4), {}
    for better, system in enumerate(SYSTEMS):
        rate = 0.1 + 0.11 * max(1, better)
        useful = rng.random((TOPICS, TRIALS)) < rate
        level = rng.lognormal(rate, 1.5, (TOPICS, TRIALS))
        asked = rng.random((TOPICS, TRIALS)) < (0.04 if better == 3 else 0.0 if better == 5 else 0.5)
        found[system] = {
            (f"T{topic:02}", trial): {
                "shares": (float(useful[topic, trial]), 1.0),
                "open": (float(level[topic, trial]), 1.0),
                "ratios": (float(useful[topic, trial] & asked[topic, trial]), float(asked[topic, trial])),
            }[law]
            for topic in range(TOPICS)
            for trial in range(TRIALS)
        }
    return found


def aligned(law: str, **others: object) -> Aligned:
    topics = [f"T{topic:02}" for topic in range(TOPICS)]
    return align(topics, SYSTEMS, cells(law), pooled=law == "ratios", **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("law", "estimand", "guard", "others"),
    [
        ("shares", "like-these", "unseen", {}),
        ("open", "like-these", "unseen", {}),
        ("ratios", "like-these", "unseen", {}),
        ("shares", "like-these", "none", {}),
        ("shares", "these", "unseen", {}),
        ("shares", "like-these", "unseen", {"clusters": {"T00": "X", "T01": "X"}}),
        ("shares", "like-these", "unseen", {"continued": ("B",)}),
    ],
)
def test_each_test_agrees_with_the_sequential_one(
    law: str, estimand: Estimand, guard: Guard, others: dict[str, object]
) -> None:
    values, reach = aligned(law, **others), math.inf if law == "open" else 1.0
    one, other = generator(1, "pairs"), generator(1, "pairs")
    tests = PairTests(values, one, estimand=estimand, level=0.95, reach=reach, guard=guard)
    wanted = [
        compare_sides(values, *place, other, estimand=estimand, level=0.95, reach=reach, guard=guard)
        for place in tests.places
    ]
    assert one.integers(2**60) == other.integers(2**60), "what is drawn next is the same"
    for at in reversed(range(len(wanted))):
        assert repr(tests.test(at)) == repr(wanted[at])
    assert np.array_equal(tests.outside, [found.outside for found in wanted], equal_nan=True)
    if law == "ratios" or estimand == "these":
        assert np.array_equal(tests.p, [found.p for found in wanted], equal_nan=True)


@pytest.mark.parametrize("units", [3, 4, 30, 45])
@pytest.mark.parametrize("reach", [1.0, math.inf])
def test_p_values_of_many_differences_are_those_of_their_intervals(units: int, reach: float) -> None:
    rng = np.random.default_rng(units)
    each = np.concatenate(
        [
            np.zeros((units, 1)),
            np.full((units, 1), -1.0),
            rng.integers(-3, 4, (units, 30)) / 3,
            np.clip(rng.standard_cauchy((units, 30)) / 50, -1, 1),
            rng.normal(0.3, 0.2, (units, 10)),
            np.eye(units, 5) / 3,
            rng.choice([-1e-13, 0, 1e-13], (units, 5)),
        ],
        axis=1,
    )
    one = np.ones((units, 1))
    wanted = [guarded_differences(own[:, None], one, level=0.95, reach=reach).p[0] for own in each.T]
    assert np.array_equal(guarded_ps(each, reach=reach), wanted, equal_nan=True)


def test_p_values_for_equal_times_of_many_pairs_are_those_of_each() -> None:
    rng = np.random.default_rng(2)
    values, times = rng.random((6, 8, 3)) < 0.5, np.cumsum(rng.random(24)).reshape(3, 8).T * np.ones((6, 1, 1))
    sides = values.astype(np.float64)
    sides[1, 2, 0], times[2, 0, 1], sides[3], sides[4] = math.nan, math.nan, 0.0, times[4] > np.median(times[4])
    sides[5] = 0.0
    pairs = np.array([(one, other) for one in range(6) for other in range(one)])
    wanted = [common_time_p(sides[a] - sides[b], (times[a] + times[b]) / 2) for a, b in pairs]
    assert min(wanted) < 0.01
    assert max(wanted) == 1
    assert common_time_ps(sides, times, pairs).tolist() == wanted
    few: Floats = np.zeros((6, 0, 0))
    assert common_time_ps(few, few, pairs).tolist() == [1.0] * len(pairs)


@pytest.mark.parametrize("guard", ["unseen", "none"])
@pytest.mark.parametrize("law", ["shares", "ratios"])
def test_letters_agree_with_the_verdicts_of_all_pairs(law: str, guard: Guard) -> None:
    """Also where one system lost attempts, where another lost them by its answers, and of so few topics that no
    difference could be found."""
    lost = {("T00", 1): (0.0, 1.0), ("T01", 1): (0.0, 1.0)}
    gone = {
        "A": LostTrials(lost, dict.fromkeys(lost, (1.0, 1.0))),
        "G": LostTrials(lost, dict.fromkeys(lost, (1.0, 1.0)), depends=True),
    }
    for topics in (TOPICS, 4):
        of = [f"T{topic:02}" for topic in range(topics)]

        def extreme(low: str, high: str, of: list[str] = of) -> Aligned:
            moved = {
                name: fill_losses(cells(law)[name], gone.get(name, LostTrials({}, {})), high=name == high)
                for name in (low, high)
            }
            return align(of, SYSTEMS, {**cells(law), **moved}, pooled=law == "ratios")

        found = compare_pairs(
            "M",
            None,
            align(of, SYSTEMS, cells(law), pooled=law == "ratios"),
            generator(1, "letters"),
            estimand="like-these",
            level=0.95,
            good="high",
            reach=1.0,
            guard=guard,
            lost=gone,
            extreme=extreme,
        )
        for pair in found.pairs:
            alike = {*found.letters[pair.first]} & {*found.letters[pair.second]}
            if all(not math.isnan(found.figures[name]) for name in (pair.first, pair.second)):
                assert bool(alike) != pair.is_distinguished, (pair.first, pair.second)
        assert any(pair.is_distinguished for pair in found.pairs) == (topics > 4 and law == "shares")
        assert found.pairs_of("C") == tuple(pair for pair in found.pairs if "C" in (pair.first, pair.second))
