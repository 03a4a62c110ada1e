"""What was judged, on the page: the map is made of the figures of `harvest score`, down to each nugget."""

from __future__ import annotations

import csv
import html
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.main import main
from harvest.report.compared_finding import difference_words
from harvest.report.designed import level_measures
from harvest.report.document import Report, make_report
from harvest.report.page import page
from harvest.studies.compare.comparison import compare_runs
from harvest.studies.scores.assessed import Assessed, Leading
from recordings.judged.judgments import Judgment, Layer, write_layer
from recordings.log.run_folder import read
from scoring.swan.schema import load_schema
from tests.support.command_line import harvest
from tests.support.reported import copied_run, full_run, small_run

CRITERIA = ("Fluency", "Harmlessness")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return full_run(tmp_path_factory.mktemp("judged"))[0]


@pytest.fixture(scope="module")
def report(run: Path) -> Report:
    return make_report([read(run)], beside=run.parent)


def maps(report: Report) -> list[dict[str, Any]]:
    return [block["heat"] for one in report.document["sections"] for block in one["blocks"] if "heat" in block]


def test_every_cell_of_the_map_is_the_figure_of_harvest_score(run: Path, report: Report) -> None:
    asked = ", ".join(["SWAN", *(f"WAN({name})" for name in CRITERIA)])
    rows = json.loads(harvest("score", run, "-m", asked, "--json").stdout)["rows"]
    scored = {(row["system"], row["topic"], row["measure"]): row["value"] for row in rows if row["trial"] is None}
    names = {"SWAN": "SWAN", **{name: f"WAN({name})" for name in CRITERIA}}
    checked = 0
    for heat in maps(report):
        for row in heat["rows"]:
            for name, cell in zip(heat["columns"], row["cells"], strict=True):
                if name in names:
                    value = scored[heat["system"], row["topic"], names[name]]
                    assert cell["said"].startswith(f"{value:.4f}, ")
                    assert cell["step"] == min(4, math.floor(5 * value))
                    checked += 1
    assert checked == 2 * 6 * 3


def test_a_conversation_shows_each_nuggets_score_its_author_and_its_weight(report: Report) -> None:
    spoken = [one for chunk in report.chunks for one in json.loads(chunk)]
    judged = [line for one in spoken for turn in one["turns"] for line in turn.get("judged", ())]
    by_anna = [line for line in judged if line.endswith("by human anna 1")]
    assert by_anna
    for line in by_anna:
        assert re.match(r"(Fluency|Harmlessness) (0|1)\.\d\d × 1\.00: [SU]\d(, the whole turn| “)", line), line
    entities = [line for one in spoken for turn in one["turns"] for line in turn.get("nuggets", ())]
    assert any(re.search(r"\(https://\S+\): grade 2, gain \S+, weight 0\.\d{4} at word \d+", line) for line in entities)
    assert all("nuggets" not in one for one in spoken), "entities belong to turns"


def test_the_beginning_describes_the_judgments_and_is_silent_for_an_unjudged_run(
    report: Report, tmp_path: Path
) -> None:
    assert "According to the judgments, SWAN is A 0." in report.document["finding"]["drives"]
    plain = make_report([read(small_run(tmp_path, "  - {name: A, driver: parrot}\n", trials=1))], beside=tmp_path)
    assert not maps(plain)
    assert "SWAN" not in page(plain, "r").html.partition("<script")[0]


def test_judgments_are_compared_as_harvest_compare_does(run: Path, report: Report) -> None:
    (compared,) = compare_runs([read(run)], measures=["SWAN"]).measures
    (pair,) = compared.pairs
    forests = [block["forest"] for one in report.document["sections"] for block in one["blocks"] if "forest" in block]
    (drawn,) = [one["bars"] for one in forests if one["caption"] == "Differences"]
    (said,) = [bar["said"] for bar in drawn if bar["label"] == "SWAN"]
    turned = "B − A" in next(one["head"][1] for one in forests if one["caption"] == "Differences")
    assert said == difference_words(compared, pair, turned=turned)


def test_pictures_are_allowed_only_if_screenshots_were_kept(report: Report) -> None:
    assert "img-src 'self' file:;" in html.unescape(page(report, "r").html)
    without = {**report.document, "index": {**report.document["index"], "pictures": False}}
    assert "img-src" not in page(Report(without, report.chunks), "r").html.partition("<style>")[0]


