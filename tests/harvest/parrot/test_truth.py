"""The truth of a parrot: by hand where a hand can do it, and against many draws everywhere else."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import protocols
from harvest.parrot.parrot import Catalogue, Parrot, load_catalogue
from harvest.parrot.profiles import PROFILES, Profile
from protocols.library import load_protocol
from recordings.conversations.conversation import Conversation
from scoring.measures.relevance import relevance
from scoring.nuggets import find_nuggets
from scoring.scores import score
from scoring.settings import Settings
from simulators.scripted import ScriptedUser
from tests.support.checkout import DOCS
from tests.support.parrot_tables import chain_table, demo_table, example, truth_table
from tests.support.parrot_truth import Truth, paths, sitting, truth
from tests.support.rehearsal import rehearse, sit
from topics.library import load_gold, load_topics

TOPICS = load_topics("fairweb-45")
PROTOCOL = load_protocol("fairweb-two-round")
DRAWS = 30
FEW = 10
"""Trials of each of the 45 topics: 1,350 conversations a profile, and in `make test` 450."""
SIZES = pytest.mark.parametrize("draws", [FEW, pytest.param(DRAWS, marks=pytest.mark.soak)])
FALSE_ALARM = 0.001
"""The probability with which a true chain fails one chi-square test; seeds are fixed, so it fails always or never."""


@cache
def catalogue() -> Catalogue:
    return load_catalogue("parrot", TOPICS)


@cache
def true(name: str) -> Truth:
    return truth(PROFILES[name], PROTOCOL, TOPICS.topics, catalogue())


@cache
def played(name: str, draws: int) -> tuple[Conversation, ...]:
    parrot = Parrot(catalogue(), PROFILES[name])
    return tuple(rehearse(parrot, ScriptedUser(PROTOCOL), TOPICS.topics, trials=draws, seed=2))


def label_path(conversation: Conversation) -> str:
    return " ".join(conversation.label(turn) for turn in (1, 2))


def assert_drawn_from(counts: Counter[str], chances: dict[str, float]) -> None:
    """Chi-square with a simulated null distribution, which is right for rare paths too."""
    possible = {path: chance for path, chance in chances.items() if chance > 0}
    assert set(counts) <= set(possible)
    n, p = counts.total(), np.array(list(possible.values()))
    rng = np.random.default_rng(1)
    null = ((rng.multinomial(n, p / p.sum(), size=20_000) - n * p) ** 2 / (n * p)).sum(axis=1)
    seen = sum((counts[path] - n * chance) ** 2 / (n * chance) for path, chance in possible.items())
    assert (null >= seen - 1e-9).mean() > FALSE_ALARM


def test_the_label_paths_of_erratic_are_those_of_a_hand_calculation() -> None:
    expected = {
        "o o": 0.62 * 0.70,
        "o x": 0.62 * (0.12 + 0.12 + 0.06),
        "x o": 0.18 * 0.20 + 0.12 * 0.10,
        "x x": 0.18 * 0.80 + 0.12 * 0.90,
        "x -": 0.08,
    }
    found = true("erratic")
    assert found.label_paths == pytest.approx(expected)
    assert found.useful == pytest.approx((0.62, 0.434 + 0.048))
    assert found.average == pytest.approx((0.62 + 0.482) / 2)
    assert found.recovery == pytest.approx(0.048 / 0.38)
    assert found.unsuccessful == pytest.approx(0.38)
    assert found.breakdown == pytest.approx(0.08)


def test_the_expected_relevance_of_perfect_is_a_sum_over_ten_word_positions() -> None:
    # User turn 1, 9 words of opening, entries of 4 words each, 10 of closing; user turn 2, and the same once more.
    topic = TOPICS["M002"]
    request = f"{topic.request} Format: {topic.asks_for}".split()
    first = [len(request) + 9 + 4 * place for place in range(1, 6)]
    second = [first[-1] + 10 + len(["Can", "you", "name", "a", "few", "more?"]) + 9 + 4 * p for p in range(1, 6)]
    only = paths(PROFILES["perfect"], PROTOCOL, topic, catalogue())
    assert [path.positions for path in only] == [(*first, *second)]
    expected = sum(1 - (position - 1) / 1250 for position in first + second) * (12 + 8 * 0.5) / 24 / 625.5
    assert truth(PROFILES["perfect"], PROTOCOL, [topic], catalogue()).relevance == pytest.approx(expected, rel=1e-12)


def test_gains_and_patience_are_used_as_given() -> None:
    nothing = truth(PROFILES["perfect"], PROTOCOL, TOPICS.topics, catalogue(), gains={0: 0.0, 1: 0.0, 2: 0.0})
    short = truth(PROFILES["perfect"], PROTOCOL, TOPICS.topics, catalogue(), patience=20)
    assert nothing.relevance == 0
    assert short.relevance == 0  # the user has read 20 words before the first entry comes


def test_a_system_that_never_fails_has_no_recovery() -> None:
    assert math.isnan(true("perfect").recovery)
    assert true("silent").recovery == 0


@pytest.mark.parametrize("name", PROFILES)
def test_the_paths_of_every_profile_sum_to_one_on_every_topic(name: str) -> None:
    for topic in TOPICS.topics:
        ways = paths(PROFILES[name], PROTOCOL, topic, catalogue())
        assert math.fsum(way.probability for way in ways) == pytest.approx(1)
        assert all(5 * way.labels.count("o") == len(way.positions) for way in ways)


@SIZES
@pytest.mark.parametrize("name", PROFILES)
def test_label_paths_are_drawn_as_often_as_the_truth_says(name: str, draws: int) -> None:
    assert_drawn_from(Counter(map(label_path, played(name, draws))), dict(true(name).label_paths))


@SIZES
@pytest.mark.parametrize("name", PROFILES)
def test_the_words_of_every_conversation_are_where_its_path_says(name: str, draws: int) -> None:
    expected: dict[tuple[str, tuple[str, ...]], set[tuple[int, ...]]] = {}
    for topic in TOPICS.topics:
        for way in paths(PROFILES[name], PROTOCOL, topic, catalogue()):
            expected.setdefault((topic.id, way.labels), set()).add(way.positions)
    for conversation in played(name, draws):
        labels = tuple(conversation.label(turn) for turn in (1, 2))
        words = " ".join(
            text for exchange in conversation.exchanges for text in (exchange.said, exchange.answer.text)
        ).split()
        places = tuple(place for place, word in enumerate(words, 1) if word.startswith("https://"))
        assert places in expected[conversation.key.topic, labels]


@SIZES
@pytest.mark.parametrize("name", PROFILES)
def test_the_mean_relevance_of_many_conversations_is_the_expected_one(name: str, draws: int) -> None:
    gold, settings = load_gold("parrot", TOPICS), Settings()
    scores = [
        relevance(find_nuggets(played_, TOPICS[played_.key.topic], gold, TOPICS.attributes, settings), 1250)
        for played_ in played(name, draws)
    ]
    error = np.std(scores, ddof=1) / len(scores) ** 0.5
    assert np.mean(scores) == pytest.approx(true(name).relevance, abs=max(4 * error, 1e-12))


@pytest.mark.parametrize("sittings", [100, pytest.param(400, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", ["erratic", "refusing", "steady"])
def test_a_session_through_many_topics_follows_the_chain_with_carry_over(name: str, sittings: int) -> None:
    topics = TOPICS.topics[10:20]  # films, then researchers
    expected = sitting(PROFILES[name], PROTOCOL, topics, catalogue())
    parrot, user = Parrot(catalogue(), PROFILES[name]), ScriptedUser(PROTOCOL)
    counts = [Counter[str]() for _ in topics]
    for trial in range(1, sittings + 1):
        for place, conversation in enumerate(sit(parrot, user, topics, trial=trial, seed=6)):
            counts[place][label_path(conversation)] += 1
    for place in (0, 1, 2, 9):
        assert_drawn_from(counts[place], dict(expected[place].label_paths))


def test_once_inadequate_erratic_tends_to_stay_inadequate_from_topic_to_topic() -> None:
    expected = sitting(PROFILES["erratic"], PROTOCOL, TOPICS.topics, catalogue())
    assert expected[0].useful[0] == pytest.approx(0.62)
    assert expected[1].useful[0] < 0.55
    assert expected[-1].useful[0] == pytest.approx(expected[-2].useful[0])  # settled


def test_a_measure_without_a_closed_form_is_refused() -> None:
    greedy = replace(PROFILES["perfect"], entities=12)
    assert paths(greedy, PROTOCOL, TOPICS["M002"], catalogue())  # 24 of 24
    shelf = catalogue().shelves["M002"]
    small = Catalogue([replace(shelf, entries=shelf.entries[:9])])
    with pytest.raises(ValueError, match="9 entries are too few"):
        paths(PROFILES["perfect"], PROTOCOL, TOPICS["M002"], small)
    other = Catalogue([replace(shelf, request="Please list up something else.")])
    with pytest.raises(ValueError, match="does not take"):
        paths(PROFILES["perfect"], PROTOCOL, TOPICS["M002"], other)
    with pytest.raises(ValueError, match="no topics"):
        truth(PROFILES["perfect"], PROTOCOL, [], catalogue())


def test_another_order_of_a_row_gives_the_same_truth() -> None:
    steady = PROFILES["steady"]
    turned: Profile = replace(steady, first=dict(reversed(list(steady.first.items()))))
    assert truth(turned, PROTOCOL, TOPICS.topics, catalogue()).relevance == pytest.approx(true("steady").relevance)


def test_the_page_about_the_parrot_contains_the_tables_as_the_program_prints_them() -> None:
    page = (DOCS / "parrot.md").read_text(encoding="utf-8")
    assert example(Parrot(catalogue(), PROFILES["format-breaking"]), ScriptedUser(PROTOCOL), TOPICS["M002"]) in page
    assert chain_table() in page
    assert truth_table(PROTOCOL, TOPICS.topics, catalogue()) in page
    assert demo_table() in page


@SIZES
def test_a_protocol_that_stops_after_a_useful_answer_is_scored_as_the_truth_says(tmp_path: Path, draws: int) -> None:
    text = (Path(protocols.__path__[0]) / "fairweb-two-round.yaml").read_text(encoding="utf-8")
    file = tmp_path / "until-useful.yaml"
    file.write_text(text.replace("label: o, go: more", "label: o, stop: completed").replace("go: insist", "go: more"))
    file.write_text(re.sub(r"(?s)  insist:.*", "", file.read_text()))
    protocol = load_protocol(str(file))
    expected = truth(PROFILES["erratic"], protocol, TOPICS.topics, catalogue())
    assert set(expected.label_paths) == {"o ·", "x o", "x x", "x -"}
    parrot = Parrot(catalogue(), PROFILES["erratic"])
    trials = rehearse(parrot, ScriptedUser(protocol), TOPICS.topics, trials=draws, seed=4)
    found = score(trials, TOPICS, None, Settings(), np.random.default_rng(0), turns=2)
    overall = [row for row in found.rows if row.topic is None and row.topic_type is None and row.trial is None]
    figures = {(row.measure, row.turn): row for row in overall}
    for name, value in (
        (("%useful", 1), expected.useful[0]),
        (("%useful", 2), expected.useful[1]),
        (("ave%useful", None), expected.average),
        (("%recovery", None), expected.recovery),
    ):
        row = figures[name]
        assert abs(row.value - value) < 4 * math.sqrt(value * (1 - value) / row.n), name
    assert expected.average == pytest.approx(expected.useful[0] + expected.label_paths["x o"] / 2)
