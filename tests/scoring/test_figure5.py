"""Figure 5 of the GFRC paper through the command line: from annotated text to Tables 1 and 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkout import DATA
from tests.support.command_line import harvest


def printed(*words: str | Path, cwd: Path) -> str:
    done = harvest(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("figure5")
    for system in ("B1", "G1"):
        printed(
            "import",
            "--format",
            "gfrc",
            DATA / f"gfrc_m002_{system}.txt",
            "--system",
            system,
            "--out",
            system,
            cwd=folder,
        )
    document = json.loads(printed("score", "B1", "G1", "--json", cwd=folder))
    assert document["format"] == "harvest-scores/1"
    return list(document["rows"])


def value(rows: list[dict[str, Any]], system: str, measure: str, turn: int | None = None) -> float:
    found = [
        row["value"]
        for row in rows
        if (row["system"], row["measure"], row["topic"], row["trial"], row["turn"])
        == (system, measure, "M002", 1, turn)
    ]
    assert len(found) == 1, (system, measure, turn, found)
    return float(found[0])


TABLE_1 = {
    "B1": [0.9728, 0.9696, 0.9664, 0.9640, 0.9600, 0.9280, 0.9240, 0.9216, 0.9176, 0.9152],
    "G1": [0.5960, 0.5528],
}
POSITIONS = {"B1": [35, 39, 43, 46, 51, 91, 96, 99, 104, 107], "G1": [506, 560]}


@pytest.mark.parametrize("system", ["B1", "G1"])
def test_every_pw_is_that_of_table_1_at_the_word_counts_of_figure_5(rows: list[dict[str, Any]], system: str) -> None:
    nuggets = [row for row in rows if row["measure"] == "pw" and row["system"] == system and row["gain"]]
    nuggets.sort(key=lambda row: row["position"])
    assert [row["position"] for row in nuggets] == POSITIONS[system]
    assert [row["value"] for row in nuggets] == pytest.approx(TABLE_1[system], abs=1e-4)


def test_R_is_that_of_table_1(rows: list[dict[str, Any]]) -> None:
    assert value(rows, "B1", "R") == pytest.approx(0.0143, abs=1e-4)
    assert value(rows, "G1", "R") == pytest.approx(0.0014, abs=1e-4)


@pytest.mark.parametrize(("system", "turn", "expected"), [("B1", 1, 0.6773), ("B1", 2, 0.4796), ("G1", 2, 0.4049)])
def test_RATINGS_similarities_of_turns_are_those_of_table_2(
    rows: list[dict[str, Any]], system: str, turn: int, expected: float
) -> None:
    assert value(rows, system, "DistrSim(RATINGS)", turn) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("system", "turn", "expected"), [("B1", 1, 0.4303), ("B1", 2, 0.4682), ("G1", 2, 0.4303)])
def test_ORIGIN_similarities_of_turns_are_those_of_table_2(
    rows: list[dict[str, Any]], system: str, turn: int, expected: float
) -> None:
    assert value(rows, system, "DistrSim(ORIGIN)", turn) == pytest.approx(expected, abs=1e-4)


def test_GF_values_are_those_of_table_2(rows: list[dict[str, Any]]) -> None:
    # The paper prints .5785 for B1's RATINGS: the mean of two rounded values; exactly it is .5784.
    assert value(rows, "B1", "GF(RATINGS)") == pytest.approx(0.5785, abs=1e-4)
    assert value(rows, "G1", "GF(RATINGS)") == pytest.approx(0.4049, abs=1e-4)
    assert value(rows, "B1", "GF(ORIGIN)") == pytest.approx(0.4493, abs=1e-4)
    assert value(rows, "G1", "GF(ORIGIN)") == pytest.approx(0.4303, abs=1e-4)


def test_the_first_turn_of_G1_holds_no_relevant_nugget_and_has_no_similarity(rows: list[dict[str, Any]]) -> None:
    assert not [
        row for row in rows if row["system"] == "G1" and row["measure"] == "DistrSim(RATINGS)" and row["turn"] == 1
    ]
