"""The page about public audits: its rehearsal is played by its own commands, on a small table and, in soak, whole."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from recordings.judged.decisions import read_decisions
from recordings.log.run_folder import read
from tests.support.browsing import settings
from tests.support.checkout import ROOT
from tests.support.command_line import harvest
from tests.support.judging_command import serving
from tests.support.judging_desk import Desk, sitting

PAGE = (ROOT / "docs" / "public-audits.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- ([a-z.]+) -->\n```\w+\n(.*?)```\n", re.DOTALL)


def rehearsal(folder: Path, questions: int) -> list[list[str]]:
    """Write the files of the page, with a table of fewer questions, and return its commands."""
    blocks = dict(BLOCK.findall(PAGE))
    for name in ("assistants.py", "audit.yaml"):
        (folder / name).write_text(blocks[name], encoding="utf-8")
    (folder / "questions.py").write_text(
        blocks["questions.py"].replace("QUESTIONS = 75", f"QUESTIONS = {questions}"), encoding="utf-8"
    )
    subprocess.run([sys.executable, "questions.py"], cwd=folder, check=True)
    return commands("commands")


def commands(block: str) -> list[list[str]]:
    return [shlex.split(line, comments=True)[1:] for line in dict(BLOCK.findall(PAGE))[block].splitlines()]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rehearsal with a small table, played."""
    folder = tmp_path_factory.mktemp("small")
    rehearsal(folder, 3)
    assert harvest("run", "audit.yaml", "--out", "run", "--no-report", cwd=folder).returncode == 0
    return folder


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Open a browser. Runs are played before: none can be where a browser of this kind is open."""
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=settings().executable, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def browser(small: Path) -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def test_the_commands_of_the_page_play_a_small_table(small: Path, tmp_path: Path) -> None:
    said = {}
    for words in rehearsal(tmp_path, 3):
        if words[0] == "run":
            (tmp_path / "run").symlink_to(small / "run")
            continue
        done = harvest(*words, cwd=tmp_path, width=200)
        assert done.returncode == 0, (words, done.stderr)
        said[words[0]] = done.stdout
    assert "language (en, de, fr, es) x place (oslo, lyon, quito): 12 cells of each system" in said["check"]
    assert "steady is asked in the same way from oslo and lyon and quito" in said["check"]
    assert "english-only: fr − en" in said["robustness"]
    assert "language fr: steady − english-only" in said["robustness"]
    assert len(read(tmp_path / "run").conversations) == 3 * 5 * 12
    with (tmp_path / "answers.csv").open(encoding="utf-8", newline="") as file:
        assert {row["country"] for row in csv.DictReader(file)} == {"NO", "FR", "EC"}


ADDRESS = re.compile(r"https://office\.example/(\d+)")


def by_law(text: str) -> tuple[str, float]:
    """Return the kind of an answer of the rehearsal, and the score of its sources: those with a number that ends in 7
    are about another country, so to say."""
    found = ADDRESS.search(text)
    return ("declines", math.nan) if found is None else ("refers", float(not found[1].endswith("7")))


def judge(desk: Desk, slip: str, every: int) -> None:
    """Decide all that is asked as the law says, but press `slip` for every so many questions; 0 is never."""
    while not desk.page.evaluate(desk.over):
        desk.until_shown()
        kind, sourcing = by_law(desk.page.locator(".said.asked").inner_text())
        key = {"refers": "c", "declines": "d"}[kind]
        if "Sourcing" in desk.page.locator("#place").inner_text():
            key = "-" if kind == "declines" else "ca"[sourcing == 0]
        slips = every and desk.made % every == every - 1
        desk.decide(slip if slips else key, "" if every else "as the page says")
    desk.until_saved()


def let_people_judge(folder: Path, browser: Browser, topics: int) -> str:
    """Let two people judge in the browser by the commands of the page, and a third decide where they differ. Returns
    what is printed when the two have ended."""
    told = []
    for command in commands("judging"):
        people = tuple(name for option, name in pairwise(command) if option == "--author")
        words = [word for word in command[3:] if word not in ("--author", *people)]
        words = [str(topics) if option == "--topics" else word for option, word in pairwise(["", *words])]
        with serving(folder / "run", *words, people=people) as server:
            for name in people:
                with sitting(browser, server.links[name]) as (desk, _):
                    judge(desk, *{"anna": ("b", 7), "ben": ("-", 10)}.get(name, ("", 0)))
            code, said = server.end(signal.SIGINT)
            assert code == 0, said
            told.append(said)
    return told[0]


def check_figures(folder: Path, topics: int) -> None:
    """`score` has what the law says of every cell, over the questions that were judged, and the report compares it."""
    score, robustness, report = commands("judged")
    done = harvest(*score, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    every = json.loads(done.stdout)["rows"]
    rows = [one for one in every if one["topic"] is one["topic_type"] is one["trial"] is one["turn"] is None]
    run, asked = read(folder / "run"), set[str]()
    for decision in read_decisions(folder / "run").standing:
        asked.update(str(about["trial"]) for about in decision.about)
    answers: dict[str, list[tuple[str, float]]] = {}
    for one in run.finished:
        if one.trial_id in asked and one.turns[0].reply is not None:
            answers.setdefault(one.key.system, []).append(by_law(one.turns[0].reply.answer.text))
    assert {len(own) for own in answers.values()} == {topics}
    assert len(answers) == 5 * 12
    for system, own in answers.items():
        found = {one["measure"]: one["value"] for one in rows if one["system"] == system}
        assert found["share_of(Kind_of_answer, declines)"] == pytest.approx(
            sum(kind == "declines" for kind, _ in own) / topics
        )
        scores = [score for _, score in own if score == score]
        assert found["WAN(Sourcing)"] == (pytest.approx(sum(scores) / len(scores)) if scores else None)
    told = harvest(*robustness, cwd=folder, width=200)
    assert "WAN(Sourcing): language, within each system" in told.stdout, told.stderr
    assert harvest(*report, cwd=folder).returncode == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "WAN(Sourcing): language, within each system" in page
    assert "--judgments adjudicated -m" in page


def test_two_people_judge_in_the_browser_and_a_third_decides(small: Path, browser: Browser) -> None:
    told = let_people_judge(small, browser, topics=1)
    assert re.search(r"Kind of answer  equal \d\d% \(n=60\)", told)
    assert "--once --adjudicate --author NAME" in told
    check_figures(small, topics=1)
    assert {one.by for one in read_decisions(small / "run").standing} == {"anna", "ben", "zoe"}


@pytest.mark.soak
def test_the_whole_table_survives_kills_resumes_judging_and_scoring(tmp_path: Path) -> None:
    """75 questions × 5 systems × 3 places × 4 languages."""
    rehearsal(tmp_path, 75)
    command = [sys.executable, "-m", "harvest", "run", "audit.yaml", "--out", "run", "--no-report"]
    path = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    with subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}) as playing:
        shard = tmp_path / "run" / "trials-000001.jsonl"
        while not shard.is_file() or shard.stat().st_size < 500_000:
            assert playing.poll() is None
            time.sleep(0.1)
        playing.send_signal(signal.SIGKILL)
    before = len(read(tmp_path / "run").finished)
    assert 0 < before < 4500
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    assert len(read(tmp_path / "run").finished) == 4500
    told = harvest("robustness", "run", cwd=tmp_path, width=200).stdout
    found = " ".join(re.findall(r"found to differ: (.*)", told))
    assert "english-only: fr − en" in found
    assert "local: quito − oslo" in found
    assert "steady − twin" not in found
    with open_browser() as browser:
        told = let_people_judge(tmp_path, browser, topics=20)
    assert re.search(r"Kind of answer  equal \d\d% \(n=1200\)", told)
    check_figures(tmp_path, topics=20)
