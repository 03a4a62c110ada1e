"""A conversation as a ranked list: one rule for position, and the same figures as for a list in a file."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.conversations.conversation import Conversation
from scoring.conversations import figure
from scoring.divergences import jsd, rnod
from scoring.figure import Figure
from scoring.library import read_term
from scoring.measures.as_list import ranked_entities
from scoring.notation import parse
from scoring.nuggets import position_weight
from scoring.rankings.groups import DocumentGroups
from scoring.rankings.list_scores import ListSettings, Qrels, list_scores
from scoring.rankings.run import Run
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from tests.support.scoring_examples import (
    CHAT,
    M002,
    ORIGIN,
    PAPER,
    RATINGS,
    conversation,
    movie,
    paper_b1,
    paper_g1,
    paper_gold,
    seen,
    topic_set,
)
from topics.errors import InputError
from topics.gold import GoldEntry, GoldTable
from topics.topic import Topic

BEST, GOOD, WRONG, NEW = (movie(number) for number in (1, 2, 3, 4))
KNOWN = MappingProxyType({"RATINGS": (0.0, 0.0, 0.0, 1.0)})
GOLD = GoldTable(
    [
        GoldEntry("M002", BEST, 2, "", KNOWN),
        GoldEntry("M002", GOOD, 1, "", MappingProxyType({"RATINGS": (1.0, 0.0, 0.0, 0.0)})),
        GoldEntry("M002", WRONG, 0, "", KNOWN),
    ]
)
# Reading order: GOOD, WRONG, GOOD again, then in the second turn NEW (unjudged) and BEST.
TALK = conversation(("films", f"{GOOD} or {WRONG} or {GOOD}"), ("more", f"{NEW} and {BEST}"))
FORMS = ["ERR", "iRBU", "GFR(ERR)", "GFR(iRBU)", "GF(RATINGS)", "GF(ORIGIN)"]


def of(
    text: str, talk: Conversation = TALK, gold: GoldTable | None = GOLD, topic: Topic = M002, **settings: object
) -> Figure:
    (measure,) = read_term(parse(text), Settings(**settings), topic_set(M002), load_schema("sakai-2023"))  # type: ignore[arg-type]
    found = figure(seen(talk, topic, gold).under(measure.settings), measure)
    assert found is not None
    assert found.measure == text
    return found


def test_err_and_irbu_are_those_of_the_list_in_reading_order() -> None:
    """Gains 1, 0, 0, 3 at ranks 1 to 4 and gmax 3: a quarter stops at rank 1, three quarters of the rest at rank 4."""
    assert of("as_list(ERR)").value == pytest.approx(1 / 4 + 0.75 * 0.75 / 4, rel=1e-12)
    assert of("as_list(iRBU)").value == pytest.approx(0.25 * 0.99 + 0.75 * 0.75 * 0.99**4, rel=1e-12)
    assert of("as_list(iRBU(p=0.5))").value == pytest.approx(0.25 * 0.5 + 0.75 * 0.75 * 0.5**4, rel=1e-12)
    assert (of("as_list(ERR)").n, of("as_list(ERR)").unjudged) == (4, 1)


def test_gf_is_over_all_entities_or_over_the_relevant_ones() -> None:
    """Achieved at rank 1: group 1 alone; at rank 4: groups 1, 4 and 4, and a uniform row for the unjudged entity."""
    uniform, last = [0.25] * 4, [1.25 / 4, 0.25 / 4, 0.25 / 4, 2.25 / 4]
    first = 1 - float(rnod([1, 0, 0, 0], uniform))
    every = of("as_list(GF(RATINGS))")
    assert every.value == pytest.approx(0.25 * first + 0.5625 * (1 - float(rnod(last, uniform))), rel=1e-12)
    assert (every.n, every.unknown) == (4, 1)
    relevant = of("as_list(GF(RATINGS), over=relevant)")
    both = 1 - float(rnod([0.5, 0, 0, 0.5], uniform))
    assert relevant.value == pytest.approx(0.25 * first + 0.5625 * both, rel=1e-12)
    assert (relevant.n, relevant.unknown) == (2, 0)


def test_gfr_is_the_mean_of_a_utility_and_of_gf_for_each_set() -> None:
    parts = [of(f"as_list({name})", paper_b1(), paper_gold()).value for name in ("ERR", "GF(RATINGS)", "GF(ORIGIN)")]
    assert of("as_list(GFR(ERR))", paper_b1(), paper_gold()).value == pytest.approx(sum(parts) / 3, rel=1e-12)
    parts[1] = of("as_list(GF(RATINGS, by=NMD))", paper_b1(), paper_gold()).value
    by_match = of("as_list(GFR(ERR, ordinal=NMD))", paper_b1(), paper_gold()).value
    assert by_match == pytest.approx(sum(parts) / 3, rel=1e-12)
    assert of("as_list(GFR(ERR))", paper_b1(), paper_gold(), ordinal="NMD").value == by_match


@pytest.mark.parametrize("talk", [paper_b1(), paper_g1()], ids=["B1", "G1"])
def test_figure_5_of_gfrc_has_the_figures_of_the_same_list_in_a_file(talk: Conversation) -> None:
    """`harvest metrics gfr` reads the list, its grades and its groups from files and knows nothing of conversations."""
    gold = paper_gold()
    entities = [one.entity for one in ranked_entities(seen(talk, M002, gold).nuggets)]
    judged = {one.entity: one.grade for one in gold}
    groups = [
        DocumentGroups(
            one.name,
            one.scale,
            np.array(one.gold),
            {"M002": {entry.entity: entry.groups[one.name] for entry in gold if one.name in entry.groups}},
        )
        for one in (ORIGIN, RATINGS)
    ]
    run, qrels = Run("mine", "", {"M002": tuple(entities)}), Qrels("", {"M002": judged})
    rows = list_scores([run], qrels, groups, ListSettings(), np.random.default_rng(1)).rows
    in_file = {row.measure: row.value for row in rows if row.topic == "M002"}
    for name in ("ERR", "iRBU", "GF(RATINGS, by=RNOD)", "GF(RATINGS, by=NMD)", "GF(ORIGIN, by=JSD)"):
        assert of(f"as_list({name})", talk, gold).value == pytest.approx(in_file[name], abs=1e-12), name
    for name in ("GFR(ERR, ordinal=RNOD)", "GFR(iRBU, ordinal=NMD)"):
        assert of(f"as_list({name})", talk, gold).value == pytest.approx(in_file[name], abs=1e-12), name
    assert len(entities) == {"B1": 10, "G1": 5}[talk.key.system]


def test_figure_5_ranks_are_the_order_of_its_word_counts() -> None:
    listed = ranked_entities(seen(paper_b1(), M002, paper_gold()).nuggets)
    printed = [entity for turn in PAPER["systems"]["B1"]["turns"] for entity in turn["entities"]]
    assert [(one.title, one.position) for one in listed] == [(title, position) for title, _, position, *_ in printed]
    weights = position_weight([one.position for one in listed], 1250)
    assert (np.diff(weights) < 0).all()  # what R weighs more has the higher rank


def test_ranks_follow_positions_if_a_source_begins_before_a_link_and_ends_after_it() -> None:
    listed = ranked_entities(seen(TALK, M002, GOLD).nuggets)
    late = [replace(listed[0], position=listed[-1].position + 1), *listed[1:]]
    assert ranked_entities(late) == (*listed[1:], late[0])


def test_weights_of_sets_weigh_the_list_too() -> None:
    alone = of("as_list(GF(ORIGIN))", weights={"RATINGS": 0}).value
    utility = of("as_list(ERR)").value
    assert of("as_list(GFR(ERR))", weights={"RATINGS": 0}).value == pytest.approx((utility + alone) / 2, abs=1e-12)


def test_the_list_and_gf_cum_average_the_same_similarities() -> None:
    """Of B1's ten relevant entities, five are in each turn: GF_cum takes ranks 5 and 10, the list every rank."""
    rows = np.array([entity[4] for turn in PAPER["systems"]["B1"]["turns"] for entity in turn["entities"]])
    achieved = rows.cumsum(axis=0) / np.arange(1, 11)[:, None]
    similar = 1 - jsd(achieved, ORIGIN.gold)
    stops = np.array([0.75, 0.75, 0.75, 0.25, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75])  # Interstellar alone is L1
    decay = stops * np.concatenate([[1], np.cumprod(1 - stops)[:-1]])
    found = of("as_list(GF(ORIGIN), over=relevant)", paper_b1(), paper_gold()).value
    assert found == pytest.approx(float((decay * similar).sum()), abs=1e-12)
    assert of("GF_cum(ORIGIN)", paper_b1(), paper_gold()).value == pytest.approx(similar[[4, 9]].mean(), abs=1e-12)


