"""Divergences: the official tools' values, the examples printed in the papers, and the laws they must keep."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import divergences
from scoring.divergences import (
    DIVERGENCES,
    distribution_similarity,
    jsd,
    nmd,
    nod,
    od,
    rnod,
    rnss,
    rsnod,
    snod,
    sod,
    variational,
)
from tests.support.checkout import DATA

Floats = npt.NDArray[np.float64]

PAIRS = json.loads((DATA / "divergence_pairs.json").read_text(encoding="utf-8"))["pairs"]
SYMMETRIC = (jsd, nmd, sod, snod, rsnod, rnss, variational)


def shares(counts: Sequence[float]) -> Floats:
    row: Floats = np.array(counts, dtype=np.float64) / math.fsum(counts)
    return row


@st.composite
def pairs(draw: st.DrawFn, *, full: bool = False) -> tuple[Floats, Floats]:
    """Two distributions over the same 2 to 9 groups; zeros in them unless `full`."""
    size = draw(st.integers(2, 9))
    count = st.integers(1 if full else 0, 50)
    rows = st.lists(count, min_size=size, max_size=size).filter(lambda row: sum(row) > 0)
    return shares(draw(rows)), shares(draw(rows))


def test_all_sixty_nine_reference_pairs_agree_with_the_official_tools_to_1e_9() -> None:
    checked = 0
    for pair in PAIRS:
        p, gold = shares(pair["p"]), shares(pair["gold"])
        for tool in ("official_dialeval", "official_ntcireval"):
            for name, expected in pair.get(tool, {}).items():
                value = float(DIVERGENCES[name](p, gold))
                assert value == pytest.approx(expected, abs=1e-9), (pair["name"], tool, name)
                checked += 1
    assert len(PAIRS) == 69
    assert checked == 546


def test_rows_computed_together_equal_rows_computed_alone() -> None:
    size = 4
    rows = [pair for pair in PAIRS if len(pair["p"]) == size]
    p, q = np.stack([shares(row["p"]) for row in rows]), np.stack([shares(row["gold"]) for row in rows])
    for divergence in DIVERGENCES.values():
        alone = np.array([divergence(a, b) for a, b in zip(p, q, strict=True)])
        np.testing.assert_allclose(divergence(p, q), alone, atol=1e-15)
        assert divergence(p[:, None, :], q[None, :, :]).shape == (len(rows), len(rows))
        np.testing.assert_allclose(divergence(p, q[0]), [float(divergence(a, q[0])) for a in p], atol=1e-15)


@pytest.mark.parametrize("groups", [2, 5, 7, 8, 11])
@pytest.mark.parametrize("name", list(divergences.DIVERGENCES))
def test_very_many_rows_give_the_same_bits_as_each_alone(name: str, groups: int) -> None:
    rng = np.random.default_rng(groups)
    p, q = rng.dirichlet(np.ones(groups), 9000), rng.dirichlet(np.ones(groups), 9000)
    q[q < 0.1] = 0.0
    q /= q.sum(axis=1, keepdims=True)
    divergence = divergences.DIVERGENCES[name]
    found = divergence(p, q)
    for rows in (range(40), range(8180, 8220), range(8960, 9000)):
        assert [float(divergence(p[row], q[row])) for row in rows] == found[rows.start : rows.stop].tolist()


@pytest.mark.parametrize("wrong", [math.nan, -0.25, 0.75, math.inf])
def test_one_wrong_row_among_very_many_is_named(wrong: float) -> None:
    p = np.full((5000, 4), 0.25)
    p[3210, 2] = wrong
    with pytest.raises(ValueError, match=r"^p: row 3210 "):
        divergences.nmd(p, np.full(4, 0.25))


def test_stc3_figure_2_nod_and_rnss() -> None:
    # Printed for the figure's right half, where estimated and true distributions are swapped.
    gold, b, c = [1.0, 0.0, 0.0], [0.0, 1 / 3, 2 / 3], [0.0, 2 / 3, 1 / 3]
    for estimated in (b, c):
        assert nod(gold, estimated) == pytest.approx(0.8889, abs=5e-5)
        assert rnss(estimated, gold) == pytest.approx(0.8819, abs=5e-5)
        assert jsd(estimated, gold) == pytest.approx(1.0)
    assert nod([0, 1, 0], gold) == pytest.approx(0.5)
    assert snod([0, 0, 1], gold) == 1.0
    assert snod([0, 0, 1], gold) > snod(b, gold) > snod(c, gold) > snod([0, 1, 0], gold)


def test_stc3_figure_3_rnss_and_jsd_against_a_uniform_gold() -> None:
    gold = [1 / 3] * 3
    for estimated in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]):
        assert rnss(estimated, gold) == pytest.approx(0.5774, abs=5e-5)
        assert jsd(estimated, gold) == pytest.approx(0.4591, abs=5e-5)
    for estimated in ([2 / 3, 1 / 3, 0.0], [0.0, 2 / 3, 1 / 3]):
        assert rnss(estimated, gold) == pytest.approx(1 / 3)
        assert jsd(estimated, gold) == pytest.approx(0.2075, abs=5e-5)
    assert snod([1, 0, 0], gold) > snod([0, 1, 0], gold) > snod([2 / 3, 1 / 3, 0], gold)


def test_stc3_figure_1_and_4_follow_the_formula_where_the_print_does_not() -> None:
    gold = [0.2] * 5
    x, y = [0.3, 0.1, 0.2, 0.3, 0.1], [0.4, 0.2, 0.2, 0.1, 0.1]
    assert jsd(x, gold) == pytest.approx(0.0390, abs=5e-5)
    assert jsd(y, gold) == pytest.approx(0.0490, abs=5e-5)
    assert snod(y, gold) == pytest.approx(0.0285)  # Eq. 10; the figure prints .0380,
    assert sod(y, gold) / 3 == pytest.approx(0.0380)  # which is the same sum over 3 in place of L - 1 = 4
    assert snod(x, gold) < snod(y, gold)


@settings(deadline=None)
@given(pairs())
def test_every_normalised_divergence_lies_between_0_and_1(pair: tuple[Floats, Floats]) -> None:
    for divergence in DIVERGENCES.values():
        value = float(divergence(*pair))
        assert 0 <= value <= 1
        assert float(distribution_similarity(*pair, divergence)) == pytest.approx(1 - value)
    assert 0 <= float(od(*pair)) <= len(pair[0]) - 1


@settings(deadline=None)
@given(pairs())
def test_equal_distributions_and_only_they_have_divergence_0(pair: tuple[Floats, Floats]) -> None:
    p, q = pair
    for divergence in DIVERGENCES.values():
        assert float(divergence(p, p)) == 0
        if np.abs(p - q).max() > 1e-6:
            assert float(divergence(p, q)) > 0


@settings(deadline=None)
@given(pairs())
def test_symmetric_divergences_do_not_depend_on_which_side_is_the_gold(pair: tuple[Floats, Floats]) -> None:
    p, q = pair
    for divergence in SYMMETRIC:
        assert float(divergence(p, q)) == pytest.approx(float(divergence(q, p)), abs=1e-12)


@settings(deadline=None)
@given(pairs(full=True))
def test_rnod_is_symmetric_where_both_give_weight_to_every_group(pair: tuple[Floats, Floats]) -> None:
    p, q = pair
    assert float(rnod(p, q)) == pytest.approx(float(rnod(q, p)), abs=1e-12)


def test_rnod_uses_the_support_of_the_gold_and_so_is_not_symmetric() -> None:
    p, gold = [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]
    assert float(rnod(p, gold)) == pytest.approx(0.5610836, abs=1e-7)
    assert float(rnod(gold, p)) == pytest.approx(0.4082483, abs=1e-7)


def test_the_support_test_of_od_is_sharp() -> None:
    p = [0.0, 0.0, 1.0]
    exact, nearly = [1.0, 0.0, 0.0], [1.0 - 1e-9, 1e-9, 0.0]
    assert float(od(p, exact)) == pytest.approx(2.0)
    assert float(od(p, nearly)) == pytest.approx(2.0)  # both groups see the same distances here: (2 + 2) / 2
    half = [0.5, 0.5, 0.0]
    assert float(od(half, exact)) == pytest.approx(0.25)
    assert float(od(half, [1.0 - 1e-9, 0.0, 1e-9])) == pytest.approx(0.5)  # (0.25 + 0.75) / 2


@settings(deadline=None)
@given(pairs())
def test_reversing_the_order_of_the_groups_changes_nothing(pair: tuple[Floats, Floats]) -> None:
    p, q = pair
    for divergence in DIVERGENCES.values():
        assert float(divergence(p[::-1], q[::-1])) == pytest.approx(float(divergence(p, q)), abs=1e-9)


@settings(deadline=None)
@given(pairs(), st.data())
def test_nominal_divergences_ignore_the_order_of_the_groups(pair: tuple[Floats, Floats], data: st.DataObject) -> None:
    p, q = pair
    order = data.draw(st.permutations(range(len(p))))
    for divergence in (jsd, rnss, variational):
        assert float(divergence(p[order], q[order])) == pytest.approx(float(divergence(p, q)), abs=1e-12)


@settings(deadline=None)
@given(pairs())
def test_normalised_forms_follow_from_the_plain_ones(pair: tuple[Floats, Floats]) -> None:
    p, q = pair
    span = len(p) - 1
    assert float(nod(p, q)) == pytest.approx(float(od(p, q)) / span)
    assert float(rnod(p, q)) ** 2 == pytest.approx(float(nod(p, q)), abs=1e-12)
    assert float(snod(p, q)) == pytest.approx((float(nod(p, q)) + float(nod(q, p))) / 2, abs=1e-12)
    assert float(rsnod(p, q)) ** 2 == pytest.approx(float(snod(p, q)), abs=1e-12)


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.6]], [0.5, 0.5], r"p: row 1 does not sum to 1: \[0\.5, 0\.6\] \(sum 1\.1\)"),
        ([0.5, 0.5], [[[0.5, 0.5], [1.5, -0.5]]], r"q: row \(0, 1\) holds a negative weight"),
        ([float("nan"), 1.0], [0.5, 0.5], "p: the distribution holds a value that is not a finite number"),
        ([0.5, 0.5], [0.5, 0.499], "q: the distribution does not sum to 1"),
        ([1.0], [1.0], "at least two groups"),
        ([0.5, 0.5], [0.3, 0.3, 0.4], "p has 2 groups and q has 3"),
    ],
)
def test_an_invalid_distribution_is_an_error_that_names_the_row(p: object, q: object, message: str) -> None:
    for divergence in (*DIVERGENCES.values(), od, sod):
        with pytest.raises(ValueError, match=message):
            divergence(p, q)  # type: ignore[arg-type]


def test_rounded_gold_files_are_accepted() -> None:
    assert float(jsd([1.0, 0.0, 0.0], [0.333333, 0.333333, 0.333333])) == pytest.approx(0.459148, abs=1e-5)
