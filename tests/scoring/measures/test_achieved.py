"""D(SET): shares of groups that turns achieve, for groups known and unknown, and under every setting of GF."""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordings.conversations.conversation import Conversation
from scoring.divergences import distribution_similarity, jsd, rnod
from scoring.notation import parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreRow
from tests.support.scoring_examples import M002, ORIGIN, RATINGS, conversation, movie, paper_g1, paper_gold, topic_set
from topics.gold import GoldEntry, GoldTable


def rows(talk: Conversation, gold: GoldTable, wanted: str, **changes: object) -> list[ScoreRow]:
    """The rows of one conversation."""
    table = score(
        [talk], topic_set(M002), gold, Settings.of(changes), np.random.default_rng(1), measures=parse_all(wanted)
    )
    return list(table.single("conversation"))


def shares(found: list[ScoreRow], name: str, turn: int | None, entity: str | None = None) -> list[float]:
    """The shares of the groups, in order; [] where there is no row."""
    return [
        row.value for row in found if row.measure.startswith(f"{name},") and (row.turn, row.entity) == (turn, entity)
    ]


def test_a_turn_without_relevant_entities_counts_as_uniform_if_gf_counts_it() -> None:
    found = rows(paper_g1(), paper_gold(), "D(RATINGS)")
    assert shares(found, "D(RATINGS", 1) == []
    assert shares(found, "D(RATINGS", 2) == shares(found, "D(RATINGS", None) == [0, 0, 0, 1]
    uniform = rows(paper_g1(), paper_gold(), "D(RATINGS, irrelevant=uniform)")
    ends = {
        row.turn: [
            one.value for one in uniform if one.measure.startswith("D(") and one.turn == row.turn and not one.entity
        ]
        for row in uniform
        if row.measure.startswith("D(")
    }
    assert ends == {None: [0.125, 0.125, 0.125, 0.625], 1: [0.25] * 4, 2: [0, 0, 0, 1]}


def test_a_turn_that_counts_as_uniform_has_no_entities_of_unknown_group() -> None:
    gold = GoldTable([GoldEntry("M002", movie(1), 2, "", MappingProxyType({}))])
    found = rows(conversation(("one", movie(1)), ("two", "None.")), gold, "D_cum(RATINGS, 1, irrelevant=uniform)")
    own = [row for row in found if row.measure.startswith("D_cum") and row.turn and not row.entity]
    assert [(row.turn, row.value, row.n, row.unknown) for row in own] == [(1, 0.25, 1, 1), (2, 0.25, 0, 0)]


def test_turns_are_weighted_as_in_gf() -> None:
    titles = {entry.title: entry.entity for entry in paper_gold().entries("M002")}
    talk = conversation(("one", titles["Back to the Future"]), ("three", titles["Looper"]))
    found = rows(talk, paper_gold(), "D(RATINGS)", turn_weight="largest-pw", patience=10)
    # Positions 2 and 4: weights .9 and .7.
    assert shares(found, "D(RATINGS", None) == pytest.approx([0, 0, 0.7 / 1.6, 0.9 / 1.6], abs=1e-12)


def test_without_a_relevant_entity_there_is_no_distribution() -> None:
    found = rows(conversation(("and?", f"{movie(1)} no idea")), paper_gold(), "D(ORIGIN), D_cum(ORIGIN)")
    own = [row for row in found if row.measure.startswith("D") and "Sim" not in row.measure]
    assert len(own) == 16
    assert all(math.isnan(row.value) and (row.n, row.turn, row.unjudged) == (0, None, 1) for row in own)


MEMBERSHIPS = st.sampled_from([(1.0, 0.0, 0.0, 0.0), (0.0, 0.5, 0.5, 0.0), (0.0, 0.0, 0.25, 0.75), None])
TURNS = st.lists(st.lists(st.integers(1, 8), max_size=4), min_size=1, max_size=3)


@settings(deadline=None, max_examples=40)
@given(st.lists(MEMBERSHIPS, min_size=8, max_size=8), st.lists(st.integers(0, 2), min_size=8, max_size=8), TURNS)
def test_the_achieved_distribution_of_turns_is_the_mean_of_their_memberships_as_in_distrsim(
    groups: list[tuple[float, ...] | None], grades: list[int], turns: list[list[int]]
) -> None:
    entries = [
        GoldEntry("M002", movie(number), grade, "", MappingProxyType({} if own is None else {"RATINGS": own}))
        for number, (grade, own) in enumerate(zip(grades, groups, strict=True), start=1)
    ]
    talk = conversation(*(("more", " ".join(map(movie, named))) for named in turns))
    found = rows(talk, GoldTable(entries), "D(RATINGS), D(ORIGIN), D_cum(RATINGS)")
    seen: set[int] = set()
    so_far: list[list[float]] = []
    counted: list[list[float]] = []
    for turn, named in enumerate(turns, start=1):
        fresh = [number for number in dict.fromkeys(named) if number not in seen and grades[number - 1]]
        seen.update(named)
        here = shares(found, "D(RATINGS", turn)
        assert bool(here) == bool(fresh)
        if not fresh:
            continue
        members = [list(groups[number - 1] or [0.25] * 4) for number in fresh]
        assert [shares(found, "D(RATINGS", turn, movie(number)) for number in fresh] == members
        assert here == pytest.approx(np.mean(members, axis=0), abs=1e-12)
        so_far += members
        assert shares(found, "D_cum(RATINGS", turn) == pytest.approx(np.mean(so_far, axis=0), abs=1e-12)
        (similar,) = (row.value for row in found if (row.measure, row.turn) == ("DistrSim(RATINGS)", turn))
        assert similar == pytest.approx(float(distribution_similarity(here, RATINGS.gold, rnod)), abs=1e-12)
        (nominal,) = (row.value for row in found if (row.measure, row.turn) == ("DistrSim(ORIGIN)", turn))
        origin = shares(found, "D(ORIGIN", turn)
        assert origin == pytest.approx([1 / 8] * 8)  # nothing is known of any country
        assert nominal == pytest.approx(float(distribution_similarity(origin, ORIGIN.gold, jsd)), abs=1e-12)
        (unknown, *_) = (row.unknown for row in found if (row.measure, row.turn) == ("D(RATINGS, 1)", turn))
        assert unknown == sum(groups[number - 1] is None for number in fresh)
        counted.append(here)
    if counted:
        assert shares(found, "D(RATINGS", None) == pytest.approx(np.mean(counted, axis=0), abs=1e-12)
