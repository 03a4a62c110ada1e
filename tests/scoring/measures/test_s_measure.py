"""S-measure, T-measure, F and recall of texts: NTCIREVAL's values, what GFRC says of them, and their laws."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.measures.f_measure import f_flat
from scoring.measures.nugget_recall import first_offsets, recall, weighted_recall
from scoring.measures.s_measure import pseudo_minimal_offsets, s_flat, s_measure
from scoring.measures.t_measure import t_flat, t_measure
from tests.support.checkout import DATA

CASES: list[dict[str, Any]] = json.loads((DATA / "smeasure_cases.json").read_text(encoding="utf-8"))
NUGGETS = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 30)), min_size=1, max_size=10)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_every_value_of_ntcireval_1click_agrees_to_1e_9(case: dict[str, Any]) -> None:
    names = [name for name, _, _ in case["nuggets"]]
    weights = [weight for _, weight, _ in case["nuggets"]]
    lengths = [length for _, _, length in case["nuggets"]]
    offsets = first_offsets(names, [(name, offset) for name, offset in case["matches"]])
    s = s_measure(weights, lengths, offsets, case["patience"])
    t = t_measure(lengths, offsets, case["length"])
    found = {
        "#nuggets": len(names),
        "Recall": recall(offsets),
        "W-recall": weighted_recall(weights, offsets),
        "S-measure": s,
        "S-flat": s_flat(s),
        "T-measure": t,
        "T-flat": t_flat(t),
        "F-flat": f_flat(s_flat(s), t_flat(t)),
    }
    assert found == pytest.approx(case["scores"], abs=1e-9)


def test_all_twelve_reference_cases_are_there() -> None:
    assert len({case["name"] for case in CASES}) == 12


def test_gfrc_section_2_2_a_nugget_past_1000_characters_is_worth_nothing() -> None:
    for offset, worth in ((0, 1.0), (500, 0.5), (1000, 0.0), (1001, 0.0)):
        assert s_measure([1], [0], [offset], 1000) == worth


def test_the_heaviest_come_first_in_the_pseudo_minimal_output_and_the_shortest_of_those() -> None:
    np.testing.assert_array_equal(pseudo_minimal_offsets([3, 1, 3], [10, 5, 5]), [15, 20, 5])


@given(NUGGETS, st.integers(1, 500))
def test_the_pseudo_minimal_output_itself_has_s_1_and_t_1(nuggets: list[tuple[int, int]], patience: int) -> None:
    weights, lengths = zip(*nuggets, strict=True)
    offsets = pseudo_minimal_offsets(weights, lengths)
    value = s_measure(weights, lengths, offsets, patience)
    assert math.isnan(value) if offsets.min() >= patience else value == pytest.approx(1)
    whole = float(sum(lengths))
    assert math.isnan(t_measure(lengths, offsets, 0)) if not whole else t_measure(lengths, offsets, whole) == 1


@given(NUGGETS, st.data())
def test_a_nugget_that_is_met_earlier_never_lowers_s(nuggets: list[tuple[int, int]], data: st.DataObject) -> None:
    weights, lengths = zip(*nuggets, strict=True)
    places = st.one_of(st.just(math.nan), st.floats(0, 600))
    offsets = data.draw(st.lists(places, min_size=len(nuggets), max_size=len(nuggets)))
    earlier = [offset * data.draw(st.floats(0, 1)) for offset in offsets]
    before, after = (s_measure(weights, lengths, where, 500) for where in (offsets, earlier))
    assert after >= before - 1e-12
    assert 0 <= s_flat(after) <= 1
    assert 0 <= weighted_recall(weights, offsets) <= 1
    assert 0 <= recall(offsets) <= 1


@given(NUGGETS, st.data())
def test_the_order_of_the_gold_nuggets_changes_nothing(nuggets: list[tuple[int, int]], data: st.DataObject) -> None:
    offsets = data.draw(st.lists(st.floats(0, 600), min_size=len(nuggets), max_size=len(nuggets)))
    order = data.draw(st.permutations(range(len(nuggets))))
    weights, lengths = zip(*nuggets, strict=True)
    mixed = [[row[place] for place in order] for row in (weights, lengths, offsets)]
    assert s_measure(mixed[0], mixed[1], mixed[2], 500) == pytest.approx(
        s_measure(weights, lengths, offsets, 500), nan_ok=True
    )
    assert t_measure(mixed[1], mixed[2], 700) == pytest.approx(t_measure(lengths, offsets, 700))


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 100))
def test_f_lies_between_s_and_t_and_a_large_beta_follows_s(s: float, t: float, beta: float) -> None:
    value = f_flat(s, t, beta)
    if s == 0 or t == 0:
        assert value == 0
    else:
        assert min(s, t) - 1e-12 <= value <= max(s, t) + 1e-12
        assert f_flat(s, t, 1e6) == pytest.approx(s, rel=1e-6, abs=1e-6) or t < 1e-5
    assert f_flat(s, t) == pytest.approx(f_flat(t, s))


def test_only_the_first_match_of_a_nugget_earns() -> None:
    np.testing.assert_array_equal(first_offsets(["a", "b", "c"], [("b", 9), ("a", 40), ("b", 3)]), [40, 3, math.nan])


def test_flat_forms_are_cut_at_1_and_stay_undefined() -> None:
    assert s_measure([1], [100], [0], 200) == 2.0
    assert (s_flat(2.0), t_flat(1.5)) == (1.0, 1.0)
    assert math.isnan(s_flat(math.nan))
    assert math.isnan(t_flat(math.nan))
    assert math.isnan(f_flat(math.nan, 1.0))


def test_without_anything_to_find_or_said_they_are_undefined() -> None:
    assert math.isnan(s_measure([], [], [], 500))
    assert math.isnan(s_measure([1], [500], [0], 500))  # no reader of this patience reaches it, even at best
    assert math.isnan(recall([]))
    assert math.isnan(weighted_recall([0.0], [1.0]))
    assert math.isnan(t_measure([5], [math.nan], 0))


def test_values_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="patience"):
        s_measure([1], [1], [1], 0)
    with pytest.raises(ValueError, match="offsets must not be negative"):
        s_measure([1], [1], [-1], 10)
    with pytest.raises(ValueError, match="one value per nugget: 2 offsets, 1 nuggets"):
        s_measure([1], [1], [1, 2], 10)
    with pytest.raises(ValueError, match="finite and not negative"):
        s_measure([-1], [1], [1], 10)
    with pytest.raises(ValueError, match="must have the same shape"):
        s_measure([1, 2], [1], [1], 10)
    with pytest.raises(ValueError, match="lengths must be finite"):
        t_measure([1], [1], -1)
    with pytest.raises(ValueError, match="one value per nugget: 1 lengths, 2 nuggets"):
        t_measure([1], [1, 2], 5)
    with pytest.raises(ValueError, match="weights must have one value per nugget"):
        weighted_recall([1], [1, 2])
    with pytest.raises(ValueError, match="finite and not negative"):
        weighted_recall([math.nan], [1])
    with pytest.raises(ValueError, match="beta"):
        f_flat(1, 1, 0)
    with pytest.raises(ValueError, match="in \\[0, 1\\]"):
        f_flat(1.2, 1)
    with pytest.raises(ValueError, match="not a gold nugget"):
        first_offsets(["a"], [("b", 1)])
    with pytest.raises(ValueError, match="must be at least 0"):
        first_offsets(["a"], [("a", -1)])
    with pytest.raises(ValueError, match="appears twice"):
        first_offsets(["a", "a"], [])
