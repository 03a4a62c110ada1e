"""M-measure of two-layered summaries."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answer import Answer, Source
from recordings.conversations.conversation import Conversation
from scoring.conversations import figure
from scoring.figure import Figure
from scoring.library import read_term
from scoring.measures.u_measure import Piece, m_measure, reading_positions, trailtext, u_measure
from scoring.notation import parse
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from tests.support.command_line import harvest
from tests.support.scoring_examples import conversation, movie, seen, topic_set
from topics.attributes import AttributeSet
from topics.gold import GoldEntry, GoldTable
from topics.kinds import KINDS
from topics.topic import Topic, TopicType

FIRST = (Piece(20, "born"), Piece(10, link="films"), Piece(10, link="life"), Piece(20, "prize"))
SECOND = {"films": (Piece(40, "first film"), Piece(40, "prize")), "life": (Piece(60, "school"),)}
WORTH = {"films": {"first film": 3, "prize": 2, "born": 1}, "life": {"school": 3, "born": 2, "prize": 1}}


def utility(intent: str) -> float:
    found = reading_positions(trailtext(FIRST, SECOND, intent))
    return u_measure([WORTH[intent].get(name, 0) for name in found], list(found.values()), 200)


def test_a_user_reads_to_the_link_then_the_text_behind_it_then_on() -> None:
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


def test_the_r_of_the_example_tree_is_the_m_of_its_three_paths() -> None:
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


def test_a_link_without_a_text_behind_it_is_refused() -> None:
    with pytest.raises(ValueError, match="no text for the link to 'films'"):
        trailtext(FIRST, {"life": ()}, "life")


def test_without_trailtexts_m_is_undefined() -> None:
    assert math.isnan(m_measure([], []))


# Intents: who asks for films of Asia (probability .7), and who asks for films of Europe (.3).
INTENT = AttributeSet("INTENT", "nominal", ("Asia", "Europe"), (0.7, 0.3))
ASKED = Topic("M002", TopicType("movie", "movie title, IMDb URL", KINDS["imdb-title"], ("INTENT",)), "ask")
OLD, FRENCH, NEW, LINK = movie(1), movie(2), movie(3), "https://films.example/asia"
# With the user's word: the link is word 3, OLD word 5 and FRENCH word 7.
SAID = f"Films: {LINK} and {OLD} and {FRENCH}"
ASIA = Source(LINK, "asia", place="text", text=f"First {OLD} then {NEW}")
EUROPE = Source(FRENCH, "A French film", place="text", text=f"It is {NEW} in colour {FRENCH}")
SHARES: Mapping[str, tuple[float, ...]] = {OLD: (1.0, 0.0), FRENCH: (0.0, 1.0), NEW: (1.0, 0.0)}


def told(*sources: Source) -> Conversation:
    talk = conversation(("films?", SAID))
    (turn,) = talk.turns
    assert turn.reply is not None
    answer = replace(turn.reply.answer, sources=sources)
    return replace(talk, turns=(replace(turn, reply=replace(turn.reply, answer=answer)),))


def measured(
    talk: Conversation, name: str = "M-measure(INTENT, L=20)", shares: Mapping[str, tuple[float, ...]] = SHARES
) -> Figure:
    """OLD and NEW are perfect, and FRENCH is half as good."""
    gold = GoldTable(
        GoldEntry("M002", url, grade, "", MappingProxyType({"INTENT": shares[url]} if url in shares else {}))
        for url, grade in ((OLD, 2), (FRENCH, 1), (NEW, 2))
    )
    (measure,) = read_term(parse(name), Settings(), topic_set(ASKED, attributes=[INTENT]), load_schema())
    material = replace(seen(talk, ASKED, gold), attributes=MappingProxyType({"INTENT": INTENT}))
    found = figure(material.under(measure.settings), measure)
    assert found is not None
    return found


def test_a_user_opens_the_text_behind_the_first_link_for_their_own_intent() -> None:
    """Asia: the link is word 3, OLD is read at 5 (behind it) and NEW at 7. Europe: FRENCH is read at 7, as before."""
    found = measured(told(ASIA))
    asia = (1 - 4 / 20) + (1 - 6 / 20)
    assert found.value == pytest.approx(0.7 * asia + 0.3 * 0.5 * (1 - 6 / 20))
    assert (found.n, found.unjudged, found.unknown, found.note) == (3, 0, 0, "")


def test_text_after_an_opened_link_is_read_later() -> None:
    """Europe opens the text at its link, word 7: FRENCH has been read there. Asia has OLD at 5, and no link."""
    found = measured(told(EUROPE))
    assert found.value == pytest.approx(0.7 * (1 - 4 / 20) + 0.3 * 0.5 * (1 - 6 / 20))
    long = replace(ASIA, text="nothing but six words of praise")
    later = 0.7 * (1 - 10 / 20) + 0.3 * 0.5 * (1 - 6 / 20)  # OLD moves from 5 to 11
    assert measured(told(long)).value == pytest.approx(later)
    assert measured(told(replace(long, place="card", href=""))).value == pytest.approx(
        0.7 * (1 - 4 / 20) + 0.3 * 0.5 * (1 - 6 / 20)
    ), "a card without an address comes after the turn"
    at_the_end = replace(long, href="", start=0, end=len("Films:"))
    assert measured(told(at_the_end)).value == pytest.approx(later), "the source of a passage is read there"


def test_the_first_of_two_texts_for_an_intent_is_opened_and_a_text_without_an_intent_is_not() -> None:
    other = Source("https://films.example/more", "more", text=f"x y {NEW} z")
    found = measured(told(ASIA, replace(ASIA, href=OLD, text="much too late"), other))
    assert found.value == pytest.approx(measured(told(ASIA)).value)
    assert "1 text behind a link of unknown intent, which nobody opens" in found.note
    by_gold = measured(told(replace(ASIA, title="")))
    assert "1 text behind a link of unknown intent" in by_gold.note, "its address is no entity"


def test_without_links_for_the_intents_m_is_u_ia_and_without_any_text_it_is_undefined() -> None:
    other = Source("https://films.example/more", "more", text="x y z")
    assert measured(told(other)).value == pytest.approx(measured(told(), "U-IA(INTENT, L=20)").value)
    for talk in (
        told(),
        told(Source(LINK, "Asia")),
        told(Source(LINK, "Asia", text=" ")),
        conversation(("?", "None.")),
    ):
        found = measured(talk)
        assert math.isnan(found.value)
        assert (found.n, found.note) == (0, "no answer has a text behind a link")


def test_an_entity_of_unknown_intent_bounds_the_measure() -> None:
    found = measured(told(ASIA), shares={OLD: (1.0, 0.0), FRENCH: (0.0, 1.0)})
    europe = 0.5 * (1 - 6 / 20)
    assert found.value == found.worst == pytest.approx(0.7 * (1 - 4 / 20) + 0.3 * europe)
    assert found.best == pytest.approx(0.7 * ((1 - 4 / 20) + (1 - 6 / 20)) + 0.3 * europe)
    assert found.unknown == 1


PLACES = st.lists(st.sampled_from([OLD, FRENCH, NEW, "a", "word"]), max_size=9)


@given(PLACES, st.lists(st.tuples(st.sampled_from(["Asia", "Europe", "x"]), PLACES), min_size=1, max_size=3))
def test_the_measure_by_intent_is_m_of_the_trailtexts_of_the_intents(
    first: list[str], links: list[tuple[str, list[str]]]
) -> None:
    """The trailtexts are made by the functions of the paper's summaries, word by word."""
    hrefs = [f"https://films.example/{number}" for number in range(len(links))]
    talk = conversation(("?", " ".join([*first, *hrefs, *first])))
    (turn,) = talk.turns
    assert turn.reply is not None
    sources = tuple(Source(href, name, text=" ".join(["see", *own])) for href, (name, own) in zip(hrefs, links))
    answer = Answer(turn.reply.answer.text, sources=sources)
    talk = replace(talk, turns=(replace(turn, reply=replace(turn.reply, answer=answer)),))

    def piece(word: str, link: str | None = None) -> Piece:
        return Piece(1, word if word in SHARES else None, link)

    opens: dict[str, str] = {}
    for href, (name, _) in zip(hrefs, links):
        opens.setdefault(name, href)
    second = {href: [piece("see"), *map(piece, own)] for href, (_, own) in zip(hrefs, links)}
    summary = [piece("?"), *map(piece, first), *(piece(href, href) for href in hrefs), *map(piece, first)]
    worth = {OLD: 1.0, FRENCH: 0.5, NEW: 1.0}
    utilities = []
    for intent, group in enumerate(INTENT.groups):
        read = reading_positions(trailtext(summary, second, opens.get(group)))
        own = [name for name in read if SHARES[name][intent]]
        utilities.append(u_measure([worth[name] for name in own], [read[name] - 1 for name in own], 20))
    assert measured(talk).value == pytest.approx(m_measure([0.7, 0.3], utilities), abs=1e-12)


