"""The measures against plain second formulations of their equations (`reference_measures`), on random input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import divergences
from scoring.fairness import combine, group_fairness, summary
from scoring.measures import breakdown, gfr, nugget_detection, nugget_recall
from scoring.measures.dialogue_quality import quality_divergences
from scoring.measures.err import err
from scoring.measures.f_measure import f_flat
from scoring.measures.irbu import irbu
from scoring.measures.relevance import relevance
from scoring.measures.s_measure import s_flat, s_measure
from scoring.measures.t_measure import t_flat, t_measure
from scoring.measures.u_measure import Piece, m_measure, reading_positions, trailtext, u_ia, u_measure
from scoring.nuggets import Nugget
from scoring.settings import Settings
from tests.support import reference_measures as ref
from topics.attributes import AttributeSet


def close(expected: object, *, nan_ok: bool = False) -> object:
    """Equal to nine digits."""
    return pytest.approx(expected, abs=1e-9, rel=1e-9, nan_ok=nan_ok)


@st.composite
def distribution(draw: st.DrawFn, bins: int) -> tuple[Fraction, ...]:
    """Shares of small whole numbers, so that exact zeros and equal bins are common."""
    counts = draw(st.lists(st.integers(0, 4), min_size=bins, max_size=bins).filter(any))
    return tuple(Fraction(count, sum(counts)) for count in counts)


def pair(bins: int) -> st.SearchStrategy[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    return st.tuples(distribution(bins), distribution(bins))


pairs = st.integers(2, 8).flatmap(pair)


def floats(row: Sequence[Fraction]) -> list[float]:
    return [float(value) for value in row]


@given(pairs)
def test_divergences_are_those_of_stc3_eq_2_to_10(two: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    p, q = floats(two[0]), floats(two[1])
    for name, reference in ref.DIVERGENCES.items():
        assert float(getattr(divergences, name.lower())(p, q)) == close(reference(*two))
    quality = quality_divergences(p, q)
    for name in ("NMD", "RSNOD", "RNSS", "JSD"):
        assert float(quality[name]) == close(ref.DIVERGENCES[name](*two))
    assert float(quality["SNOD"]) == close(ref.snod(*two))


# --- conversations ---------------------------------------------------------------------------------------------------

SIZES = {"ORDERED": 4, "NAMED": 3}


@st.composite
def conversation(draw: st.DrawFn) -> tuple[list[ref.Entity], dict[int, int]]:
    """Relevant nuggets in reading order, and where each system turn begins."""
    entities, first, position = [], {}, 0
    for turn in range(1, draw(st.integers(1, 4)) + 1):
        position += draw(st.integers(1, 60))
        first[turn] = position
        for _ in range(draw(st.integers(0, 3))):
            position += draw(st.integers(0, 40))
            groups = {name: draw(distribution(size)) for name, size in SIZES.items()}
            entities.append(ref.Entity(turn, position, draw(st.sampled_from([Fraction(1, 2), Fraction(1)])), groups))
    return entities, first


def nuggets(entities: list[ref.Entity]) -> list[Nugget]:
    found = []
    for number, one in enumerate(entities):
        groups = MappingProxyType({name: tuple(floats(row)) for name, row in one.groups.items()})
        url = f"https://example.org/{number}"
        found.append(Nugget(one.turn, 0, 1, one.position, url, url, 1, float(one.gain), False, memberships=groups))
    return found


@given(conversation(), st.integers(20, 1500))
def test_r_of_a_conversation_is_gfrc_eq_3_6_7(talk: tuple[list[ref.Entity], dict[int, int]], patience: int) -> None:
    found = relevance(nuggets(talk[0]), patience)
    assert found == close(float(ref.relevance(talk[0], patience)))


@given(
    conversation(),
    distribution(4),
    distribution(3),
    st.booleans(),
    st.sampled_from(["ignore", "uniform"]),
    st.sampled_from(["one", "largest-pw"]),
    st.integers(30, 400),
)
def test_gf_of_a_conversation_is_gfrc_eq_4_and_10(
    talk: tuple[list[ref.Entity], dict[int, int]],
    ordered: tuple[Fraction, ...],
    named: tuple[Fraction, ...],
    cumulative: bool,
    irrelevant: str,
    weighing: str,
    patience: int,
) -> None:
    entities, first = talk
    given_settings = Settings(patience=patience, irrelevant=irrelevant, turn_weight=weighing)  # type: ignore[arg-type]
    values = {}
    for name, scale, gold, by in (
        ("ORDERED", "ordinal", ordered, ("RNOD", "NMD")),
        ("NAMED", "nominal", named, ("JSD",)),
    ):
        attribute = AttributeSet(name, scale, tuple("abcdef"[: len(gold)]), tuple(floats(gold)))  # type: ignore[arg-type]
        found = group_fairness(nuggets(entities), first, attribute, given_settings, cumulative=cumulative)
        assert [one.divergence for one in found] == list(by)
        for one in found:
            expected = ref.group_fairness(
                entities,
                first,
                name,
                gold,
                one.divergence,
                cumulative=cumulative,
                irrelevant=irrelevant,
                turn_weight=weighing,
                patience=patience,
            )
            assert one.value == close(expected)
        values[name] = found[0].value
    weights = {"ORDERED": 3.0}
    whole = summary(relevance(nuggets(entities), patience), combine(values, weights), 0.3)
    assert whole == close(ref.gfr(float(ref.relevance(entities, patience)), values, 0.3, weights))


# --- ranked lists ----------------------------------------------------------------------------------------------------


@st.composite
def ranked(draw: st.DrawFn) -> tuple[list[Fraction], list[tuple[Fraction, ...]], tuple[Fraction, ...]]:
    bins = draw(st.integers(2, 5))
    length = draw(st.integers(0, 8))
    gains = [Fraction(draw(st.sampled_from([0, 0, 1, 3]))) for _ in range(length)]
    return gains, [draw(distribution(bins)) for _ in range(length)], draw(distribution(bins))


@given(ranked(), st.integers(1, 99))
def test_err_irbu_gf_and_gfr_of_a_list_are_gfrc_eq_1(
    ranking: tuple[list[Fraction], list[tuple[Fraction, ...]], tuple[Fraction, ...]], hundredths: int
) -> None:
    gains, rows, gold = ranking
    own = np.array([float(gain) for gain in gains])
    highest = Fraction(3)
    assert float(err(own, 3)) == close(float(ref.err(gains, highest)))
    p = Fraction(hundredths, 100)
    assert float(irbu(own, 3, persistence=float(p))) == close(float(ref.irbu(gains, highest, p)))
    members = np.array([floats(row) for row in rows]).reshape(len(rows), len(gold))
    fair = []
    for by in ("JSD", "NMD", "RNOD"):
        found = float(gfr.list_fairness(own, members, floats(gold), 3, getattr(divergences, by.lower())))
        assert found == close(ref.list_fairness(gains, rows, gold, highest, by))
        fair.append(found)
    assert gfr.gfr(float(err(own, 3)), fair) == close((float(ref.err(gains, highest)) + sum(fair)) / 4)


# --- texts -----------------------------------------------------------------------------------------------------------

gold_nuggets = st.lists(
    st.builds(
        ref.Gold,
        weight=st.integers(0, 5).map(Fraction),
        length=st.integers(0, 40),
        offset=st.one_of(st.none(), st.integers(0, 300)),
    ),
    max_size=7,
)


@given(gold_nuggets, st.integers(1, 250), st.integers(0, 500), st.sampled_from([1.0, 10.0]))
def test_s_t_f_and_recall_of_a_text_are_the_sums_over_its_nuggets(
    gold: list[ref.Gold], patience: int, length: int, beta: float
) -> None:
    weights = [float(one.weight) for one in gold]
    lengths = [float(one.length) for one in gold]
    offsets = [math.nan if one.offset is None else float(one.offset) for one in gold]
    s, t = s_measure(weights, lengths, offsets, patience), t_measure(lengths, offsets, length)
    assert s == close(ref.s_measure(gold, patience), nan_ok=True)
    assert t == close(ref.t_measure(gold, length), nan_ok=True)
    assert nugget_recall.weighted_recall(weights, offsets) == close(ref.w_recall(gold), nan_ok=True)
    flat = f_flat(s_flat(s), t_flat(t), beta)
    if math.isnan(s) or math.isnan(t):
        assert math.isnan(flat)
    else:
        assert flat == close(ref.f_flat(min(1, s), min(1, t), beta))


_stretch = st.tuples(
    st.integers(0, 20), st.sampled_from([None, "a", "b", "c", "d"]), st.sampled_from([None, None, "i", "j"])
)
_layer = st.lists(_stretch, max_size=6)
_behind = st.lists(st.tuples(st.integers(0, 20), st.sampled_from([None, "a", "b", "e"])), max_size=4)
_gain = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 3).map(Fraction), max_size=5)


@given(_layer, _behind, _behind, distribution(3), st.lists(_gain, min_size=3, max_size=3), st.integers(1, 120))
def test_u_u_ia_and_m_measure_are_expectations_over_what_users_read(
    layer: list[tuple[int, str | None, str | None]],
    behind_i: list[tuple[int, str | None]],
    behind_j: list[tuple[int, str | None]],
    chances: tuple[Fraction, ...],
    gains: list[dict[str, Fraction]],
    patience: int,
) -> None:
    first = [Piece(*piece) for piece in layer]
    second = {"i": [Piece(*piece) for piece in behind_i], "j": [Piece(*piece) for piece in behind_j]}
    plain_first = [ref.Stretch(*piece) for piece in layer]
    plain_second = {"i": [ref.Stretch(*p) for p in behind_i], "j": [ref.Stretch(*p) for p in behind_j]}
    ours, theirs = [], []
    for intent, worth in zip(("i", "j", None), gains, strict=True):
        known = reading_positions(trailtext(first, second, intent))
        plain = ref.positions_read(plain_first, plain_second, intent)
        assert known == plain
        own = [float(worth.get(name, Fraction(0))) for name in known]
        ours.append(u_measure(own, list(known.values()), patience, normaliser=7))
        exact = [worth.get(name, Fraction(0)) for name in plain]
        theirs.append(ref.u_measure(exact, list(plain.values()), patience, Fraction(7)))
    assert ours == close([float(value) for value in theirs])
    expected = float(sum((chance * u for chance, u in zip(chances, theirs, strict=True)), Fraction(0)))
    assert m_measure(floats(chances), ours) == close(expected)
    assert u_ia(floats(chances), ours) == close(expected)


# --- annotated dialogues ---------------------------------------------------------------------------------------------


@given(st.lists(pair(4), max_size=4), st.lists(pair(3), max_size=4), st.fractions(0, 1))
def test_nugget_detection_is_stc3_eq_11_and_12(
    customer: list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]],
    helpdesk: list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]],
    alpha: Fraction,
) -> None:
    for by in ("RNSS", "JSD"):
        means = [
            nugget_detection.side_mean(
                nugget_detection.block_divergences(
                    [floats(p) for p, _ in side], [floats(q) for _, q in side], getattr(divergences, by.lower())
                )
            )
            for side in (customer, helpdesk)
        ]
        found = nugget_detection.dialogue_score(means[0], means[1], float(alpha))
        assert found == close(ref.nugget_dialogue(customer, helpdesk, by, float(alpha)), nan_ok=True)


@given(st.lists(pair(3), max_size=12))
def test_breakdown_detection_is_accuracy_f1_jsd_mse_and_snod(
    turns: list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]],
) -> None:
    predicted, gold = [list(p) for p, _ in turns], [list(q) for _, q in turns]
    rows = np.array(predicted, dtype=float).reshape(len(turns), 3), np.array(gold, dtype=float).reshape(len(turns), 3)
    found = {figure.measure: figure.value for figure in breakdown.figures(*rows)}
    expected = ref.breakdown_figures(predicted, gold)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == close(value, nan_ok=True), name
