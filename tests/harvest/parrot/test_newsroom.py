"""The newsroom shows sources as its law says, and the shipped audit plays it."""

import asyncio
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from harvest.audits.audit import load_audit
from harvest.drivers.newsroom import Options, build
from harvest.parrot.newsroom import LAWS, Law
from harvest.systems.driver import Opening, Surroundings
from tests.support.newsroom_truth import GROUPS, belongs_to, demo_newsroom
from topics.source_table import SourceEntry
from topics.topic import TopicSet

AUDIT = load_audit("demo-news")
DRAWS = 60  # answers to each of the 24 questions


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", sorted(LAWS))
def test_shares_follow_the_law(name: str, language: str) -> None:
    one = demo_newsroom(name, week=4)
    rng = np.random.default_rng(7)
    shown: list[set[str]] = []
    for topic in one.questions:
        asked = topic.request if language == "en" else topic.translations[language]["question"]
        shown += [{link.href.split("/")[2] for link in one.answer(asked, rng).links} for _ in range(DRAWS)]
    counts = Counter(domain for each in shown for domain in each)
    for column, group in GROUPS:
        inside = {source.domain for source in one.sources if source.groups.get(column) == group}
        chance = one.answer_share(belongs_to(column, group), language)
        found = sum(bool(each & inside) for each in shown) / len(shown)
        assert abs(found - chance) < 4 * math.sqrt(chance * (1 - chance) / len(shown))
        share = one.source_share(belongs_to(column, group), language)
        cited = sum(counts[domain] for domain in inside) / counts.total()
        assert abs(cited - share) < 4.5 * math.sqrt(share * (1 - share) / counts.total())


def test_profiles_differ_in_what_their_descriptions_say() -> None:
    def lantern(source: SourceEntry) -> bool:
        return source.groups["owner"] == "Lantern Group"

    def authority(source: SourceEntry) -> bool:
        return source.groups["kind"] == "authority"

    def german(source: SourceEntry) -> bool:
        return source.groups["country"] == "Germany"

    plain, partial, local = (demo_newsroom(name) for name in ("plain", "partial", "local"))
    assert partial.source_share(lantern, "en") > plain.source_share(lantern, "en") + 0.15
    assert local.source_share(german, "de") > local.source_share(german, "en") + 0.3
    assert plain.source_share(german, "de") == plain.source_share(german, "en")
    assert local.source_share(german, "en") < plain.source_share(german, "en") - 0.15
    before, after = (demo_newsroom("drifting", week).source_share(authority, "en") for week in (2, 3))
    assert before == plain.source_share(authority, "en") > after + 0.08


def test_a_question_is_recognised_in_both_languages_and_other_words_get_no_source() -> None:
    one = replace(demo_newsroom("plain"), law=Law(declines=0.0, shown=20.0))
    found = one.find("Please tell me: when do the polling stations close on election day?")
    assert found is not None
    assert (found[0].id, found[1]) == ("V1", "en")
    german = one.answer("Wann steigt der Mindestlohn?", np.random.default_rng(1))
    assert {link.href.split("/")[3] for link in german.links} == {"de"}
    assert not one.answer("What is a lighthouse?", np.random.default_rng(1)).links


def test_every_question_in_the_table_is_recognised() -> None:
    one = demo_newsroom("plain")
    for topic in one.questions:
        for language, asked in (("en", topic.request), ("de", topic.translations["de"]["question"])):
            found = one.find(asked)
            assert found is not None
            assert (found[0].id, found[1]) == (topic.id, language)


async def test_missing_parts_of_an_audit_come_from_the_shipped_one() -> None:
    bare = TopicSet("bare", AUDIT.topics.topics, {})
    for topics in (bare, None):
        driver = build(Options(), Surroundings("A", AUDIT.folder, topics=topics))
        session = await driver.open(Opening("A", "V1", 1, 3))
        replies = [await session.say(topic.request) for topic in AUDIT.topics.topics]
        hosts = {link.href.split("/")[2] for reply in replies for link in reply.turn.answer.links}
        assert hosts
        assert hosts <= set(AUDIT.topics.sources.entries)


def test_a_seed_gives_the_same_answers_and_another_system_gives_others() -> None:
    async def said(seed: int) -> list[str]:
        driver = AUDIT.drivers["Atlas"]
        session = await driver.open(Opening("Atlas", "V1", 1, seed))
        return [(await session.say(topic.request)).turn.answer.text for topic in AUDIT.topics.topics]

    first, again, other = (asyncio.run(said(seed)) for seed in (1, 1, 2))
    assert first == again != other