def test_a_recording_contains_the_second_layer_of_an_import(tmp_path: Path) -> None:
    row = {
        "messages": [{"role": "user", "content": "films?"}, {"role": "assistant", "content": SAID}],
        "metadata": {
            "system": "A",
            "topic": "M002",
            "trial": 1,
            "parts": [{"sources": [{"href": LINK, "title": "asia", "place": "text", "text": ASIA.text}]}],
        },
    }
    (tmp_path / "talks.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "films.yaml").write_text(TOPIC_FILE, encoding="utf-8")
    table = f"topic,entity,grade,INTENT\nM002,{OLD},L2,Asia\nM002,{FRENCH},L1,Europe\nM002,{NEW},L2,Asia\n"
    (tmp_path / "gold.csv").write_text(table, encoding="utf-8")
    files = ("--topics", tmp_path / "films.yaml", "--gold", tmp_path / "gold.csv", "--out", tmp_path / "run")
    done = harvest("data", "import", "--format", "messages", tmp_path / "talks.jsonl", *files)
    assert done.returncode == 0, done.stderr
    scored = harvest("score", tmp_path / "run", "-m", "M-measure(INTENT, L=20)", "--json")
    assert scored.returncode == 0, scored.stderr
    rows = json.loads(scored.stdout)["rows"]
    values = [one["value"] for one in rows if one["trial"] == 1 and one["measure"] == "M-measure(INTENT, L=20)"]
    assert values
    assert values == pytest.approx([measured(told(ASIA)).value] * len(values))
    exported = tmp_path / "again.jsonl"
    assert harvest("data", "export", tmp_path / "run", "--format", "messages", "--out", exported).returncode == 0
    assert json.loads(exported.read_text(encoding="utf-8"))["metadata"]["parts"] == row["metadata"]["parts"]  # type: ignore[index]


TOPIC_FILE = """format: harvest-topics/1
name: films
attributes:
  INTENT: {scale: nominal, groups: [Asia, Europe], gold: {Asia: 0.7, Europe: 0.3}}
types:
  movie: {asks_for: "movie title, IMDb URL", url: imdb-title, attributes: [INTENT]}
topics:
  - {id: M002, type: movie, request: "films?"}
"""
