"""The fictional catalogue that comes with Harvest: the same shape for every topic, and nothing real in it."""

from __future__ import annotations

import csv
from collections import Counter
from importlib import resources

import pytest

from topics.gold import GoldEntry
from topics.library import load_gold, load_topics

TOPICS = load_topics("fairweb-45")
GOLD = load_gold("parrot", TOPICS)
ROWS = list(csv.DictReader(resources.files("topics").joinpath("parrot.gold.csv").read_text("utf-8").splitlines()))


def entries() -> list[GoldEntry]:
    return list(GOLD)


def test_every_topic_has_24_entities_with_the_same_mean_gain() -> None:
    assert GOLD.topics == tuple(topic.id for topic in TOPICS.topics)
    for topic in TOPICS.topics:
        assert Counter(entry.grade for entry in GOLD.entries(topic.id)) == {2: 12, 1: 8, 0: 4}


def test_the_order_of_grades_is_shuffled_in_every_topic() -> None:
    orders = {tuple(entry.grade for entry in GOLD.entries(topic.id)) for topic in TOPICS.topics}
    assert len(orders) == 45
    assert all(list(order) not in (sorted(order), sorted(order, reverse=True)) for order in orders)


def test_a_title_is_three_invented_words_without_digits_or_commas() -> None:
    for row in ROWS:
        words = row["title"].split(" ")
        assert len(words) == 3
        assert all(word.isascii() and word.isalpha() and word.istitle() and len(word) >= 7 for word in words)


def test_no_word_of_a_title_and_no_entity_occurs_twice() -> None:
    words = [word for row in ROWS for word in row["title"].split()]
    assert len(set(words)) == len(words) == 3 * 1080
    assert len({entry.entity for entry in entries()}) == len(ROWS) == len(GOLD) == 1080


def test_every_url_is_of_the_kind_its_topic_asks_for() -> None:
    for row in ROWS:
        kind = TOPICS[row["topic"]].type.url
        assert kind is not None
        key = kind.key(row["entity"])
        assert key is not None
        assert GOLD.get(row["topic"], key) is not None
        assert kind.key(key) == key


def test_no_url_leads_to_anything_real() -> None:
    for row in ROWS:
        letter, url = row["topic"][0], row["entity"]
        if letter == "M":  # IMDb's numbers have seven or eight digits
            assert url.startswith("https://www.imdb.com/title/tt9000000")
            assert len(url) == len("https://www.imdb.com/title/tt9000000001/")
        elif letter == "R":  # example.org is set aside for examples (RFC 2606)
            assert url == f"https://people.example.org/{row['title'].lower().replace(' ', '-')}/"
        else:
            assert url.startswith("https://www.youtube.com/watch?v=parrot-")
            assert len(url) == len("https://www.youtube.com/watch?v=") + 11


@pytest.mark.parametrize("name", ["RATINGS", "ORIGIN", "HINDEX", "PRONOUN", "SUBSCS"])
def test_values_are_varied_and_skewed_and_a_few_are_unknown(name: str) -> None:
    asked = [entry for entry in entries() if name in TOPICS[entry.topic].type.attributes]
    known = [entry.groups[name] for entry in asked if name in entry.groups]
    assert len(asked) == 360
    assert 0.003 < 1 - len(known) / len(asked) < 0.05
    shares = [sum(column) / len(known) for column in zip(*known)]
    assert min(shares) > 0
    assert max(shares) - min(shares) > 0.15
    assert len({entry.raw[name] for entry in asked if name in entry.raw}) >= (3 if name == "PRONOUN" else 60)


def test_the_skews_are_those_of_the_world() -> None:
    origin = [entry.groups["ORIGIN"] for entry in entries() if "ORIGIN" in entry.groups]
    africa, america, *_ = (sum(column) for column in zip(*origin))
    assert america > 5 * africa
    ratings = [entry.groups["RATINGS"] for entry in entries() if "RATINGS" in entry.groups]
    first, *_, last = (sum(column) for column in zip(*ratings))
    assert last > first
    assert sum(max(vector) < 1 for vector in origin) > 50  # soft memberships
