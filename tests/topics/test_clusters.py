"""Clusters of topics: as a file names them, and requests that are nearly the same."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.clusters import assign_clusters, clusters_of, joined_clusters, nearly_equal_topics, nearly_same_note
from topics.document import parse_document
from topics.errors import InputError
from topics.library import load_topics
from topics.topic import Topic, TopicSet, TopicType
from topics.topic_file import decode_topics, encode_topics, read_topics

FILM = TopicType("film")
FILE = """format: harvest-topics/1
name: some
types: {film: {}}
topics:
  - {id: T1, type: film, request: Films about bees., cluster: bees}
  - {id: T2, type: film, request: Bee films., cluster: bees}
  - {id: T3, type: film, request: Films about bakers.}
"""


def asking(*requests: str, kind: TopicType = FILM) -> tuple[Topic, ...]:
    return tuple(Topic(f"T{number}", kind, request) for number, request in enumerate(requests, 1))


def test_a_file_names_clusters_and_a_run_keeps_them() -> None:
    topics = read_topics(parse_document(FILE, "t.yaml"))
    assert [topic.cluster for topic in topics.topics] == ["bees", "bees", None]
    assert clusters_of(topics.topics) == (0, 0, 1)
    assert decode_topics(json.loads(json.dumps(encode_topics(topics)))) == topics


def test_a_set_without_clusters_is_written_as_before() -> None:
    assert "cluster" not in json.dumps(encode_topics(load_topics("fairweb-45")))


@pytest.mark.parametrize("written", ["two words", "''", "3", "[a]"])
def test_a_cluster_is_a_name(written: str) -> None:
    with pytest.raises(InputError, match=r"t\.yaml:7:.*cluster"):
        read_topics(parse_document(FILE.replace("bakers.}", f"bakers., cluster: {written}}}"), "t.yaml"))


def test_a_cluster_with_the_name_of_a_topic_is_not_that_topic() -> None:
    one, two, three = asking("a", "b", "c")
    assert clusters_of((one, replace(two, cluster="T1"), replace(three, cluster="T1"))) == (0, 1, 1)


def test_sets_join_clusters_that_share_a_topic_in_any_order() -> None:
    one, two, three, four = asking("a", "b", "c", "d")
    sets = [
        TopicSet("x", (replace(one, cluster="q"), replace(two, cluster="q"), three), {}),
        TopicSet("y", (two, replace(three, cluster="z"), replace(four, cluster="z")), {}),
        TopicSet("z", (replace(two, cluster="m"), replace(four, cluster="m")), {}),
    ]
    for order in (sets, sets[::-1]):
        joined = joined_clusters(order)
        assert joined == dict.fromkeys(("T1", "T2", "T3", "T4"), "m")
    kept = assign_clusters((one, two), {"T2": "m"})
    assert [topic.cluster for topic in kept] == [None, "m"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Please list up movies about beekeepers, listed in IMDb.",
            "please list movies about beekeepers listed in IMDB",
        ),
        ("How do I cook rice?", "Please, how do I cook rice?"),
        ("Rice: how do I cook it?", "how do I cook it, rice"),
        (
            "Which sci-fi films feature time travel and were made before 1990?",
            "Which sci-fi movies feature time travel and came out before 1990?",
        ),
        ("東京のおすすめのラーメン屋を教えて", "東京のおすすめのラーメン屋を教えてください"),
    ],
)
def test_requests_that_differ_in_few_words_are_named(one: str, other: str) -> None:
    others = ("What is the weather in Oslo today?", "Who wrote the first dictionary?", "How far away is the moon?")
    assert nearly_equal_topics(asking(one, *others, other)) == [("T1", "T5")]


@pytest.mark.parametrize(
    "requests",
    [
        ("Please list up movies about bees, listed in IMDb.", "Please list up movies about bakers, listed in IMDb."),
        tuple(f"Please list up researchers who published at {name}." for name in ("KDD", "SIGIR", "ECIR", "WSDM")),
        ("What is the capital of France?", "How do I cook rice?", "How do I fix a flat tyre?", "Who was Ada Lovelace?"),
    ],
)
def test_requests_in_one_frame_about_different_things_are_not(requests: tuple[str, ...]) -> None:
    assert nearly_equal_topics(asking(*requests)) == []


def test_topics_of_two_types_or_of_a_common_cluster_are_not_named() -> None:
    one, two = asking("How do I cook rice?", "How do I cook rice, please?")
    assert nearly_equal_topics((one, two)) == [("T1", "T2")]
    assert nearly_equal_topics((one, replace(two, type=TopicType("recipe")))) == []
    assert nearly_equal_topics((replace(one, cluster="rice"), replace(two, cluster="rice"))) == []
    assert nearly_equal_topics((replace(one, cluster="rice"), replace(two, cluster="food"))) == [("T1", "T2")]


def test_the_note_names_the_first_groups_and_counts_the_others() -> None:
    assert nearly_same_note(nearly_equal_topics(asking("a b c d", "e f g h"))) == ""
    requests = [f"{word} {word}er {word}ing {word}ed" for word in ("cook", "talk", "walk", "jump", "help")]
    note = nearly_same_note(nearly_equal_topics(asking(*requests, *(f"{request} please" for request in requests))))
    assert "T1, T6; T2, T7; T3, T8; and 2 more groups" in note
    assert "`cluster`" in note


def test_every_group_among_a_thousand_topics_is_found() -> None:
    drawn = random.Random(1)
    words = [f"w{number}" for number in range(3000)]
    wordings = [drawn.choices(words, k=12) for _ in range(200)]
    topics = asking(*("tell me " + " ".join(drawn.sample(wordings[n // 5], 11)) for n in range(1000)))
    found = nearly_equal_topics(topics)
    assert [len(group) for group in found] == [5] * 200


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from([*"abcdefghij", *(f"w{n}" for n in range(12))]), max_size=17).map(" ".join),
            st.sampled_from([None, None, "m", "n"]),
        ),
        max_size=14,
    )
)
def test_every_pair_that_is_nearly_equal_is_found(drawn: list[tuple[str, str | None]]) -> None:
    topics = [
        replace(one, cluster=own[1]) for one, own in zip(asking(*(text for text, _ in drawn)), drawn, strict=True)
    ]
    said = [{*text.split()} for text, _ in drawn]
    often = Counter(word for words in said for word in words)
    own = [{word for word in words if 2 * often[word] <= len(said)} for words in said]
    group = {at: {at} for at in range(len(said))}
    for one, other in combinations(range(len(said)), 2):
        more, fewer = sorted((said[one], said[other]), key=len, reverse=True)
        shared = len(own[one] & own[other])
        alike = bool(fewer) and fewer <= more and len(more) <= len(fewer) + 1
        alike |= shared >= 3 and shared >= 0.6 * len(own[one] | own[other])
        if alike and not (topics[one].cluster and topics[one].cluster == topics[other].cluster):
            both = group[one] | group[other]
            group.update(dict.fromkeys(both, both))
    expected = {frozenset(topics[at].id for at in own) for own in group.values() if len(own) > 1}
    assert {frozenset(one) for one in nearly_equal_topics(topics)} == expected
