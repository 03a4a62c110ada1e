"""A measure that somebody else wrote, packed and installed: one file and one entry point, and everything knows it.

A real distribution in a folder of its own; nothing of the library is replaced.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import distributions
from tests.support.checkout import ROOT
from tests.support.distributions import commands, python

SAMPLE = ROOT / "recordings" / "samples" / "run-1"
BREVITY = '''\
"""How short the answers are. Written against the seam alone."""

from scoring.figure import Figure
from scoring.measure import Declaration, Parameter, require_number


def _score(material, measure):
    words = [passage.words for passage in material.passages if passage.speaker == "system"]
    fine = [count <= measure.number_of("words") for count in words]
    return Figure(measure.name, sum(fine) / len(fine) if fine else float("nan"), len(fine))


BREVITY = Declaration(
    name="Brevity",
    sentence="How many of the answers have few words.",
    of="conversation",
    formula="answers of at most so many words / answers",
    source="nobody",
    undefined="no answer",
    example="Brevity(words=5)",
    n="answers",
    parameters=(Parameter("words", "words of a short answer", default=12.0, value=require_number),),
    legend="short answers",
    shown="all",
    score=_score,
    notes=lambda conversations: iter([f"words of {len(conversations)} conversations are counted"]),
)
'''


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the distribution was installed into, as from an index."""
    names = {"harvest.measures": {"Brevity": "echo_measures.brevity:BREVITY"}}
    return distributions.installed(tmp_path_factory.mktemp("echo"), "echo-measures", {"brevity.py": BREVITY}, names)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of the shipped assistants, with thresholds on the measure that Harvest does not know."""
    folder = tmp_path_factory.mktemp("brief")
    (folder / "audit.yaml").write_text(AUDIT)
    return folder


AUDIT = """\
format: harvest-audit/1
name: brief
topics: fairweb-45
only: [M001, M002, M003, M004]
protocol: fairweb-two-round
trials: 2
systems: [{name: A, driver: parrot, options: {profile: steady}}]
thresholds: [{measure: "CVaR(Brevity(words=1), beta=0.5)", at_least: 0.5, judge: estimate}]
"""


def rows(done: subprocess.CompletedProcess[str], measure: str) -> list[dict[str, Any]]:
    return [row for row in json.loads(done.stdout)["rows"] if row["measure"] == measure]


def test_a_run_is_scored_by_it_and_checked_by_a_threshold_on_it(installed: Path, run: Path) -> None:
    measures = "Brevity(words=1), Brevity(words=1000), min(Brevity)"
    done, asked, plain, every, tree = commands(
        installed,
        run,
        ("run", "audit.yaml", "--out", "run", "--json"),
        ("score", "run", "--json", "-m", measures),
        ("score", "run", "--replications", "100"),
        ("score", "run", "--all", "--replications", "100"),
        ("tree", "run", "--score", "Brevity(words=1000)"),
    )
    assert done.returncode == 1, done.stderr  # no answer of a parrot has one word
    assert "threshold missed: CVaR(Brevity(words=1), beta=0.5), A: 0.0000" in " ".join(done.stderr.split())
    each = [row for row in rows(done, "Brevity") if row["trial"] is not None and row["topic"] is not None]
    assert len(each) == 8
    assert {row["n"] for row in each} <= {1, 2}
    (mean,) = (row for row in rows(done, "Brevity") if (row["topic"], row["topic_type"], row["trial"]) == (None,) * 3)
    assert 0 <= mean["low"] <= mean["value"] <= mean["high"] <= 1

    assert {row["value"] for row in rows(asked, "Brevity(words=1)")} == {0.0}
    assert {row["value"] for row in rows(asked, "Brevity(words=1000)")} == {1.0}
    assert "words of 8 conversations are counted" in json.loads(asked.stdout)["notes"]
    lowest = min(row["value"] for row in each)
    assert {row["value"] for row in rows(asked, "min(Brevity)") if row["topic_type"] is None} == {lowest}

    assert "Brevity: short answers" in " ".join(every.stdout.split())
    assert any(line.strip().startswith("Brevity ") for line in every.stdout.splitlines())
    assert not any(line.strip().startswith("Brevity ") for line in plain.stdout.splitlines())
    assert "Brevity)" in " ".join(plain.stdout.split()).partition("not shown: ")[2]

    assert "Brevity(words=1000): mean 1.0000" in " ".join(tree.stdout.split()), tree.stderr


def test_a_plug_in_measure_is_listed_and_explained_and_its_parameters_are_checked(
    installed: Path, tmp_path: Path
) -> None:
    wrong = {
        "Brevity(word=1)": "Brevity has no parameter word",
        "Brevity(words=few)": "words: few is not a number",
        "Brevity(A)": "Brevity takes 0 arguments, not 1",
    }
    scores = [("score", str(SAMPLE), "-m", written) for written in wrong]
    every, one, *refusals = commands(installed, tmp_path, ("measures",), ("measures", "Brevity"), *scores)
    assert "Brevity How many of the answers have few words." in " ".join(every.stdout.split())
    assert "words= words of a short answer [12]" in " ".join(one.stdout.split())
    for refused, what in zip(refusals, wrong.values(), strict=True):
        assert refused.returncode == 2
        assert what in " ".join(refused.stderr.split())


def test_without_the_distribution_its_name_is_not_a_measure(tmp_path: Path) -> None:
    refused = python(tmp_path, tmp_path, "-m", "harvest", "score", str(SAMPLE), "-m", "Brevity")
    assert refused.returncode == 2
    assert "'Brevity' is not a measure" in refused.stderr


BROKEN = {
    "a value beyond its range": (
        "sum(fine) / len(fine)",
        "7 + sum(fine) / len(fine)",
        "outside its declared range from 0 to 1, on trial",
    ),
    "a range that intervals cannot take": (
        '    n="answers",',
        '    n="answers",\n    range=(-1.0, 1.0),',
        "its range must start at 0 and end at most at 1 (or higher if has_top=False), not -1 to 1",
    ),
    "score raises": ("    words = [", '    raise KeyError("gone")\n    words = [', "raises KeyError: 'gone', on trial"),
    "it is none": ("BREVITY = Declaration(", "BREVITY = dict(", "must be a Declaration, not dict"),
    "another name": ('name="Brevity"', 'name="Short"', "declares 'Short' of a conversation"),
    "it cannot be imported": (
        "from scoring.measure",
        "from scoring.no_measure",
        "cannot be loaded: ModuleNotFoundError",
    ),
}
EACH_TIME = ("a value beyond its range", "it is none")
REST = [how for how in BROKEN if how not in EACH_TIME]


@pytest.mark.parametrize("how", [*EACH_TIME, *(pytest.param(how, marks=pytest.mark.soak) for how in REST)])
def test_a_broken_one_is_refused_in_one_message_and_no_traceback(how: str, installed: Path, tmp_path: Path) -> None:
    whole, broken, told = BROKEN[how]
    assert whole in BREVITY
    site = tmp_path / "site"
    shutil.copytree(installed, site)
    (site / "echo_measures" / "brevity.py").write_text(BREVITY.replace(whole, broken))
    refused = python(site, tmp_path, "-m", "harvest", "score", str(SAMPLE), "-m", "Brevity")
    assert refused.returncode == 2
    assert told in " ".join(refused.stderr.split())
    assert "Traceback" not in refused.stderr
