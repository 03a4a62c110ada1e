"""A rule says why it gives a score, and by which words; where it gives none, the figure says why not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.conversations.conversation import Turn
from scoring.swan.assessment import TopicData, assess
from scoring.swan.item import ScoredItem, nugget_items, turn_items
from scoring.swan.rules.asked_count import count_given_items as things_given
from scoring.swan.rules.asked_count import requested_count
from scoring.swan.rules.asked_length import requested_limit
from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.registry import RULES, parse_rule
from scoring.swan.rules.rule import SetRule, SetSight
from scoring.swan.rules.sourced import sourced_rule
from scoring.swan.schema import load_schema
from scoring.swan.wan import wan
from tests.support.scoring_examples import conversation

SCHEMA = load_schema("sakai-2023-rules")


def scores(criterion: str, *exchanges: tuple[str, str]) -> list[ScoredItem]:
    return list(assess(conversation(*exchanges, labels="?" * len(exchanges)), SCHEMA).scored[criterion])


def test_a_score_comes_with_its_reason_and_its_words() -> None:
    (one,) = scores("Sufficiency", ("Please name three films.", "Primer and Looper."))
    assert one.value == pytest.approx(2 / 3)
    assert one.note == "2 of 3 asked for (user turn 1, characters 12-23)"
    assert "Please name three films."[12:23] == "three films"


def test_a_rule_without_anything_to_judge_is_undefined_and_says_why() -> None:
    assert scores("Sufficiency", ("Who wrote Emma?", "Jane Austen.")) == []
    assert math.isnan(wan([], "Sufficiency", SCHEMA["Sufficiency"].weighting).value)
    assert "asked_count: the user turn asks for no number of things" in SCHEMA["Sufficiency"].reasons_without_score


def test_the_first_rule_that_applies_gives_the_score() -> None:
    (one,) = scores("Conciseness", ("In one word: who wrote Emma?", "It was written by Jane Austen."))
    assert one.by.author == "asked_length"
    assert one.value == pytest.approx(math.exp(-5))
    (one,) = scores("Conciseness", ("Who wrote Emma?", "It was written by Jane Austen."))
    assert (one.by.author, one.value) == ("brevity(words=250)", 1)


def test_quotations_code_and_addresses_are_not_a_speakers_own_words() -> None:
    text = 'He said "name three" and `two` at https://three.example/four.'
    assert blank_quotations(text).split() == ["He", "said", "and", "at"]
    assert len(blank_quotations(text)) == len(text)
    assert blank_quotations("It's Anna’s") == "It's Anna's"


def test_the_lower_end_of_a_range_is_the_request_and_a_bound_is_not_a_request() -> None:
    ask = requested_count("Give me 2 or 3 names.")
    assert ask is not None
    assert ask.count == 2
    assert requested_count("List no more than three.") is None


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("- a\n  - b\n- c", 2), ("a, b and c", 3), ("| n |\n|---|\n| 1 |", 1), ("One thing.", 1)],
)
def test_given_items(text: str, count: int) -> None:
    assert things_given(text) == count


def test_a_text_with_a_requested_length_may_be_a_fifth_longer() -> None:
    limit = requested_limit("Write an essay of 500 words.")
    assert limit is not None
    assert (limit.most, limit.unit) == (600, "words")


def test_a_contradiction_names_both_nuggets() -> None:
    asked = "How high is it?"
    (one,) = scores("Consistency", (asked, "The tower is 300 metres high."), (asked, "The tower is 280 m high."))
    assert (one.value, one.item.turn) == (0, 2)
    assert one.note == "otherwise than in turn 1 (system turn 1, characters 0-29)"


def test_a_link_is_opened_only_by_a_given_fetcher() -> None:
    opened: list[str] = []

    def fetch(url: str) -> bool | None:
        opened.append(url)
        return {"https://a.test/1": True, "https://b.test/2": False}.get(url)

    talk = conversation(("Rivers?", "Elbe (https://a.test/1).\n\nOder (https://b.test/2).\n\nIsar (https://c.test/3)."))
    sight = TopicData().sight(talk, None, None)
    sight = replace(sight, items=nugget_items(talk, sight.nuggets))
    assert [one.value for one in sourced_rule().judge(sight)] == [1, 1, 1]
    assert opened == []
    assert [one.value for one in sourced_rule(fetch).judge(sight)] == [1, 0], "nobody can tell of the third"
    assert opened == ["https://a.test/1", "https://b.test/2", "https://c.test/3"]


_SAID = st.text(max_size=80) | st.lists(
    st.sampled_from(
        [
            "Name three.",
            "Are you sure?",
            "It is 5 km.",
            "- a\n",
            "```",
            '"',
            "„",
            "Yes.",
            "[1]",
            "\n",
            "My name is X",
            "|",
            "http://",
        ]
    ),
    max_size=8,
).map(" ".join)


@given(st.lists(st.tuples(_SAID, _SAID), min_size=1, max_size=3))
def test_any_text_can_be_judged_and_every_score_is_from_0_to_1_with_its_words_in_the_text(
    turns: list[tuple[str, str]],
) -> None:
    talk = conversation(*turns, system="A [x]")
    sides = {(turn.number, side): text for turn in talk.turns for side, text in _sides(turn)}
    sight = TopicData().sight(talk, None, None)
    levels = {"nugget": nugget_items(talk, sight.nuggets), "turn": turn_items(talk, sight.nuggets)}
    for rule in map(parse_rule, RULES):
        if isinstance(rule, SetRule):
            found = rule.judge(SetSight("A [x]", "M002", (sight,), {"x": (sight, sight), "y": (sight,)}))
            assert found is None or (0 <= found.value <= 1 and found.because)
            continue
        for one in rule.judge(replace(sight, items=levels[rule.level])):
            assert 0 <= one.value <= 1
            for turn, speaker, start, end in one.spans:
                assert 0 <= start < end <= len(sides[turn, speaker])


def _sides(turn: Turn) -> list[tuple[str, str]]:
    return [("user", turn.said), ("system", turn.reply.answer.text if turn.reply else "")]
