"""Somebody decides on the page where people differ: sees what each said without names, gives a reason, and counts as an
adjudicator and not as one more judge."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from recordings.judged.decision_book import DecisionBook
from recordings.judged.decisions import Decision, read_decisions
from recordings.judged.judgments import Judgment, Layer, Target, read_layers, write_layer
from recordings.log.run_folder import read
from recordings.merging.merge import merge
from tests.harvest.judging.serving.test_judging_in_browser import SIZES
from tests.support.accessibility import violations
from tests.support.browsing import settings
from tests.support.checkout import ROOT
from tests.support.command_line import harvest
from tests.support.judging_command import serving

WAN = "WAN(Fluency)"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The sample: of its turns of B people agree on the first, and differ on all others."""
    run = Path(shutil.copytree(ROOT / "recordings" / "samples" / "run-1", tmp_path / "run"))
    for author, value, note in (("anna", 1.0, ""), ("ben", 0.0, "a comma is missing")):
        layer = Layer("human", author, "", "sheet.csv", "2026-01-01T00:00:00+00:00", tuple(said(run, value, note)))
        write_layer(run, layer)
    return run


def said(run: Path, value: float, note: str) -> Iterator[Judgment]:
    for place, about in enumerate(turns(run)):
        yield Judgment(about.about(), "Fluency", value if place else 1.0, note if place else "")


def turns(run: Path) -> list[Target]:
    finished = sorted(read(run).finished, key=lambda one: one.trial_id)
    return [Target(one.trial_id, one.attempt, turn.number) for one in finished for turn in one.turns if turn.reply]


def figure(run: Path, folding: str) -> float:
    done = harvest("score", run, "-m", WAN, "--judgments", folding, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    (value,) = [row["value"] for row in rows if row["topic"] is row["topic_type"] is row["trial"] is None]
    return float(value)


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=settings().executable, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1280, "height": 800})
        browser.close()


def until(page: Page, wanted: str) -> None:
    for _ in range(1500):
        if page.evaluate(wanted):
            return
        page.wait_for_timeout(10)
    raise AssertionError(f"never: {wanted}")


def test_disagreements_are_decided_on_the_page_with_a_reason(run: Path, page: Page) -> None:
    before = figure(run, "distribution")
    differ = len(turns(run)) - 1
    assert harvest("score", run, "-m", WAN, "--judgments", "adjudicated").returncode == 2, "nobody has decided yet"
    with serving(run, "--criterion", "Fluency", "--adjudicate", people=("zoe",)) as server:
        page.goto(server.links["zoe"])
        until(page, "document.documentElement.dataset.shown !== undefined")
        asked = page.evaluate("document.getElementById('votes').innerText")
        assert asked.split("\n\n") == ["What people said:", "0 – no (a comma is missing); 1 – yes"]
        assert not re.search("anna|ben", page.content())
        for width, theme in SIZES:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            assert violations(page) == []
        page.set_viewport_size({"width": 1280, "height": 800})
        total = page.evaluate("document.getElementById('bar').max")
        assert 1 <= total <= differ, "what trials share is asked once"
        page.keyboard.press("c")
        page.keyboard.press("Enter")
        assert page.evaluate("document.getElementById('saved').textContent") == "Say why, then Ctrl+Enter"
        page.keyboard.press("Escape")  # it is in the note already
        for done in range(int(total)):
            page.keyboard.press("c")
            page.keyboard.press("n")
            page.keyboard.type("both commas stand")
            page.keyboard.press("Control+Enter")
            until(page, f"document.documentElement.dataset.done === '{done + 1}'")
            if done + 1 < total:
                until(page, "document.documentElement.dataset.shown === document.documentElement.dataset.question")
        until(page, "document.getElementById('saved').textContent === 'Saved'")
    decided = read_decisions(run).standing
    assert {(one.by, one.adjudicates, one.note) for one in decided} == {("zoe", True, "both commas stand")}
    assert figure(run, "adjudicated") == 1.0
    assert figure(run, "distribution") == before, "who adjudicates has no vote"
    refused = harvest("judge", "page", run, "--criterion", "Coherence", "--adjudicate", "--author", "zoe")
    assert refused.returncode == 2
    assert "no two people judged an item differently" in refused.stderr


async def test_an_adjudication_stays_one_after_it_was_kept_read_and_merged(run: Path, tmp_path: Path) -> None:
    book = DecisionBook.open(run)
    first, second, *_ = turns(run)
    for number, (target, adjudicates) in enumerate(((first, False), (second, True))):
        about = (target.about(),)
        decision = Decision(f"{number:016}", "zoe", "", about, "Fluency", 0.5, "so", adjudicates=adjudicates)
        await book.decide(decision)
    await book.close()
    for folder in (run, tmp_path / "merged"):
        if folder != run:
            merge([run], folder)
        mine = [layer for layer in read_layers(folder) if layer.author == "zoe"]
        assert sorted((layer.adjudicates, len(layer.judgments)) for layer in mine) == [(False, 1), (True, 1)]
