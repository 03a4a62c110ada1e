"""The section of sources: who is shown and what is new, only where a run has sources."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harvest.cli.main import main
from harvest.report.document import make_report
from harvest.report.page import page
from harvest.report.source_finding import leading_sources
from harvest.studies.scores.assessed import Leading
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.sources.exposure import study_sources
from harvest.studies.sources.figures import share_words
from recordings.judged.source_layers import keep_sources
from recordings.log.run_folder import Run, read
from tests.support.citing_runs import TABLE, draw_addresses, record_cited
from tests.support.exposure_worlds import ExposureWorld
from topics.source_table import parse_source_table

LAW = ExposureWorld(name="of the report", domains=12, exponent=1.0)
ARMS = (("A", "en"), ("A", "de"), ("B", "en"), ("B", "de"))
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


def test_single_trials_are_a_table_and_pairs_without_a_difference_one_sentence(tmp_path: Path) -> None:
    systems = {f"{name} [{arm}]": {"system": name, "arm": arm, "levels": {"language": arm}} for name, arm in ARMS}
    audit = {"factors": {"language": ["en", "de"]}, "arms": ["en", "de"], "design": {"places": {}}}
    found = record_cited(tmp_path / "run", draw_addresses(LAW), systems=systems, topics=6, trials=2, audit=audit)
    keep_sources(found.path, parse_source_table(TABLE, "sources.csv"))
    found = read(found.path)
    blocks = sections(found)["sources"]
    shown = next(one["table"] for one in blocks if "table" in one)
    domains = study_sources(gather_runs([found])).columns[0]
    for row, one in zip(shown["rows"], domains.systems, strict=True):
        name = next(name for name in one.shown if name.name == row[1])
        least, most, mean = (f"{100 * share:.1f}%" for share in (min(name.single), max(name.single), name.answers))
        assert row == [one.system, name.name, least, most, mean]
        assert all(max(other.single) - min(other.single) <= max(name.single) - min(name.single) for other in one.shown)
    said = [one["text"] for one in blocks if " − " in str(one.get("text"))]
    assert "A [de] − A [en], B [de] − B [en]" in said[0]
    assert said[0].count("No difference by domain is found") == 1


def test_a_report_with_a_table_of_sources_begins_with_them(run: Run) -> None:
    report = make_report([run], beside=run.path.parent).document
    found, study = report["finding"], study_sources(gather_runs([run]))
    (owners,) = (one for one in study.columns if one.column == "owner")
    at = max(range(len(owners.names)), key=lambda at: sum(one.shown[at].answers for one in owners.systems))
    most = sorted(owners.systems, key=lambda one: -one.shown[at].answers)
    said = " and ".join(
        f"{share_words(one.shown[at].answers, one.shown[at].answers_interval)} of the answers of {one.system}"
        for one in most
    )
    assert found["verdict"] == "shown"
    assert found["found"].startswith(f"By owner, {owners.names[at]} is shown most in these answers: in {said}; then ")
    assert "95% intervals for topics like these, each by itself" in found["scope"]
    (pair,) = owners.pairs
    number = sum(bool(one.beyond) for one in pair.shares.values()) or "none"
    assert found["drives"].startswith(f"Of {len(pair.shares)} differences between systems, {number} ")
    assert "where all its trials together say" in found["drives"], "a single run against the mean"
    assert "useful" not in f"{found['found']}{found['scope']}{found['drives']}{report['undrawn']}"
    assert [bar["label"] for bar in report["bars"]] == ["A", "B"]
    assert report["sections"][0]["id"] == "sources"
    topic, system, trial = (one.partition("=")[2] for one in found["link"].removeprefix("#").split("&"))
    (shown,) = (
        one for one in run.finished if (one.key.topic, one.key.system, str(one.key.trial)) == (topic, system, trial)
    )
    cited = shown.turns[0].reply
    assert cited is not None
    assert "https://s1.example" in cited.answer.text or "https://s2.example" in cited.answer.text, "of the first owner"


def test_where_gold_or_judgments_say_what_answers_are_worth_sources_come_later(tmp_path: Path) -> None:
    run = record_cited(tmp_path / "run", draw_addresses(LAW), systems=("A", "B"), topics=4, trials=1)
    gathered = gather_runs([run], sources=parse_source_table(TABLE, "sources.csv"))
    study = study_sources(gathered)
    assert leading_sources(gathered, study, Leading()) is study
    assert leading_sources(gathered, study, Leading("WAN(Useful)", "people")) is None
    assert leading_sources(gather_runs([run]), study, Leading()) is None, "no table says whose they are"


def test_languages_within_a_system_are_compared_before_systems(tmp_path: Path) -> None:
    def cited(system: str, topic: int, trial: int) -> list[list[str]]:
        owner = 4 if system == "A [de]" else 1  # by its languages, only A shows the state instead of One Group
        return [[f"https://s{owner}.example/{topic}/{trial}"]]

    systems = {
        f"{name} [{arm}]": {"system": name, "arm": arm, "levels": {"language": arm}}
        for name in ("A", "B")
        for arm in ("en", "de")
    }
    audit = {"factors": {"language": ["en", "de"]}, "arms": ["en", "de"], "design": {"places": {}}}
    run = record_cited(tmp_path / "run", cited, systems=systems, topics=12, trials=2, audit=audit)
    keep_sources(run.path, parse_source_table(TABLE, "sources.csv"))
    report = make_report([read(run.path)], beside=tmp_path).document
    drives = report["finding"]["drives"]
    within, between = drives.index("between levels of language within systems"), drives.index("between systems within")
    assert within < between
    assert "A: de − en is -100.0 points [-100.0, " in drives[within:between]
    assert "for One Group" in drives[within:between]
    assert "language de: A − B is -100.0 points" in drives[between:]
    assert [one["id"] for one in report["sections"][:2]] == ["sources", "levels"]
    first = next(one["text"] for one in report["sections"][0]["blocks"] if " − " in str(one.get("text")))
    assert first.startswith("A [de] − A [en]: Their shares differ"), "not of two systems"


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
