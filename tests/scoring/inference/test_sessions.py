"""Systems whose sessions run through all topics: sessions are taken whole, and systems alike are seldom told apart."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

from scoring.comparison.compared_pairs import compare_pairs
from scoring.inference.aligned import Cell, Trial, align
from scoring.inference.paired import Estimand, compare_like_these, compare_these
from scoring.inference.sessions import compare_sessions, needed_sessions, session_variance
from tests.support.compared_worlds import allowed_errors, drawn_shares

Floats = npt.NDArray[np.float64]
Which = Literal["both", "one"]

LEVEL = 0.95


def drawn(
    rng: np.random.Generator, topics: int, trials: int, spread: float, which: Which, suits: float
) -> list[Floats]:
    """(topics, trials) answers of two systems alike. spread: of sessions. suits: how far systems suit some topics."""
    base = 0.2 + 0.6 * drawn_shares(rng, topics, 0.45)
    sides = []
    for continued in (True, which == "both"):
        chances = (base + rng.normal(0, suits, topics))[:, None]
        moved = rng.normal(0, spread, trials) if continued else np.zeros(trials)
        sides.append((rng.random((topics, trials)) < np.clip(chances + moved, 0, 1)).astype(float))
    return sides


def shared(values: Floats) -> float:
    return session_variance((values - values.mean(axis=1, keepdims=True)) / values.size)


def parts(sides: list[Floats], which: Which) -> tuple[Floats, Floats, Floats, npt.NDArray[np.int64]]:
    trials = sides[0].shape[1]
    noise = np.stack([side.var(axis=1, ddof=1) / trials for side in sides], axis=1)
    whole = np.array([shared(sides[0]), shared(sides[1]) if which == "both" else math.nan])
    counts = np.array([trials, trials if which == "both" else 0])
    return sides[0].mean(axis=1) - sides[1].mean(axis=1), noise, whole, counts


def errors(
    replications: int, topics: int, trials: int, spread: float, which: Which, estimand: Estimand
) -> tuple[int, int]:
    """How often systems alike are told apart: with sessions whole, and as if no session bound its answers."""
    rng, wrong, singly = np.random.default_rng([topics, trials, len(which)]), 0, 0
    for _ in range(replications):
        sides = drawn(rng, topics, trials, spread, which, 0.1 if estimand == "like-these" else 0.0)
        each, noise, whole, counts = parts(sides, which)
        wrong += compare_sessions(each, noise, whole, counts, estimand=estimand, level=LEVEL).p <= 0.05
        if estimand == "these":
            singly += compare_these(each, noise, np.full((topics, 2), trials), level=LEVEL).p <= 0.05
        else:
            interval = compare_like_these(each, rng, level=LEVEL).interval
            singly += not interval.low <= 0 <= interval.high
    return wrong, singly


@pytest.mark.parametrize("estimand", ["like-these", "these"])
def test_similar_systems_are_seldom_told_apart_even_if_sessions_differ(estimand: Estimand) -> None:
    wrong, singly = errors(150, 30, 5, 0.1, "both", estimand)
    assert wrong <= allowed_errors(150, 0.05)
    assert singly > allowed_errors(150, 0.05), "which is why sessions are taken whole"


@pytest.mark.soak
@pytest.mark.parametrize("estimand", ["like-these", "these"])
@pytest.mark.parametrize("which", ["both", "one"])
@pytest.mark.parametrize("topics", [8, 15, 45])
@pytest.mark.parametrize("trials", [4, 5, 10])
def test_how_often_similar_systems_are_told_apart(topics: int, trials: int, which: Which, estimand: Estimand) -> None:
    for spread in (0.0, 0.1, 0.2):
        wrong, singly = errors(1000, topics, trials, spread, which, estimand)
        print(f"{estimand}, {topics} × {trials}, {which}, spread {spread}: {wrong / 1000:.3f}, singly {singly / 1000}")
        assert wrong <= allowed_errors(1000, 0.05, 0.01)


def test_a_difference_that_every_session_shows_is_found() -> None:
    rng = np.random.default_rng(4)
    low, high = (rng.random((20, 6)) < chance for chance in (0.3, 0.8))
    each, noise, whole, counts = parts([low.astype(float), high.astype(float)], "both")
    for estimand in ("like-these", "these"):
        found = compare_sessions(each, noise, whole, counts, estimand=estimand, level=LEVEL, reach=1.0)
        assert found.value == pytest.approx(each.mean())
        assert found.interval.low < found.value < found.interval.high < 0
        assert found.p < 0.01
        wide = compare_sessions(each, noise, whole, counts, estimand=estimand, level=1 - found.p)
        assert wide.interval.high == pytest.approx(0, abs=1e-9), "interval and p say the same"


def test_the_variance_of_sessions_is_that_of_their_means() -> None:
    values = np.random.default_rng(2).random((9, 7))
    assert shared(values) == pytest.approx(values.mean(axis=0).var(ddof=1) / 7)
    assert math.isnan(session_variance(np.zeros((3, 1))))


@pytest.mark.parametrize(
    ("topics", "trials", "estimand", "why"),
    [
        (8, 3, "these", "3 sessions: too few to compare"),
        (8, 1, "like-these", "one session: nothing to compare it with"),
        (3, 5, "like-these", "3 topics: too few to resample"),
    ],
)
def test_too_few_sessions_give_no_interval_and_no_p(topics: int, trials: int, estimand: Estimand, why: str) -> None:
    rng = np.random.default_rng(1)
    noise = np.full((topics, 2), 0.1)
    found = compare_sessions(rng.random(topics), noise, [0.1, 0.1], [trials, trials], estimand=estimand, level=LEVEL)
    assert (found.interval.note, math.isnan(found.p), found.value > 0) == (why, True, True)


def test_one_trial_of_a_topic_and_sessions_without_any_difference_are_reported() -> None:
    noise = np.full((5, 2), 0.1)
    noise[2, 1] = math.nan
    found = compare_sessions(np.ones(5), noise, [0.1, 0.1], [5, 5], estimand="these", level=LEVEL)
    assert found.interval.note == "1 of 5 topics have one trial only, so sessions cannot be seen to differ"
    same = compare_sessions(np.ones(5), np.zeros((5, 2)), [0, 0], [5, 5], estimand="these", level=LEVEL)
    assert same.interval.note == "every session has the same value"
    assert math.isnan(compare_sessions([], np.zeros((0, 2)), [0, 0], [5, 5], estimand="these", level=LEVEL).value)


def cells(values: Floats) -> dict[Trial, Cell]:
    return {(f"T{row}", trial + 1): (float(value), 1.0) for (row, trial), value in np.ndenumerate(values)}


def test_systems_are_aligned_with_their_sessions_and_pairs_without_any_are_compared_as_before() -> None:
    rng = np.random.default_rng(3)
    values = {name: rng.random((8, 5)) for name in "ABC"}
    names, own = [f"T{row}" for row in range(8)], {name: cells(one) for name, one in values.items()}
    found = align(names, list("ABC"), own, pooled=False, continued=["A"])
    assert found.sessions.tolist() == [5, 0, 0]
    assert found.shared[0] == pytest.approx(shared(values["A"]))
    assert np.isnan(found.shared[1:]).all()
    alone = align(names, list("ABC"), own, pooled=False)
    for estimand in ("like-these", "these"):
        results = [
            compare_pairs(
                "M", None, one, np.random.default_rng(1), estimand=estimand, level=LEVEL, good="high", reach=1.0
            )
            for one in (found, alone)
        ]
        (ab, _, bc), (_, _, was) = results[0].pairs, results[1].pairs
        assert "session" in ab.interval.method
        assert results[0].sessions == {"A": 5}
        assert math.isnan(ab.least)
        assert bc.interval == was.interval


def test_a_ratio_of_sums_over_sessions_varies_with_its_sessions() -> None:
    rng, drawn_, said = np.random.default_rng(6), [], []
    for _ in range(300):
        failed = rng.random((6, 8)) < 0.6
        chance = 0.5 + rng.normal(0, 0.15, 8)
        again = failed & (rng.random((6, 8)) < chance)
        own = {
            (f"T{row}", trial): (float(again[row, trial]), float(failed[row, trial]))
            for row in range(6)
            for trial in range(8)
        }
        one = align([f"T{row}" for row in range(6)], ["A"], {"A": own}, pooled=True, continued=["A"])
        drawn_.append(one.figures[0])
        said.append(one.shared[0])
    assert np.mean(said) == pytest.approx(np.var(drawn_, ddof=1), rel=0.25)


def test_more_sessions_settle_a_difference_on_these_topics_and_nothing_is_promised_for_others() -> None:
    noise, whole, counts = np.full((10, 2), 0.02), np.array([0.004, 0.004]), np.array([5, 5])
    trials, each = np.full((10, 2), 5), np.full(10, 0.1)
    these = needed_sessions(each, noise, whole, counts, trials, alpha=0.05, estimand="these")
    assert these.trials == math.ceil(5 * (1.959964 + 0.841621) ** 2 * 0.008 / 0.01)
    like = needed_sessions(each, noise, whole, counts, trials, alpha=0.05, estimand="like-these")
    assert math.isnan(like.topics)
    assert math.isnan(like.trials)
