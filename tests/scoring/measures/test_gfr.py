"""ERR, iRBU, GF and GFR of ranked lists: NTCIREVAL's values, and the laws they must keep.

The papers beside this project print no value of a ranked list: GFRC §2.1 defines GFR and reports none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.divergences import DIVERGENCES, jsd, nmd, rnod
from scoring.measures.err import decay, err, stop_probability
from scoring.measures.gfr import gfr, list_fairness, mean_membership
from scoring.measures.irbu import irbu
from tests.support.ranked_lists import REFERENCE

Floats = npt.NDArray[np.float64]
HIGHEST = 3.0


def gains_of(run: str, topic: str, gains: str, cutoff: str) -> tuple[list[float], list[str], float]:
    """(gains, documents, gmax) of a reference list."""
    worth = [0.0, *map(float, gains.split(":"))]
    documents = REFERENCE["lists"][run][topic][: int(cutoff) if cutoff else None]
    return [worth[REFERENCE["grades"][topic].get(one, 0)] for one in documents], documents, max(worth)


def reference(run: str, topic: str, name: str, gains: str, measure: str) -> float:
    """What our own functions give where NTCIREVAL gives a value."""
    kind, _, cutoff = measure.partition("@")
    worth, documents, highest = gains_of(run, topic, gains, cutoff)
    if kind == "ERR":
        return float(err(worth, highest))
    if kind == "iRBU":
        return float(irbu(worth, highest))
    one: dict[str, Any] = REFERENCE["sets"][name]
    size = len(one["gold"])
    rows = [one["memberships"].get(document, [1 / size] * size) for document in documents]
    return float(list_fairness(worth, rows, one["gold"], highest, DIVERGENCES[kind.removeprefix("GF-")]))


def test_all_480_values_of_ntcireval_agree_to_1e_9_and_to_its_print() -> None:
    for run, topic, name, gains, measure, printed, digits in REFERENCE["values"]:
        value = reference(run, topic, name, gains, measure)
        assert value == pytest.approx(digits, abs=1e-9), (run, topic, name, gains, measure)
        assert f"{value:.4f}" == printed, (run, topic, name, gains, measure)
    assert len(REFERENCE["values"]) == 480


def test_all_192_averages_of_utility_ordinal_and_nominal_gf_agree_to_1e_9() -> None:
    for run, topic, gains, measure, expected in REFERENCE["averages"]:
        parts, _, cutoff = measure.removeprefix("GFR-").partition("@")
        utility, ordinal = parts.split("+")[:2]
        sets = {name: one for name, one in REFERENCE["sets"].items() if one["topic"] == topic}
        assert len(parts.split("+")) == 1 + len(sets)
        fairness = [
            reference(run, topic, name, gains, f"GF-{ordinal if one['scale'] == 'ordinal' else 'JSD'}@{cutoff}")
            for name, one in sets.items()
        ]
        value = gfr(reference(run, topic, next(iter(sets)), gains, f"{utility}@{cutoff}"), fairness)
        assert value == pytest.approx(expected, abs=1e-9), (run, topic, gains, measure)
    assert len(REFERENCE["averages"]) == 192


@st.composite
def lists(draw: st.DrawFn, least: int = 0) -> Floats:
    """(K,) gains of a list."""
    gains = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, HIGHEST]), min_size=least, max_size=12))
    return np.array(gains, dtype=np.float64)


@st.composite
def groups(draw: st.DrawFn, rows: int) -> tuple[Floats, Floats]:
    """(rows, C) memberships and (C,) gold."""
    size = draw(st.integers(2, 6))
    counts = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(lambda row: sum(row) > 0)
    found = np.array([draw(counts) for _ in range(rows + 1)], dtype=np.float64)
    shares = found / found.sum(axis=1, keepdims=True)
    return shares[1:], shares[0]


@given(lists(), st.floats(0.01, 1))
def test_utilities_lie_between_0_and_the_share_of_users_who_are_ever_satisfied(gains: Floats, p: float) -> None:
    satisfied = 1 - np.prod(1 - stop_probability(gains, HIGHEST))
    assert decay(gains, HIGHEST).sum() == pytest.approx(satisfied)
    for value in (err(gains, HIGHEST), irbu(gains, HIGHEST, persistence=p)):
        assert 0 <= value <= satisfied + 1e-12
    assert satisfied < 1
    assert irbu(gains, HIGHEST, persistence=1.0) == pytest.approx(satisfied)


@given(lists(least=2), st.data())
def test_moving_a_better_document_up_never_lowers_err_nor_irbu(gains: Floats, data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(gains) - 1))
    to = data.draw(st.integers(0, place - 1))
    better = np.concatenate([gains[:to], gains[place : place + 1], gains[to:place], gains[place + 1 :]])
    if gains[place] >= gains[to:place].max():
        assert err(better, HIGHEST) >= err(gains, HIGHEST) - 1e-12
        assert irbu(better, HIGHEST) >= irbu(gains, HIGHEST) - 1e-12


@settings(deadline=None)
@given(lists(least=1), st.data())
def test_a_longer_list_never_has_less_err_irbu_or_gf(gains: Floats, data: st.DataObject) -> None:
    rows, gold = data.draw(groups(len(gains)))
    for cut in range(len(gains)):
        assert err(gains[:cut], HIGHEST) <= err(gains, HIGHEST) + 1e-12
        assert irbu(gains[:cut], HIGHEST) <= irbu(gains, HIGHEST) + 1e-12
        for divergence in (jsd, nmd, rnod):
            shorter = list_fairness(gains[:cut], rows[:cut], gold, HIGHEST, divergence)
            assert shorter <= list_fairness(gains, rows, gold, HIGHEST, divergence) + 1e-12


@settings(deadline=None)
@given(lists(least=1), st.data())
def test_gf_lies_between_0_and_the_share_of_satisfied_users_and_reaches_it_with_the_gold(
    gains: Floats, data: st.DataObject
) -> None:
    rows, gold = data.draw(groups(len(gains)))
    satisfied = float(decay(gains, HIGHEST).sum())
    for divergence in (jsd, nmd, rnod):
        value = float(list_fairness(gains, rows, gold, HIGHEST, divergence))
        assert 0 <= value <= satisfied + 1e-12
        perfect = list_fairness(gains, np.tile(gold, (len(gains), 1)), gold, HIGHEST, divergence)
        assert perfect == pytest.approx(satisfied, abs=1e-6)


@settings(deadline=None)
@given(lists(least=1), st.data())
def test_lists_scored_together_equal_lists_scored_alone(gains: Floats, data: st.DataObject) -> None:
    rows, gold = data.draw(groups(len(gains)))
    both, shares = np.stack([gains, gains[::-1]]), np.stack([rows, rows[::-1]])
    for measure in (err, irbu):
        one_by_one = [float(measure(both[at], HIGHEST)) for at in range(2)]
        assert measure(both, HIGHEST).tolist() == pytest.approx(one_by_one)
    together = list_fairness(both, shares, gold, HIGHEST, nmd)
    alone = [float(list_fairness(both[at], shares[at], gold, HIGHEST, nmd)) for at in range(2)]
    assert together.tolist() == pytest.approx(alone)


@given(st.floats(0, 1), st.lists(st.floats(0, 1), max_size=5))
def test_gfr_is_the_plain_mean_of_its_parts_and_undefined_without_groups(utility: float, parts: list[float]) -> None:
    value = gfr(utility, parts)
    if not parts:
        assert math.isnan(value)
    else:
        assert value == pytest.approx((utility + sum(parts)) / (1 + len(parts)))
        assert 0 <= value <= 1


def test_weights_are_those_of_eq_1_computed_by_hand() -> None:
    """Three documents with gains 1, 0, 3 and gmax 3, in the groups (1, 0), (0, 1), (1, 0); gold (.5, .5).

    decay = .25, 0, .75 · .75 = .5625; utility = 1, 1/2, 1/3; similarity by NMD = .5, 1, 1 - 1/6. Eq. 1 with w = (2, 1),
    divided by 3: (.25 · (2 · 1 + .5) + .5625 · (2/3 + 5/6)) / 3.
    """
    gains = [1.0, 0.0, 3.0]
    fairness = float(list_fairness(gains, [[1, 0], [0, 1], [1, 0]], [0.5, 0.5], 3.0, nmd))
    utility = float(err(gains, 3.0))
    assert (utility, fairness) == pytest.approx((0.4375, 0.59375), abs=1e-12)
    assert gfr(utility, [fairness], [2, 1]) == pytest.approx(1.46875 / 3, abs=1e-12)
    assert gfr(utility, [fairness, 0.2], [1, 3, 0]) == pytest.approx((0.4375 + 3 * 0.59375) / 4, abs=1e-12)
    assert gfr(utility, [fairness, math.nan], [1, 1, 0]) == pytest.approx((0.4375 + 0.59375) / 2, abs=1e-12)
    assert math.isnan(gfr(utility, [fairness], [1, 0])), "a utility alone does not measure fairness"
    with pytest.raises(ValueError, match="one weight for the utility"):
        gfr(utility, [fairness], [1])


@given(st.floats(0, 1), st.lists(st.floats(0, 1), min_size=1, max_size=5), st.floats(0.01, 100))
def test_equal_weights_of_any_size_change_nothing(utility: float, parts: list[float], weight: float) -> None:
    assert gfr(utility, parts, [weight] * (1 + len(parts))) == pytest.approx(gfr(utility, parts))


def test_an_empty_list_serves_no_user() -> None:
    assert err([], HIGHEST) == 0
    assert irbu([], HIGHEST) == 0
    assert list_fairness([], np.empty((0, 2)), [0.5, 0.5], HIGHEST, jsd) == 0


def test_all_documents_count_in_the_distribution_and_not_only_relevant_ones() -> None:
    rows = [[1.0, 0.0], [0.0, 1.0]]
    assert mean_membership(rows).tolist() == [[1.0, 0.0], [0.5, 0.5]]
    fair = list_fairness([0.0, 3.0], rows, [0.5, 0.5], HIGHEST, jsd)
    assert fair == pytest.approx(0.75)  # all who stop, stop at the second document, which the first one balances
    assert fair > list_fairness([3.0], rows[1:], [0.5, 0.5], HIGHEST, jsd)


@pytest.mark.parametrize(
    ("gains", "highest"), [([4.0], 3.0), ([-1.0], 3.0), ([math.nan], 3.0), ([0.0], 0.0), ([0.0], math.inf)]
)
def test_gains_out_of_range_are_refused(gains: list[float], highest: float) -> None:
    with pytest.raises(ValueError, match="gain"):
        err(gains, highest)


def test_a_persistence_out_of_range_is_refused() -> None:
    for p in (0.0, 1.1, math.nan):
        with pytest.raises(ValueError, match="persistence"):
            irbu([1.0], HIGHEST, persistence=p)
    with pytest.raises(ValueError, match="the last axis is the ranks"):
        decay(1.0, HIGHEST)
