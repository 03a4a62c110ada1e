"""Figures for spreadsheets and papers: every row as CSV, and a table that LaTeX sets."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.tables.long_rows import csv_rows, latex_table, latex_text
from scoring.table import ScoreRow
from tests.support.command_line import harvest

AUDIT = """format: harvest-audit/1
name: small
topics: fairweb-45
only: [M001, M002, M003, R001, R002, Y001]
protocol: fairweb-two-round
gold: parrot
trials: 2
systems:
  - {name: A_1, driver: parrot}
  - {name: B, driver: parrot, options: {profile: erratic}}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    (folder / "audit.yaml").write_text(AUDIT, encoding="utf-8")
    assert harvest("run", str(folder / "audit.yaml"), "--out", str(folder / "run")).returncode == 0
    return folder / "run"


def test_csv_contains_every_row_of_the_json_document(run: Path) -> None:
    document = json.loads(harvest("score", str(run), "--json").stdout)
    rows = list(csv.DictReader(io.StringIO(harvest("score", str(run), "--csv").stdout)))
    assert len(rows) == len(document["rows"]) > 100
    for row, known in zip(rows, document["rows"], strict=True):
        assert row == {name: "" if value is None else str(value) for name, value in known.items()}


def test_json_names_the_runs_and_the_software(run: Path) -> None:
    document = json.loads(harvest("score", str(run), "--json").stdout)
    header = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (source,) = document["sources"]
    assert {**source, "topics": len(source["topics"])} == {
        "run": "run",
        "created_at": header["created_at"],
        "audit": "small",
        "audit_commit": header["audit_commit"],
        "recorded_with": header["software"]["conversation-harvest"],
        "reading": {
            "recorded_with": [header["software"]["conversation-harvest"]],
            "read_again_with": None,
            "read_again": None,
        },
        "protocol": header["hashes"]["protocol"],
        "topics": 32,
        "systems": header["hashes"]["systems"],
    }
    assert document["software"]["conversation-harvest"] == header["software"]["conversation-harvest"]


def test_a_table_in_latex_has_the_figures_of_the_screen(run: Path) -> None:
    table = harvest("score", str(run), "--latex").stdout
    lines = table.splitlines()
    needs = r"% Needs \usepackage{booktabs} in the preamble."
    assert lines[:3] == [needs, r"\begin{tabular}{lrlrrlr}", r"\toprule  % needs \usepackage{booktabs}"]
    assert lines[3] == r"measure & A\_1 & & $n$ & B & & $n$ \\"
    overall = {
        (row["measure"], row["turn"], row["system"]): row
        for row in json.loads(harvest("score", str(run), "--json").stdout)["rows"]
        if row["topic"] is None and row["trial"] is None and row["topic_type"] is None
    }
    (useful,) = (line for line in lines if line.startswith(r"\%useful S1"))
    for system in ("A_1", "B"):
        row = overall["%useful", 1, system]
        value, low, high = (f"{100 * row[end]:.1f}" for end in ("value", "low", "high"))
        assert f"{value}\\% & [{low}, {high}] & {row['n']}" in useful
    assert all(line.count("&") == 6 for line in lines if line.endswith(r"\\"))
    assert lines[-1].startswith("% intervals: 95%")


@pytest.mark.parametrize("pair", [("--json", "--csv"), ("--csv", "--latex"), ("--json", "--latex")])
def test_only_one_form_at_a_time(run: Path, pair: tuple[str, str]) -> None:
    done = harvest("score", str(run), *pair)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json, --csv and --latex cannot be used together" in done.stderr


@given(st.text())
def test_no_text_is_a_command_of_latex(text: str) -> None:
    shown = latex_text(text)
    bare = re.sub(r"\\(textbackslash\{\}|textasciitilde\{\}|textasciicircum\{\}|[&%$#_{}])", "", shown)
    assert not re.search(r"[\\~^&%$#_{}\n]", bare)


def test_an_empty_table_has_no_lines() -> None:
    assert csv_rows(()) == ""
    assert r"\midrule" in latex_table((), ())
    undefined = ScoreRow("R", "A", None, None, None, float("nan"), 0)
    assert "R & n/a &  & 0 \\\\" in latex_table((undefined,), ("A",))
