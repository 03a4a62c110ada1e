"""The GFRC paper's transcript text: read as people wrote it, and exact where we wrote it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from protocols.answer import Answer
from protocols.route import Choice, Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from recordings.formats.imports import check_system_name
from recordings.formats.transcript import parse_transcript, read_transcript
from recordings.formats.transcript_export import transcript_text, write_transcript
from recordings.formats.transcript_turns import IMPORT_RULE
from tests.support.checkout import DATA
from topics.errors import InputError
from topics.gold import GoldEntry, GoldTable
from topics.library import load_topics
from topics.links import Link, find_urls, links_in

TOPICS = load_topics("fairweb-45")
KIND = TOPICS["M002"].type.url

# Figure 5 of the GFRC paper (EVIA 2023): word counts in the balloons, grades, and titles.
FIGURE_5 = {
    "B1": {
        "tt0088763": (35, 2),
        "tt0088247": (39, 2),
        "tt0107048": (43, 2),
        "tt0816692": (46, 1),
        "tt0054387": (51, 2),
        "tt0114746": (91, 2),
        "tt0289879": (96, 2),
        "tt1276104": (99, 2),
        "tt1631867": (104, 2),
        "tt2397535": (107, 2),
    },
    "G1": {"tt0088763": (506, 2), "tt0816692": (560, 1)},
}


def positions(conversation: Conversation) -> dict[str, int]:
    """Position of the last word of every IMDb URL, by plain counting over the whole conversation."""
    assert KIND is not None
    found: dict[str, int] = {}
    before = ""
    for turn in conversation.turns:
        before += turn.said + "\n"
        assert turn.reply is not None
        text = turn.reply.answer.text
        for mention in find_urls(text):
            key = KIND.key(mention.href)
            if key:
                found.setdefault(key.split("/")[-2], len((before + text[: mention.end]).split()))
        before += text + "\n"
    return found


@pytest.mark.parametrize("system", ["B1", "G1"])
def test_figure_5_is_read_with_its_printed_positions(system: str) -> None:
    read = read_transcript(DATA / f"gfrc_m002_{system}.txt", system=system[0], trial=1, topics=TOPICS)
    assert read.warnings == ()
    (conversation,) = read.conversations
    assert conversation.key == TrialKey(system[0], "M002", 1)
    counted = positions(conversation)
    for name, (position, grade) in FIGURE_5[system].items():
        assert counted[name] == position
        entry = read.gold.get("M002", f"https://www.imdb.com/title/{name}/")
        assert entry is not None
        assert entry.grade == grade
    assert len(read.gold) == 10
    relevant = [entry for entry in read.gold if entry.grade]
    assert len(relevant) == len(FIGURE_5[system])
    assert all(set(entry.groups) == {"RATINGS", "ORIGIN"} for entry in relevant)


def test_figure_5_labels_titles_groups_and_notes() -> None:
    bing = read_transcript(DATA / "gfrc_m002_B1.txt", system="B", topics=TOPICS)
    google = read_transcript(DATA / "gfrc_m002_G1.txt", system="G", topics=TOPICS)
    assert [turn.label for turn in bing.conversations[0].turns] == ["o", "o"]
    assert [turn.label for turn in google.conversations[0].turns] == ["x", "o"]
    assert google.conversations[0].turns[0].reply is not None
    first = google.conversations[0].turns[0].reply.answer.text
    assert len(first.split()) == 452
    assert "http" not in first
    interstellar = bing.gold.get("M002", "https://www.imdb.com/title/tt0816692/")
    assert interstellar == GoldEntry(
        "M002",
        "https://www.imdb.com/title/tt0816692/",
        1,
        "Interstellar (2014)",
        {"RATINGS": (0, 0, 0, 1), "ORIGIN": (0, 2 / 3, 0, 0, 0, 1 / 3, 0, 0)},
    )
    assert interstellar.raw == {"RATINGS": "2M", "ORIGIN": "United States,United Kingdom,Canada"}
    last = bing.gold.get("M002", "https://www.imdb.com/title/tt2397535/")
    assert last is not None
    assert last.groups["ORIGIN"] == (0, 0.5, 0, 0, 0, 0, 0, 0.5)  # the line without a space before its note
    glued = google.gold.get("M002", "https://www.imdb.com/title/tt10375988/")
    assert glued is not None
    assert (glued.grade, glued.title) == (0, "Tenet (2020)")
    key = ("M002", "https://www.imdb.com/title/tt0112389/")
    assert google.notes[key] == 'wrong URL "The Thief and the Cobbler"'
    assert google.notes["M002", "https://www.imdb.com/title/tt1853739/"] == 'wrong URL "You\'re Next"'


def test_annotations_are_not_part_of_the_exchange() -> None:
    read = read_transcript(DATA / "gfrc_m002_B1.txt", system="B", topics=TOPICS)
    for turn in read.conversations[0].turns:
        assert turn.reply is not None
        assert "#" not in turn.reply.answer.text
        assert "wc=" not in turn.reply.answer.text


def test_a_count_that_does_not_agree_is_a_warning_with_its_line() -> None:
    text = (DATA / "gfrc_m002_B1.txt").read_text().replace("wc= 39", "wc= 40")
    read = parse_transcript(text, "b1.txt", system="B", topics=TOPICS)
    assert read.warnings == (
        "b1.txt:14: wc= 40, but the last word of https://www.imdb.com/title/tt0088247/ is word 39 of the conversation",
    )


SHORT = """##### M002
### U1
List films.
### S1 o
Looper: https://www.imdb.com/title/tt1276104/
#L2
### U2
More?
### S2 x
No.
##### M003
### U1
List westerns.
### S1
None.
"""


@pytest.mark.parametrize(
    "text",
    [
        SHORT,
        SHORT.replace("\n", "\r\n"),
        SHORT.replace("\n", "\r"),
        "\ufeff" + SHORT,
        re.sub(r"(#.*)\n", r"\1  \t\n", SHORT),
        SHORT.replace("\n### ", "\n\n\n### "),
        SHORT.rstrip("\n"),
        "\n \n" + SHORT,
        SHORT.replace("### U", "###U").replace("##### ", "#####"),
    ],
)
def test_messy_files_read_the_same(text: str) -> None:
    read = parse_transcript(text, "x.txt", system="B", trial=2, topics=TOPICS)
    assert read.warnings == ()
    first, second = read.conversations
    assert [turn.said for turn in first.turns] == ["List films.", "More?"]
    assert first.turns[0].reply is not None
    assert first.turns[0].reply.answer.text == "Looper: https://www.imdb.com/title/tt1276104/"
    assert [turn.label for turn in first.turns] == ["o", "x"]
    assert second.key == TrialKey("B", "M003", 2)
    assert second.turns[0].label is None
    assert second.valid
    assert [entry.entity for entry in read.gold] == ["https://www.imdb.com/title/tt1276104/"]


def test_a_missing_reply_makes_the_trial_invalid_and_says_so() -> None:
    text = SHORT.split("### S2")[0]
    read = parse_transcript(text, "x.txt", system="B", topics=TOPICS)
    assert read.conversations[0].outcome is not None
    assert read.conversations[0].outcome.kind == "invalid"
    assert read.conversations[0].turns[1].reply is None
    assert read.warnings == ("x.txt:7: no answer is recorded, so this trial is invalid (neither useful nor useless)",)


@pytest.mark.parametrize("ending", ["### U2\n### S2 -\n", "### U2\n\n### S2 -\n\n"])
def test_a_turn_that_never_came_is_a_breakdown(ending: str) -> None:
    read = parse_transcript(SHORT.split("### U2")[0] + ending, "x.txt", system="B", topics=TOPICS)
    (conversation,) = read.conversations
    assert conversation.outcome is not None
    assert conversation.outcome.kind == "breakdown"
    assert len(conversation.turns) == 1
    assert conversation.label(2) == "-"


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        (("##### M002\n", ""), "1:1", "the turn is before the first topic"),
        (("##### M002", "hello\n##### M002"), "1:1", "text before the first topic"),
        (("### U1\nList films", "hello\n### U1\nList films"), "2:1", "text before the first turn"),
        (("##### M002", "##### M999"), "1:7", "topic 'M999' is not in the topic set"),
        (("##### M002", "#####"), "1:1", "the topic has no name"),
        (("##### M003", "##### M002"), "11:1", "topic M002 is repeated (first in line 1)"),
        (("### U2", "### U3"), "7:1", "the next turn must be U2, not U3"),
        (("### U1\nList films.\n", ""), "2:1", "the next turn must be U1, not S1"),
        (("### S2 x", "### S2 y"), "9:1", "'y' is not a label"),
        (("### U2", "### U2 o"), "7:1", "a user turn has no label"),
        (("No.", "#L1"), "10:1", "the annotation has no URL before it in this turn"),
        (("#L2", "#Lx"), "6:2", "'#Lx' is not a grade\n  allowed: #L0 to #L9"),
        (("#L2", "#L"), "6:2", "'#L' is not a grade"),
        (("#L2", "#l2 good"), "6:2", "'#l2 good' is not a grade"),
        (("#L2", "#L10"), "6:2", "'#L10' is not a grade"),
        (("#L2", "#L -1 #note"), "6:2", "'#L -1 #note' is not a grade"),
        (("#L2", "#Lo\n#RATINGS: (0,0,1,0)"), "6:2", "'#Lo' is not a grade"),
        (("#L2", "#L2\n#L1"), "7:1", "already has grade L2 (see x.txt:6)"),
        (("#L2", "#L2\n#RATINGS: (0,0,1)"), "7:12", "RATINGS has 4 groups, but 3 shares are given here"),
        (("#L2", "#L2\n#RATINGS: (0,0,1,1)"), "7:12", "the shares of RATINGS sum to 2, not to 1"),
        (("#L2", "#L2\n#RATINGS: (0,0,1,a)"), "7:18", "'a' is not a share"),
        (("#L2", "#L2\n#RATINGS: (0,0,1,1/0)"), "7:18", "'1/0' is not a share"),
        (("#L2", "#L2\n#STARS: (0,1)"), "7:2", "no attribute set is called 'STARS'"),
        (("#L2", "#L2\n#RATINGS: (0,0,1,0)\n#RATINGS: (0,1,0,0)"), "8:1", "already has other shares of RATINGS"),
        (
            ("##### M002", "###### harvest-transcript/2 system=B\n##### M002"),
            "1:8",
            "version of a transcript is unknown",
        ),
        (("##### M002", "###### system=B trial=0\n##### M002"), "1:8", "trial=0 is not a number from 1"),
        (("##### M002", "###### system=B trial\n##### M002"), "1:8", "'trial' is not name=value"),
    ],
)
def test_faults_are_named_with_line_and_column(change: tuple[str, str], place: str, message: str) -> None:
    text = SHORT.replace(*change, 1)
    assert text != SHORT
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        parse_transcript(text, "x.txt", system="B", topics=TOPICS)
    assert str(caught.value).startswith(f"x.txt:{place}: ")


def test_a_system_must_be_named() -> None:
    with pytest.raises(InputError, match="does not name its system"):
        parse_transcript(SHORT, "x.txt", topics=TOPICS)
    read = parse_transcript(f"###### system=Bing%20Chat trial=3\n{SHORT}", "x.txt", topics=TOPICS)
    assert read.conversations[0].key == TrialKey("Bing Chat", "M002", 3)


def test_an_entity_without_a_grade_is_left_out_with_a_warning() -> None:
    read = parse_transcript(SHORT.replace("#L2", "#RATINGS: (0,0,1,0)"), "x.txt", system="B", topics=TOPICS)
    assert len(read.gold) == 0
    assert len(read.warnings) == 1
    assert read.warnings[0].startswith("x.txt:6: https://www.imdb.com/title/tt1276104/ has annotations but no grade")


@pytest.mark.parametrize("name", ["absent.txt", "."])
def test_files_that_cannot_be_read_are_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"no such file|this is a folder"):
        read_transcript(tmp_path / name, system="B")


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes("##### M002\n### U1\ncafé".encode("latin-1"))
    with pytest.raises(InputError, match=r"x\.txt:3:4: the byte 0xe9 is not UTF-8"):
        read_transcript(tmp_path / "x.txt", system="B")


def _joined(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def named(name: str) -> bool:
    """Whether an import takes it as the name of a system."""
    try:
        check_system_name(name)
    except InputError:
        return False
    return True


anything = st.text(st.characters(exclude_categories=())).map(_joined)
markup = st.sampled_from(
    [
        "##### M002",
        "### U1",
        "### S2 o",
        "#L2",
        "wc= 35",
        "WC=1",
        "#RATINGS: (0,0,0,1)",
        "#URL: x",
        "%20",
        "",
        " ",
        "\r",
    ]
)
escapes = st.sampled_from(
    ["\\", "\\#L2", '\\"x"', "###### harvest-transcript/1 system=B", "see https://example.org/a_(b)"]
)
texts = st.lists(st.one_of(markup, escapes, anything), max_size=6).map("\n".join)
words = st.text(st.characters(exclude_categories=()), max_size=8).map(_joined)
names = words.filter(bool)
times = st.sampled_from(["", "2026-01-31T12:00:00.123456+00:00"])
topic_ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,8}", fullmatch=True)


def _choices() -> st.SearchStrategy[Choice | None]:
    share, count = st.floats(0, 1), st.integers(0, 10**6)
    leaving, noise = st.dictionaries(words, share, max_size=2), st.dictionaries(words, st.tuples(count, count))
    known = st.builds(
        Choice, st.none() | share, leaving, words, st.none() | share, noise, st.dictionaries(words, count)
    )
    return st.none() | known


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    kinds, missing = st.sampled_from(["completed", "invalid", "breakdown"]), st.none() | st.integers(0, 9)
    outcome = draw(st.none() | st.builds(Outcome, kinds, words, words, missing, _choices()))
    count = draw(st.integers(1, 3))
    states = [draw(names.filter(lambda state: " " not in state)) for _ in range(count)]
    turns: list[Turn] = []
    for number, state in enumerate(states, 1):
        text = draw(texts)
        label = draw(st.none() | st.sampled_from(["o", "x"]))
        last = number == count
        plain = [("", "", "", ""), ("visitor", "ask", "", ""), ("x=%", "", "", "")]
        marked = [("visitor", "ask", "policy: empty 4", ""), ("probe", "ask", "", "a/2")]
        user, act, worded, session = draw(st.sampled_from([*plain, *marked]))
        choice = draw(_choices())
        if last and draw(st.booleans()):
            turns.append(Turn(number, state, draw(texts), None, None, user, act, worded, choice, session))
            break
        target = f"stop:{outcome.kind if outcome else 'interrupted'}" if last else states[number]
        route = Route(number, state, label, IMPORT_RULE, "1", (), target) if label else None
        links = draw(st.just(links_in(text)) | st.lists(st.builds(Link, words, words), max_size=2).map(tuple))
        reply = SystemTurn(Answer(text, links))
        turns.append(Turn(number, state, draw(texts), reply, route, user, act, worded, choice, session))
    return Conversation(
        key=TrialKey(draw(names.filter(named)), draw(topic_ids), draw(st.integers(1, 99))),
        trial_id=draw(names),
        attempt=draw(st.integers(1, 9)),
        turns=tuple(turns),
        outcome=outcome,
        session=draw(words),
        place=draw(st.integers(1, 9)),
        user=draw(names),
        worker=draw(words),
        started_at=draw(times),
        ended_at=draw(times) if outcome else "",
    )


PLAIN = Conversation(TrialKey("B", "M002", 1), "id", 1, (), Outcome("completed"))


@given(st.lists(conversations(), min_size=1, max_size=3, unique_by=lambda one: (one.key, one.attempt)))
@example([replace(PLAIN, turns=(Turn(1, "ask", "\r\n\r", SystemTurn(Answer("\r"))),))])
@example(
    [
        replace(
            PLAIN,
            turns=(
                Turn(
                    1,
                    "ask",
                    "",
                    SystemTurn(Answer("")),
                ),
            ),
        )
    ]
)
@example([replace(PLAIN, turns=(Turn(1, "ask", "\n\n", SystemTurn(Answer("\n"))),))])
@example([replace(PLAIN, turns=(Turn(1, "ask", "\ud83d", SystemTurn(Answer("a\0b\u2028c\x85d"))),))])
def test_written_transcripts_are_read_back_exactly(given: list[Conversation]) -> None:
    text = transcript_text(given)
    text.encode()
    assert list(parse_transcript(text, "x.txt").conversations) == given


def test_a_file_of_ours_survives_an_editor_that_ends_lines_with_cr_lf() -> None:
    given = [replace(PLAIN, turns=(Turn(1, "ask", "a\n\nb", SystemTurn(Answer("#L2\n\\ x\n"))),))]
    text = transcript_text(given).replace("\n", "\r\n")
    assert list(parse_transcript(text, "x.txt").conversations) == given


@pytest.mark.parametrize("system", ["B1", "G1"])
def test_gold_is_read_back_from_our_transcripts(system: str, tmp_path: Path) -> None:
    read = read_transcript(DATA / f"gfrc_m002_{system}.txt", system=system[0], topics=TOPICS)
    write_transcript(read.conversations, tmp_path / "x.txt", gold=read.gold, topics=TOPICS)
    again = read_transcript(tmp_path / "x.txt", topics=TOPICS)
    assert again.conversations == read.conversations
    assert again.gold == read.gold
    assert again.warnings == ()
    text = (tmp_path / "x.txt").read_text()
    for position, _ in FIGURE_5[system].values():
        assert f"\nwc= {position}\n" in text
    assert "#ORIGIN: (0,2/3,0,0,0,1/3,0,0) #United States,United Kingdom,Canada" in text


def test_several_judged_urls_on_one_line_are_distinguished() -> None:
    urls = [f"https://www.imdb.com/title/tt000000{i}/" for i in range(3)]
    given = [replace(PLAIN, turns=(Turn(1, "ask", "x", SystemTurn(Answer(" ".join(urls), links_in(" ".join(urls))))),))]
    gold = GoldTable(GoldEntry("M002", url, i, "") for i, url in enumerate(urls))
    text = transcript_text(given, gold=gold, topics=TOPICS)
    read = parse_transcript(text, "x.txt", topics=TOPICS)
    assert list(read.conversations) == given
    assert [entry.grade for entry in read.gold] == [0, 1, 2]
    assert read.warnings == ()


@pytest.mark.parametrize(
    "line", ["#Lx", "#L10", "#RATINGS (0,0,1,0)", "#RATINGS: (0,0,1,0", "wc= 3x", "#URL http://a.example"]
)
def test_an_invalid_annotation_in_our_file_is_refused_and_with_a_backslash_it_is_text(line: str) -> None:
    written = transcript_text([replace(PLAIN, turns=(Turn(1, "ask", "x", SystemTurn(Answer(f"a\n{line}"))),))])
    assert f"\n\\{line}\n" in written
    (conversation,) = parse_transcript(written, "x.txt").conversations
    assert conversation.turns[0].reply is not None
    assert conversation.turns[0].reply.answer.text == f"a\n{line}"
    refused = r"x\.txt:7:\d: .* is not (a grade|an annotation)\n  allowed: .*\n.*put a backslash"
    with pytest.raises(InputError, match=refused):
        parse_transcript(written.replace(f"\\{line}", line), "x.txt")


def test_markdown_headings_of_a_foreign_reply_are_text() -> None:
    reply = "# Films\n## Time travel\n#1 Looper\n### Notes\n#hashtag\n#L2-cache is not a grade\n#Love\n#LA\n#L’amour"
    text = f"##### M002\n### U1\nx\n### S1 x\n{reply}\n"
    (conversation,) = parse_transcript(text, "x.txt", system="B", topics=TOPICS).conversations
    assert conversation.turns[0].reply is not None
    assert conversation.turns[0].reply.answer.text == reply


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("trial=1000000000", "trial=1000000000 is not a number from 1 to 999999999"),
        ("missing=-1", "missing=-1 is not a number from 0"),
        ("most_turns=x", "most_turns=x is not a number from 0"),
        ("links={}", "links= is not a JSON list"),
        ("links=[[1]]", "links= contains something that is not [text, address]"),
        ("speakers=[1]", "each item of speakers= must be [user, act]"),
        ("judged=M002", "a judged entity needs entity=URL and grade=0 to 9"),
        ("judged=M002 entity=u grade=2 group:RATINGS=(1,1,0,0)", "(1,1,0,0) is not a vector of shares"),
        ("judged=M002 entity=u grade=2 group:RATINGS=(1,0)", "RATINGS has 4 groups, but 2 shares are given here"),
        ("judged=M999 entity=u grade=2", "topic 'M999' is not in the topic set"),
    ],
)
def test_a_damaged_line_of_ours_is_named(pair: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as fault:
        parse_transcript(f"###### harvest-transcript/1 system=B {pair}\n", "x.txt", topics=TOPICS)
    assert str(fault.value.place).startswith("x.txt:1:")


def test_gold_that_no_reply_mentions_is_read_back_too(tmp_path: Path) -> None:
    read = read_transcript(DATA / "gfrc_m002_B1.txt", system="B", topics=TOPICS)
    silent = [replace(one, turns=()) for one in read.conversations]
    write_transcript(silent, tmp_path / "x.txt", gold=read.gold, topics=TOPICS)
    assert read_transcript(tmp_path / "x.txt", topics=TOPICS).gold == read.gold


def test_a_label_must_be_one_of_ours_in_our_own_lines_too() -> None:
    text = "###### harvest-transcript/1 system=B\n##### M002\n### U1\nHi\n### S1 great\nHo\n"
    with pytest.raises(InputError, match="'great' is not a label"):
        parse_transcript(text, "x.txt")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("system=a@b", "cannot be the name of a system"),
        ("system=B outcome=Invalid", "'Invalid' is not an outcome: did you mean 'invalid'?"),
        ("system=B outcome=breakdown missing=999999", "missing=999999 is not a number from 0 to 10000"),
        ("system=B started_at=yesterday", "'yesterday' is not a time"),
    ],
)
def test_an_impossible_conversation_is_refused_with_its_line(words: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        parse_transcript(f"###### harvest-transcript/1 {words}\n##### M002\n### U1\nHi\n", "x.txt")
    assert caught.value.place is not None
    assert (caught.value.place.path, caught.value.place.line) == ("x.txt", 1)
