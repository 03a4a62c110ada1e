"""SWAN and its stochastic forms against plain loops over fractions (`reference_swan`), on random conversations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.divergences import jsd
from scoring.stochastic.expectation import fairness, mean, path_scores, ratio, swan_readings
from scoring.swan.item import Item, ScoredItem, Source
from scoring.swan.wan import mean_per_session, pool_wans, swan, wan
from scoring.swan.weighting import parse_weighting
from tests.scoring.references.test_measures import distribution, floats
from tests.support import reference_measures
from tests.support import reference_swan as ref

HUMAN = Source("human", "anna")
CRITERIA = ("Correctness", "Fluency", "Modesty")
WEIGHTS = {"Correctness": Fraction(2), "Fluency": Fraction(1), "Modesty": Fraction(0)}

weightings = st.sampled_from(
    [
        "uniform",
        "linear(L=1250)",
        "linear(L=37)",
        "last_turn",
        "anchored(rate=0.9)",
        "anchored(rate=0.25)",
        "linear(L=100)*last_turn",
        "anchored(rate=0.5)*linear(L=60)*last_turn",
    ]
)


@st.composite
def conversation(draw: st.DrawFn) -> tuple[ref.Nugget, ...]:
    """The scored nuggets of one conversation; none of them may be scored."""
    position, found = 0, []
    size = draw(st.integers(0, 5))
    final = draw(st.integers(0, size))
    for seen in range(size):
        position += draw(st.integers(1, 40))
        found.append(ref.Nugget(position, seen, seen >= final, Fraction(draw(st.integers(0, 4)), 4)))
    kept = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    return tuple(one for one, keep in zip(found, kept, strict=True) if keep)


def items(nuggets: tuple[ref.Nugget, ...]) -> list[ScoredItem]:
    return [
        ScoredItem(
            Item(2 if one.final else 1, one.position, one.position + 1, "F", one.position, one.seen, one.final),
            s,
            HUMAN,
        )
        for one, s in ((one, float(one.score)) for one in nuggets)
    ]


def number(value: Fraction | None) -> float:
    return math.nan if value is None else float(value)


sessions = st.lists(st.tuples(*[conversation()] * len(CRITERIA)), min_size=1, max_size=5)


@given(sessions, weightings)
def test_wan_and_swan_are_eq_1_and_2_for_one_conversation_and_for_several(
    talks: list[tuple[tuple[ref.Nugget, ...], ...]], text: str
) -> None:
    nw, weighting = ref.weight(text), parse_weighting(text)
    own = {name: float(value) for name, value in WEIGHTS.items()}
    of_each, values = [], []
    for talk in talks:
        wans = {name: wan(items(part), name, weighting) for name, part in zip(CRITERIA, talk, strict=True)}
        exact = {name: ref.wan(part, nw) for name, part in zip(CRITERIA, talk, strict=True)}
        for name, value in exact.items():
            assert wans[name].value == pytest.approx(number(value), nan_ok=True)
        found = swan(wans, own)
        assert found.value == pytest.approx(number(ref.swan(exact, WEIGHTS)), nan_ok=True)
        assert set(found.covered) == {name for name in exact if exact[name] is not None and WEIGHTS[name]}
        of_each.append(wans)
        values.append(ref.swan(exact, WEIGHTS))
    even = [Fraction(1, len(talks))] * len(talks)
    together = {name: pool_wans([wans[name] for wans in of_each]) for name in CRITERIA}
    exact = {name: ref.pooled([talk[i] for talk in talks], even, nw) for i, name in enumerate(CRITERIA)}
    for name, value in exact.items():
        assert together[name].value == pytest.approx(number(value), nan_ok=True)
    assert swan(together, own).value == pytest.approx(number(ref.swan(exact, WEIGHTS)), nan_ok=True)
    per_session = mean_per_session(swan(wans, own).value for wans in of_each)
    assert per_session.value == pytest.approx(number(ref.expectation(values, even)), nan_ok=True)


@given(sessions, weightings, st.lists(st.integers(1, 5), min_size=5, max_size=5))
def test_expected_and_pooled_swan_over_paths_of_known_probability(
    talks: list[tuple[tuple[ref.Nugget, ...], ...]], text: str, parts: list[int]
) -> None:
    nw = ref.weight(text)
    chances = [Fraction(part, sum(parts[: len(talks)])) for part in parts[: len(talks)]]
    bottoms = [[sum((nw(one) for one in part), Fraction(0)) for part in talk] for talk in talks]
    tops = [[sum((nw(one) * one.score for one in part), Fraction(0)) for part in talk] for talk in talks]
    arrays = np.array(tops, dtype=float), np.array(bottoms, dtype=float)
    cw, weights = [float(WEIGHTS[name]) for name in CRITERIA], [float(chance) for chance in chances]
    wans = [{name: ref.wan(part, nw) for name, part in zip(CRITERIA, talk, strict=True)} for talk in talks]
    values = [ref.swan(found, WEIGHTS) for found in wans]
    assert path_scores(*arrays, cw) == pytest.approx([number(value) for value in values], nan_ok=True)
    found = swan_readings(*arrays, cw, weights)
    assert found.expected == pytest.approx(number(ref.expectation(values, chances)), nan_ok=True)
    pots = {name: ref.pooled([talk[i] for talk in talks], chances, nw) for i, name in enumerate(CRITERIA)}
    assert found.pooled == pytest.approx(number(ref.swan(pots, WEIGHTS)), nan_ok=True)
    for place, name in enumerate(CRITERIA):
        readings = ratio(arrays[0][:, place], arrays[1][:, place], weights)
        expected = ref.expectation([one[name] for one in wans], chances)
        assert readings.expected == pytest.approx(number(expected), nan_ok=True)
        assert readings.pooled == pytest.approx(number(pots[name]), nan_ok=True)
        assert readings.covariance == pytest.approx(readings.pooled - readings.expected, abs=1e-12, nan_ok=True)
        fixed = ref.expectation([top[place] / 9 for top in tops], chances)  # one normaliser: one reading
        assert mean(arrays[0][:, place] / 9, weights) == pytest.approx(number(fixed))


@st.composite
def turns(draw: st.DrawFn) -> list[list[tuple[tuple[Fraction, ...], int]]]:
    """For each path the turns that hold relevant nuggets: achieved distribution, and of how many nuggets."""
    turn = st.tuples(distribution(3), st.integers(1, 4))
    return draw(st.lists(st.lists(turn, max_size=3), min_size=1, max_size=4))


@given(turns(), distribution(3), st.lists(st.integers(1, 5), min_size=4, max_size=4))
def test_the_three_readings_of_gf(
    talks: list[list[tuple[tuple[Fraction, ...], int]]], gold: tuple[Fraction, ...], parts: list[int]
) -> None:
    chances = [Fraction(part, sum(parts[: len(talks)])) for part in parts[: len(talks)]]
    flat = [(path, row, n) for path, talk in enumerate(talks) for row, n in talk]
    achieved = np.array([floats(row) for _, row, _ in flat]).reshape(len(flat), 3)
    found = fairness(
        [path for path, _, _ in flat],
        achieved,
        [n for _, _, n in flat],
        floats(gold),
        jsd,
        paths=len(talks),
        weights=[float(chance) for chance in chances],
    )
    alike = [[1 - reference_measures.jsd(row, gold) for row, _ in talk] for talk in talks]
    one_by_one = sum(float(c) * (sum(own) / len(own) if own else 0.0) for c, own in zip(chances, alike, strict=True))
    assert found.expected == pytest.approx(one_by_one)  # (a): 0 on a path without such a turn, [GFRC] under Eq. 10
    mass = sum(float(c) * len(own) for c, own in zip(chances, alike, strict=True))
    if not mass:
        assert math.isnan(found.pooled)
        assert math.isnan(found.of_pooled_distribution)
        return
    assert found.pooled == pytest.approx(sum(float(c) * sum(own) for c, own in zip(chances, alike, strict=True)) / mass)
    nuggets = sum((chances[path] * n for path, _, n in flat), Fraction(0))
    whole = [sum((chances[path] * n * row[i] for path, row, n in flat), Fraction(0)) / nuggets for i in range(3)]
    assert found.achieved == pytest.approx([float(value) for value in whole])
    assert found.of_pooled_distribution == pytest.approx(1 - reference_measures.jsd(whole, gold))
