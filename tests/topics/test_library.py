"""Topic files: read strictly, found by name or by path, and kept whole inside a run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.checkout import DOCS
from topics.errors import InputError
from topics.kinds import KINDS, UrlKind
from topics.library import load_gold, load_topics, shipped_gold, shipped_topics
from topics.topic import Topic, TopicSet
from topics.topic_file import decode_topics, encode_topics

DOCS = DOCS / "topics.md"

SMALL = """\
format: harvest-topics/1
name: small
about: Two topics.
attributes:
  SIZE:
    scale: ordinal
    of: number of members
    bounds: [10, 1.5K]
    gold: {x < 10: 1, 10 <= x < 1.5K: 2, 1.5K <= x: 1}
  COLOUR:
    scale: nominal
    groups: [red, green]
types:
  club:
    asks_for: name, URL
    url: {hosts: [clubs.example], path: '/c/(?P<id>[a-z]+)', identity: 'https://clubs.example/c/{id}'}
    attributes: [SIZE, COLOUR]
  talk: {}
topics:
  - id: C1
    type: club
    request: Please list up chess clubs.
    subject: chess
    fields: {town: Ulm}
  - id: T.2
    type: talk
    turns: [Hello., 'Is 12:30 fine?']
    asks_for: anything
"""


def load(tmp_path: Path, text: str) -> TopicSet:
    path = tmp_path / "t.yaml"
    path.write_text(text, encoding="utf-8")
    return load_topics(path)


def test_a_topic_file_is_read_in_full(tmp_path: Path) -> None:
    topics = load(tmp_path, SMALL)
    assert (topics.name, topics.about) == ("small", "Two topics.")
    assert [topic.id for topic in topics.topics] == ["C1", "T.2"]
    club, talk = topics.topics
    assert (club.request, club.subject, club.asks_for, dict(club.fields)) == (
        *("Please list up chess clubs.", "chess", "name, URL", {"town": "Ulm"}),
    )
    assert club.type.url == UrlKind("club", ("clubs.example",), "/c/(?P<id>[a-z]+)", "", "https://clubs.example/c/{id}")
    assert (talk.turns, talk.asks_for, talk.type.url, talk.type.attributes) == (
        *(("Hello.", "Is 12:30 fine?"), "anything", None, ()),
    )
    size = topics.attributes["SIZE"]
    assert (size.bounds, size.groups, size.gold) == (
        *((10, 1500), ("x < 10", "10 <= x < 1.5K", "1.5K <= x"), (0.25, 0.5, 0.25)),
    )
    assert topics.attributes["COLOUR"].gold == (0.5, 0.5)


def test_a_topic_is_found_by_its_id(tmp_path: Path) -> None:
    topics = load(tmp_path, SMALL)
    assert topics["T.2"].id == "T.2"
    with pytest.raises(InputError, match=r"topic 'X' is not in the topic set 'small'"):
        topics["X"]


def test_some_topics_may_be_selected_and_the_rest_is_still_known(tmp_path: Path) -> None:
    topics = load(tmp_path, SMALL)
    some = topics.only(["T.2"])
    assert ([topic.id for topic in some.topics], some.left_out) == (["T.2"], ("C1",))
    with pytest.raises(InputError, match="not in the topic set"):
        some.only(["C1"])


def changed(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        (changed("harvest-topics/1", "harvest-topics/9"), "1:9", "not a topic file of a known version"),
        (changed("format: harvest-topics/1\n", ""), "1:1", "missing key 'format'"),
        (changed("name: small", "name: 2"), "2:7", "name: must be text (here: 2)"),
        (changed("name: small", "name: a b"), "2:7", "name: has characters that are not allowed here"),
        (changed("about:", "abuot:"), "3:1", "unknown key 'abuot': did you mean 'about'?"),
        (changed("scale: ordinal", "scale: cardinal"), "6:12", "scale: is not one of the words allowed here"),
        (changed("[10, 1.5K]", "[10, lots]"), "8:18", "'lots' is not a number"),
        (changed("[10, 1.5K]", "[10, 5-6]"), "8:18", "'5-6' is not one number"),
        (changed("[10, 1.5K]", "[10, 5]"), "9:11", "'10 <= x < 1.5K' is not a group"),
        (
            changed("x < 10: 1,", "x < 10: -1,"),
            "9:11",
            "gold: the count of x < 10 must be finite and not negative, but is -1",
        ),
        (changed("groups: [red, green]", "groups: [red, Red]"), "11:5", "COLOUR: the names of the groups must differ"),
        (
            changed("groups: [red, green]", "groups: [red]"),
            "11:5",
            "COLOUR: an attribute set needs at least two groups",
        ),
        (changed("    groups: [red, green]\n", ""), "11:5", "the set has no groups"),
        (changed("groups: [red, green]", "groups: [red, green]\n    gold: even"), "13:11", "unknown gold 'even'"),
        (changed("groups: [red, green]", "groups: [a, b]\n    mapping: moons"), "11:5", "unknown mapping 'moons'"),
        (changed("COLOUR:", "title:"), "11:5", "'title' is a column of every gold table"),
        (changed("attributes: [SIZE, COLOUR]", "attributes: [SIZE, COLOR]"), "17:24", "did you mean 'COLOUR'?"),
        (changed("attributes: [SIZE, COLOUR]", "attributes: [SIZE, SIZE]"), "17:24", "'SIZE' is listed twice"),
        (changed("talk: {}", "talk: {url: 7}"), "18:15", "url: must be text or a mapping (key: value) (here: 7)"),
        (changed("url: {hosts", "url: imdb-titel\n    x: {hosts"), "17:5", "unknown key 'x'"),
        (changed("talk: {}", "talk: {url: imdb-titel}"), "18:15", "did you mean 'imdb-title'?"),
        (changed("talk: {}", "talk: {url: {hosts: [], path: /x}}"), "18:23", "hosts:"),
        (changed("talk: {}", "talk: {url: {hosts: [a.org], path: '/('}}"), "18:15", "'/(' is not a regular expression"),
        (changed("talk: {}", "talk: {url: {hosts: ['https://a.org'], path: /x}}"), "18:15", "hosts must be names like"),
        (changed("type: club", "type: clubb"), "21:11", "unknown type 'clubb': did you mean 'club'?"),
        (changed("id: T.2", "id: C1"), "25:9", "the id 'C1' is already used by the topic at line 20"),
        (changed("id: T.2", "id: T 2"), "25:9", "id: has characters that are not allowed here"),
        (changed("id: T.2", "id: 2"), "25:9", "id: must be text (here: 2)"),
        (
            changed("    request: Please list up chess clubs.\n", ""),
            "20:5",
            "topic 'C1' has neither a request nor turns",
        ),
        (changed("Please list up chess clubs.", "' '"), "20:5", "topic 'C1' has neither a request nor turns"),
        (changed("[Hello., ", "[' ', "), "27:13", "the turn is empty"),
        (changed("fields: {town: Ulm}", "fields: {year: 1984}"), "24:20", "year: must be text (here: 1984)"),
        (SMALL[: SMALL.index("topics:\n")] + "topics: []\n", "19:9", "the topic set is empty"),
        (SMALL[: SMALL.index("topics:\n")], "1:1", "missing key 'topics'"),
        (changed("id: T.2", "id: T.2\n    id: T.3"), "26:5", "duplicate key 'id'"),
    ],
)
def test_every_fault_has_a_place(tmp_path: Path, text: str, place: str, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        load(tmp_path, text)
    assert str(caught.value.place) == f"{tmp_path / 't.yaml'}:{place}"


def test_files_that_come_with_harvest_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped_topics() == ("fairweb-45",)
    assert shipped_gold() == ("parrot",)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fairweb-45").mkdir()  # a run folder of that name must not be taken for the topics
    topics = load_topics("fairweb-45")
    assert len(topics.topics) == 45
    assert len(load_gold("parrot", topics)) == 1080


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="did you mean 'fairweb-45'") as caught:
        load_topics("fairweb45")
    assert caught.value.allowed == "fairweb-45"
    with pytest.raises(InputError, match="no gold table called 'parot' comes with Harvest: did you mean 'parrot'"):
        load_gold("parot", load_topics("fairweb-45"))
    with pytest.raises(InputError, match="no such file"):
        load_topics("none/t.yaml")


@pytest.mark.parametrize("text", [SMALL, None])
def test_a_set_is_read_back_from_its_json_value(tmp_path: Path, text: str | None) -> None:
    topics = load(tmp_path, text) if text else load_topics("fairweb-45")
    value = json.loads(json.dumps(encode_topics(topics), allow_nan=False))
    assert decode_topics(value) == topics
    some = topics.only([topics.topics[-1].id])
    assert decode_topics(json.loads(json.dumps(encode_topics(some)))) == some
    assert encode_topics(decode_topics(value)) == value


def test_the_json_value_is_a_topic_file(tmp_path: Path) -> None:
    topics = load_topics("fairweb-45")
    assert load(tmp_path, json.dumps(encode_topics(topics), indent=1)) == topics


def test_a_damaged_json_value_is_one_clear_message() -> None:
    value = encode_topics(load_topics("fairweb-45"))
    damages: tuple[object, ...] = (
        {**value, "topics": []},
        {**value, "types": {}},
        {**value, "format": "x"},
        [],
        None,
        "x",
    )
    for damage in damages:
        with pytest.raises(InputError, match=r"run\.json: "):
            decode_topics(damage)
    with pytest.raises(InputError, match="request: must be text"):
        decode_topics({**value, "topics": [{**value["topics"][0], "request": 3}]})


def test_two_types_with_one_name_cannot_be_saved() -> None:
    topics = load_topics("fairweb-45")
    first = topics.topics[0]
    other = Topic("X1", replace(first.type, asks_for="title"), "x")
    with pytest.raises(InputError, match="two different topic types are called 'movie'"):
        encode_topics(replace(topics, topics=(first, other)))


# ------------------------------------------------------------------------- fairweb-45


def test_fairweb_45_has_the_ids_and_types_of_the_task() -> None:
    topics = load_topics("fairweb-45").topics
    assert [topic.id for topic in topics] == [f"{letter}{n:03}" for letter in "MRY" for n in range(1, 16)]
    assert [topic.type.name for topic in topics] == ["movie"] * 15 + ["researcher"] * 15 + ["youtube"] * 15
    assert {topic.type.url for topic in topics} == {KINDS[name] for name in ("imdb-title", "web-page", "youtube-video")}
    assert {(topic.type.name, topic.type.attributes) for topic in topics} == {
        ("movie", ("RATINGS", "ORIGIN")),
        ("researcher", ("HINDEX", "PRONOUN")),
        ("youtube", ("SUBSCS",)),
    }


def test_the_published_wordings_are_exact() -> None:
    # GFRC paper (EVIA 2023): Figure 5 and section 4.1
    topics = load_topics("fairweb-45")
    assert topics["M002"].request == "Please list up sci-fi movies that feature time travel, listed in IMDb."
    assert topics["M002"].asks_for == "movie title, iMDB URL"
    assert topics["R001"].request == (
        "Please list up researchers who have published at least one paper (any track) at the CHIIR conference."
    )
    assert topics["R001"].asks_for == "researcher name, URL"
    assert topics["M001"].asks_for == "movie title, IMDb URL"
    assert topics["Y001"].asks_for == "video title, youtube URL"
    assert (topics["R011"].subject, topics["R012"].subject) == ("KDD", "SIGIR")


def test_every_request_keeps_its_pattern_and_is_unlike_the_others() -> None:
    topics = load_topics("fairweb-45").topics
    patterns = {
        "movie": r"Please list up .*movies .+, listed in IMDb\.|Please list up .+ movies, listed in IMDb\.",
        "researcher": r"Please list up researchers who have published .+ \(any track\) at the [A-Za-z]+ conference\.",
        "youtube": r"Please list up YouTube videos that show .+\.",
    }
    for topic in topics:
        assert re.fullmatch(patterns[topic.type.name], topic.request), topic.request
        assert topic.subject
    folded = [topic.request.casefold() for topic in topics]
    assert not any(a in b for i, a in enumerate(folded) for j, b in enumerate(folded) if i != j)


def test_the_docs_say_whose_each_wording_is() -> None:
    topics = load_topics("fairweb-45").topics
    by_wording: dict[str, list[str]] = {}
    for topic in topics:
        by_wording.setdefault(topic.fields["wording"], []).append(topic.id)
    assert by_wording["published"] == ["M002", "R001"]
    assert by_wording["known-subject"] == ["R011", "R012"]
    assert len(by_wording["ours"]) == 41
    rows = [f"| {topic.id} | {topic.fields['wording']} | {topic.request} |" for topic in topics]
    assert "\n".join(rows) in DOCS.read_text(encoding="utf-8"), "\n".join(rows)
