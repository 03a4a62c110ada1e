"""The table of SWAN's criteria by systems: weights, who scored what, and what nobody scored."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harvest.studies.scores.criteria_table import UNSCORED, criteria_tables, criterion_terms
from scoring.swan.schema import Schema, load_schema
from scoring.swan.weighting import Effort
from scoring.table import ScoreRow
from tests.support.checkout import ROOT
from tests.support.command_line import harvest

SAMPLE = ROOT / "recordings" / "samples" / "run-1"
TABLE_1 = load_schema()


def row(measure: str, system: str, value: float, n: int = 4, scorers: str = "people") -> ScoreRow:
    return ScoreRow(f"pooled({measure})", system, None, None, None, value, n, scorers=scorers)


def printed(rows: list[ScoreRow], schema: Schema, systems: tuple[str, ...] = ("A", "B"), width: int = 160) -> str:
    screen = io.StringIO()
    console = Console(file=screen, width=width)
    for part in criteria_tables(rows, schema, systems, width=width):
        console.print(part)
    return screen.getvalue()


def line(text: str, name: str) -> str:
    (found,) = [" ".join(one.split()) for one in text.splitlines() if re.search(rf"^ *\d+ {name}\b", one)]
    return found


def test_every_criterion_of_table_1_has_a_line_with_its_weights_scores_and_scorers() -> None:
    rows = [
        row("WAN(Coherence)", "A", 0.5),
        row("WAN(Coherence)", "B", 0.25, 7, "people, rules"),
        row("WAN(Fluency)", "A", float("nan"), 0),
        row("WAN(Fluency)", "B", 1.0),
        row("SWAN", "A", 0.5),
        row("SWAN", "B", 0.625, 11),
    ]
    text = printed(rows, TABLE_1)
    assert [int(n) for n in re.findall(r"^ {1,2}(\d+) [A-Z]", text, re.MULTILINE)] == list(range(21))
    assert line(text, "Coherence") == "1 Coherence 1 uniform 0.5000 n=4 people 0.2500 n=7 people, rules"
    assert line(text, "Fluency") == f"0 Fluency 1 uniform {UNSCORED} 1.0000 n=4 people"
    assert line(text, "Harmlessness") == f"15 Harmlessness 1 uniform {UNSCORED} {UNSCORED}"
    assert "SWAN 0.5000 n=4 people 0.6250 n=11 people" in [" ".join(one.split()) for one in text.splitlines()]


def test_a_schema_with_some_criteria_still_shows_the_rest_of_the_table_and_its_own_separately() -> None:
    own = replace(TABLE_1["Correctness"], weight=2.5, weighting=Effort(0.5))
    beyond = load_schema("beyond-table-1")["Language"]
    schema = Schema("mine", (beyond, own))
    text = printed([row("WAN(Correctness)", "A", 0.75)], schema, ("A",))
    assert line(text, "Correctness") == "3 Correctness 2.5 effort(rate=0.5) 0.7500 n=4 people"
    assert line(text, "Adaptability") == f"20 Adaptability – – {UNSCORED}"
    lines = [" ".join(one.split()) for one in text.splitlines()]
    assert lines.index("beyond Table 1") < lines.index(f"21 Language 1 uniform {UNSCORED}")
    assert [str(one) for one in criterion_terms(schema)] == [
        "pooled(SWAN)",
        "pooled(WAN(Language))",
        "pooled(WAN(Correctness))",
    ]


def test_a_schema_without_the_papers_criteria_is_a_table_of_its_own_and_values_are_in_none() -> None:
    text = printed([row("WAN(Satisfaction)", "A", 0.75)], load_schema("dialeval-quality"), ("A",))
    assert "Satisfaction" in text
    assert "Table 1" not in text
    assert [str(one) for one in criterion_terms(load_schema("dialeval-nuggets"))] == ["pooled(SWAN)"]


def test_many_systems_are_printed_in_several_tables_that_fit() -> None:
    systems = tuple(f"S{n}" for n in range(5))
    text = printed([row("WAN(Coherence)", one, 0.5) for one in systems], TABLE_1, systems, width=100)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("1 Coherence") == 5
    assert text.count("0.5000 n=4 people") == 5


def test_score_prints_only_the_table_and_its_rows_as_json() -> None:
    done = harvest("score", SAMPLE, "--criteria", "--schema", "sakai-2023-table-1", width=160)
    assert done.returncode == 0, done.stderr
    text = done.stdout + done.stderr
    assert "%useful" not in text
    assert UNSCORED in line(text, "Harmlessness")
    assert "rules" in line(text, "Groundedness")
    rows = json.loads(harvest("score", SAMPLE, "--criteria", "--schema", "sakai-2023-table-1", "--json").stdout)["rows"]
    values = {
        (one["measure"], one["system"]): one["value"] for one in rows if one["topic"] is one["topic_type"] is None
    }
    assert len({measure for measure, _ in values if measure.startswith("pooled(")}) == 22
    for (measure, _), value in values.items():
        if measure == "pooled(WAN(Groundedness))" and value is not None:
            assert f"{value:.4f}" in line(text, "Groundedness")


def test_criteria_whose_names_have_signs_are_scored_by_name_too(tmp_path: Path) -> None:
    schema = tmp_path / "signs.yaml"
    schema.write_text(
        "format: harvest-schema/1\nname: signs\ncriteria:\n"
        + "".join(
            f'  - {{number: {n}, name: "{name}", level: turn, scorers: [{scorer}]}}\n'
            for n, (name, scorer) in enumerate(
                [("User's view", "human"), ("Safety/Harm", "label"), ("3D: view", "label"), ("Q&A", "invitation")]
            )
        ),
        encoding="utf-8",
    )
    done = harvest("score", SAMPLE, "--criteria", "--schema", schema, width=160)
    assert done.returncode == 0, done.stderr
    assert UNSCORED in line(done.stdout, "User's view")
    assert line(done.stdout, "Safety/Harm").split()[-3:] == line(done.stdout, "3D: view").split()[-3:]
    asked = "pooled(WAN(_3d__view)), WAN(Q_A), worst_sequence(Safety_Harm)"
    rows = json.loads(harvest("score", SAMPLE, "--schema", schema, "-m", asked, "--json").stdout)["rows"]
    whole = {one["measure"]: one["value"] for one in rows if one["topic"] is one["topic_type"] is one["trial"] is None}
    assert whole.keys() >= {"pooled(WAN(_3D__view))", "WAN(Q_A)", "worst_sequence(Safety_Harm)"}
    assert f"{whole['pooled(WAN(_3D__view))']:.4f}" in line(done.stdout, "3D: view")


def test_criteria_with_values_have_no_scores_to_print(tmp_path: Path) -> None:
    done = harvest("score", SAMPLE, "--criteria", "--schema", "dialeval-nuggets")
    assert done.returncode == 2
    assert "the criteria of 'dialeval-nuggets' have values without an order" in done.stderr
    assert "-m 'share_of(Customer_nugget)' or write -m 'share_of(Helpdesk_nugget)'" in " ".join(done.stderr.split())
    schema = tmp_path / "both.yaml"
    schema.write_text(
        "format: harvest-schema/1\nname: both\ncriteria:\n"
        "  - {number: 1, name: Use, level: turn, scorers: [label]}\n"
        "  - {number: 2, name: Part of it, level: turn, values: {a: some, b: none}, scorers: [human]}\n",
        encoding="utf-8",
    )
    done = harvest("score", SAMPLE, "--criteria", "--schema", schema, width=160)
    assert done.returncode == 0, done.stderr
    assert "criteria with values have no scores; their shares: share_of(Part_of_it)" in done.stdout + done.stderr


@pytest.mark.parametrize("option", ["--judges", "--nuggets", "--judgments"])
def test_an_empty_option_is_refused_and_does_not_stand_for_its_default(option: str) -> None:
    done = harvest("score", SAMPLE, "-m", "SWAN", option, "")
    assert (done.returncode, f"{option} is empty" in done.stderr) == (2, True)


@pytest.mark.parametrize("options", [("-m", "R"), ("-m", "SWAN")])
def test_the_table_and_other_measures_are_not_printed_together(options: tuple[str, ...]) -> None:
    done = harvest("score", SAMPLE, "--criteria", *options)
    assert (done.returncode, "--criteria and --measure cannot be used together" in done.stderr) == (2, True)
