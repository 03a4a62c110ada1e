"""Rules that score all conversations of a system on a topic: where they count, and who goes before them."""

from __future__ import annotations

import numpy as np
import pytest

from recordings.conversations.conversation import Conversation
from recordings.judged.judgments import Judgment, Layer
from scoring.material import Judged
from scoring.notation import parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from scoring.table import ScoreTable
from tests.support.scoring_examples import conversation, grid_topics
from topics.errors import InputError

SCHEMA = load_schema("sakai-2023-rules")
ROBUSTNESS = "pooled(WAN(Robustness_to_input_variations))"
FAIRNESS = "pooled(WAN(Fair_treatment))"


def talk(text: str, trial: int, topic: str = "T01", system: str = "A", labels: str = "") -> Conversation:
    return conversation(("How high is it?", text), trial=trial, topic=topic, system=system, labels=labels)


TALKS = [
    talk("The tower is 300 metres high.", 1),
    talk("The tower is 300 metres high.", 2),
    talk("The hill is 40 metres high.", 1, "T02"),
    talk("The hill is 60 metres high.", 2, "T02"),
]


def scored(
    talks: list[Conversation], measures: str, layers: tuple[Layer, ...] = (), judges: str = "human,rule"
) -> ScoreTable:
    judged = Judged(SCHEMA, Judgments.from_layers(layers, SCHEMA, Precedence.parse(judges)))
    rng = np.random.default_rng(0)
    topics = grid_topics(2)
    return score(talks, topics, None, Settings(), rng, measures=parse_all(measures), only=True, judged=judged)


def test_each_topic_counts_once_and_names_its_scorer() -> None:
    table = scored(TALKS, ROBUSTNESS)
    by_topic = {row.topic: (row.value, row.n) for row in table.rows if row.topic or not row.topic_type}
    assert by_topic == {None: (0.5, 2), "T01": (1, 1), "T02": (0, 1)}
    assert {row.scorers for row in table.rows} == {"rules"}
    notes = {row.topic: row.note for row in table.rows if row.topic}
    assert set(notes.values()) == {"0 of 1 topics are not scored; one topic: nothing to resample"}
    one = scored(TALKS[:2], f"{ROBUSTNESS}, pooled(SWAN)").rows
    assert [row.measure for row in one if row.value == row.value and "no value" in row.note] == []


def test_people_precede_rules_and_rules_count_only_if_they_are_named() -> None:
    layer = Layer(
        "human", "anna", judgments=(Judgment({"system": "A", "topic": "T02"}, "Robustness to input variations", 0.8),)
    )
    (whole,) = scored(TALKS, ROBUSTNESS, (layer,)).select(topic=None, topic_type=None)
    assert whole.value == pytest.approx(0.9)
    (alone,) = scored(TALKS, ROBUSTNESS, (layer,), "human").select(topic=None, topic_type=None)
    assert (alone.value, alone.n) == (0.8, 1)


def test_groups_of_one_system_are_compared() -> None:
    talks = [
        talk("It is.", trial, system=f"A [{group}]", labels=label)
        for group, label in (("old", "x"), ("young", "o"))
        for trial in (1, 2, 3)
    ]
    table = scored(talks, FAIRNESS)
    assert {row.system: row.value for row in table.rows if row.topic == "T01"} == {"A [old]": 0, "A [young]": 0}
    assert {row.n for row in scored(TALKS, FAIRNESS).rows} == {0}, "a system without groups has none to compare"


def test_a_criterion_of_sets_has_no_value_in_a_conversation() -> None:
    with pytest.raises(InputError, match="only one score for all conversations") as refused:
        scored(TALKS, "WAN(Robustness_to_input_variations)")
    assert "ask `harvest score` for pooled(WAN(Robustness_to_input_variations))" in str(refused.value)
