"""Measures of sources: shares of answers and citations, sites, and GF of exposure, against cases worked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from math import log2

import numpy as np
import pytest

from protocols.answer import Answer, Source
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.library import read_term
from scoring.notation import parse
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from scoring.table import ScoreRow, ScoreTable
from tests.support.scoring_examples import CHAT, topic_set
from topics.attributes import AttributeSet
from topics.errors import InputError
from topics.source_table import SourceTable, parse_source_table
from topics.topic import Topic, TopicSet

TABLE = parse_source_table(
    "domain,kind,owner,official\na.org,news,X & Co.,no\nb.org,news,Y,no\nc.org,blog,Y,\n"
    'gov.uk,authority,"Z ""the""",yes\n',
    "s",
)


def answer(*sites: str) -> Answer:
    return Answer.of("It rains.", sources=[Source(f"https://{site}") for site in sites])


def conversation(*answers: Answer, topic: str = "T1", trial: int = 1, system: str = "A") -> Conversation:
    turns = [Turn(number, "ask", "one two", SystemTurn(one), None) for number, one in enumerate(answers, 1)]
    return Conversation(TrialKey(system, topic, trial), f"{topic}-{trial}", 1, tuple(turns), Outcome("completed"))


def scored(
    conversations: Sequence[Conversation],
    *measures: str,
    table: SourceTable = TABLE,
    settings: Settings | None = None,
    invalid: Sequence[TrialKey] = (),
) -> ScoreTable:
    topics = replace(topic_set(*(Topic(f"T{number}", CHAT, "ask") for number in range(1, 10))), sources=table)
    terms = [parse(one) for one in measures]
    rng = np.random.default_rng(1)
    return score(
        conversations, topics, None, settings or Settings(), rng, measures=terms, only=True, invalid=invalid
    )  # fmt: skip


def whole(table: ScoreTable) -> dict[str, ScoreRow]:
    return {row.measure: row for row in table.rows if (row.topic, row.topic_type, row.trial) == (None, None, None)}


def values(conversations: Sequence[Conversation], *measures: str, table: SourceTable = TABLE) -> dict[str, float]:
    return {name: row.value for name, row in whole(scored(conversations, *measures, table=table)).items()}


# Two trials of T1 and one of T2: 5 answers, of which 4 show a source; 7 citations.
PLAYED = (
    conversation(answer("a.org", "a.org/x", "b.org"), answer()),
    conversation(answer("c.org"), answer("d.org"), trial=2),
    conversation(answer("hmrc.gov.uk/vat", "t.co/x"), topic="T2"),
)


def test_shares_of_answers_and_of_citations() -> None:
    """%sourced: T1 (1/2 + 2/2)/2, T2 1; so (3/4 + 1)/2. Citations: 3 of news, 1 of a blog, 1 of an authority, and 2 of
    which nothing is known: one of a site that the table lacks, one with a hidden page."""
    rows = whole(scored(PLAYED, "%sourced", "cites(kind, news)", "%citations(kind)", "%sourced(kind, news)", "domains"))
    assert {name: row.value for name, row in rows.items()} == pytest.approx(
        {
            "%sourced": 0.875,
            "cites(kind, news)": 0.25,  # one of two trials of T1, none of T2
            "%citations(kind, news)": 3 / 7,
            "%citations(kind, blog)": 1 / 7,
            "%citations(kind, authority)": 1 / 7,
            "%citations(kind, unknown)": 2 / 7,
            "%sourced(kind, news)": 0.125,
            "domains": 1.0,  # (2 + 0)/2 and (1 + 1)/2 of T1, 1 of T2
        }
    )
    assert (rows["%sourced"].n, rows["%citations(kind, news)"].n) == (5, 7)
    assert rows["%citations(kind, news)"].unknown == 2
    assert rows["%citations(kind, news)"].best == pytest.approx(5 / 7)  # if both unknown ones were news
    assert rows["%citations(kind, news)"].worst == pytest.approx(3 / 7)
    assert rows["%citations(kind, unknown)"].unknown == 0


def test_sites_and_official_sources() -> None:
    found = values(PLAYED, "%citations(a.org)", "%citations(www.a.org/x)", "%citations(official)", "cites(gov.uk)")
    assert found == pytest.approx(
        {
            "%citations(a.org)": 2 / 7,
            "%citations(a.org/x)": 1 / 7,
            "%citations(official, yes)": 1 / 7,
            "cites(gov.uk)": 0.5,
        }
    )


