"""The measures of texts, taken of conversations: the relevant entities of the gold table are the nuggets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from recordings.conversations.conversation import Conversation
from scoring.conversations import figure
from scoring.figure import Figure
from scoring.library import read_term
from scoring.measures.relevance import hard_normaliser
from scoring.measures.u_measure import m_measure
from scoring.notation import parse
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from tests.support.scoring_examples import (
    M002,
    MOVIE,
    conversation,
    movie,
    paper_b1,
    paper_g1,
    paper_gold,
    seen,
    topic_set,
)
from topics.attributes import AttributeSet
from topics.errors import InputError
from topics.gold import GoldEntry, GoldTable
from topics.kinds import KINDS
from topics.topic import Topic, TopicType

# Two words of the user's, then best is word 4, good is word 6, and best again word 8, the last; `other` is missing.
BEST, GOOD, OTHER, WRONG = (movie(number) for number in (1, 2, 3, 4))
TALK = conversation(("films, please", f"see {BEST} and {GOOD} or {BEST}"), topic="M002")
NOTHING: Mapping[str, tuple[float, ...]] = MappingProxyType({})
GOLD = GoldTable(
    GoldEntry("M002", url, grade, "", NOTHING) for url, grade in ((BEST, 2), (GOOD, 1), (OTHER, 2), (WRONG, 0))
)


def of(text: str, talk: Conversation = TALK, gold: GoldTable | None = GOLD, topic: Topic = M002) -> Figure:
    (measure,) = read_term(parse(text), Settings(), topic_set(M002), load_schema("sakai-2023"))
    material = seen(talk, topic, gold).under(measure.settings)
    found = figure(material, measure)
    assert found is not None
    assert found.measure == text
    return found


def test_u_sums_gains_discounted_by_the_text_read_before() -> None:
    assert of("U-measure(L=10)").value == pytest.approx(1 * (1 - 3 / 10) + 0.5 * (1 - 5 / 10))
    assert of("U-measure(L=10)").n == 2


@pytest.mark.parametrize("talk", [paper_b1(), paper_g1()], ids=["B1", "G1"])
def test_r_is_u_divided_by_that_of_a_relevant_nugget_at_every_word(talk: Conversation) -> None:
    u, r = (of(name, talk, paper_gold()) for name in ("U-measure", "R"))
    assert r.value == pytest.approx(u.value / hard_normaliser(1250), rel=1e-12)
    assert u.value > 0


def test_s_divides_by_the_best_list_of_the_topics_relevant_entities() -> None:
    best = 1 * (10 - 1) + 1 * (10 - 2) + 0.5 * (10 - 3)
    assert of("S-measure(L=10)").value == pytest.approx((1 * (10 - 4) + 0.5 * (10 - 6)) / best)
    assert of("S-flat(L=10)").value == of("S-measure(L=10)").value


def test_a_conversation_identical_to_the_best_list_has_s_and_t_of_1() -> None:
    ideal = conversation(("", f"{BEST} {OTHER} {GOOD}"))
    for name in ("S-measure", "S-flat", "T-measure", "T-flat", "F-flat", "Recall", "W-recall"):
        assert of(name, ideal).value == pytest.approx(1), name


def test_t_is_the_share_of_the_exchanged_text_that_is_needed() -> None:
    assert of("T-measure").value == pytest.approx(2 / 8)
    assert of("T-flat").value == pytest.approx(2 / 8)


def test_f_weights_s_by_beta_and_takes_its_parameter_from_the_name() -> None:
    s, t = of("S-flat(L=10)").value, 2 / 8
    assert of("F-flat(L=10)").value == pytest.approx(2 * s * t / (s + t))
    assert of("F-flat(L=10, beta=10)").value == pytest.approx(101 * s * t / (s + 100 * t))


def test_recall_is_over_the_entities_that_the_gold_table_calls_relevant() -> None:
    assert of("Recall").value == pytest.approx(2 / 3)
    assert of("Recall").n == 3
    assert of("W-recall").value == pytest.approx(1.5 / 2.5)


def test_undefined_is_nan_with_its_reason_and_finding_nothing_is_0() -> None:
    empty = conversation(("films, please", "I know none"))
    for name in ("U-measure", "S-measure", "S-flat", "T-measure", "F-flat", "Recall", "W-recall"):
        assert of(name, empty).value == 0, name
        unknown = of(name, TALK, None)
        assert (math.isnan(unknown.value), unknown.n, unknown.note) == (True, 0, "no gold table")
        absent = of(name, TALK, GOLD, Topic("M009", MOVIE, "ask"))
        assert (math.isnan(absent.value), absent.n) == (True, 0)
        assert absent.note == "the gold table has no entry for this topic"
    none_relevant = GoldTable([GoldEntry("M002", WRONG, 0, "", NOTHING)])
    assert math.isnan(of("Recall", TALK, none_relevant).value)


def test_the_mean_of_u_over_trials_is_the_m_measure_of_their_trailtexts() -> None:
    values = [of("U-measure", talk, paper_gold()).value for talk in (paper_b1(), paper_g1())]
    assert m_measure([0.5, 0.5], values) == pytest.approx(sum(values) / 2)


# Intents of a topic: who asks for films of Asia (probability .7), and who asks for films of Europe (.3).
INTENT = AttributeSet("INTENT", "nominal", ("Asia", "Europe"), (0.7, 0.3))
FILMS = TopicType("movie", "movie title, IMDb URL", KINDS["imdb-title"], ("INTENT",))
ASKED = Topic("M002", FILMS, "ask")


def intended(text: str, groups: Mapping[str, tuple[float, ...]]) -> Figure:
    """TALK with these shares of the intents: best is word 4 with gain 1, good is word 6 with gain 0.5."""
    own = {url: MappingProxyType({"INTENT": groups[url]} if url in groups else {}) for url in (BEST, GOOD)}
    gold = GoldTable(GoldEntry("M002", url, grade, "", own[url]) for url, grade in ((BEST, 2), (GOOD, 1)))
    sets = MappingProxyType({"INTENT": INTENT})
    (measure,) = read_term(parse(text), Settings(), topic_set(ASKED, attributes=[INTENT]), load_schema("sakai-2023"))
    material = replace(seen(TALK, ASKED, gold), attributes=sets).under(measure.settings)
    found = figure(material, measure)
    assert found is not None
    return found


def test_u_ia_expects_u_over_the_intents_that_the_entities_serve() -> None:
    best, good = 1 * (1 - 3 / 10), 0.5 * (1 - 5 / 10)
    apart = intended("U-IA(INTENT, L=10)", {BEST: (1, 0), GOOD: (0, 1)})
    assert apart.value == pytest.approx(0.7 * best + 0.3 * good)
    assert apart.n == 2
    both = intended("U-IA(INTENT, L=10)", {BEST: (0.5, 0.5), GOOD: (0, 1)})
    assert both.value == pytest.approx(0.7 * best + 0.3 * (best + good))
    same = intended("U-IA(INTENT, L=10)", {BEST: (0.5, 0.5), GOOD: (0.2, 0.8)})
    assert same.value == pytest.approx(intended("U-measure(L=10)", {}).value), "all serve all intents"


def test_an_entity_of_unknown_intent_earns_nothing_and_the_best_case_includes_it() -> None:
    best, good = 1 * (1 - 3 / 10), 0.5 * (1 - 5 / 10)
    found = intended("U-IA(INTENT, L=10)", {BEST: (1, 0)})
    assert found.value == found.worst == pytest.approx(0.7 * best)
    assert found.best == pytest.approx(0.7 * best + good)
    assert found.unknown == 1
    assert "1 entity of unknown intent" in found.note


def test_intents_that_no_topic_set_declares_are_refused() -> None:
    with pytest.raises(InputError, match="there is no attribute set 'INTENT'"):
        read_term(parse("U-IA(INTENT)"), Settings(), topic_set(M002), load_schema("sakai-2023"))
