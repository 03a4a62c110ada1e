"""Columns of many conversations: to the last bit what the functions of one conversation give of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recordings.conversations.conversation import Conversation
from scoring.columns import means_over_topics
from scoring.conversations import default_columns, default_figures, ordered_names
from scoring.figure import Figure
from scoring.measures.relevance import RELEVANCE
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import DeferredRows, ScoreTable, Single
from tests.support.scoring_examples import (
    CHAT,
    GENDER,
    MOVIE,
    ORIGIN,
    RATINGS,
    RESEARCHER,
    conversation,
    filler,
    movie,
    seen,
    topic_set,
)
from topics.gold import GoldEntry, GoldTable
from topics.topic import Topic

THREE = replace(MOVIE, name="film", attributes=("RATINGS", "ORIGIN", "GENDER"))
TOPICS = [
    Topic("M1", MOVIE, "ask"),
    Topic("F1", THREE, "ask"),
    Topic("P1", RESEARCHER, "ask"),
    Topic("C1", CHAT, "ask"),
    Topic("M2", MOVIE, "nothing is known of it"),
]
LINKS = [movie(number) for number in range(1, 10)]

shares = st.sampled_from([(0.3, 0.3, 0.4), (1.0, 0.0, 0.0), (0.333333, 0.333333, 0.333333), (0.1, 0.2, 0.7)])


@st.composite
def golds(draw: st.DrawFn) -> GoldTable:
    entries = []
    for topic in TOPICS[:-1]:
        for link in LINKS[: draw(st.integers(1, 9))]:
            groups: dict[str, tuple[float, ...]] = {}
            if draw(st.booleans()):
                groups["RATINGS"] = RATINGS.membership(str(10 ** draw(st.integers(0, 7))))
            if draw(st.booleans()):
                place, part = draw(st.integers(0, 7)), draw(st.sampled_from([1.0, 0.5, 0.3]))
                groups["ORIGIN"] = tuple(part if i == place else (1 - part) / 7 for i in range(8))
            if draw(st.booleans()):
                groups["GENDER"] = draw(shares)
            entries.append(GoldEntry(topic.id, link, draw(st.integers(0, 2)), groups=groups))
    return GoldTable(entries)


@st.composite
def talks(draw: st.DrawFn) -> list[Conversation]:
    """At most 20 conversations of up to four turns, each answer naming up to nine entities."""
    found = []
    for trial in range(1, draw(st.integers(1, 20)) + 1):
        answers = draw(st.lists(st.lists(st.sampled_from(LINKS), max_size=9), min_size=1, max_size=4))
        texts = [" ".join(f"{filler(draw(st.integers(1, 9)))} {link}" for link in each) or "none" for each in answers]
        topic = draw(st.sampled_from(TOPICS))
        found.append(conversation(*(("go", text) for text in texts), topic=topic.id, trial=trial))
    return found


chosen = st.sampled_from(
    [
        Settings(),
        Settings(alpha=0.3, patience=20, ordinal="NMD", weights={"ORIGIN": 0.25}),
        Settings(weights={"GENDER": 0.0}),
        Settings(irrelevant="uniform"),
        Settings(turn_weight="largest-pw"),
    ]
)


def bits(figure: Figure) -> tuple[object, ...]:
    """NaN is equal to NaN, and 0.0 is not -0.0."""
    floats = np.array([figure.value, figure.worst, figure.best]).tobytes()
    return figure.measure, floats, figure.unjudged, figure.unknown


@given(golds(), talks(), chosen)
def test_columns_are_the_figures_of_each_conversation_to_the_last_bit(
    gold: GoldTable, spoken: Sequence[Conversation], settings: Settings
) -> None:
    topics = {topic.id: topic for topic in TOPICS}
    grounds = [replace(seen(one, topics[one.key.topic], gold), settings=settings, base=settings) for one in spoken]
    expected = [[bits(one) for one in default_figures(ground) if one.whole] for ground in grounds]
    ranked = default_columns(grounds)
    found: list[list[tuple[object, ...]]] = [[] for _ in grounds]
    for _, column in ranked:
        # Without n, which only columns of single figures have.
        name, at, *fields = (getattr(column, name) for name in column.__slots__ if name != "n")
        for place, *values in zip(at.tolist(), *(field.tolist() for field in fields), strict=True):
            value, worst, best, unjudged, unknown = values
            found[place].append(bits(Figure(name, value, 0, None, None, unjudged, unknown, "", worst, best)))
    assert found == expected
    assert ordered_names(ranked) == list(dict.fromkeys(name for own in expected for name, *_ in own))


def table() -> ScoreTable:
    gold = GoldTable([GoldEntry("M1", link, 2, groups={}) for link in LINKS[:4]])
    spoken = [
        conversation(("go", f"see {LINKS[trial % 5]}"), topic=topic, trial=trial)
        for topic in ("M1", "C1")
        for trial in range(1, 5)
    ]
    topics = topic_set(*TOPICS, attributes=(RATINGS, ORIGIN, GENDER))
    return score(spoken, topics, gold, Settings(), np.random.default_rng(1), turns=1)


def test_a_table_gives_the_values_of_single_conversations_as_its_rows_do() -> None:
    (own,) = table().each
    for measure in own.order:
        at, values = own.values(measure)
        rows = [row for row in table().single("conversation") if row.measure == measure]
        assert [(own.keys[i].topic, own.keys[i].trial) for i in at] == [(row.topic, row.trial) for row in rows]
        np.testing.assert_array_equal(values, [row.value for row in rows])
    assert own.values("no such measure")[0].size == 0
    assert table().only([RELEVANCE.name]).each[0].order == [RELEVANCE.name]


def test_rows_without_intervals_have_the_same_values() -> None:
    whole = table()
    for of in get_args(Single)[1:]:
        rows = [row for part in whole.parts if isinstance(part, DeferredRows) and part.of == of for row in part.rows]
        bare = list(whole.single(of))
        assert any(row.interval for row in rows)
        assert not any(row.interval for row in bare)
        without: Any = {"low": np.nan, "high": np.nan, "level": None, "interval": None, "resampled": None, "note": ""}
        assert [repr(replace(row, **without)) for row in rows] == [repr(replace(row, note="")) for row in bare]


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 12), st.integers(0, 1000))
def test_means_are_those_of_each_part_alone_with_and_without_missing_values(
    parts: int, topics: int, trials: int, seed: int
) -> None:
    values = np.random.default_rng(seed).standard_normal((parts, topics, trials))
    holed = values.copy()
    holed[0, 0, 0] = np.nan  # no other part is short of a value
    whole, found = means_over_topics(values), means_over_topics(holed)
    assert found[1:].tolist() == whole[1:].tolist()
    assert whole.tolist() == [float(np.mean([np.sum(row) / trials for row in part])) for part in values]
