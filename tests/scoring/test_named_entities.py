"""Entities that many conversations name, in columns: what is found of each conversation by itself."""

from __future__ import annotations

import random
from types import MappingProxyType
from typing import Any

import pytest

from recordings.conversations.conversation import Conversation
from scoring.conversations import figure, joint_columns
from scoring.library import read_term
from scoring.named_entities import named_entities
from scoring.notation import parse
from scoring.nuggets import find_nuggets
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from tests.support.scoring_examples import (
    ATTRIBUTES,
    CHAT,
    MOVIE,
    RATINGS,
    RESEARCHER,
    conversation,
    filler,
    movie,
    paper_b1,
    paper_g1,
    paper_gold,
    seen,
    topic_set,
)
from topics.errors import InputError
from topics.gold import GoldEntry, GoldTable
from topics.links import Link
from topics.topic import Topic

TOPICS = topic_set(
    *(Topic(name, kind, "ask") for name, kind in (("M002", MOVIE), ("R001", RESEARCHER), ("C1", CHAT), ("M9", MOVIE)))
)
ASKED = ("R", "GF", "GF(RATINGS)", "GF(ORIGIN)", "GF_rel", "GFR")


def page(number: int) -> str:
    return f"https://www.univ.ac.jp/~p_{number}"


def gold(rng: random.Random) -> GoldTable:
    """Groups of some entities are unknown, and some are not relevant."""

    def vector(size: int) -> tuple[float, ...]:
        weights = [rng.choice((0, 0, 1, 2, 3)) for _ in range(size)]
        return tuple(one / sum(weights) for one in weights) if sum(weights) else (1 / size,) * size

    entries = []
    for topic, sets, address in (("M002", ("RATINGS", "ORIGIN"), movie), ("R001", ("GENDER",), page)):
        for number in range(30):
            known = {name: vector(len(ATTRIBUTES[name].groups)) for name in sets if rng.random() < 0.8}
            entries.append(GoldEntry(topic, address(number), rng.randrange(3), "", MappingProxyType(known)))
    return GoldTable(entries)


def spoken(rng: random.Random, topic: str, trial: int) -> Conversation:
    """Addresses as systems write them, some of them again and again, and some beside the text."""
    shapes = (
        "{0}",
        "{0}.",
        "[it]({0})",
        "<{0}>",
        "![it]({0})",
        "[{0}]({0})",
        "(see {0}), x",
        "{0},{0}",
        "_{0}_",
        "a{0}",
    )
    address = page if topic == "R001" else movie
    exchanges, links = [], []
    for _ in range(rng.randrange(4)):
        lines = [filler(rng.randrange(3))]
        for _ in range(rng.randrange(7)):
            shape = shapes[0] if rng.random() < 0.6 else rng.choice(shapes)
            lines.append(f"{filler(rng.randrange(9))} {shape.format(address(rng.randrange(40)))} {filler(1)}")
        exchanges.append((filler(rng.randrange(5)), rng.choice(("\n", " ")).join(lines)))
        links.append(tuple(Link("card", address(rng.randrange(40))) for _ in range(rng.randrange(2))))
    return conversation(*exchanges, topic=topic, trial=trial, links=links)


@pytest.mark.parametrize("changes", [{}, {"gains": {0: 0.0, 1: 0.3, 2: 0.9}}])
@pytest.mark.parametrize("topic", ["M002", "R001"])
def test_the_named_entities_are_the_nuggets_of_each_conversation(topic: str, changes: dict[str, Any]) -> None:
    rng = random.Random(20)
    table, settings = gold(rng), Settings(**changes)
    told = [spoken(rng, topic, trial) for trial in range(250)]
    found = named_entities(((one, TOPICS[topic]) for one in told), table, ATTRIBUTES, settings)
    careful = 0
    for place, one in enumerate(told):
        nuggets = find_nuggets(one, TOPICS[topic], table, ATTRIBUTES, settings)
        relevant = [nugget for nugget in nuggets if nugget.relevant]
        own = slice(found.named[place], found.named[place + 1])
        assert found.turns[place + 1] - found.turns[place] == len(one.turns)
        assert [turn - found.turns[place] + 1 for turn in found.turn[own]] == [nugget.turn for nugget in relevant]
        assert found.position[own] == [nugget.position for nugget in relevant]
        assert found.gain[own] == [nugget.gain for nugget in relevant]
        assert [found.entries[entry].entity for entry in found.entry[own]] == [nugget.entity for nugget in relevant]
        assert found.unjudged[place] == sum(nugget.unjudged for nugget in nuggets)
        careful += any("![" in turn.reply.answer.text for turn in one.turns if turn.reply)
    assert len(found.turn) > 200
    assert sum(found.unjudged) > 50
    assert 20 < careful < 240


def test_the_figures_are_those_of_each_conversation_alone() -> None:
    rng = random.Random(21)
    table = gold(rng)
    told = [spoken(rng, rng.choice(("M002", "M002", "R001", "C1", "M9")), trial) for trial in range(250)]
    grounds = [seen(one, TOPICS[one.key.topic], table) for one in told]
    measures = [one for text in ASKED for one in read_term(parse(text), Settings(), TOPICS, load_schema(SHIPPED))]
    columns = joint_columns(grounds, measures)
    cells = {(one.measure, at): value for one in columns for at, value in zip(one.at.tolist(), one.value.tolist())}
    assert len(cells) > 400
    for (name, at), value in cells.items():
        (measure,) = (one for one in measures if one.base_name == name)
        alone = figure(seen(told[at], TOPICS[told[at].key.topic], table), measure)
        assert alone is not None
        assert repr(value) == repr(alone.value), f"{name} of {told[at].turns}"


def test_the_figures_of_figure_5_are_those_of_each_conversation_alone() -> None:
    told = [paper_b1(), paper_g1()]
    grounds = [seen(one, TOPICS[one.key.topic], paper_gold()) for one in told]
    (measure,) = read_term(parse("R"), Settings(), TOPICS, load_schema(SHIPPED))
    (column,) = joint_columns(grounds, [measure])
    assert column.value.tolist() == [found.value for one in grounds if (found := figure(one, measure))]


def test_a_grade_without_a_gain_is_refused_where_it_is_named() -> None:
    table = GoldTable([GoldEntry("M002", movie(1), 7, "", MappingProxyType({"RATINGS": RATINGS.gold}))])
    topic = TOPICS["M002"]
    assert named_entities([(conversation(("go", movie(2))), topic)], table, ATTRIBUTES, Settings()).unjudged == [1]
    with pytest.raises(InputError, match="7"):
        named_entities([(conversation(("go", movie(1))), topic)], table, ATTRIBUTES, Settings())
