"""How quickly a system adapts ([SWAN] §4.20): days from a change until its answers tell of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings.conversations.conversation import Conversation
from scoring.swan.assessment import TopicData
from scoring.swan.ruled_sets import set_verdicts
from scoring.swan.rules.registry import parse_rule
from scoring.swan.rules.rule import SetRule, SetSight, SetVerdict
from scoring.swan.schema import load_schema
from tests.support.scoring_examples import CHAT, conversation
from topics.topic import Topic

FIELDS = {"changed_on": "2026-05-01", "now": "Ada Novak | Novak", "before": "Ben Oduya"}
NEW, OLD, NEITHER = "It is Ada NOVAK.", "It is Ben Oduya.", "I do not know Novakova."


def talk(day: str, text: str, trial: int = 1) -> Conversation:
    one = conversation(("Who is the mayor?", text), topic="T01", trial=trial)
    return replace(one, started_at=f"{day}T09:00:00Z" if day else "")


def verdict(*talks: tuple[str, str], rule: str = "timely(days=30)", **fields: str) -> SetVerdict | None:
    ground = TopicData(Topic("T01", CHAT, "ask", fields={**FIELDS, **fields}))
    judge = parse_rule(rule)
    assert isinstance(judge, SetRule)
    sights = (ground.sight(talk(day, text, n), None, None) for n, (day, text) in enumerate(talks, 1))
    return judge.judge(SetSight("A", "T01", tuple(sights)))


@pytest.mark.parametrize(
    ("talks", "value"),
    [
        # Old on day 3, new on day 6: the mean of 1 - 3/30 and 1 - 6/30.
        ([("2026-05-04", OLD), ("2026-05-07", NEW)], 0.85),
        # The day before the change does not count; new on day 0.
        ([("2026-04-30", OLD), ("2026-05-01", NEW)], 1.0),
        # It relapses: the first new answer after the last old one is of day 12.
        ([("2026-05-04", NEW), ("2026-05-10", OLD), ("2026-05-13", NEW)], (21 / 30 + 18 / 30) / 2),
        # An answer that tells of both tells of the change.
        ([("2026-05-02", f"{OLD} No: {NEW}")], (1 + 29 / 30) / 2),
        # Still old after the whole time.
        ([("2026-06-05", OLD), ("2026-07-05", OLD)], 0.0),
        # Not yet on day 21: the delay is 21 days at least.
        ([("2026-05-22", OLD)], (9 / 30 + 0) / 2),
        # Far later than 30 days, but old on day 45: 0 whenever it learnt of the change.
        ([("2026-06-15", OLD), ("2026-09-01", NEW)], 0.0),
        # In any order of the trials.
        ([("2026-05-07", NEW), ("2026-05-04", OLD), ("2026-05-05", NEITHER)], 0.85),
    ],
)
def test_the_score_falls_with_the_days_until_the_new_answer(talks: list[tuple[str, str]], value: float) -> None:
    found = verdict(*talks)
    assert found is not None
    assert found.value == pytest.approx(value, abs=1e-12)


def test_the_reason_says_between_which_days_the_system_adapted() -> None:
    found = verdict(("2026-05-04", OLD), ("2026-05-07", NEW))
    assert found is not None
    assert found.because == "old until day 3, new by day 6 after the change, in 2 conversations"
    late = verdict(("2026-06-05", OLD))
    assert late is not None
    assert late.because == "old until day 35, new not yet after the change, in 1 conversation"


@pytest.mark.parametrize(
    "talks",
    [
        [],
        [("2026-05-04", NEITHER)],
        [("2026-04-30", NEW)],
        [("", NEW)],
        [("2026-05-25", NEW)],  # learnt on any of 24 days: between 1 and .2
        [("2026-05-04", OLD)],  # between .9 and 0
    ],
)
def test_undecided_runs_give_no_score(talks: list[tuple[str, str]]) -> None:
    assert verdict(*talks) is None


@pytest.mark.parametrize("fields", [{"changed_on": "in May"}, {"now": " | "}, {"before": ""}])
def test_a_topic_without_a_recorded_change_gives_no_score(fields: dict[str, str]) -> None:
    assert verdict(("2026-05-04", OLD), ("2026-05-07", NEW), **fields) is None


def test_the_days_of_the_rule_are_its_scale() -> None:
    found = verdict(("2026-05-04", OLD), ("2026-05-07", NEW), rule="timely(days=10)")
    assert found is not None
    assert found.value == pytest.approx((7 / 10 + 4 / 10) / 2)
    with pytest.raises(ValueError, match="days must be from 1"):
        parse_rule("timely(days=0)")
    with pytest.raises(ValueError, match="`days` must be a whole number, not"):
        parse_rule("timely(days=soon)")


def test_the_schema_of_table_1_scores_adaptability_by_it() -> None:
    talks = [talk("2026-05-04", OLD, 1), talk("2026-05-07", NEW, 2)]
    ground = TopicData(Topic("T01", CHAT, "ask", fields=FIELDS))
    found = set_verdicts(talks, load_schema("sakai-2023-table-1"), lambda one: ground.sight(one, None, None))
    value, rule = found["B1", "T01", "Adaptability"]
    assert value.value == pytest.approx(0.85)
    assert str(rule) == "timely(days=30)"


@given(st.lists(st.tuples(st.integers(1, 28), st.booleans()), min_size=1, max_size=8, unique_by=lambda one: one[0]))
def test_the_score_is_in_0_to_1_and_no_better_if_one_more_answer_is_old(days: list[tuple[int, bool]]) -> None:
    talks = [(f"2026-05-{day:02d}", NEW if new else OLD) for day, new in days]
    found = verdict(*talks)
    worse = verdict(*talks, ("2026-05-29", OLD))
    assert found is None or 0 <= found.value <= 1
    assert found is None or worse is None or worse.value <= found.value
