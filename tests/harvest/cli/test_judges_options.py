"""Whose judgments a study of SWAN and WAN rests on, and what is told where systems differ in them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recordings.judged.judgments import Judgment, Layer, Target, write_layer
from recordings.log.run_folder import read
from tests.support.command_line import harvest
from tests.support.study_rows import figures

AUDIT = """\
format: harvest-audit/1
name: judged
topics: fairweb-45
only: [M001, M002, R001, Y001]
protocol: fairweb-two-round
trials: 2
seed: 3
systems:
  - {name: A, driver: parrot, options: {profile: steady}}
  - {name: B, driver: parrot, options: {profile: erratic}}
"""
WAN = "WAN(Fluency)"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judges")
    (folder / "audit.yaml").write_text(AUDIT)
    assert harvest("run", "audit.yaml", "--out", "run", cwd=folder).returncode == 0
    return folder / "run"


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "run"))


def judge(run: Path, author: str, score: Callable[[str], float | None], criterion: str = "Fluency") -> None:
    """Every system turn, by the name of its system; None: not a word on it."""
    given = tuple(
        Judgment(Target(one.trial_id, one.attempt, turn.number).about(), criterion, score(one.key.system))
        for one in read(run).finished
        for turn in one.turns
        if turn.reply is not None and score(one.key.system) is not None
    )
    write_layer(run, Layer("human", author, "1", judgments=given))


def difference(run: Path, *options: str) -> tuple[float, list[str]]:
    done = harvest("compare", run, "-m", WAN, "--json", *options)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (row,) = figures(document, "difference")
    return row["estimate"], document["notes"]


def test_the_judgments_that_count_are_chosen_as_in_score(run: Path) -> None:
    judge(run, "anna", {"A": 1.0, "B": 0.5}.__getitem__)
    judge(run, "ben", {"A": 0.0, "B": 1.0}.__getitem__)
    assert difference(run)[0] == pytest.approx(-0.25), "the mean of both"
    assert difference(run, "--judges", "human:anna")[0] == pytest.approx(0.5)
    assert difference(run, "--judgments", "ben")[0] == pytest.approx(-1)
    for options in (("--judges", "human:anna"), ("--judgments", "ben"), ()):
        rows = json.loads(harvest("score", run, "-m", WAN, "--json", *options).stdout)["rows"]
        of = {row["system"]: row["value"] for row in rows if row["topic"] is row["topic_type"] is row["trial"] is None}
        assert of["A"] - of["B"] == pytest.approx(difference(run, *options)[0])
    spread = harvest("variance", run, "-m", WAN, "--judges", "human:anna", "--json")
    assert "by human anna 1 (32)" in " ".join(json.loads(spread.stdout)["notes"]), spread.stderr


def test_systems_that_different_people_judged_are_compared_with_a_warning(run: Path) -> None:
    judge(run, "anna", {"A": 1.0, "B": None}.__getitem__)
    judge(run, "ben", {"A": None, "B": 0.5}.__getitem__)
    value, notes = difference(run)
    assert value == pytest.approx(0.5)
    said = "Fluency was scored by different judges (A by human anna 1; B by human ben 1): a difference in it is one of"
    assert [note for note in notes if note.startswith(said)]
    assert said in " ".join(json.loads(harvest("score", run, "-m", WAN, "--json").stdout)["notes"])
    judge(run, "anna", {"A": 1.0, "B": 0.5}.__getitem__, "Fluency")
    assert not [note for note in difference(run)[1] if "different judges" in note], "anna judged both"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--judgments", "zoe"), "there are no judgments by 'zoe'"),
        (("--judges", "human:zoe"), "there are no judgments by human 'zoe'"),
        (("--judges", "human,model"), "does not check a model's judgments"),
    ],
)
def test_an_unknown_person_and_an_unchecked_model_are_refused(run: Path, options: tuple[str, ...], said: str) -> None:
    judge(run, "anna", {"A": 1.0, "B": 0.5}.__getitem__)
    done = harvest("compare", run, "-m", WAN, *options)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("command", [("compare",), ("variance",)])
def test_options_without_effect_without_swan_are_refused(run: Path, command: tuple[str, ...]) -> None:
    for options in (("--judges", "human"), ("--judgments", "majority"), ("--schema", "dialeval-quality")):
        done = harvest(*command, run, *options)
        assert done.returncode == 2
        assert "only affect measures of judgments, such as SWAN and share_of" in done.stderr
    assert harvest(*command, run, "-m", WAN, "--judges", "cats").returncode == 2
