"""Who scored a SWAN or a WAN stands in its name, above it stands what it covers, and JSON keeps its keys."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pytest
from rich.console import Console

from harvest.studies.scores.report import print_scores
from harvest.studies.scores.scorecard import Material
from recordings.judged.judgments import Layer, Target
from scoring.material import Judged
from scoring.notation import parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.table import ScoreTable
from tests.scoring.swan.test_judged import SCHEMA, layer
from tests.support.scoring_examples import conversation, grid_topics
from topics.errors import InputError

TALKS = [
    conversation(("a", "It is old. It is red."), ("b", "It is new."), system=system, topic=f"T{n:02d}")
    for system in "AB"
    for n in (1, 2)
]
TARGET = Target(TALKS[0].trial_id, 1, 1, "system", 0, 10)  # of A on T01
TURN = Target(TALKS[0].trial_id, 1, 1)


def scored(measures: str, layers: Sequence[Layer] = (), judges: str = "human,model,rule") -> ScoreTable:
    judged = Judged(SCHEMA, Judgments.from_layers(layers, SCHEMA, Precedence.parse(judges)))
    asked = parse_all(measures)
    rng = np.random.default_rng(0)
    return score(TALKS, grid_topics(2), None, Settings(), rng, measures=asked, only=True, judged=judged)


def labels(table: ScoreTable, **wanted: object) -> set[str]:
    return {row.label for row in table.select(**wanted)}


def test_a_swan_without_peoples_judgments_has_the_name_of_one_by_rules() -> None:
    table = scored("SWAN, SWAN(weights=linear(L=1250)), CVaR(SWAN, beta=0.5), pooled(SWAN)")
    assert labels(table) == {
        "SWAN(rules)",
        "SWAN(rules, weights=linear(L=1250))",
        "CVaR(SWAN(rules), beta=0.5)",
        "pooled(SWAN(rules))",
    }
    assert {row.measure for row in table.rows} == {
        "SWAN",
        "SWAN(weights=linear(L=1250))",
        "CVaR(SWAN, beta=0.5)",
        "pooled(SWAN)",
    }
    assert {row.as_json()["scorers"] for row in table.rows} == {"rules"}


def test_the_scorers_are_those_of_the_conversations_in_the_figure() -> None:
    table = scored("SWAN", [layer(1.0, target=TARGET)])
    assert labels(table, system="A", topic="T01") == {"SWAN(people, rules)"}
    assert labels(table, system="A", topic="T02") == {"SWAN(rules)"}
    assert labels(table, system="A", topic=None) == {"SWAN(people, rules)"}
    assert labels(table, system="B") == {"SWAN(rules)"}


def test_every_name_in_a_table_can_be_requested() -> None:
    for text in ("SWAN(rules)", "CVaR(SWAN(rules), beta=0.5)", "pooled(SWAN(people, rules))"):
        plain = text.replace("(rules)", "").replace("(people, rules)", "")
        assert [row.as_json() for row in scored(text).rows] == [row.as_json() for row in scored(plain).rows]
    with pytest.raises(InputError, match="SWAN takes 0 arguments"):
        scored("SWAN(everybody)")


def test_a_wan_names_the_scorers_of_its_conversations() -> None:
    people = [layer(0.0, target=TURN, criterion="Conciseness")]
    table = scored("WAN(Conciseness), CVaR(WAN(Conciseness), beta=0.5), pooled(WAN(Conciseness))", people)
    assert labels(table, system="A", topic=None) == {
        "WAN(Conciseness, people, rules)",
        "CVaR(WAN(Conciseness, people, rules), beta=0.5)",
        "pooled(WAN(Conciseness, people, rules))",
    }
    assert labels(table, system="A", topic="T02") == {"WAN(Conciseness, rules)", "pooled(WAN(Conciseness, rules))"}
    assert {row.scorers for row in table.select(system="B")} == {"rules"}
    assert labels(scored("WAN(Conciseness)", people, "human"), system="A", topic="T01") == {
        "WAN(Conciseness, people)",
    }
    weighted = scored("WAN(Conciseness, weights=linear(L=1250))")
    assert labels(weighted) == {"WAN(Conciseness, rules, weights=linear(L=1250))"}
    assert {row.scorers for row in scored("WAN(Fluency)").rows} == {None}


def test_the_wan_in_a_table_can_be_requested() -> None:
    for text in (
        "WAN(Conciseness, rules)",
        "pooled(WAN(8, people, rules))",
        "WAN(Conciseness, models, weights=uniform)",
    ):
        plain = text.replace(", rules", "").replace(", people", "").replace(", models", "")
        assert [row.as_json() for row in scored(text).rows] == [row.as_json() for row in scored(plain).rows]
    with pytest.raises(InputError, match="WAN takes 1 argument, not 2"):
        scored("WAN(Conciseness, everybody)")


@pytest.mark.parametrize("measure", ["WAN(Conciseness)", "pooled(WAN(Conciseness))", "SWAN, WAN(Conciseness)"])
def test_a_criterion_scored_by_people_and_rules_is_called_a_mixture_above_the_figures(measure: str) -> None:
    people = [layer(0.0, target=TURN, criterion="Conciseness")]
    said = [one for one in scored(measure, people).coverage if "mixture" in one]
    assert said == [
        "Conciseness of A was scored by people (1 item) and rules (3 items): its value is a mixture of judges. "
        "--judges human takes the scores of people alone."
    ]
    for judges in ("human", "rule"):
        assert not [one for one in scored(measure, people, judges).coverage if "mixture" in one]
    apart = [layer(1.0, target=TURN, criterion="Fluency")]
    assert not [one for one in scored("SWAN", apart).coverage if "mixture" in one], "each criterion has one judge"


def test_with_the_judges_human_a_pooled_wan_is_the_plain_mean_of_peoples_scores() -> None:
    people = [
        layer(value, target=Target(TALKS[0].trial_id, 1, turn), criterion="Conciseness", at=f"2026-01-0{turn}")
        for turn, value in ((1, 0.25), (2, 0.5))
    ]
    table = scored("pooled(WAN(Conciseness, weights=uniform))", people, "human")
    (row,) = table.select(system="A", topic=None, topic_type=None)
    assert (row.value, row.n) == (0.375, 2)


def test_the_criteria_of_a_swan_are_printed_above_it_once() -> None:
    table = scored("SWAN", [layer(1.0, target=TARGET)])
    material = Material(
        grid_topics(2), ("A", "B"), tuple(TALKS), {(s, f"T{n:02d}"): 2 for s in "AB" for n in (1, 2)},
        frozenset(), None, {}, (), (),
    )  # fmt: skip
    console = Console(width=100, file=io.StringIO(), record=True)
    print_scores(console, material, table, asked=("SWAN",))
    text = console.export_text()
    assert text.index("SWAN of A covers") < text.index(" measure ")
    assert text.count("SWAN of A covers") == 1
    assert "SWAN(people, rules) | SWAN(rules)" in " ".join(text.split())
    assert any("SWAN of A covers" in note for note in table.as_json()["notes"])  # type: ignore[attr-defined]