def test_the_name_alone_stands_for_all_measures_of_lists() -> None:
    made = read_term(parse("as_list"), Settings(), topic_set(M002), load_schema("sakai-2023"))
    assert [str(one.term) for one in made] == [f"as_list({name})" for name in FORMS]
    made = read_term(parse("as_list(over=relevant)"), Settings(), topic_set(M002), load_schema("sakai-2023"))
    assert [str(one.term) for one in made] == [f"as_list({name}, over=relevant)" for name in FORMS]


def test_a_conversation_without_an_entity_has_an_empty_list_and_unknown_gold_has_no_value() -> None:
    empty = conversation(("films", "I know none"))
    for name in FORMS:
        found = of(f"as_list({name})", empty)
        assert (found.value, found.n, found.note) == (0, 0, "the conversation names no entity, so its list is empty")
        unknown = of(f"as_list({name})", TALK, None)
        assert (math.isnan(unknown.value), unknown.n, unknown.note) == (True, 0, "no gold table")


def test_a_topic_without_attribute_sets_has_only_utilities() -> None:
    topics, schema = topic_set(M002), load_schema("sakai-2023")
    for text, applies in (("as_list(ERR)", True), ("as_list(GFR(ERR))", False), ("as_list(GF(RATINGS))", False)):
        (measure,) = read_term(parse(text), Settings(), topics, schema)
        assert measure.declaration.applies(measure, Topic("C1", CHAT, "hello")) is applies, text
        assert measure.declaration.applies(measure, M002)


