"""docs/topics.md: what it shows is what the program does."""

from __future__ import annotations

import doctest
import re

import pytest

from tests.support.checkout import DOCS
from topics.addresses import TRACKING
from topics.document import parse_document
from topics.errors import InputError
from topics.gold import parse_gold
from topics.library import load_topics
from topics.topic_file import read_topics

DOCS = DOCS / "topics.md"
TEXT = DOCS.read_text(encoding="utf-8")


def block(beginning: str) -> str:
    found = re.search(rf"```[a-z]*\n({re.escape(beginning)}.*?)```", TEXT, re.DOTALL)
    assert found is not None, beginning
    return found[1]


def test_every_example_prints_what_the_page_shows() -> None:
    result = doctest.testfile(str(DOCS), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 15
    assert result.failed == 0


def test_the_topic_file_on_the_page_is_one() -> None:
    topics = read_topics(parse_document(block("format: harvest-topics/1"), "docs"))
    assert [topic.asks_for for topic in topics.topics] == ["movie title, IMDb URL", "title and link"]


def test_the_gold_table_on_the_page_is_one() -> None:
    gold = parse_gold(block("topic,entity,grade"), load_topics("fairweb-45"), "docs")
    assert [entry.title for entry in gold.entries("M002")] == ["Back to the Future", "Interstellar"]


def test_the_messages_on_the_page_are_those_of_the_program() -> None:
    example = block("format: harvest-topics/1")
    with pytest.raises(InputError) as caught:
        read_topics(parse_document(example.replace("about", "abuot"), "t.yaml"))
    assert f"{caught.value}\n" == block("t.yaml:")
    rows = block("topic,entity,grade") + "\n" + "M002,https://www.imdb.com/title/tt0054387/,L2,,lots,\n"
    with pytest.raises(InputError) as caught:
        parse_gold(rows, load_topics("fairweb-45"), "gold.csv")
    assert f"{caught.value}\n" == block("gold.csv:")


def test_the_tracking_parameters_on_the_page_are_the_ones_that_are_removed() -> None:
    assert ", ".join(f"`{name}`" for name in sorted(TRACKING)) in " ".join(TEXT.split())