def test_a_single_turn_can_be_scored() -> None:
    found = values(PLAYED, "%sourced S2", "cites(kind, blog) S1", "%citations(kind, news) S1")
    assert found == pytest.approx({"%sourced S2": 0.5, "cites(kind, blog) S1": 0.25, "%citations(kind, news) S1": 0.5})


def test_names_with_other_characters_are_quoted() -> None:
    found = values(PLAYED, "%citations(owner)")
    assert list(found) == [
        '%citations(owner, "X & Co.")',
        "%citations(owner, Y)",
        '%citations(owner, "Z ""the""")',
        "%citations(owner, unknown)",
    ]
    assert values(PLAYED, *found) == found


def test_a_share_without_citations_is_undefined_and_not_zero() -> None:
    rows = whole(scored([conversation(answer())], "%sourced", "%citations(kind, news)", "GF_sources(kind)", "domains"))
    assert (rows["%sourced"].value, rows["domains"].value) == (0, 0)
    assert math.isnan(rows["%citations(kind, news)"].value)
    assert math.isnan(rows["GF_sources(kind)"].value)
    assert (rows["%citations(kind, news)"].n, rows["GF_sources(kind)"].n) == (0, 0)


def test_a_ratio_of_sums_is_not_a_mean_of_ratios() -> None:
    """1 of 1 and 0 of 9 citations: one in ten, not a half."""
    played = [conversation(answer("a.org")), conversation(answer(*(f"b.org/{i}" for i in range(9))), topic="T2")]
    assert values(played, "%citations(a.org)") == {"%citations(a.org)": 0.1}


def test_lost_trials_widen_the_bounds_and_not_the_figure() -> None:
    lost = [TrialKey("A", "T3", 1)]
    row = whole(scored(PLAYED, "%citations(a.org)", invalid=lost))["%citations(a.org)"]
    assert row.value == pytest.approx(2 / 7)
    assert row.invalid == 1
    assert row.worst < 2 / 7 < row.best


def test_gf_of_exposure_by_hand() -> None:
    """Kinds news, blog, authority; target (1/2, 1/2, 0).

    Answer 1 shows two pages of news and a blog: p = (2/3, 1/3, 0), q = (1/2, 1/2, 0), m = (7/12, 5/12, 0), so

        JSD = (2/3·log2(8/7) + 1/3·log2(4/5))/2 + (1/2·log2(6/7) + 1/2·log2(6/5))/2

    Answer 2 shows a blog: p = (0, 1, 0), m = (1/4, 3/4, 0), JSD = log2(4/3)/2 + (1/2·log2(2) + 1/2·log2(2/3))/2.
    Answer 3 shows nothing. So far, after answer 2: p = (2/4, 2/4, 0) = q, JSD = 0.
    """
    groups = ("news", "blog", "authority")
    table = replace(TABLE, attributes={"kind": AttributeSet("kind", "nominal", groups, (0.5, 0.5, 0.0))})
    first = (2 / 3 * log2(8 / 7) + 1 / 3 * log2(4 / 5)) / 2 + (log2(6 / 7) + log2(6 / 5)) / 4
    second = log2(4 / 3) / 2 + (1 + log2(2 / 3)) / 4
    played = [conversation(answer("a.org", "b.org", "c.org"), answer("c.org/2"), answer())]
    rows = whole(scored(played, "GF_sources(kind)", "GF_sources_cum(kind)", table=table))
    assert rows["GF_sources(kind)"].value == pytest.approx(1 - (first + second) / 2, abs=1e-12)
    assert rows["GF_sources_cum(kind)"].value == pytest.approx(1 - first / 2, abs=1e-12)
    assert rows["GF_sources(kind)"].n == 1