def test_an_entity_whose_grade_has_no_gain_is_not_relevant_in_the_list_either() -> None:
    """L1 without a gain: rank 4 alone satisfies, and gmax stays that of L2."""
    assert of("as_list(ERR)", gains={0: 0.0, 1: 0.0, 2: 1.0}).value == pytest.approx(0.75 / 4, rel=1e-12)
    assert of("as_list(ERR, over=relevant)", gains={0: 0.0, 1: 0.0, 2: 1.0}).value == pytest.approx(0.75, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "what", "allowed"),
    [
        ("as_list(R)", "R is not a measure of ranked lists", "ERR, iRBU, GFR, GF"),
        ("as_list(0.5)", "0.5 is not a measure of ranked lists", "ERR, iRBU, GFR, GF"),
        ("as_list(ERR, over=some)", "over cannot be some", "all, relevant"),
        ("as_list(ERR, top=5)", "as_list has no parameter top", "over"),
        ("as_list(ERR(p=1))", "ERR has no parameter p", "no parameters"),
        ("as_list(iRBU(p=0))", "p cannot be 0", "a number above 0, at most 1"),
        ("as_list(GFR)", "GFR takes 1 argument, not 0", None),
        ("as_list(GFR(GF))", "GF is not a utility", "ERR, iRBU"),
        ("as_list(GFR(ERR, ordinal=JSD))", "the divergence cannot be JSD", "RNOD, NMD"),
        ("as_list(GF(SIZE))", "there is no attribute set 'SIZE'", "RATINGS, ORIGIN, GENDER"),
        ("as_list(GF(ORIGIN, by=RNOD))", "the divergence cannot be RNOD", "JSD"),
    ],
)
def test_an_impossible_request_about_a_list_is_refused_with_the_allowed_ones(
    text: str, what: str, allowed: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        read_term(parse(text), Settings(), topic_set(M002), load_schema("sakai-2023"))
    assert what in caught.value.what
    assert caught.value.allowed == allowed


@given(st.lists(st.sampled_from([BEST, GOOD, WRONG, NEW]), max_size=12), st.integers(0, 12))
def test_ranks_are_the_order_of_first_positions_and_a_repeated_link_changes_no_rank(links: list[str], cut: int) -> None:
    turns = (("films", " then ".join(links[:cut])), ("more", " then ".join(links[cut:])))
    nuggets = seen(conversation(*turns), M002, GOLD).nuggets
    listed = ranked_entities(nuggets)
    assert [one.entity for one in listed] == list(dict.fromkeys(links))
    assert sorted(listed, key=lambda one: one.position) == list(listed)
    relevant = ranked_entities(nuggets, relevant=True)
    assert [one for one in nuggets if one.relevant] == list(relevant)  # the entities of R and GF