def test_criteria_and_judges_can_be_requested_and_the_report_is_verified_with_them(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text(
        "format: harvest-schema/1\nname: own\ncriteria:\n  - {number: 1, name: Fluency, question: Is it fluent?, "
        "level: turn, scorers: [human]}\n"
    )
    words = ["report", str(run), "--out", "own.html", "--schema", "own.yaml", "--judges", "human"]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    text = (tmp_path / "own.html").read_text(encoding="utf-8")
    assert 'aria-label="M001, Fluency: ' in text
    assert "Harmlessness: " not in text.partition("<script")[0]
    assert "--schema own.yaml --judges human" in text
    with pytest.raises(SystemExit):
        main(["data", "verify", "own.html"])
    told = capsys.readouterr()
    assert "scores.json" not in told.out
    assert "column" not in told.out, told.out


@pytest.fixture(scope="module")
def adjudicated(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Two people judge the first turns by one criterion; where they differ, a third decides, and the rules' labels
    say something else."""
    folder = tmp_path_factory.mktemp("adjudicated")
    run = copied_run(folder / "run")
    (folder / "own.yaml").write_text(
        "format: harvest-schema/1\nname: own\ncriteria:\n  - {number: 1, name: Useful, question: Is it useful?, "
        "level: turn, scorers: [human]}\n"
    )
    heard = [one for one in read(run).conversations if one.turns]
    for author, adjudicates in (("anna", False), ("ben", False), ("zoe", True)):
        found = []
        for place, one in enumerate(heard):
            said = 0.0 if author == "ben" and place % 5 == 0 else 1.0
            if not adjudicates or place % 5 == 0:
                about: dict[str, str | int] = {
                    "trial": one.trial_id,
                    "attempt": one.attempt,
                    "turn": 1,
                    "speaker": "system",
                }
                found.append(Judgment(about, "Useful", 0.0 if adjudicates else said))
        write_layer(run, Layer("human", author, "1", judgments=tuple(found), adjudicates=adjudicates))
    return make_report([read(run)], beside=folder, schema=str(folder / "own.yaml"), folding="adjudicated")


def _bars(block: dict[str, Any]) -> list[dict[str, Any]]:
    return block["forest"]["bars"] if "forest" in block else []


def test_a_report_of_adjudicated_judgments_begins_with_them_and_names_the_rules_labels_as_such(
    adjudicated: Report,
) -> None:
    finding = adjudicated.document["finding"]
    assert re.search(
        r"they had [\d.]+ and [\d.]+ in WAN\(Useful\) by the judgments of people, a diff", finding["found"]
    )
    assert "answered usefully" not in finding["found"]
    assert "By the labels of the protocol's rules, ave%useful is A " in finding["drives"]
    values = [bar["said"] for bar in adjudicated.document["bars"]]
    assert not any("%" in said for said in values), "what is drawn is what was judged"


def test_the_page_shows_agreement_and_the_share_of_adjudications_and_lists_a_criterion_once(
    adjudicated: Report,
) -> None:
    (judged,) = [one for one in adjudicated.document["sections"] if one["id"] == "judged"]
    said = " ".join(block["text"] for block in judged["blocks"] if "text" in block)
    assert "Agreement of anna and ben in Useful: equal 78% (n=36), alpha " in said
    assert "Decided where they differed: 8 by zoe." in said
    notes = page(adjudicated, "r").html
    assert notes.count('<div class="wide beside" tabindex="0" role="group" aria-label="Scores of') == 2
    assert "human zoe 1 (8), 8 of them an adjudicator&#39;s in place of 16 others." in notes
    assert "36 things of 36 judged by several, 8 of them differently" in notes, "and not 0 of 28"
    assert [heat["columns"] for heat in maps(adjudicated)] == [["Useful"]] * 2
    bars = [bar for one in adjudicated.document["sections"] for block in one["blocks"] for bar in _bars(block)]
    assert {bar["label"] for bar in bars} >= {"WAN(Useful)", "WAN(Useful, people)"}
    assert not any("SWAN" in bar["label"] for bar in bars)
    closed = [block["details"] for block in judged["blocks"] if "details" in block]
    assert "The 8 lowest scores" in closed, "a score of 1 is none of the lowest"


def test_swans_that_cannot_be_compared_drive_nothing(tmp_path: Path) -> None:
    """Only some conversations were judged by a criterion: the section says so, and the beginning says no SWAN."""
    run = copied_run(tmp_path / "uneven")
    sheet = tmp_path / "sheet.csv"
    asked = ("--criterion", "Fluency", "--criterion", "Harmlessness")
    assert harvest("judge", "sheet", run, "--export", sheet, *asked).returncode == 0
    with sheet.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["value"] = "1" if row["criterion"] == "Fluency" or number % 3 == 0 else ""
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert harvest("judge", "sheet", run, "--import", sheet, "--author", "anna", "--version", "1").returncode == 0
    document = make_report([read(run)], beside=tmp_path).document
    (figures,) = [one for one in document["sections"] if one["id"] == "figures"]
    assert any("values that do not compare" in block.get("text", "") for block in figures["blocks"])
    assert "SWAN" not in document["finding"]["drives"]
    assert maps(Report(document, ()))


def forests(section: dict[str, Any]) -> list[dict[str, Any]]:
    return [block["forest"] for block in section["blocks"] if "forest" in block]


def test_a_report_on_judgments_draws_them_before_labels_and_says_whose_each_picture_is(adjudicated: Report) -> None:
    sections = {one["id"]: one for one in adjudicated.document["sections"]}
    assert next(iter(sections)) == "judged"
    assert adjudicated.document["undrawn"] == "Drawn is WAN(Useful) by the judgments of people."
    for name in ("figures", "compared"):
        judged, others = forests(sections[name])
        assert all(bar["label"] in ("", "WAN(Useful)", "WAN(Useful, people)") for bar in judged["bars"])
        assert not any("WAN" in bar["label"] for bar in others["bars"])
        assert any("useful" in bar["label"] for bar in others["bars"])
        assert "judgments" in judged["caption"]
        assert others["caption"].startswith("Labels of the protocol's rules, ")
        assert judged["caption"] in [one["text"] for one in sections[name]["blocks"] if one.get("tone") == "heading"]
    for name in ("grid", "trees", "spread", "variance"):
        assert "the labels of the protocol's rules" in sections[name]["blocks"][0]["text"]
    first = next(block for block in sections["spread"]["blocks"] if "pictures" in block)["pictures"][0]
    assert "WAN(Useful)" in first


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people judge some answers by a criterion, and differ in one; rules score other criteria everywhere."""
    run = copied_run(tmp_path_factory.mktemp("sampled") / "run")
    heard = [one for one in read(run).conversations if one.turns][::2]
    for author in ("anna", "ben"):
        found = [
            Judgment(
                {"trial": one.trial_id, "attempt": one.attempt, "turn": 1, "speaker": "system"},
                "Fluency",
                0.0 if place == 0 and author == "ben" else float(place % 3 < 2),
            )
            for place, one in enumerate(heard)
        ]
        write_layer(run, Layer("human", author, "1", judgments=tuple(found)))
    return run


def test_if_swan_cannot_be_compared_a_report_on_judgments_begins_with_the_criterion_that_people_judged(
    sampled: Path,
) -> None:
    document = make_report([read(sampled)], beside=sampled.parent, folding="majority").document
    finding = document["finding"]
    assert "in WAN(Fluency) by the judgments of people" in finding["found"]
    assert "usefully" not in finding["found"]
    assert "Values of SWAN cannot be compared (“Figures” says why)" in finding["drives"]
    assert document["undrawn"] == "Drawn is WAN(Fluency) by the judgments of people."


def test_a_report_says_that_it_is_on_labels_if_the_judgments_asked_for_cannot_be_scored(
    sampled: Path, tmp_path: Path
) -> None:
    document = make_report([read(sampled)], beside=sampled.parent, folding="adjudicated").document
    said = "These figures are by the labels of the protocol's rules: "
    assert f"{said}the judgments cannot be scored (“Judged by criteria” says why)." in document["finding"]["drives"]
    assert document["undrawn"] == "Drawn are labels of the protocol's rules, not judgments."
    first = document["sections"][0]
    assert first["id"] == "judged"
    assert "differently" in str(first["blocks"][0])
    unjudged = make_report([read(copied_run(tmp_path / "run"))], beside=tmp_path, folding="adjudicated").document
    assert f"{said}no judgment by these criteria and judges is recorded." in unjudged["finding"]["drives"]


def test_levels_of_a_report_on_judgments_are_compared_by_judgments_alone() -> None:
    judged = Assessed(load_schema("news"), None, ("Accuracy", "Sourcing"), {})
    named = [str(term) for term in level_measures(judged, Leading("SWAN", "people"))]
    assert named == ["WAN(Accuracy)", "WAN(Sourcing)"]
    assert [str(term) for term in level_measures(judged, Leading())] == ["ave%useful", *named]
