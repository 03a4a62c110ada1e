"""Comparisons, variances, plans and trees as CSV, as LaTeX and in JSON: one long form, the same figures in each."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import protocols
from harvest.audits.audit import load_audit
from harvest.studies.plan.differences import plan_difference
from harvest.tables.long_rows import LongRow, long_latex
from recordings.log.run_folder import read
from tests.support.command_line import harvest

AUDIT = """format: harvest-audit/1
name: small
topics: fairweb-45
only: [M001, M002, M003, R001, R002, Y001]
protocol: fairweb-two-round
gold: parrot
trials: 3
systems:
  - {name: A_1, driver: parrot}
  - {name: B, driver: parrot, options: {profile: erratic}}
"""
COLUMNS = [*LongRow(study="", run="", figure="", unit="value").as_json()]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    (folder / "audit.yaml").write_text(AUDIT, encoding="utf-8")
    assert harvest("run", folder / "audit.yaml", "--out", folder / "run").returncode == 0
    return folder / "run"


@pytest.fixture(scope="module")
def commands(run: Path) -> dict[str, Sequence[object]]:
    plan = ("plan", run.parent / "audit.yaml", "--detect", "20", "--from", run, "--topics", "6,12", "--trials", "3")
    return {"compare": ("compare", run), "variance": ("variance", run), "plan": plan}


def printed(*words: object) -> str:
    done = harvest(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def one(table: list[dict[str, Any]], **wanted: object) -> dict[str, Any]:
    (found,) = (row for row in table if all(row[name] == value for name, value in wanted.items()))
    return found


@pytest.mark.parametrize("study", ["compare", "variance", "plan"])
def test_csv_and_json_contain_the_same_rows_in_one_form_and_json_names_their_sources(
    study: str, run: Path, commands: dict[str, Sequence[object]]
) -> None:
    document = json.loads(printed(*commands[study], "--json"))
    table = rows(printed(*commands[study], "--csv"))
    assert len(table) == len(document["long"]) > 10
    for row, known in zip(table, document["long"], strict=True):
        assert list(row) == COLUMNS
        assert row == {name: "" if value is None else str(value) for name, value in known.items()}
        assert (row["study"], row["run"]) == (study, "run")
    header = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (source,) = document["sources"]
    assert (source["run"], source["created_at"], source["protocol"]) == (
        "run",
        header["created_at"],
        header["hashes"]["protocol"],
    )
    assert document["software"]["conversation-harvest"]


def test_undefined_values_are_null_even_if_numpy_computed_them() -> None:
    row = LongRow(study="compare", run="run", figure="difference", unit="share", p_corrected=np.float64("nan"), p=0.5)
    assert (row.as_json()["p_corrected"], row.as_json()["p"]) == (None, 0.5)


def test_the_long_form_of_a_comparison_has_its_figures_and_parts_that_add_up(
    commands: dict[str, Sequence[object]],
) -> None:
    document = json.loads(printed(*commands["compare"], "--json"))
    table = document["long"]
    found = one(table, measure="ave%useful", figure="difference")
    assert (found["system"], found["other"], found["estimand"], found["topics"]) == ("A_1", "B", "like-these", 6)
    assert found["verdict"] in ("better", "worse", "cannot tell", "too few")
    assert found["p_least"] <= found["p"] <= found["p_corrected"]
    assert "rows" not in document
    assert "figures" not in document, "each figure stands once"
    parts = [
        row["estimate"] for row in table if (row["measure"], row["figure"]) == ("ave%useful", "part in the difference")
    ]
    assert len(parts) == 6
    assert math.fsum(parts) == pytest.approx(found["estimate"])
    nodes = [row for row in table if row["figure"] == "part in the divergence"]
    whole = one(table, figure="divergence of trees")
    assert math.fsum(row["estimate"] for row in nodes) == pytest.approx(whole["estimate"])
    assert all(row["node"].startswith("U ask") for row in nodes)
    counts = [one(table, measure="ave%useful", figure=f"topics {word}")["estimate"] for word in ("won", "tied", "lost")]
    assert sum(counts) == 6


def test_the_long_form_of_a_variance_keeps_signs_and_names_the_k_of_pass_k(
    commands: dict[str, Sequence[object]],
) -> None:
    document = json.loads(printed(*commands["variance"], "--json"))
    table = document["long"]
    assert min(row["estimate"] for row in table if row["unit"] == "variance") < 0
    assert one(table, measure="%useful", system="B", figure="pass^3")["unit"] == "share"
    assert one(table, measure="%useful", figure="variance between systems")["system"] == "A_1, B"
    whole = [row for row in table if row["figure"] == "spread of whole trials"]
    assert {row["estimand"] for row in whole} == {"these"}
    assert {row["unit"] for row in table if row["figure"].startswith("variance")} == {"variance"}


def test_the_long_form_of_a_plan_has_a_row_for_each_design_and_estimand(
    run: Path, commands: dict[str, Sequence[object]]
) -> None:
    found = json.loads(printed(*commands["plan"], "--json"))["long"]
    audit = load_audit(str(run.parent / "audit.yaml"), keys_in_clear=True)
    planned = plan_difference(audit, detect=20, run=read(run), topics=(6, 12), trials=(3,)).grid
    assert len(planned.designs) >= 2
    for design in planned.designs:
        own = {"topics": len(design.mix), "trials": design.mix[0]}
        for estimand, power in design.power.items():
            printed_power = one(found, figure="power", estimand=estimand, **own)["estimate"]
            assert printed_power == pytest.approx(power.found, abs=1e-6)
        assert one(found, figure="user turns", **own)["estimate"] == design.turns


def test_plans_of_several_differences_have_rows_that_differ(run: Path) -> None:
    words = ("plan", run.parent / "audit.yaml", "--topics", "6", "--trials", "3", "--detect")
    assert {row["detect"] for row in rows(printed(*words, "5", "--csv"))} == {"0.05"}
    assert {row["detect"] for row in rows(printed(*words, "10", "--csv"))} == {"0.1"}
    latex = printed(*words, "7", "--latex")
    assert "to be found & figure" in latex
    assert "& 7 points & power" in latex
    stated = ("--measure", "R", "--mean", "0.5", "--between", "0.1", "--within", "0.1", "--latex")
    assert "& 0.2 & power" in printed(*words, "0.2", *stated)


def test_a_plan_without_a_pilot_names_no_run(run: Path) -> None:
    words = ("plan", run.parent / "audit.yaml", "--detect", "20", "--topics", "6", "--trials", "3")
    document = json.loads(printed(*words, "--json"))
    assert document["sources"] == []
    assert {row["run"] for row in document["long"]} == {None}


def test_a_tree_has_a_row_for_each_branch_and_end_and_for_scores(run: Path) -> None:
    table = rows(printed("tree", run, "--format", "csv", "--system", "A_1", "--score", "R"))
    document = json.loads(printed("tree", run, "--format", "json", "--system", "A_1", "--score", "R"))
    known = [row for row in document["long"] if row["figure"] == "branch"]
    assert [*table[0]] == COLUMNS
    edges = [row for row in table if row["figure"] == "branch"]
    assert len(table) == len(document["long"])
    nodes = document["trees"][0]["nodes"]
    came = [nodes[node["parent"]]["visits"] for node in nodes[1:]]
    assert [float(row["estimate"]) for row in edges] == [row["estimate"] for row in known]
    assert [int(row["trials"]) for row in edges] == [row["trials"] for row in known] == came
    assert edges[0]["node"] == "U ask"
    ends = [row for row in table if row["figure"] == "end"]
    assert all(row["node"].endswith("■ end") for row in ends)
    assert one(table, figure="mean score", node="")["measure"] == "R"
    latex = printed("tree", run, "--format", "latex", "--system", "A_1")
    assert r"U ask $\rightarrow$ S o" in latex
    assert "% run run: " in latex


@pytest.mark.parametrize("form", ["--latex", "--long"])
@pytest.mark.parametrize("study", ["compare", "variance", "plan"])
def test_every_line_of_latex_has_as_many_cells_as_the_table_has_columns(
    study: str, form: str, commands: dict[str, Sequence[object]]
) -> None:
    lines = printed(*commands[study], form).splitlines()
    (columns,) = filter(None, (re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", line) for line in lines))
    cells = [line for line in lines if line.endswith(r"\\")]
    assert {len(re.split(r"(?<!\\)&", line)) for line in cells} == {len(columns[1])}
    assert any(line.startswith("% run run: created_at 20") for line in lines)
    body = "\n".join(line for line in lines if not line.startswith(("%", r"\toprule  % needs")))
    assert not re.search(r"(?<!\\)[%_#]", re.sub(r"\$[^$]*\$", "", body)), "a comment or a subscript to LaTeX"
    assert not re.search("[→×■−]", body), "letters that pdfLaTeX has not"


def test_the_table_for_a_paper_has_the_figures_of_the_long_form(run: Path) -> None:
    table = json.loads(printed("compare", run, "--json"))["long"]
    latex = printed("compare", run, "--latex")
    (line,) = (line for line in latex.splitlines() if line.startswith(r"ave\%useful"))
    found = one(table, measure="ave%useful", figure="difference")
    left, right = (one(table, measure="ave%useful", figure="system", system=name)["estimate"] for name in ("A_1", "B"))
    cells = [cell.strip() for cell in line.removesuffix(r" \\").split(" & ")]
    assert cells[1:3] == [rf"{100 * left:.1f}\%", rf"{100 * right:.1f}\%"]
    ends = [f"{100 * found[name]:+.1f}" for name in ("estimate", "low", "high")]
    assert [
        *re.findall(r"[+-][0-9.]+", cells[3].replace("$", "")),
        *re.findall(r"[+-][0-9.]+", cells[4].replace("$", "")),
    ] == ends
    assert cells[5] == f"{found['p_corrected']:.3f}"[1:]
    assert cells[7] == "6"
    assert "A\\_1 and B over 6 topics with 3 trials of each. Intervals (95\\%, " in latex
    assert "and $p$ are for topics like these" in latex
    these = printed("compare", run, "--latex", "--estimand", "these", "--level", "0.9")
    assert "Intervals (90\\%, " in these
    assert "and $p$ are for these topics" in these


@pytest.mark.soak  # a TeX engine is a large thing to install; make soak does
def test_tables_compile(run: Path, commands: dict[str, Sequence[object]], tmp_path: Path) -> None:
    assert shutil.which("pdflatex"), "install pdflatex with booktabs, such as Debian's texlive-latex-recommended"
    tables = [printed(*commands[study], form) for study in ("compare", "variance") for form in ("--latex", "--long")]
    tables.append(printed("score", run, "--latex"))
    for name, shown in {"compared": tables[:1], "tables": tables}.items():
        (tmp_path / f"{name}.tex").write_text(
            r"\documentclass{article}\usepackage{booktabs}\begin{document}" + "\n\n".join(shown) + r"\end{document}",
            encoding="utf-8",
        )
        words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout[-2000:]
        assert name != "compared" or "Overfull" not in done.stdout, "the table for a paper is wider than its column"


@pytest.fixture(scope="module")
def replayed(run: Path) -> Path:
    """The run again by a protocol under which some conversations would have continued differently."""
    protocol = (Path(protocols.__file__).parent / "fairweb-two-round.yaml").read_text(encoding="utf-8")
    useful = "useful: {urls: {kind: asked, at_least: 1}}"
    assert useful in protocol
    stricter = "useful: {all: [{urls: {kind: asked, at_least: 1}}, {not: {contains: {phrases: [With pleasure]}}}]}"
    (run.parent / "new.yaml").write_text(protocol.replace(useful, stricter), encoding="utf-8")
    systems = "".join(f"  - {{name: {name}, driver: replay, options: {{run: run}}}}\n" for name in ("A_1", "B"))
    audit = AUDIT[: AUDIT.index("  - {name")].replace("fairweb-two-round", "new.yaml") + systems + "max_invalid: 1\n"
    (run.parent / "again.yaml").write_text(audit, encoding="utf-8")
    assert harvest("run", run.parent / "again.yaml", "--out", run.parent / "replayed").returncode == 0
    return run.parent / "replayed"


def test_bounds_in_the_table_for_a_paper_are_one_below_the_other(replayed: Path) -> None:
    lines = printed("compare", replayed, "--latex").splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith(r"ave\%useful &"))
    assert " to " not in lines[at]
    assert re.match(r" & to [\d.]+\\% & to [\d.]+\\% & to \$[+-]\$[\d.]+ & ", lines[at + 1])
    assert lines[at].count(" & ") == lines[at + 1].count(" & ")
    assert any("$a$ to $b$: what the trials that were lost leave possible." in line for line in lines)


@pytest.mark.soak
def test_tables_of_a_replay_and_of_other_labels_fit_a_page(run: Path, replayed: Path, tmp_path: Path) -> None:
    tables = [printed("compare", replayed, "--latex")]
    tables.append(printed("relabel", run, "--protocol", run.parent / "new.yaml", "--latex"))
    text = r"\documentclass{article}\usepackage{booktabs}\begin{document}" + "\n\n".join(tables) + r"\end{document}"
    (tmp_path / "tables.tex").write_text(text, encoding="utf-8")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_numbers_in_latex_are_as_people_read_them() -> None:
    def row(**more: Any) -> LongRow:
        return LongRow(**{"study": "compare", "run": "r", "figure": "f", "unit": "share", "system": "A", **more})

    lines = long_latex(
        [
            row(estimate=0.125),
            row(estimate=-0.125, other="B", low=-0.2, high=0.0004, level=0.95, interval="t", p=0.0004),
            row(estimate=-0.00001, other="B", p=0.0123),
            row(unit="variance", estimate=0.01234),
            row(unit="count", estimate=3.0),
            row(),
        ]
    ).splitlines()
    said = [[cell.strip() for cell in line.rstrip("\\").split("&")][-3:] for line in lines[5:11]]
    assert said == [
        [r"12.5\%", "", ""],
        ["$-12.5$ points", "[$-20.0$, 0.0]", "$<$.001"],
        ["0.0 points", "", ".012"],
        ["0.0123", "", ""],
        ["3", "", ""],
        ["n/a", "", ""],
    ]
    assert lines[-1] == "% intervals: 95% t"


@pytest.mark.parametrize("forms", [("--json", "--csv"), ("--csv", "--latex"), ("--json", "--latex")])
@pytest.mark.parametrize("study", ["compare", "variance", "plan"])
def test_two_forms_at_once_are_refused(
    study: str, forms: tuple[str, str], commands: dict[str, Sequence[object]]
) -> None:
    done = harvest(*commands[study], *forms)
    assert (done.returncode, "--json, --csv, --latex and --long cannot be used together" in done.stderr) == (2, True)
