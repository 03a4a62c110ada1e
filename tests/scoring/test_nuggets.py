"""Nuggets: which links count, where they stand, and what is known of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.answer import Answer, Source
from recordings.conversations.conversation import Conversation
from scoring.nuggets import Nugget, find_nuggets
from scoring.settings import Settings
from tests.support.scoring_examples import (
    ATTRIBUTES,
    CHAT,
    M002,
    PAPER,
    RESEARCHER,
    conversation,
    filler,
    movie,
    paper_b1,
    paper_g1,
    paper_gold,
)
from topics.errors import InputError
from topics.gold import GoldEntry, GoldTable
from topics.links import Link
from topics.topic import Topic

BACK, TERMINATOR = movie("0088763"), movie("0088247")


def found(spoken: Conversation, gold: GoldTable | None = None, topic: Topic = M002) -> tuple[Nugget, ...]:
    return find_nuggets(spoken, topic, paper_gold() if gold is None else gold, ATTRIBUTES, Settings())


def reply(text: str, *links: Link) -> tuple[Nugget, ...]:
    return found(conversation(("go", text), links=[links]))


@pytest.mark.parametrize(("name", "spoken"), [("B1", paper_b1()), ("G1", paper_g1())])
def test_the_word_counts_of_figure_5_come_from_the_text(name: str, spoken: Conversation) -> None:
    printed = [entity for turn in PAPER["systems"][name]["turns"] for entity in turn["entities"]]
    relevant = [nugget for nugget in found(spoken) if nugget.relevant]
    assert [(nugget.title, nugget.position, f"L{nugget.grade}") for nugget in relevant] == [
        (title, position, grade) for title, grade, position, _, _ in printed
    ]
    assert [list(nugget.memberships["RATINGS"]) for nugget in relevant] == [row[3] for row in printed]
    assert [list(nugget.memberships["ORIGIN"]) for nugget in relevant] == [row[4] for row in printed]


def test_a_nugget_knows_its_span_and_the_position_of_its_last_word() -> None:
    text = f"See ({BACK}), or:\n* {TERMINATOR}?x=1"
    first, second = reply(text)
    assert (text[first.start : first.end], first.position) == (BACK, 3)
    assert text[second.start : second.end].startswith(TERMINATOR)
    assert (second.entity, second.position) == (TERMINATOR, 6)


def test_every_spelling_of_an_address_is_one_entity_and_only_the_first_earns() -> None:
    nuggets = reply(f"http://m.imdb.com/title/tt0088763/?ref_=nv {BACK} HTTPS://WWW.IMDB.COM/de/title/tt0088763")
    assert [nugget.entity for nugget in nuggets] == [BACK] * 3
    assert [nugget.duplicate for nugget in nuggets] == [False, True, True]
    assert [nugget.gain for nugget in nuggets] == [1.0, 0.0, 0.0]


def test_a_repetition_in_a_later_turn_costs_words_and_earns_nothing() -> None:
    nuggets = found(conversation(("go", BACK), ("more", f"again {BACK} and {TERMINATOR}")))
    assert [(nugget.turn, nugget.position, nugget.relevant) for nugget in nuggets] == [
        (1, 2, True),
        (2, 5, False),
        (2, 7, True),
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"[{BACK}]({BACK})",
        f"[{BACK} (1985)](<{BACK}>)",
        f"[see {BACK} there]({BACK})",
        f'<a href="{BACK}">{BACK}</a>',
        f"[http://imdb.com/title/tt0088763]({BACK})",
    ],
)
def test_a_link_whose_words_are_its_own_address_is_one_occurrence(text: str) -> None:
    (nugget,) = reply(text)
    assert not nugget.duplicate
    assert nugget.position == 1 + len(text.split())
    assert text[nugget.end - 3 : nugget.end] == BACK[-3:]


@pytest.mark.parametrize("between", [" ", " - ", ", ", " (", "\n"])
def test_an_address_written_twice_side_by_side_is_a_repetition(between: str) -> None:
    assert [nugget.duplicate for nugget in reply(f"{BACK}{between}{BACK}")] == [False, True]


def test_a_markdown_link_with_a_title_as_its_words_is_where_it_ends() -> None:
    (nugget,) = reply(f"1. [Back to the Future]({BACK}) a comedy")
    assert (nugget.entity, nugget.position, nugget.in_text) == (BACK, 6, True)


def test_links_to_other_hosts_and_other_pages_are_not_nuggets() -> None:
    assert (
        reply("https://imdb.com.evil.example/title/tt0088763/ https://www.imdb.com/name/nm0000116/ www.imdb.com") == ()
    )
    assert reply(f"![poster]({BACK}) and no more") == ()


def test_a_link_outside_the_text_is_at_the_last_word_of_its_turn_and_says_so() -> None:
    text = f"Here is one: {BACK} and that is all"
    first, second = reply(text, Link(BACK, BACK), Link("Terminator", TERMINATOR), Link("t", TERMINATOR))
    assert (first.position, first.in_text) == (5, True)
    assert (second.entity, second.position, second.in_text, second.start) == (TERMINATOR, 9, False, -1)


@pytest.mark.parametrize(
    ("sources", "places"),
    [
        ([Source(BACK, "B", 0, 5), Source(TERMINATOR, "T", 17, 21)], [(BACK, 0, 5, 2), (TERMINATOR, 17, 21, 6)]),
        ([Source(TERMINATOR, "T", 17, 21), Source(BACK, "B", 0, 5)], [(BACK, 0, 5, 2), (TERMINATOR, 17, 21, 6)]),
        ([Source(BACK, "B", 17, 21), Source(BACK, "B", 0, 5)], [(BACK, 0, 5, 2)]),
        ([Source(BACK), Source(TERMINATOR, "T", 17, 21)], [(TERMINATOR, 17, 21, 6), (BACK, -1, -1, 7)]),
        ([Source("https://example.org", "other", 0, 5)], []),
        ([Source(BACK, "B", 5, 9)], [(BACK, 6, 8, 3)]),
        ([Source(BACK, "B", 5, 6), Source(TERMINATOR, "T", 90, 99)], [(BACK, -1, -1, 7), (TERMINATOR, -1, -1, 7)]),
    ],
)
def test_a_source_is_where_the_system_says_it_is(
    sources: list[Source], places: list[tuple[str, int, int, int]]
) -> None:
    answer = Answer.of("Alpha is one and Beta another.", sources=sources)
    spoken = conversation(("go", answer.text))
    (turn,) = spoken.turns
    assert turn.reply is not None
    spoken = replace(spoken, turns=(replace(turn, reply=replace(turn.reply, answer=answer)),))
    assert [(one.entity, one.start, one.end, one.position) for one in found(spoken)] == places


def test_a_link_outside_the_text_to_an_entity_of_an_earlier_turn_is_a_repetition() -> None:
    spoken = conversation(("go", BACK), ("more", ""), links=[(), (Link("Back", BACK),)])
    assert [(nugget.position, nugget.duplicate) for nugget in found(spoken)] == [(2, False), (3, True)]


def test_an_entity_unknown_to_the_gold_table_is_unjudged_and_counted_once() -> None:
    unknown = movie("9999999")
    nuggets = reply(f"{unknown} {unknown} {movie('0110912')}")
    assert [nugget.grade for nugget in nuggets] == [None, None, 0]
    assert [nugget.unjudged for nugget in nuggets] == [True, False, False]
    assert not any(nugget.relevant for nugget in nuggets)


def test_an_unknown_group_of_a_relevant_entity_is_uniform_and_named() -> None:
    gold = GoldTable([GoldEntry("M002", BACK, 2, groups={"RATINGS": (0.0, 0.0, 0.0, 1.0)})])
    (nugget,) = found(conversation(("go", BACK)), gold)
    assert nugget.unknown == ("ORIGIN",)
    assert nugget.memberships == {"RATINGS": (0.0, 0.0, 0.0, 1.0), "ORIGIN": (0.125,) * 8}


def test_nonrelevant_entities_have_no_memberships() -> None:
    (nugget,) = reply(movie("0110912"))
    assert (nugget.memberships, nugget.unknown) == ({}, ())


def test_a_topic_type_without_a_kind_of_url_has_no_nuggets() -> None:
    assert found(conversation(("go", BACK)), topic=Topic("M002", CHAT, "chat")) == ()


def test_any_public_page_is_an_entity_if_the_topic_asks_for_pages() -> None:
    topic = Topic("R001", RESEARCHER, "list")
    spoken = conversation(
        ("go", "A. Person, https://example.edu/~person\n![x](https://example.edu/x.png)"), topic="R001"
    )
    assert [nugget.entity for nugget in found(spoken, GoldTable(), topic)] == ["https://example.edu/~person"]


def test_a_grade_without_a_gain_is_refused() -> None:
    gold = GoldTable([GoldEntry("M002", BACK, 3)])
    with pytest.raises(InputError, match="relevance grade 3") as fault:
        found(conversation(("go", BACK)), gold)
    assert "grades 0, 1, 2" in str(fault.value)


def test_positions_in_a_long_conversation_are_found_quickly() -> None:
    text = "\n".join(f"{filler(30)} {movie(number)}" for number in range(2_000))
    nuggets = found(conversation(("go", text), ("more", text)))
    assert [nugget.position for nugget in nuggets[:2]] == [32, 63]
    assert len(nuggets) == 4_000
    assert sum(nugget.duplicate for nugget in nuggets) == 2_000
    assert nuggets[-1].position == 2 + 2 * 31 * 2_000


@settings(deadline=None)
@given(st.lists(st.sampled_from([BACK, TERMINATOR, "words", "and [", "](", "\n", f"[x]({BACK})", "![", "<a href='"])))
def test_spans_are_in_the_text_in_order_and_name_their_entity(parts: list[str]) -> None:
    text = " ".join(parts)
    nuggets = reply(text)
    ends = [nugget.end for nugget in nuggets]
    assert ends == sorted(ends)
    firsts = [nugget.entity for nugget in nuggets if not nugget.duplicate]
    assert len(firsts) == len(set(firsts))
    for nugget in nuggets:
        assert 0 <= nugget.start < nugget.end <= len(text)
        assert nugget.position == 1 + len(text[: nugget.end].split())
