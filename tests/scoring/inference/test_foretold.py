"""What is foretold of another user holds the truth wherever it is given: heavy weights, rare outcomes, few topics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from scoring.inference.foretold import PredictedMean, predict_mean
from tests.support.kept_cells import keep_cells
from topics.identity import generator

Floats = npt.NDArray[np.float64]

TURNS = 12
USERS: Mapping[str, tuple[float, float]] = {
    "hasty": (0.25, 0.6),
    "middling": (0.12, 0.3),
    "patient": (0.03, 0.1),
    "picky": (0.05, 0.6),
    "forgiving": (0.3, 0.15),
}
"""The hazard of leaving after a useful answer, and after another."""

SIZES = ((6, 5), (15, 5), (45, 4))


def rates(world: str, topics: int, rng: np.random.Generator) -> Floats:
    """(topics, TURNS) the probability that an answer is useful."""
    flat = np.ones((1, TURNS))
    match world:
        case "even":
            return rng.beta(6, 4, (topics, 1)) * flat
        case "first":  # good first, then bad
            found = rng.beta(2, 6, (topics, 1)) * flat
            found[:, 0] = 0.9
            return np.asarray(found)
        case "late":  # what only patient users see is good
            found = rng.beta(2, 8, (topics, 1)) * flat
            found[:, 5:] = 0.95
            return np.asarray(found)
        case "rare":
            return rng.beta(0.06, 1.94, (topics, 1)) * flat
        case "two kinds":
            return np.where(rng.random((topics, 1)) < 0.1, 0.02, 0.85) * flat
        case _:  # certain
            return np.where(rng.random((topics, 1)) < 0.9, 1.0, 0.0) * flat


WORLDS = ("even", "first", "late", "rare", "two kinds", "certain")


def expected(share: Floats, leaves: tuple[float, float]) -> float:
    """Mean ave%useful of a user over topics with these rates, exactly: by turn and useful answers so far."""
    state, found = np.zeros((len(share), TURNS + 1)), np.zeros(len(share))
    state[:, 0] = 1
    for turn in range(TURNS):
        useful, useless = np.zeros_like(state), state * (1 - share[:, turn, None])
        useful[:, 1:] = state[:, :-1] * share[:, turn, None]
        after_o, after_x = leaves if turn < TURNS - 1 else (1.0, 1.0)
        found += ((useful * after_o + useless * after_x) * np.arange(TURNS + 1) / (turn + 1)).sum(axis=1)
        state = useful * (1 - after_o) + useless * (1 - after_x)
    return float(found.mean())


def study(
    share: Floats, trials: int, played: tuple[float, float], other: tuple[float, float], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """(topics, trials) ave%useful of conversations of the user that was played, and their weights for the other."""
    shape = (len(share), trials, TURNS)
    useful = rng.random(shape) < share[:, None, :]
    hazard, theirs = (np.where(useful, *leaves) for leaves in (played, other))
    leaves = rng.random(shape) < hazard
    leaves[..., -1] = True  # the turn limit, which is no decision
    end = leaves.argmax(axis=2)[..., None]
    on = np.arange(TURNS) <= end
    staying = np.ones(shape)
    staying[..., 1:] = np.cumprod(((1 - theirs) / (1 - hazard))[..., :-1], axis=2)
    left = np.where(end < TURNS - 1, np.take_along_axis(theirs / hazard, end, 2), 1.0)
    weights = np.take_along_axis(staying, end, 2) * left
    return (useful & on).sum(axis=2) / on.sum(axis=2), weights[..., 0]


@cache
def truth_of(world: str, other: str) -> float:
    return expected(rates(world, 100_000, generator(7, "truth", world)), USERS[other])


def studies(world: str, pair: tuple[str, str], size: tuple[int, int], number: int) -> tuple[float, list[PredictedMean]]:
    played, other = (USERS[name] for name in pair)
    rng = generator(7, "foretold", world, *pair, *size)
    topics, trials = size
    found = [
        predict_mean(*study(rates(world, topics, rng), trials, played, other, rng), level=0.95) for _ in range(number)
    ]
    return truth_of(world, pair[1]), found


def holds(world: str, pair: tuple[str, str], size: tuple[int, int], number: int) -> tuple[int, int]:
    """Of so many studies, how many were given, and how many of these hold the truth."""
    truth, found = studies(world, pair, size, number)
    given = [one for one in found if one.interval.is_defined]
    for one in given:
        assert one.interval.low <= one.value <= one.interval.high
    return len(given), sum(one.interval.contains(truth) for one in given)


def enough(given: int, held: int) -> bool:
    """Whether so many may hold the truth in .93 of cases: all but two standard errors."""
    return held >= 0.93 * given - 2 * math.sqrt(0.93 * 0.07 * given)


HOSTILE = [
    ("first", ("hasty", "patient")),  # users.md: long conversations from short ones
    ("first", ("patient", "hasty")),
    ("late", ("hasty", "patient")),
    ("rare", ("hasty", "patient")),
    ("rare", ("picky", "forgiving")),
    ("two kinds", ("picky", "patient")),
    ("even", ("forgiving", "picky")),
    ("certain", ("middling", "patient")),
]


@pytest.mark.parametrize(("world", "pair"), keep_cells(HOSTILE, 3, 5))
def test_the_interval_is_valid_in_hostile_worlds(world: str, pair: tuple[str, str]) -> None:
    for size in SIZES:
        given, held = holds(world, pair, size, 120)
        assert enough(given, held), (size, given, held)


def test_an_interval_is_given_if_weights_are_light_and_mostly_refused_if_they_are_heavy() -> None:
    light = holds("first", ("patient", "middling"), (45, 4), 60)[0]
    heavy = holds("first", ("hasty", "patient"), (6, 5), 60)[0]
    assert light == 60
    assert heavy < 30


@pytest.mark.soak
def test_all_users_in_all_worlds_are_predicted_correctly() -> None:
    """Every pair of users in both directions: in each cell with enough cases, and over all."""
    given_in_all, held_in_all, number = 0, 0, 150
    for world, pair, size in itertools.product(WORLDS, itertools.permutations(USERS, 2), (*SIZES, (45, 10))):
        given, held = holds(world, (pair[0], pair[1]), size, number)
        given_in_all += given
        held_in_all += held
        assert given < 20 or enough(given, held), (world, pair, size, given, held)
    assert held_in_all >= 0.95 * given_in_all
    assert given_in_all >= 0.7 * number * 6 * 20 * 4


def test_equal_users_have_the_plain_mean() -> None:
    rng = generator(1, "equal")
    values, weights = study(rates("even", 20, rng), 4, USERS["hasty"], USERS["hasty"], rng)
    found = predict_mean(values, weights, level=0.95)
    assert found.value == pytest.approx(values.mean())
    assert found.n == 80
    assert found.seen == pytest.approx(1.0)
    assert found.effective == pytest.approx(80)
    assert found.effective_units == pytest.approx(20)


def test_missing_weight_widens_both_ends() -> None:
    values, rng = np.full((20, 4), 0.5), generator(1, "lacking")
    whole = predict_mean(values, np.ones((20, 4)), level=0.95).interval
    half = predict_mean(values, np.full((20, 4), 0.5), level=0.95).interval
    assert half.low < 0.26 < whole.low
    assert whole.high < 0.74 < half.high
    unknown = np.where(rng.random((20, 4)) < 0.3, np.nan, 0.5)
    partly = predict_mean(unknown, np.ones((20, 4)), level=0.95).interval
    assert partly.low < whole.low
    assert whole.high < partly.high


def test_wordings_of_one_question_are_one_unit() -> None:
    rng = generator(1, "clusters")
    each = rng.beta(1, 1, 12)
    values, weights = np.repeat(each, 3)[:, None] * np.ones((36, 4)), np.ones((36, 4))
    own = list(range(36))
    wide = predict_mean(values, weights, level=0.95, clusters=[at // 3 for at in range(36)]).interval
    narrow = predict_mean(values, weights, level=0.95, clusters=own).interval
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)
    assert wide.resampled == "clusters"


@pytest.mark.parametrize(
    ("values", "weights", "why"),
    [
        (np.ones((3, 9)), np.ones((3, 9)), "3 topics: too few to resample"),
        (np.full((9, 9), np.nan), np.ones((9, 9)), "no value"),
        (np.ones((9, 1)), np.ones((9, 1)), "effective n 9.0 of 9 conversations (it takes 10)"),
        (
            np.ones((9, 4)),
            np.array([[30.0] * 4] * 2 + [[0.01] * 4] * 7),
            "nearly all of the weight is in 2.0 topics' worth of conversations (it takes 4)",
        ),
    ],
)
def test_too_little_data_is_refused_with_its_numbers(values: Floats, weights: Floats, why: str) -> None:
    found = predict_mean(values, weights, level=0.95)
    assert math.isnan(found.value)
    assert (found.interval.is_defined, found.interval.note) == (False, why)
