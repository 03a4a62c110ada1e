"""Dialogue quality: the official values on the STC-3 test set, the figures of the paper, and the laws."""

from __future__ import annotations

import json
import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.annotations.helpdesk_files import read_helpdesk_files
from scoring.annotations.helpdesk_scores import helpdesk_rows
from scoring.divergences import jsd, nod, rnss, variational
from scoring.measures.dialogue_quality import QUALITY_DIVERGENCES, minus_log2, quality_divergences
from tests.support.checkout import DATA

STC3 = DATA / "stc3"
COUNTS = STC3 / "stc3_test_gold_counts.json"
REFERENCE = json.loads((STC3 / "stc3_test_reference_scores.json").read_text(encoding="utf-8"))
DIALOGUES = json.loads(COUNTS.read_text(encoding="utf-8"))["dialogues"]
NAMES = {"nmd": "NMD", "rsnod": "RSNOD"}


def test_a_uniform_predictor_has_the_official_nmd_and_rsnod_on_all_390_dialogues() -> None:
    official = REFERENCE["uniform"]
    assert len(DIALOGUES) == official["n"] == 390
    for question in "ASE":
        gold = np.array([dialogue["quality"][question] for dialogue in DIALOGUES]) / 19
        values = quality_divergences(np.full(5, 0.2), gold)
        for short, name in NAMES.items():
            mean = float(values[name].mean())
            assert mean == pytest.approx(official["mean"][f"{short}_{question}"], abs=1e-9)
            printed = official["official_evaluate_from_list_minus_log2"]["quality"][short][question]
            assert minus_log2(mean) == pytest.approx(printed, abs=1e-9)


def test_the_command_line_s_rows_hold_every_official_value_of_the_uniform_predictor() -> None:
    rows = {
        row.measure: row
        for row in helpdesk_rows(read_helpdesk_files([COUNTS]), replications=200)
        if row.system == "baseline: uniform"
    }
    mean, printed = (REFERENCE["uniform"][key] for key in ("mean", "official_evaluate_from_list_minus_log2"))
    checked = 0
    for short, name in NAMES.items():
        for question in "ASE":
            assert rows[f"{name}({question})"].value == pytest.approx(mean[f"{short}_{question}"], abs=1e-9)
            row = rows[f"-log2 {name}({question})"]
            assert row.value == pytest.approx(printed["quality"][short][question], abs=1e-9)
            assert row.low < row.value < row.high
            checked += 2
    for short in ("jsd", "rnss"):
        row = rows[f"{short.upper()}(nugget)"]
        assert row.value == pytest.approx(mean[f"nugget_{short}"], abs=1e-9)
        assert rows[f"-log2 {row.measure}"].value == pytest.approx(printed["nugget"][short], abs=1e-9)
        assert row.n == row.topics == 390
        checked += 2
    assert checked == 16


def test_what_the_official_script_prints_for_one_annotator_is_minus_log2_of_its_means() -> None:
    """The means themselves cannot be recomputed: the counts do not say which annotator said what."""
    mean = REFERENCE["single_annotator_0"]["mean"]
    printed = REFERENCE["single_annotator_0"]["official_evaluate_from_list_minus_log2"]
    for short in NAMES:
        for question in "ASE":
            ours = minus_log2(mean[f"{short}_{question}"])
            assert ours == pytest.approx(printed["quality"][short][question], abs=1e-9)
    for short in ("jsd", "rnss"):
        assert minus_log2(mean[f"nugget_{short}"]) == pytest.approx(printed["nugget"][short], abs=1e-9)


def test_the_official_means_of_one_annotator_lie_between_the_best_and_the_worst_annotator_there_could_be() -> None:
    for question in "ASE":
        counts = np.array([dialogue["quality"][question] for dialogue in DIALOGUES])
        each = quality_divergences(np.eye(5)[None, :, :], (counts / 19)[:, None, :])
        for short, name in NAMES.items():
            said = np.where(counts > 0, each[name], np.nan)  # somebody gave that level
            low, high = np.nanmin(said, axis=1).mean(), np.nanmax(said, axis=1).mean()
            assert low < REFERENCE["single_annotator_0"]["mean"][f"{short}_{question}"] < high


UNIFORM_5 = [0.2] * 5
X, Y = [0.3, 0.1, 0.2, 0.3, 0.1], [0.4, 0.2, 0.2, 0.1, 0.1]


def bits(p: list[float], q: list[float]) -> float:
    return math.fsum(a * math.log2(a / ((a + b) / 2)) for a, b in zip(p, q, strict=True))


def test_stc3_figure_1_rnss_and_variational_distance_as_the_text_prints_them() -> None:
    assert rnss(X, UNIFORM_5) == pytest.approx(0.1414, abs=5e-5)
    assert rnss(Y, UNIFORM_5) == pytest.approx(0.1732, abs=5e-5)
    assert variational(X, UNIFORM_5) == pytest.approx(variational(Y, UNIFORM_5)) == pytest.approx(0.2)


