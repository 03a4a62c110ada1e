"""The sources of answers: which count, once in an answer, with what they support and what is known about them."""

from __future__ import annotations

from protocols.answer import Answer, Source
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.cited import CitedSource, find_cited
from scoring.settings import Citations
from scoring.words import passages
from topics.links import Link
from topics.source_table import SourceTable, parse_source_table

TABLE = parse_source_table("domain,kind,owner\nbbc.co.uk,broadcaster,BBC\nexample.org/blog,blog,\n", "s.csv")


def spoken(*answers: Answer) -> Conversation:
    turns = [Turn(number, "ask", "one two", SystemTurn(answer), None) for number, answer in enumerate(answers, 1)]
    return Conversation(TrialKey("A", "T1", 1), "A-T1-1", 1, tuple(turns), Outcome("completed"))


def cited(*answers: Answer, counted: Citations = "all", table: SourceTable = TABLE) -> tuple[CitedSource, ...]:
    conversation = spoken(*answers)
    return find_cited(conversation, table, counted, passages(conversation))


TEXT = "Rain [today](https://www.bbc.co.uk/weather), says https://www.bbc.co.uk/weather/ and ![x](https://x.org/p.png)."


def test_a_source_counts_once_in_an_answer_and_pictures_do_not() -> None:
    (one,) = cited(Answer.of(TEXT))
    assert (one.turn, one.order, one.name, one.domain) == (1, 1, "https://www.bbc.co.uk/weather", "bbc.co.uk")
    assert [TEXT[start:end] for start, end in one.spans] == [
        "https://www.bbc.co.uk/weather",
        "https://www.bbc.co.uk/weather/",
    ]
    assert one.positions == (4, 6)  # after the user's two words: Rain, [today](…),
    assert dict(one.groups) == {"kind": "broadcaster", "owner": "BBC"}
    assert len(cited(Answer.of(TEXT), Answer.of(TEXT))) == 2


def test_sources_beside_the_text_follow_it_and_support_it() -> None:
    sources = (
        Source("https://example.org/blog/a", "A blog", start=5, end=9),
        Source("https://t.co/x"),
        Source("", "A report without an address"),
        Source("https://example.org/about"),
    )
    found = cited(Answer.of("Rain soon, they say.", sources=sources))
    assert [(one.order, one.name, one.spans, one.positions) for one in found] == [
        (1, "https://example.org/blog/a", ((5, 9),), (4,)),
        (2, "https://t.co/x", (), (7,)),  # six words were said before
        (3, "A report without an address", (), (8,)),
        (4, "https://example.org/about", (), (9,)),
    ]
    assert [one.hidden for one in found] == [False, True, False, False]
    assert [(one.domain, one.group("kind")) for one in found] == [
        ("example.org", "blog"),
        ("", ""),
        ("", ""),
        ("example.org", ""),
    ]


def test_the_sources_that_count_are_a_setting() -> None:
    answer = Answer.of(
        "See https://a.org/1 and https://b.org/2.",
        more=[Link("c", "https://c.org/3"), Link("mail", "mailto:x@c.org")],
        sources=[Source("https://b.org/2"), Source("https://d.org/4")],
    )

    def domains(counted: Citations) -> list[str]:
        return sorted(one.domain for one in cited(answer, counted=counted))

    assert domains("all") == ["a.org", "b.org", "c.org", "d.org"]
    assert domains("linked") == ["a.org", "b.org"]
    assert domains("reported") == ["b.org", "c.org", "d.org"]


def test_one_page_by_two_ways_is_one_source_and_the_reported_span_counts() -> None:
    text = "Rain https://www.google.com/url?q=https%3A%2F%2Fbbc.co.uk%2Fa soon."
    (one,) = cited(Answer.of(text, sources=[Source("http://bbc.co.uk/a/", start=0, end=4)]))
    assert (one.name, one.spans) == ("https://bbc.co.uk/a", ((0, 4),))


def test_answers_without_sources() -> None:
    assert cited(Answer.of("No.")) == ()
    assert cited(Answer("")) == ()
