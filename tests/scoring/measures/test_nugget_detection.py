"""Nugget detection: the official values on the STC-3 test set, the average over two sides, and the laws."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.divergences import Divergence, jsd, rnss
from scoring.measures.nugget_detection import (
    CUSTOMER_TYPES,
    HELPDESK_TYPES,
    NUGGET_DIVERGENCES,
    block_divergences,
    dialogue_score,
    side_mean,
)
from tests.support.checkout import DATA

STC3 = DATA / "stc3"
COUNTS = json.loads((STC3 / "stc3_test_gold_counts.json").read_text(encoding="utf-8"))
REFERENCE = json.loads((STC3 / "stc3_test_reference_scores.json").read_text(encoding="utf-8"))


def blocks(dialogue: dict[str, list[dict[str, object]]], side: str) -> list[list[float]]:
    found = [turn["n"] for turn in dialogue["turns"] if turn["sender"] == side]
    return [[float(count) / 19 for count in row] for row in found if isinstance(row, list)]


def mean(predicted: Sequence[npt.ArrayLike], gold: Sequence[npt.ArrayLike], divergence: Divergence) -> float:
    return side_mean(block_divergences(predicted, gold, divergence))


@pytest.mark.parametrize("name", ["JSD", "RNSS"])
def test_a_uniform_predictor_has_the_official_value_on_all_390_dialogues(name: str) -> None:
    scores = []
    for dialogue in COUNTS["dialogues"]:
        customer, helpdesk = blocks(dialogue, "customer"), blocks(dialogue, "helpdesk")
        means = [
            mean([[1 / size] * size] * len(gold), gold, NUGGET_DIVERGENCES[name])
            for gold, size in ((customer, 4), (helpdesk, 3))
        ]
        scores.append(dialogue_score(*means))
    assert len(scores) == 390
    assert math.fsum(scores) / 390 == pytest.approx(REFERENCE["uniform"]["mean"][f"nugget_{name.lower()}"], abs=1e-9)


def test_the_types_are_those_of_the_annotations_in_their_order() -> None:
    assert tuple(COUNTS["customer_types"]) == CUSTOMER_TYPES
    assert tuple(COUNTS["helpdesk_types"]) == HELPDESK_TYPES


def test_a_talkative_side_has_no_more_weight_than_the_other() -> None:
    gold = [[1.0, 0.0, 0.0, 0.0]] * 9
    right, wrong = mean(gold, gold, jsd), mean([[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]], jsd)
    assert (right, wrong) == (0, 1)
    assert dialogue_score(right, wrong) == 0.5
    assert dialogue_score(right, wrong, alpha=0.8) == pytest.approx(0.2)


def test_a_dialogue_without_one_side_has_the_other_s_mean_for_any_alpha() -> None:
    nobody = side_mean([])
    assert math.isnan(nobody)
    for alpha in (0.0, 0.5, 1.0):
        assert dialogue_score(0.25, nobody, alpha) == 0.25
        assert dialogue_score(nobody, 0.75, alpha) == 0.75


def test_a_dialogue_without_blocks_has_no_score() -> None:
    assert math.isnan(dialogue_score(math.nan, math.nan))


def test_the_paper_s_example_answers_of_3_1_2_are_distributions_of_their_types() -> None:
    assert mean([np.array([3, 4, 3, 0]) / 10], [np.array([3, 4, 3, 0]) / 10], rnss) == 0
    assert 0 < mean([np.array([4, 4, 2]) / 10], [np.array([10, 0, 0]) / 10], rnss) < 1


def test_alpha_outside_0_to_1_and_sides_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="alpha"):
        dialogue_score(0.1, 0.2, 1.5)
    with pytest.raises(ValueError, match="equally many blocks, not 1 and 2"):
        block_divergences([[1.0, 0.0]], [[1.0, 0.0]] * 2, jsd)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 19), min_size=3, max_size=3), min_size=2, max_size=12),
    st.floats(0, 1),
    st.sampled_from(["RNSS", "JSD"]),
    st.randoms(use_true_random=False),
)
def test_scores_lie_in_0_to_1_and_blocks_may_come_in_any_order(counts, alpha, name, random) -> None:  # type: ignore[no-untyped-def]
    rows = [[count / sum(row) for count in row] for row in counts]
    half = len(rows) // 2
    p, q = rows[:half], rows[half : 2 * half]
    value = mean(p, q, NUGGET_DIVERGENCES[name])
    assert 0 <= value <= 1
    order = list(range(half))
    random.shuffle(order)
    again = mean([p[i] for i in order], [q[i] for i in order], NUGGET_DIVERGENCES[name])
    assert again == pytest.approx(value, abs=1e-12)
    assert 0 <= dialogue_score(value, 1 - value, alpha) <= 1
