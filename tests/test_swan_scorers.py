"""Who scored a SWAN stands in its name, above it stands what it covers, and JSON keeps its keys."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pytest
from rich.console import Console
from scoring_examples import conversation, grid_topics
from test_swan_judgments import SCHEMA, layer

from harvest.studies.scorecard import Material
from harvest.tables.report import print_scored
from recordings.judgments import Layer, Target
from scoring.asked import Judged
from scoring.notation import parse_all
from scoring.scores import score
from scoring.settings import Settings
from scoring.swan.judged import Judgments, Precedence
from scoring.table import ScoreTable
from topics.errors import InputError

TALKS = [
    conversation(("a", "It is old. It is red."), ("b", "It is new."), system=system, topic=f"T{n:02d}")
    for system in "AB"
    for n in (1, 2)
]
TARGET = Target(TALKS[0].trial_id, 1, 1, "system", 0, 10)  # of A on T01


def scored(measures: str, layers: Sequence[Layer] = (), judges: str = "human,model,rule") -> ScoreTable:
    judged = Judged(SCHEMA, Judgments.of(layers, SCHEMA, Precedence.parse(judges)))
    asked = parse_all(measures)
    rng = np.random.default_rng(0)
    return score(TALKS, grid_topics(2), None, Settings(), rng, measures=asked, only=True, judged=judged)


def labels(table: ScoreTable, **wanted: object) -> set[str]:
    return {row.label for row in table.select(**wanted)}


def test_a_swan_without_peoples_judgments_is_one_of_rules_by_its_name() -> None:
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


def test_the_scorers_are_those_of_the_conversations_that_a_figure_is_over() -> None:
    table = scored("SWAN", [layer(1.0, target=TARGET)])
    assert labels(table, system="A", topic="T01") == {"SWAN(people, rules)"}
    assert labels(table, system="A", topic="T02") == {"SWAN(rules)"}
    assert labels(table, system="A", topic=None) == {"SWAN(people, rules)"}
    assert labels(table, system="B") == {"SWAN(rules)"}


def test_what_a_table_prints_can_be_asked_for() -> None:
    for text in ("SWAN(rules)", "CVaR(SWAN(rules), beta=0.5)", "pooled(SWAN(people, rules))"):
        plain = text.replace("(rules)", "").replace("(people, rules)", "")
        assert [row.as_json() for row in scored(text).rows] == [row.as_json() for row in scored(plain).rows]
    with pytest.raises(InputError, match="SWAN is taken of nothing"):
        scored("SWAN(everybody)")


def test_what_a_swan_covers_is_printed_above_it_and_once() -> None:
    table = scored("SWAN", [layer(1.0, target=TARGET)])
    material = Material(
        grid_topics(2), ("A", "B"), tuple(TALKS), {(s, f"T{n:02d}"): 2 for s in "AB" for n in (1, 2)},
        frozenset(), None, {}, (), (),
    )  # fmt: skip
    console = Console(width=100, file=io.StringIO(), record=True)
    print_scored(console, material, table, asked=("SWAN",))
    text = console.export_text()
    assert text.index("SWAN of A covers") < text.index(" measure ")
    assert text.count("SWAN of A covers") == 1
    assert "SWAN(people, rules) | SWAN(rules)" in " ".join(text.split())
    assert any("SWAN of A covers" in note for note in table.as_json()["notes"])  # type: ignore[attr-defined]
