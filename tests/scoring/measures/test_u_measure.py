"""U-measure and U-IA: R of conversations as a U, and the laws of both."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.measures.relevance import hard_normaliser
from scoring.measures.u_measure import Piece, expected_utility, linear_discount, reading_positions, u_ia, u_measure
from tests.support.checkout import DATA

PAPER = json.loads((DATA / "gfrc_m002_example.json").read_text(encoding="utf-8"))
TABLE_1 = (  # word counts from Figure 5, gains and printed pw from Table 1 (a) New Bing
    (35, 1, 0.9728),
    (39, 1, 0.9696),
    (43, 1, 0.9664),
    (46, 0.5, 0.9640),
    (51, 1, 0.9600),
    (91, 1, 0.9280),
    (96, 1, 0.9240),
    (99, 1, 0.9216),
    (104, 1, 0.9176),
    (107, 1, 0.9152),
)
BARD = ((506, 1, 0.5960), (560, 0.5, 0.5528))
GAINS = st.lists(st.tuples(st.floats(0, 5), st.floats(0, 2000)), max_size=10)


def relevance(rows: tuple[tuple[int, float, float], ...]) -> float:
    """R of a conversation, as a U of what was read before each nugget ended."""
    gains, places = [gain for _, gain, _ in rows], [words - 1 for words, _, _ in rows]
    return u_measure(gains, places, 1250, normaliser=hard_normaliser(1250))


def test_gfrc_table_1_prints_every_pw() -> None:
    for words, _, printed in (*TABLE_1, *BARD):
        assert float(linear_discount(words - 1, 1250)) == pytest.approx(printed, abs=5e-5)


def test_gfrc_table_1_prints_r_0143_for_new_bing_and_0014_for_google_bard() -> None:
    assert relevance(TABLE_1) == pytest.approx(0.0143, abs=5e-5)
    assert relevance(BARD) == pytest.approx(0.0014, abs=5e-5)


def test_gfrc_section_6_2_prints_a_ratio_of_9_8_percent_which_is_that_of_the_rounded_values() -> None:
    assert round(relevance(BARD), 4) / round(relevance(TABLE_1), 4) == pytest.approx(0.098, abs=5e-4)
    assert relevance(BARD) / relevance(TABLE_1) == pytest.approx(0.0974, abs=5e-5)  # from the exact ones


def test_gfrc_figure_1_pw_is_1_at_the_first_word_and_0_at_word_l_plus_1() -> None:
    assert float(linear_discount(1 - 1, 1250)) == 1
    assert float(linear_discount(1251 - 1, 1250)) == 0
    assert hard_normaliser(1250) == sum(1 - (word - 1) / 1250 for word in range(1, 1251))  # Eq. 7


@given(GAINS, st.floats(1, 3000))
def test_u_is_never_lower_if_everything_is_read_sooner(rows: list[tuple[float, float]], patience: float) -> None:
    gains, places = [gain for gain, _ in rows], [place for _, place in rows]
    value = u_measure(gains, places, patience)
    assert 0 <= value <= math.fsum(gains) + 1e-9
    assert u_measure(gains, [place / 2 for place in places], patience) >= value - 1e-12
    assert u_measure([2 * gain for gain in gains], places, patience) == pytest.approx(2 * value)
    assert u_measure(gains, places, patience, normaliser=4) == pytest.approx(value / 4)


@given(st.lists(st.tuples(st.integers(1, 20), st.floats(0, 1)), min_size=1, max_size=6))
def test_u_ia_is_between_those_of_the_intents_and_equals_their_u_if_all_agree(rows: list[tuple[int, float]]) -> None:
    whole = sum(count for count, _ in rows)
    intents, utilities = [count / whole for count, _ in rows], [utility for _, utility in rows]
    value = u_ia(intents, utilities)
    assert min(utilities) - 1e-12 <= value <= max(utilities) + 1e-12
    assert u_ia(intents, [0.25] * len(rows)) == pytest.approx(0.25)
    assert u_ia([1.0], utilities[:1]) == utilities[0]


def test_repeated_text_costs_its_length_and_earns_nothing() -> None:
    text = [Piece(10), Piece(5, "a"), Piece(5, "a"), Piece(1, "b")]
    assert reading_positions(text) == {"a": 15, "b": 21}
    assert reading_positions([]) == {}


def test_a_trailtext_without_gains_has_u_0_and_without_intents_u_is_undefined() -> None:
    assert u_measure([], [], 100) == 0
    assert math.isnan(u_ia([], []))


def test_an_impossible_intent_needs_no_u_and_a_possible_one_does() -> None:
    assert u_ia([1.0, 0.0], [0.5, math.nan]) == 0.5
    assert math.isnan(u_ia([0.5, 0.5], [0.5, math.nan]))


def test_values_out_of_range_are_refused() -> None:
    for probabilities in ([0.5, 0.4], [1.5, -0.5], [math.nan, 1.0]):
        with pytest.raises(ValueError, match="sum to 1"):
            expected_utility(probabilities, [1.0, 1.0])
    with pytest.raises(ValueError, match="2 probabilities, 1 utilities"):
        expected_utility([0.5, 0.5], [1.0])
    with pytest.raises(ValueError, match="positions must not be negative"):
        u_measure([1], [-1], 10)
    with pytest.raises(ValueError, match="patience"):
        u_measure([1], [1], 0)
    with pytest.raises(ValueError, match="gains must have one value per position"):
        u_measure([1], [1, 2], 10)
    with pytest.raises(ValueError, match="gains must be finite"):
        u_measure([-1], [1], 10)
    with pytest.raises(ValueError, match="normaliser"):
        u_measure([1], [1], 10, normaliser=0)
    with pytest.raises(ValueError, match="length of a piece must be at least 0"):
        reading_positions([Piece(-1)])


def test_the_word_counts_and_gains_are_those_of_figure_5() -> None:
    for system, rows in (("B1", TABLE_1), ("G1", BARD)):
        entities = [one for turn in PAPER["systems"][system]["turns"] for one in turn["entities"]]
        assert [(words, PAPER["gains"][grade]) for _, grade, words, *_ in entities] == [row[:2] for row in rows]