def test_stc3_figure_1_jsd_and_both_its_halves_as_the_text_prints_them() -> None:
    assert (bits(X, UNIFORM_5), bits(UNIFORM_5, X)) == pytest.approx((0.0408, 0.0372), abs=5e-5)
    assert (bits(Y, UNIFORM_5), bits(UNIFORM_5, Y)) == pytest.approx((0.0490, 0.0490), abs=5e-5)
    values = quality_divergences([X, Y], UNIFORM_5)["JSD"]
    assert values == pytest.approx([0.0390, 0.0490], abs=5e-5)


def test_stc3_figure_2_nod_8889_and_rnss_8819_and_jsd_1() -> None:
    gold, a, b, c, d = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1 / 3, 2 / 3], [0.0, 2 / 3, 1 / 3], [0.0, 1.0, 0.0]
    assert [float(nod(gold, p)) for p in (b, c)] == pytest.approx([0.8889] * 2, abs=5e-5)
    values = quality_divergences([a, b, c, d], gold)
    assert values["RNSS"] == pytest.approx([1, 0.8819, 0.8819, 1], abs=5e-5)
    assert values["JSD"] == pytest.approx([1, 1, 1, 1])
    assert float(nod(a, gold)) == values["SNOD"][0] == 1
    assert float(nod(d, gold)) == values["SNOD"][3] == 0.5
    assert list(values["SNOD"]) == sorted(values["SNOD"], reverse=True)


def test_stc3_figure_3_rnss_5774_3333_jsd_4591_2075_and_nod_1667_1111() -> None:
    gold = [1 / 3] * 3
    four = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2 / 3, 1 / 3, 0.0], [0.0, 2 / 3, 1 / 3]]
    values = quality_divergences(four, gold)
    assert values["RNSS"] == pytest.approx([0.5774, 0.5774, 0.3333, 0.3333], abs=5e-5)
    assert values["JSD"] == pytest.approx([0.4591, 0.4591, 0.2075, 0.2075], abs=5e-5)
    assert [float(nod(gold, p)) for p in four] == pytest.approx([0.1667, 0.1111, 0.1111, 0.1111], abs=5e-5)
    assert list(values["SNOD"]) == sorted(values["SNOD"], reverse=True)


def test_stc3_figure_4_prints_an_snod_of_0380_that_its_formula_does_not_give_it_gives_0285() -> None:
    value = float(quality_divergences(Y, UNIFORM_5)["SNOD"])
    assert value == pytest.approx(0.0285, abs=1e-12)
    assert value * 4 / 3 == pytest.approx(0.0380, abs=5e-5)  # the divisor would have to be 3, and L - 1 is 4
    assert float(nod(Y, UNIFORM_5)) == float(nod(UNIFORM_5, Y)) == value


@st.composite
def rows(draw: st.DrawFn) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    size = draw(st.integers(2, 7))
    counts = st.lists(st.integers(0, 19), min_size=size, max_size=size).filter(any)
    first, second = (np.array(draw(counts), dtype=np.float64) for _ in range(2))
    return first / first.sum(), second / second.sum()


@settings(deadline=None)
@given(rows())
def test_every_quality_measure_lies_in_0_to_1_and_is_0_for_the_gold_itself(
    pair: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
) -> None:
    p, q = pair
    for name, value in quality_divergences(p, q).items():
        assert 0 <= float(value) <= 1, name
    assert all(float(value) == pytest.approx(0, abs=1e-7) for value in quality_divergences(q, q).values())


@settings(deadline=None)
@given(rows())
def test_levels_may_ascend_or_descend_and_both_sides_may_be_exchanged(
    pair: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
) -> None:
    p, q = pair
    there, back, swapped = quality_divergences(p, q), quality_divergences(p[::-1], q[::-1]), quality_divergences(q, p)
    for name in QUALITY_DIVERGENCES:
        assert float(back[name]) == pytest.approx(float(there[name]), abs=1e-9)
        assert float(swapped[name]) == pytest.approx(float(there[name]), abs=1e-9)


def test_minus_log2_of_nothing_is_nan_of_a_perfect_mean_infinite_and_of_no_divergence_an_error() -> None:
    assert math.isnan(minus_log2(math.nan))
    assert minus_log2(0.0) == math.inf
    assert math.copysign(1, minus_log2(1.0)) == 1
    with pytest.raises(ValueError, match="must lie in"):
        minus_log2(1.5)


def test_an_invalid_distribution_is_refused_with_its_row_number() -> None:
    with pytest.raises(ValueError, match="row 1 does not sum to 1"):
        quality_divergences([[0.5, 0.5], [0.5, 0.6]], [0.5, 0.5])
    assert float(jsd([0.5, 0.5], [0.5, 0.5])) == 0
