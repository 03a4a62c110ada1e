"""A judge's mean corrected by people's items: it covers the truth whatever the judge is like, and costs no width."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.inference.bootstrap import Resampler
from scoring.inference.prediction_powered import ComparedItems, CorrectedMean, corrected_mean
from tests.support.rare_worlds import JUDGES as KINDS_OF_JUDGE
from tests.support.rare_worlds import QUALITIES, corrected_judge

TRIALS = 50
TRUTH = 0.6
"""The mean quality of a topic."""

JUDGES = {
    "good": (0.9, 0.75, 0.0),
    "good, taken in by length": (0.9, 0.75, 1.0),
    "poor, taken in by length": (0.6, 0.5, 1.0),
    "a coin": (0.5, 0.5, 0.0),
    "upside down": (0.2, 0.3, 0.5),
}
"""Sensitivity, specificity, and by how many logits a text longer by one standard deviation raises a yes."""

ITEMS = {50: (25, 2), 100: (25, 4), 200: (50, 4)}
"""People's items: topics, items of each."""


def _world(rng: np.random.Generator, topics: int, asked: int, judge: str) -> list[ComparedItems]:
    """Topics differ in quality; lengths differ by topic, and good answers are longer."""
    sensitivity, specificity, length = JUDGES[judge]
    shape = (topics, TRIALS)
    good = rng.random(shape) < rng.beta(1.8, 1.2, size=(topics, 1))
    longer = rng.normal(size=shape) + 0.7 * rng.normal(size=(topics, 1)) + 0.5 * (good - 0.5)
    right = np.where(good, sensitivity, 1 - specificity)
    says = rng.random(shape) < 1 / (1 + np.exp(-np.log(right / (1 - right)) - length * longer))
    drawn = rng.random(shape).argsort(axis=1) < asked
    people = np.where(drawn, good, math.nan)
    return [
        ComparedItems(model, own, np.ones(TRIALS)) for model, own in zip(says.astype(np.float64), people, strict=True)
    ]


def _width(found: CorrectedMean) -> tuple[float, float]:
    own, alone = found.interval, found.people_interval
    return own.high - own.low, alone.high - alone.low