def test_gf_over_owners_with_an_unknown_one_by_hand() -> None:
    """Owners X, Y, Z, equal shares. The answer shows X and one source that nobody knows: p = (1/2 + 1/6, 1/6, 1/6) =
    (2/3, 1/6, 1/6), m = (1/2, 1/4, 1/4), JSD = (2/3·log2(4/3) + 1/3·log2(2/3))/2 + (1/3·log2(2/3) + 2/3·log2(4/3))/2.
    It is best if the unknown one is Y or Z: p = (1/2, 1/2, 0), m = (5/12, 5/12, 1/6), and worst if it is X."""
    table = parse_source_table("domain,owner\na.org,X\nb.org,Y\nc.org,Z\n", "s")
    row = whole(scored([conversation(answer("a.org", "d.org"))], "GF_sources(owner)", table=table))["GF_sources(owner)"]
    here = (2 / 3 * log2(4 / 3) + 1 / 3 * log2(2 / 3)) / 2 + (1 / 3 * log2(2 / 3) + 2 / 3 * log2(4 / 3)) / 2
    best = log2(6 / 5) / 2 + (2 / 3 * log2(4 / 5) + 1 / 3 * log2(2)) / 2
    worst = log2(3 / 2) / 2 + (1 / 3 * log2(1 / 2) + 2 / 3 * log2(2)) / 2
    assert row.value == pytest.approx(1 - here, abs=1e-12)
    assert row.worst == pytest.approx(1 - worst, abs=1e-12)
    assert row.best >= 1 - best - 1e-12  # the distribution may also lie between groups
    assert row.unknown == 1


def test_gf_weighted_by_position_by_hand() -> None:
    """L = 10; the user says 2 words, the answer 4. X supports words 3 and 4 of it (positions 5 and 6), Y nothing, so it
    comes after them, at position 7: pw = 1 - 4/10, 1 - 5/10 and 1 - 6/10. X has .6 + .5 of 1.5, Y .4."""
    sources = [
        Source("https://a.org", start=8, end=11),
        Source("https://a.org", start=12, end=15),
        Source("https://b.org"),
    ]
    played = [conversation(Answer.of("one two tri for", sources=sources))]
    table = parse_source_table("domain,owner\na.org,X\nb.org,Y\n", "s")
    x, y = 1.1 / 1.5, 0.4 / 1.5
    m, n = (x + 0.5) / 2, (y + 0.5) / 2
    expected = 1 - (x * log2(x / m) + y * log2(y / n)) / 2 - (log2(0.5 / m) + log2(0.5 / n)) / 4
    found = scored(played, "GF_sources(owner, weights=position)", table=table, settings=Settings(patience=10))
    assert whole(found)["GF_sources(owner, weights=position)"].value == pytest.approx(expected, abs=1e-12)


def test_the_sources_that_count_are_a_setting() -> None:
    said = Answer.of("See https://a.org/1.", sources=[Source("https://b.org/2")])
    for counted, expected in (("all", 0.5), ("linked", 1.0), ("reported", 0.0)):
        settings = Settings.of({"citations": counted})
        found = scored([conversation(said)], "%citations(a.org)", settings=settings)
        assert whole(found)["%citations(a.org)"].value == expected


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("%citations", "%citations: %citations takes at least 1 argument, not 0"),
        ("%citations(kid, news)", "%citations(kid, news): the table has no column 'kid': did you mean 'kind'?"),
        ("%citations(kind, new)", "%citations(kind, new): no row has the kind 'new': did you mean 'news'?"),
        ("cites(a..b)", "'.' is not allowed"),
        ("%sourced(kind, news, x)", "%sourced(kind, news, x): %sourced takes at most 2 arguments, not 3"),
        ("GF_sources(kind, weights=linear)", "GF_sources(kind, weights=linear): weights: linear is not allowed"),
        ("GF_sources(kind, by=RNOD)", "GF_sources(kind, by=RNOD): `by` does not fit kind, a set that is nominal"),
        ("domains(kind)", "domains(kind): domains takes 0 arguments, not 1"),
    ],
)
def test_an_unreadable_measure_is_refused(measure: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        scored(PLAYED, measure)
    assert message in str(caught.value)


def test_without_a_table_sites_can_be_requested_and_groups_cannot() -> None:
    assert values(PLAYED, "%citations(a.org)", table=SourceTable()) == {"%citations(a.org)": pytest.approx(2 / 7)}
    with pytest.raises(InputError, match="there is no table of sources"):
        scored(PLAYED, "%citations(kind)", table=SourceTable())


@pytest.mark.parametrize(
    "written", ["%sourced(turn=S9)", "cites(a.org, turn=x)", "%citations(a.org, turn=0)", "%useful(turn=S9)"]
)
def test_an_invalid_turn_is_refused(written: str) -> None:
    with pytest.raises(InputError, match="`turn` must be the number of a system turn"):
        read_term(parse(written), Settings(), TopicSet("none", (), {}), load_schema)
