"""In the report on an alarm, a conversation from before is read beside one of now, and the series is drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from harvest.report.document import Report, make_report
from harvest.report.page import page
from harvest.studies.watch.baseline import read_baseline
from harvest.studies.watch.blessed_run import find_blessed_run
from recordings.log.run_folder import read
from tests.support.accessibility import violations
from tests.support.command_line import harvest
from tests.support.kept_cells import keep_cells
from tests.support.opened_report import launched, opened
from tests.support.watched_bot import becomes, bless, watch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bless(watch(tmp_path_factory.mktemp("blessed")), *(f"runs/base-{number}" for number in range(4)))


def reported(folder: Path, useful: int) -> Report:
    becomes(folder, useful=useful)
    assert harvest("watch", "run", "audit.yaml", "--confirm-after", "0", cwd=folder).returncode in (0, 1)
    run = max((folder / "runs" / "watched").iterdir())
    baseline = folder / "audit.baseline.json"
    before = find_blessed_run(read_baseline(baseline), folder, run)
    assert before == folder / "runs" / "base-3"
    return make_report(
        [read(run)], beside=folder, baseline=baseline, history=folder / "audit.history.jsonl", before=before
    )


@pytest.fixture(scope="module")
def fallen(folder: Path) -> Report:
    return reported(folder, 15)


@pytest.fixture(scope="module")
def mended(folder: Path, fallen: Report) -> Report:
    becomes(folder, useful=15)
    watched = harvest("watch", "run", "audit.yaml", "--confirm-after", "0", "--no-report", cwd=folder)
    assert watched.returncode in (0, 1), watched.stderr  # the alarm is confirmed
    return reported(folder, 90)


@pytest.fixture(scope="module")
def browser(folder: Path, fallen: Report, mended: Report) -> Iterator[Browser]:
    """folder, fallen: are made before, because no run can be played where a browser of this kind is open."""
    (folder / "fallen.html").write_text(page(fallen, "fallen").html, encoding="utf-8")
    with launched() as started:
        yield started


def test_conversations_from_before_are_listed_and_in_no_figure(fallen: Report) -> None:
    index = fallen.document["index"]
    assert index["systems"] == ["bot", "bot (baseline)"]
    assert index["system"].count(1) == index["system"].count(0) == 48
    sections = {one["id"]: json.dumps(one["blocks"]) for one in fallen.document["sections"]}
    assert [name for name, blocks in sections.items() if "bot (baseline)" in blocks] == []
    assert "system=bot%20%28baseline%29" in sections["watched"]
    assert "beside=bot&" in sections["watched"]
    assert index["shown"][1].endswith("base-3 --system bot")


def test_without_a_blessed_run_the_link_opens_an_answer_of_the_worse_kind(folder: Path, fallen: Report) -> None:
    run = read(folder / fallen.document["from"]["runs"][0]["path"])
    baseline, history = folder / "audit.baseline.json", folder / "audit.history.jsonl"
    found = make_report([run], beside=folder, baseline=baseline, history=history).document["finding"]
    assert found["verdict"] in ("changed", "alarm", "fell")
    assert "ave%useful is lower on " in found["drives"] or "ave%useful fell on " in found["drives"]
    opened = dict(part.split("=") for part in found["link"].removeprefix("#").split("&"))
    (shown,) = (
        one for one in run.finished if (one.key.topic, str(one.key.trial)) == (opened["topic"], opened["trial"])
    )
    assert "x" in [turn.label for turn in shown.turns]


def test_a_system_that_is_perhaps_back_has_no_pair_that_parts_as_its_example(fallen: Report, mended: Report) -> None:
    assert "&beside=" in fallen.document["finding"]["link"]
    found = mended.document["finding"]
    assert (found["verdict"], found["link"]) == ("perhaps back", "")


@pytest.mark.parametrize(("width", "theme"), keep_cells([(1280, "light"), (320, "dark")], 1))
def test_the_first_link_opens_two_conversations_that_part(
    browser: Browser, folder: Path, fallen: Report, width: int, theme: str
) -> None:
    with opened(browser, folder / "fallen.html", width=width, theme=theme, free=True) as watched:
        window = watched.page
        window.click("text=Read two conversations beside each other here")
        window.wait_for_selector("#text .pair .said.system")
        title = window.inner_text("#reader-title")
        assert title.startswith("bot (baseline) · M00")
        assert " beside bot · trial " in title
        assert window.locator("#history svg.harvest-chart").count() == 1
        assert violations(window) == []


def test_nothing_is_added_where_nothing_was_found_to_change(folder: Path) -> None:
    run = read(folder / "runs" / "base-0")
    baseline = folder / "audit.baseline.json"
    without = make_report([run], beside=folder, baseline=baseline)
    assert without.document["index"]["systems"] == ["bot"]
    assert "before" not in without.document["from"]
