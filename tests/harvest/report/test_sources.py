"""The section of sources: who is shown and what is new, only where a run has sources."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.main import main
from harvest.report.document import make_report
from harvest.report.page import page
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.sources.exposure import study_sources
from harvest.studies.sources.figures import share_words
from recordings.judged.source_layers import keep_sources
from recordings.log.run_folder import Run, read
from tests.support.citing_runs import TABLE, draw_addresses, record_cited
from tests.support.exposure_worlds import ExposureWorld
from topics.source_table import parse_source_table

LAW = ExposureWorld(name="of the report", domains=12, exponent=1.0)
TAKEN = "<script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    found = record_cited(
        tmp_path_factory.mktemp("sources") / "run", draw_addresses(LAW), systems=("A", "B"), topics=6, trials=2
    )
    table = TABLE.replace("One Group", f'"{TAKEN}"')
    keep_sources(found.path, parse_source_table(table, "sources.csv"))
    return read(found.path)


def sections(run: Run, before: Path | None = None) -> Mapping[str, list[dict[str, Any]]]:
    found = make_report([run], beside=run.path.parent, before=before)
    return {one["id"]: one["blocks"] for one in found.document["sections"]}


def test_shares_are_those_of_the_command(run: Run) -> None:
    blocks = sections(run)["sources"]
    forests = [one["forest"] for one in blocks if "forest" in one]
    study = study_sources(gather_runs([run]))
    domains = study.columns[0]
    wanted = [
        share_words(one.shown[at].answers, one.shown[at].answers_interval)
        for at in range(len(domains.names))
        for one in domains.systems
    ]
    assert [bar["said"] for bar in forests[0]["bars"]] == wanted
    assert [bar["label"] for bar in forests[0]["bars"]][::2] == list(domains.names)
    heads = [one["text"] for one in blocks if one.get("tone") == "heading"]
    assert heads == [
        "Who is shown, by domain",
        "Who is shown, by kind",
        "Who is shown, by owner",
        "How concentrated, and how alike",
    ]


def test_what_is_new_since_an_earlier_run_is_said(run: Run, tmp_path: Path) -> None:
    earlier = record_cited(tmp_path / "run", draw_addresses(LAW, 5), systems=("A", "B"), topics=6, trials=2)
    said = [one["text"] for one in sections(run, earlier.path)["sources"] if one.get("tone") == "heading"]
    assert "New since the earlier run, A, by domain" in said


def test_a_run_whose_links_are_what_was_asked_for_has_no_such_section(tmp_path: Path) -> None:
    run = record_cited(tmp_path / "run", draw_addresses(LAW), topics=4, trials=1)
    assert "sources" not in sections(run)


def test_names_of_sources_are_text(run: Run) -> None:
    assert TAKEN not in page(make_report([run], beside=run.path.parent), "report").html


def told(*words: str) -> int:
    with pytest.raises(SystemExit) as done:
        main([*words])
    return int(done.value.code or 0)


def test_a_report_with_another_table_of_sources_can_be_verified(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table, asked = tmp_path / "other.csv", str(run.path)
    table.write_text(TABLE.replace("One Group", "Another Group"), encoding="utf-8")
    assert told("report", asked, "--sources", str(table), "--judgments", "adjudicated") == 0
    shown = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Another Group" in shown
    assert "One Group" not in shown
    assert told("data", "verify", asked, "report.html") == 0
    table.write_text(TABLE, encoding="utf-8")
    assert told("data", "verify", asked, "report.html") == 1, "the table is part of what the report says"