@pytest.mark.parametrize("worlds", [80, pytest.param(4000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("checked", [100, *(pytest.param(n, marks=pytest.mark.soak) for n in ITEMS if n != 100)])
@pytest.mark.parametrize("judge", JUDGES)
def test_the_corrected_interval_covers_and_is_never_wider_than_that_of_people(
    judge: str, checked: int, worlds: int
) -> None:
    rng = np.random.default_rng(7)
    covered, widths = 0, []
    for _ in range(worlds):
        found = corrected_mean(_world(rng, *ITEMS[checked], judge), level=0.95)
        covered += found.interval.low <= TRUTH <= found.interval.high
        own, alone = _width(found)
        assert found.checked == checked
        assert own <= alone + 1e-9
        widths.append(own / alone)
    noise = 3 * math.sqrt(0.05 * 0.95 / worlds) if worlds < 1000 else 0.0
    assert 0.93 - noise <= covered / worlds <= 0.99 + noise
    assert np.mean(widths) <= 1
    if judge.startswith("good"):
        assert np.mean(widths) < 0.97


def test_the_judge_alone_is_sure_of_a_wrong_figure_and_the_corrected_one_is_not() -> None:
    rng = np.random.default_rng(3)
    found = [corrected_mean(_world(rng, 45, 4, "good"), level=0.95) for _ in range(100)]
    assert np.mean([one.judge for one in found]) - TRUTH == pytest.approx(0.04, abs=0.01)
    assert np.mean([one.value for one in found]) == pytest.approx(TRUTH, abs=0.01)


def test_a_perfect_judge_counts_fully_and_a_constant_one_not_at_all() -> None:
    rng = np.random.default_rng(5)
    world = _world(rng, 12, 4, "good")
    truth = [np.where(np.isnan(one.people), one.judge, one.people) for one in world]
    perfect = corrected_mean(
        [ComparedItems(own, one.people, one.weights) for own, one in zip(truth, world, strict=True)], level=0.95
    )
    assert perfect.power == pytest.approx(1)
    assert perfect.value == pytest.approx(perfect.judge)
    constant = [ComparedItems(np.full(TRIALS, 0.3), one.people, one.weights) for one in world]
    for found in (corrected_mean(constant, level=0.95), corrected_mean(world, level=0.95, tuned=False)):
        assert found.power == 0
        assert found.value == found.people
        assert (found.interval.low, found.interval.high) == (found.people_interval.low, found.people_interval.high)


@given(st.integers(4, 12), st.integers(0, 2**32), st.booleans())
def test_only_relative_weights_matter_and_the_order_of_items_and_topics_does_not(
    topics: int, seed: int, missing: bool
) -> None:
    rng = np.random.default_rng(seed)
    world = [
        ComparedItems(
            np.where(rng.random(9) < 0.3 * missing, math.nan, rng.random(9)),
            np.where(np.arange(9) < 3, rng.random(9), math.nan),
            rng.random(9) + 0.1,
        )
        for _ in range(topics)
    ]
    found = corrected_mean(world, level=0.9)
    order = rng.permutation(9)
    other = corrected_mean(
        [ComparedItems(one.judge[order], one.people[order], 7 * one.weights[order]) for one in reversed(world)],
        level=0.9,
    )
    assert other.value == pytest.approx(found.value)
    assert other.interval.low == pytest.approx(found.interval.low)
    assert 0 <= found.power <= 1
    own, alone = _width(found)
    assert own <= alone + 1e-9


def test_few_topics_have_a_value_without_an_interval_and_too_few_items_are_refused() -> None:
    rng = np.random.default_rng(2)
    world = _world(rng, 3, 2, "good")
    found = corrected_mean(world, level=0.95)
    assert 0 <= found.value <= 1
    assert (math.isnan(found.interval.low), found.interval.note) == (True, "3 topics: too few to resample")
    one = ComparedItems(np.ones(3), np.array([1.0, math.nan, math.nan]), np.ones(3))
    with pytest.raises(ValueError, match="two items of each topic"):
        corrected_mean([*world, one], level=0.95)
    assert math.isnan(corrected_mean([], level=0.95).value)
    same = [ComparedItems(np.ones(3), np.array([1.0, 1.0, math.nan]), np.ones(3)) for _ in range(5)]
    agreed = corrected_mean(same, level=0.95).interval
    assert (agreed.low, agreed.high) == pytest.approx((0.025**0.2, 1)), "five topics say no more of a sixth"


def test_a_judge_of_fewer_than_twelve_topics_or_clusters_counts_for_nothing() -> None:
    rng = np.random.default_rng(8)
    quality = np.linspace(0.2, 0.8, 24)[:, None]
    good = (rng.random((24, TRIALS)) < quality).astype(float)
    people = np.where(np.arange(TRIALS) < 4, good, math.nan)
    world = [ComparedItems(own, said, np.ones(TRIALS)) for own, said in zip(good, people, strict=True)]
    pairs = [number // 2 for number in range(24)]
    few = corrected_mean(world[:11], level=0.95), corrected_mean(world[:22], level=0.95, clusters=pairs[:22])
    enough = corrected_mean(world[:12], level=0.95), corrected_mean(world, level=0.95, clusters=pairs)
    assert [one.power for one in (*few, *enough)] == pytest.approx([0, 0, 1, 1])


def test_people_alone_have_the_interval_that_score_gives_their_topics() -> None:
    rng = np.random.default_rng(4)
    world = _world(rng, 15, 4, "good")
    found = corrected_mean(world, level=0.95, tuned=False)
    means = np.array([np.nanmean(one.people) for one in world])
    (own,) = Resampler(rng, replications=20_000).means([f"T{n}" for n in range(15)], means[:, None, None])
    assert (found.interval.low, found.interval.high) == pytest.approx((own.low, own.high), abs=0.01)


CELLS = [
    (quality, judge, size)
    for quality in QUALITIES
    for judge in KINDS_OF_JUDGE
    for size in ((4, 2), (8, 2), (15, 2), (45, 3))
]
QUICK = {
    ("1 in 20 bad", "good", (45, 3)),
    ("3 in 100 bad", "kind to bad topics", (15, 2)),
    ("heavy", "silent on bad items", (15, 2)),
}


@pytest.mark.parametrize(
    "case", [pytest.param(one, marks=[] if one in QUICK else pytest.mark.soak, id=str(one)) for one in CELLS]
)
def test_the_corrected_interval_covers_if_few_topics_are_bad(case: tuple[str, str, tuple[int, int]]) -> None:
    (quality, judge, (topics, checked)), rng = case, np.random.default_rng(9)
    worlds, held, moved = 50 if case in QUICK else 500, 0, []
    for _ in range(worlds):
        compared, truth = corrected_judge(rng, topics, 20, quality=quality, judge=judge, checked=checked)
        found = corrected_mean(compared, level=0.95)
        own, alone = _width(found)
        assert own <= alone + 1e-9
        held += found.interval.contains(truth)
        moved.append(found.value - found.people)
    assert held / worlds >= 0.93 - (3 if case in QUICK else 1) * math.sqrt(0.05 * 0.95 / worlds)
    assert abs(np.mean(moved)) <= 0.003 + 3 * np.std(moved) / math.sqrt(worlds)


@pytest.mark.parametrize("sizes", [pytest.param((4,) * 12, marks=pytest.mark.soak), (1, 1, 1, 2, 2, 3, 3, 6, 9, 12)])
def test_wordings_of_one_question_are_one_unit(sizes: tuple[int, ...]) -> None:
    """Every answer of a cluster is as good as the others of it. Taken for topics, they are sure of a wrong figure."""
    rng, worlds = np.random.default_rng(17), 80
    clusters = [cluster for cluster, size in enumerate(sizes) for _ in range(size)]
    held = {"clusters": 0, "topics": 0}
    for _ in range(worlds):
        quality = rng.beta(1.0, 0.5, len(sizes))
        world = []
        for cluster in clusters:
            said = (rng.random(20) < quality[cluster]).astype(float)
            judged = np.where(rng.random(20) < 0.15, 1 - said, said)
            world.append(ComparedItems(judged, np.where(np.arange(20) < 3, said, math.nan), np.ones(20)))
        found = corrected_mean(world, level=0.95, clusters=clusters)
        assert _width(found)[0] <= _width(found)[1] + 1e-9
        held["clusters"] += found.interval.contains(2 / 3)
        held["topics"] += corrected_mean(world, level=0.95).interval.contains(2 / 3)
    assert held["clusters"] / worlds >= 0.93 - 2 * math.sqrt(0.05 * 0.95 / worlds)
    assert held["topics"] / worlds < 0.9
