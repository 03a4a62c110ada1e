"""The worked audit: the table of its truth, and that an audit finds it.

`python -m tests.docs.test_demo_news` writes the table anew.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from harvest.playing.play import play
from tests.docs.test_tutorials import blocks, parts_in_order, programs, shell
from tests.support.checkout import DOCS
from tests.support.command_line import harvest
from tests.support.newsroom_truth import belongs_to, demo_newsroom, truth_table

__all__ = ["programs", "shell"]  # fixtures

PAGE = DOCS / "demo-news.md"
BEGIN, END = "<!-- truth -->\n", "\n<!-- end of truth -->"
PROFILES = {"Atlas": "plain", "Beacon": "partial", "Comet": "plain", "Delta": "local", "Ember": "drifting"}
MEASURES = {
    '%citations(owner, "Lantern Group")': ("owner", "Lantern Group"),
    "%citations(kind, authority)": ("kind", "authority"),
}


def page() -> str:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}{truth_table()}{END}{rest.partition(END.strip())[2]}"


def test_the_table_of_the_page_is_the_truth() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "renew it with: python -m tests.docs.test_demo_news"


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play("demo-news", tmp_path_factory.mktemp("news") / "news").path


def test_intervals_cover_the_truth_in_every_cell(news: Path) -> None:
    """Of these 20 intervals one is expected to miss, if they are no wider than they say."""
    rows = json.loads(harvest("score", news, "-m", ", ".join(MEASURES), "--json").stdout)["rows"]
    held = []
    for row in rows:
        if row["measure"] in MEASURES and row["topic"] is row["topic_type"] is row["trial"] is None:
            system, _, language = row["system"].removesuffix("]").partition(" [")
            truth = demo_newsroom(PROFILES[system]).source_share(belongs_to(*MEASURES[row["measure"]]), language)
            held.append(row["low"] <= truth <= row["high"])
    assert len(held) == 20
    assert sum(held) >= 18


def test_the_check_names_the_table_of_sources() -> None:
    said = harvest("check", "demo-news").stdout
    assert "gold: none: only usefulness and sources will be scored" in said
    table = demo_newsroom("plain").table
    assert f"sources: a table of {len(table.entries)} rows, by {', '.join(table.columns)}" in said


def test_what_the_page_promises_is_found(news: Path) -> None:
    owner = next(iter(MEASURES))
    words = ("-m", owner, "--estimand", "these")
    beacon, comet = (
        harvest("compare", news, "--systems", f"Atlas [en],{name} [en]", *words, width=200).stdout
        for name in ("Beacon", "Comet")
    )
    assert "Beacon [en] is higher in" in beacon
    assert "cannot tell in" in comet.splitlines()[0]
    studied = harvest("robustness", news, "-m", "%citations(country, Germany)").stdout
    assert "found to differ: Delta: de − en" in studied


@pytest.mark.soak
def test_the_weeks_proceed_as_written(shell: Any) -> None:
    part = PAGE.read_text(encoding="utf-8").partition("\n## Week by week\n")[2].partition("\n## ")[0]
    printed = ""
    for language, _, text in blocks(part):
        if language == "sh":
            printed = shell(text)
        elif language == "text":
            assert parts_in_order(text, printed) == [], printed


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
