"""Footnotes to answers: those of Figures 3 and 4 of the GFRC paper, echoes, and what is no reason for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.report.grid import grid_blocks
from harvest.studies.scores.scorecard import Material
from harvest.studies.validity.answer_notes import answer_notes
from harvest.studies.validity.echoes import _TOKEN, Echo, echo_sentences, find_echoes
from protocols.library import load_protocol
from recordings.conversations.conversation import Conversation, TrialKey
from recordings.formats.imports import record
from recordings.judged.judgments import Judgment, Layer
from recordings.log.header import make_header
from tests.support.command_line import harvest
from tests.support.scoring_examples import CHAT, MOVIE, RESEARCHER, conversation, movie, topic_set
from topics.topic import Topic

TOPICS = topic_set(
    Topic("M002", MOVIE, "?"), Topic("R011", RESEARCHER, "?"), Topic("R012", RESEARCHER, "?"), Topic("C1", CHAT, "?")
)
ASKED = "Please list up researchers who have published at least one paper (any track) at the {} conference."
AGAIN = 'Adhere to the output format I specified: "Format: researcher name, URL"'
REFUSED = "I'm unable to help you with that."
CONFUSED = "Here are some researchers who have published at least one paper (any track) at the KDD conference: none"
SHARED = "researchers who have published at least one paper (any track) at the KDD conference"


def at(one: Conversation, place: int, session: str = "B/1", started: str = "") -> Conversation:
    return replace(one, place=place, session=session, started_at=started)


def notes(*played: Conversation, layers: Sequence[Layer] = ()) -> list[tuple[str, int, str]]:
    return [(one.key.topic, one.turn, one.words) for one in answer_notes(played, TOPICS, layers)]


R011 = at(conversation((ASKED.format("KDD"), "Somebody"), topic="R011", system="B"), 1)
R012 = at(conversation((ASKED.format("SIGIR"), REFUSED), (AGAIN, CONFUSED), topic="R012", system="B", labels="xx"), 2)


def test_the_echo_in_the_paper_names_the_answer_and_the_words() -> None:
    """Figure 3, footnote 2: the answer to R012 (SIGIR) has words of R011 (KDD)."""
    assert find_echoes([R012, R011]) == (Echo(TrialKey("B", "R012", 1), 2, "R011", 1, SHARED),)
    (said,) = echo_sentences([R012, R011], ["B"])
    assert said == f"B, R012, trial 1: S2 has words of U1 of R011, asked earlier in the session: “{SHARED}”."
    assert list(echo_sentences([R012, R011], ["G"])) == []
    assert notes(R011, R012) == [("R012", 2, f"words of the earlier topic R011: “{SHARED}”")]


def test_words_not_asked_earlier_in_the_session_are_not_an_echo() -> None:
    assert find_echoes([at(R011, 3), R012]) == ()
    assert find_echoes([R011, at(R012, 1, "B/2")]) == ()
    assert find_echoes([replace(R011, key=replace(R011.key, trial=2), session="B/2"), R012]) == ()


def test_a_renewed_session_has_not_heard_the_topics_before_it() -> None:
    between = at(conversation(("Which films are about clocks?", "Primer"), topic="M002", system="B"), 1, "B/2", "2")
    assert find_echoes([replace(R011, started_at="1"), between, at(R012, 2, "B/2", "3")]) == ()


def test_a_renewed_session_that_is_resumed_has_only_heard_its_own_topics() -> None:
    """The first session ends at place 1, a second one is played to its end, then the first goes on."""
    plain = [
        conversation((ASKED.format(venue), "Nobody"), topic=topic, system="B")
        for topic, venue in (("R021", "CHIIR"), ("R022", "ECIR"), ("R023", "ICTIR"))
    ]
    second = [at(one, place, "B/2", f"2026-01-01T01:0{place}:00Z") for place, one in enumerate(plain, 1)]
    again = at(R012, 2, "B/1/2", "2026-01-01T02:00:00Z")
    (echo,) = find_echoes([at(R011, 1, "B/1", "2026-01-01T00:00:00Z"), *second, again])
    assert (echo.key.topic, echo.of) == ("R012", "R011")
    elsewhere = at(R011, 1, "B/2", "2026-01-01T01:01:00Z")
    assert find_echoes([at(plain[0], 1, "B/1", "2026-01-01T00:00:00Z"), elsewhere, *second[1:], again]) == ()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("विश्वविद्यालय", 1),
        ("दिल्ली विश्वविद्यालय", 2),
        ("தமிழ்நாடு", 1),
        ("two e\u0301cole words", 3),
        ("東京都", 3),
        ("เชียงใหม่", 7),
    ],
)
def test_marks_belong_to_the_preceding_word_or_character(text: str, tokens: int) -> None:
    assert len(_TOKEN.findall(text)) == tokens


def test_a_session_that_was_resumed_under_another_name_has_heard_them() -> None:
    assert len(find_echoes([replace(R011, started_at="1"), at(R012, 2, "B/1b", "2")])) == 1


def test_words_of_this_conversation_and_unprompted_words_are_not_an_echo() -> None:
    own = ASKED.format("SIGIR")[12:]
    assert find_echoes([R011, at(conversation((ASKED.format("SIGIR"), own), topic="R012", system="B"), 2)]) == ()
    alone = conversation((ASKED.format("SIGIR"), CONFUSED), topic="R012", system="G")
    assert find_echoes([R011, R012, alone]) == ()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("KDD会議で論文を発表した研究者は次のとおりです。", "KDD会議で論文を発表した研究者"),
        ("はい、論文を発表した研です。", "論文を発表した研"),
        ("はい、論文を発表したのです。", ""),
    ],
)
def test_eight_characters_without_blanks_are_as_long_as_four_words(answer: str, words: str) -> None:
    """論文を発表した研 has eight characters, 論文を発表した seven."""
    first = at(conversation(("KDD会議で論文を発表した研究者を教えて。", "?"), topic="R011", system="B"), 1)
    then = at(conversation(("機械学習の教科書を教えて。", answer), topic="R012", system="B"), 2)
    assert [echo.words for echo in find_echoes([first, then])] == ([words] if words else [])


def test_the_words_are_those_of_the_answer_even_if_folding_case_would_split_one() -> None:
    """A dotted capital I becomes two characters, of which the second belongs to no word."""
    first = at(conversation(("When is the İstanbul film festival held?", "?"), topic="R011", system="B"), 1)
    then = at(conversation(("And now?", "İ, İ: THE İSTANBUL film  festival."), topic="R012", system="B"), 2)
    assert [echo.words for echo in find_echoes([first, then])] == ["THE İSTANBUL film festival"]


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=9), min_size=2, max_size=2))
def test_an_echo_is_in_the_answer_and_in_the_words_of_the_earlier_topic(said: list[list[str]]) -> None:
    earlier, answer = (" ".join(words) for words in said)
    first = at(conversation((earlier, "?"), topic="R011", system="B"), 1)
    then = at(conversation(("And now?", answer), topic="R012", system="B"), 2)
    found = [echo.words for echo in find_echoes([first, then])]
    runs = [words for n in range(4, 10) for start in range(10 - n) if (words := " ".join(said[1][start : start + n]))]
    common = [words for words in runs if len(words.split()) > 3 and f" {words} " in f" {earlier} "]
    assert bool(found) == bool(common)
    assert all(words in common for words in found)


@pytest.mark.parametrize(
    ("topic", "answers", "expected"),
    [
        (
            "M002",
            [f"A {movie(1)} B {movie(2)}", f"C {movie(3)}, D {movie(1)}reviews"],
            [(2, "repeats an address of S1")],
        ),
        ("M002", [f"A {movie(1)}", f"B {movie(2)}", f"{movie(2)} {movie(1)}"], [(3, "of S1"), (3, "of S2")]),
        ("M002", ["https://example.org/ https://example.org/", "https://example.org/"], []),
        ("M002", [f"[A]({movie(1)}), [B]({movie(1)})"], [(1, "the same address 2 times, with different titles")]),
        ("M002", [f"[A]({movie(1)}), [A]({movie(1)})"], [(1, "the same address 2 times")]),
        ("M002", [f"{movie(1)} {movie(2)} " * 2 + movie(2)], [(1, "the same address 3 times")]),
        ("C1", ["https://example.org/ https://example.org/", "https://example.org/"], []),
    ],
)
def test_repeated_addresses(topic: str, answers: list[str], expected: list[tuple[int, str]]) -> None:
    found = notes(conversation(*(("?", answer) for answer in answers), topic=topic))
    assert [turn for _, turn, _ in found] == [turn for turn, _ in expected]
    assert all(words.endswith(end) for (_, _, words), (_, end) in zip(found, expected, strict=True)), found


def test_an_answer_in_another_language_is_named() -> None:
    sorry = "申し訳ありませんが、その情報を提供することはできません。"
    played = conversation((ASKED.format("KDD"), sorry), ("Adhere to the output format I specified, please.", REFUSED))
    assert notes(played) == [("M002", 1, "in Japanese, although the user wrote English")]


def test_peoples_notes_on_answers_are_footnotes_and_others_are_not() -> None:
    played = conversation(("Where?", "At AIRS 2022."), ("When?", "In May."))

    def layer(kind: str, author: str, turn: int, note: str, **more: str | int) -> Layer:
        about = {"trial": played.trial_id, "attempt": 1, "turn": turn, **more}
        return Layer(kind, author, judgments=(Judgment(about, "Correctness", 0.0, note),))

    layers = [
        layer("human", "ann", 1, "there was none in 2021"),
        layer("human", "ann", 1, "there was no\nAIRS 2022", start=3, end=12),
        layer("human", "ann", 1, "there was none in 2022"),
        layer("model", "judge", 2, "not seen"),
        layer("human", "ben", 2, "", start=0, end=2),
        layer("human", "ben", 2, "a friendly question", speaker="user"),
    ]
    assert notes(played, layers=layers) == [
        ("M002", 1, "Correctness: there was none in 2022"),
        ("M002", 1, "Correctness: there was no AIRS 2022"),
    ]


def test_the_grid_of_a_report_has_the_numbers_and_the_footnotes_below() -> None:
    again = [("?", f"A {movie(1)}"), ("?", f"A {movie(1)}")]
    played = [
        conversation(*again, system="B"),
        conversation(("?", f"A {movie(1)}"), ("?", f"B {movie(2)}"), system="B", trial=2),
        conversation(*again, system="G", trial=2),
        conversation(("?", f"{movie(1)} {movie(1)}"), ("?", movie(1)), system="G"),
    ]
    most = {("B", "M002"): 2, ("G", "M002"): 2}
    held = Material(topic_set(TOPICS.topics[0]), ("B", "G"), tuple(played), most, frozenset(), None, {}, (), ())
    blocks = list(grid_blocks(held, []))
    (row,) = next(one["grids"][0]["rows"] for one in blocks if "grids" in one)
    assert [cell.get("notes") for cell in row["cells"]] == [None, ["*1", ""], ["*2", ""], ["*1", "*1"]]
    assert row["cells"][1]["label"] == "M002, B, S2: 2 useful; footnote 1"
    (table,) = (block["table"] for block in blocks if "table" in block)
    assert [row[:3] for row in table["rows"]] == [
        ["*1", "repeats an address of S1", "3"],
        ["*2", "the same address 2 times", "1"],
    ]
    assert table["rows"][1][3] == {"text": "M002, G, S1, trial 1", "href": "#topic=M002&system=G&turn=1"}


def test_an_answer_with_the_same_note_by_several_people_is_one_answer_in_the_footnote() -> None:
    played = [conversation(("?", "At AIRS 2022."), system="B", trial=trial) for trial in (1, 2)]

    def layer(author: str, trial: int, **place: int) -> Layer:
        about: dict[str, str | int] = {"trial": played[trial - 1].trial_id, "attempt": 1, "turn": 1, **place}
        return Layer("human", author, judgments=(Judgment(about, "Correctness", 0.0, "made up"),))

    layers = (layer("ann", 1), layer("ben", 1), layer("ann", 1, start=3, end=12), layer("ann", 2))
    held = Material(
        topic_set(TOPICS.topics[0]), ("B",), tuple(played), {("B", "M002"): 1}, frozenset(), None, {}, (), (), layers
    )
    (table,) = (block["table"] for block in grid_blocks(held, []) if "table" in block)
    assert [row[:3] for row in table["rows"]] == [["*1", "Correctness: made up", "2"]]


def test_a_cell_that_counts_its_trials_has_each_number_once() -> None:
    again = [("?", f"A {movie(1)}"), ("?", f"A {movie(1)}")]
    played = [conversation(*again, labels="ox" if n % 2 else "oo", trial=n) for n in range(1, 13)]
    held = Material(
        topic_set(TOPICS.topics[0]), ("B1",), tuple(played), {("B1", "M002"): 2}, frozenset(), None, {}, (), ()
    )
    (row,) = next(one["grids"][0]["rows"] for one in grid_blocks(held, []) if "grids" in one)
    assert row["cells"][1]["marks"] == [("o", 6), ("x", 6)]
    assert row["cells"][1]["notes"] == ["", "*1"]


def test_the_page_shows_the_footnotes_and_the_variance_of_trials_names_the_echo(tmp_path: Path) -> None:
    header = make_header(
        audit={"name": "echo", "trials": 1},
        protocol=load_protocol("fairweb-two-round"),
        topics=topic_set(*TOPICS.topics[1:3]),
        systems={"B": {"name": "B", "driver": "python", "session": "continued"}},
    )
    record(tmp_path / "run", [R011, R012], header)
    assert harvest("report", "run", "--out", "page.html", cwd=tmp_path).returncode == 0
    shown = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert shown.count("<sup>") == 1
    assert '<span class="mark x">x</span><sup>*1</sup>' in shown
    assert f"<td>words of the earlier topic R011: “{SHARED}”</td>" in shown
    said = " ".join(harvest("variance", "run", cwd=tmp_path).stdout.split())
    assert f"note: B, R012, trial 1: S2 has words of U1 of R011, asked earlier in the session: “{SHARED}”." in said
