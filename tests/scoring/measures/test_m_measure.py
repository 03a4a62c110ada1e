"""M-measure of two-layered summaries."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.measures.u_measure import Piece, m_measure, reading_positions, trailtext, u_measure

FIRST = (Piece(20, "born"), Piece(10, link="films"), Piece(10, link="life"), Piece(20, "prize"))
SECOND = {"films": (Piece(40, "first film"), Piece(40, "prize")), "life": (Piece(60, "school"),)}
WORTH = {"films": {"first film": 3, "prize": 2, "born": 1}, "life": {"school": 3, "born": 2, "prize": 1}}


def utility(intent: str) -> float:
    found = reading_positions(trailtext(FIRST, SECOND, intent))
    return u_measure([WORTH[intent].get(name, 0) for name in found], list(found.values()), 200)


def test_a_user_reads_to_the_link_then_what_is_behind_it_then_on() -> None:
    assert reading_positions(trailtext(FIRST, SECOND, "films")) == {"born": 20, "first film": 70, "prize": 110}
    assert reading_positions(trailtext(FIRST, SECOND, "life")) == {"born": 20, "school": 100, "prize": 120}
    assert reading_positions(trailtext(FIRST, SECOND, None)) == {"born": 20, "prize": 60}


def test_m_is_the_expected_u_of_the_trailtexts() -> None:
    films, life = 1 * 0.9 + 3 * 0.65 + 2 * 0.45, 2 * 0.9 + 3 * 0.5 + 1 * 0.4
    assert utility("films") == pytest.approx(films)
    assert utility("life") == pytest.approx(life)
    assert m_measure([0.75, 0.25], [utility("films"), utility("life")]) == pytest.approx(0.75 * films + 0.25 * life)


def test_m_of_one_trailtext_is_its_u() -> None:
    assert m_measure([1.0], [utility("films")]) == utility("films")


def test_a_link_is_followed_once() -> None:
    twice = (*FIRST, Piece(5, link="films"))
    assert len(trailtext(twice, SECOND, "films")) == len(twice) + 2


def test_the_r_of_the_worked_tree_is_the_m_of_its_three_paths() -> None:
    # Own work, printed in docs/stochastic.md: paths with P = .35, .35, .30 and their R; all have one normaliser.
    value = m_measure([0.35, 0.35, 0.3], [0.006658992805755396, 0.0023040767386091126, 0.0012585131894484413])
    assert value == pytest.approx(0.0035146282973621107, abs=1e-12)


@given(st.lists(st.tuples(st.integers(1, 9), st.lists(st.floats(0, 1), max_size=4)), min_size=1, max_size=5))
def test_with_one_normaliser_the_expected_and_the_pooled_reading_agree(paths: list[tuple[int, list[float]]]) -> None:
    whole = sum(count for count, _ in paths)
    shares = [count / whole for count, _ in paths]
    utilities = [u_measure(gains, [10.0 * place for place in range(len(gains))], 50) for _, gains in paths]
    pooled = math.fsum(
        share * gain * (1 - 10 * place / 50)
        for share, (_, gains) in zip(shares, paths, strict=True)
        for place, gain in enumerate(gains)
    )
    assert m_measure(shares, utilities) == pytest.approx(pooled)


def test_a_link_that_opens_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no text for the link to 'films'"):
        trailtext(FIRST, {"life": ()}, "life")


def test_no_trailtext_has_no_m() -> None:
    assert math.isnan(m_measure([], []))
