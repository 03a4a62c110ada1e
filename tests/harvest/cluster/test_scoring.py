"""Runs that a cluster scores have the scores that they have by themselves, to the byte."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.cli import main
from harvest.cluster.scoring import score_run, scoring_task
from harvest.playing.play import play
from harvest.studies.scores.score_request import ScoreRequest
from tests.support.cluster import cluster_here

OPTIONS = ("--measure", "R", "--measure", "SWAN", "--seed", "3", "--replications", "200", "--keep")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name, seed in (("january", 1), ("february", 2)):
        play(load_audit("demo", trials=2, seed=seed, only=("M002", "R001", "Y001")), folder / name)
    return folder / "january", folder / "february"


def harvest(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    return int(done.value.code or 0)


def test_many_runs_get_the_scores_that_each_has_alone(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs[0].parent)
    alone = {}
    for run in runs:
        assert harvest("score", run.name, *OPTIONS) == 0
        alone[run] = (run / "scores.json").read_bytes()
        (run / "scores.json").unlink()
    capsys.readouterr()
    with cluster_here() as local:
        assert harvest("score", "january", "february", *OPTIONS, "--dask", local.scheduler_address) == 0
        assert capsys.readouterr().out == "january/scores.json\nfebruary/scores.json\n"
        assert {run: (run / "scores.json").read_bytes() for run in runs} == alone
        bad = ("--measure", "nonsense", "--keep", "--dask", local.scheduler_address)
        assert harvest("score", "january", "february", *bad) == 2
        said = capsys.readouterr().err
        assert "january: " in said
        assert "2 of 2 runs could not be scored" in said


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("january", "--dask", "x"), "scores each run separately"),
        (("january", "--dask", "x", "--keep", "--json"), "scores each run separately"),
        (("january", "january", "--dask", "x", "--keep"), "the same run is given twice"),
        (("january", "january/nothing", "--dask", "x", "--keep"), "there is no such folder"),
        (("january", "--dask", "nowhere", "--keep"), "there is no Dask scheduler at nowhere"),
        (("january", "february", "--keep"), "on a cluster (--dask)"),
    ],
)
def test_a_run_that_a_cluster_cannot_score_is_refused(
    runs: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(runs[0].parent)
    assert harvest("score", *options) == 2
    assert told in capsys.readouterr().err


def test_a_worker_that_sees_different_files_scores_nothing(runs: tuple[Path, Path], tmp_path: Path) -> None:
    run = runs[0]
    (run / "scores.json").unlink(missing_ok=True)
    gold = tmp_path / "gold.csv"
    gold.write_text("topic,entity,grade\n")
    task = scoring_task(run, ScoreRequest(gold=str(gold)))
    assert "sees files that differ from those" in score_run(replace(task, run=str(runs[1]))).fault
    assert "a worker has numpy" in score_run(replace(task, versions={**task.versions, "numpy": "0.1"})).fault
    gold.write_text("topic,entity,grade\nM002,x,1\n")
    assert "or for its options" in score_run(task).fault
    gold.unlink()
    assert "sees files that differ from those" in score_run(task).fault
    task = scoring_task(run, ScoreRequest())
    (run / "decisions").mkdir()
    (run / "decisions" / "anna.jsonl").write_text("")
    assert "sees files that differ from those" in score_run(task).fault, "what people decided is part of the figures"
    shutil.rmtree(run / "decisions")
    assert not (run / "scores.json").exists()
