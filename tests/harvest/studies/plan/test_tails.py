"""A plan of a tail: the interval of scores, a bound on either side, and what has none."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

from harvest.audits.audit import load_audit
from harvest.cli.main import main
from harvest.studies.plan.grid import Plan
from harvest.studies.plan.tails import TailsModel, plan_tail, smallest_power
from recordings.log.run_folder import read
from scoring.notation import parse
from tests.support.reported import copied_run
from topics.errors import InputError


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_run(tmp_path_factory.mktemp("tails"))


def planned(pilot: Path, measure: str = "CVaR(GF, beta=0.25)", **more: Any) -> Plan[TailsModel]:
    options = {"detect": 0.2, "run": read(pilot), "topics": (15, 16), "trials": (2,), **more}
    return plan_tail(load_audit(str(pilot.parent / "audit.yaml")), parse(measure), **options)


def test_cells_with_too_few_topics_have_no_interval_and_say_so(pilot: Path) -> None:
    found = planned(pilot)
    few, enough = found.grid.designs
    assert found.model.least_topics == 16
    assert math.isnan(smallest_power(few.power, lambda one: one.below))
    assert all("an interval needs 16 topics (here 15)" in one.note for one in few.power.values())
    assert enough.power["A"].with_interval == 1.0
    assert 0 < enough.power["A"].width < 1
    assert list(found.model.values) == ["A", "B"]


def test_stated_components_make_a_plan_if_scores_have_two_ends(pilot: Path) -> None:
    spreads = {"mean": 0.6, "between": 0.2, "within": 0.2}
    found = planned(pilot, run=None, stated=spreads)
    assert found.grid.turns_at_most
    assert 0.1 < found.model.values[""] < 0.6
    with pytest.raises(InputError, match=r"no known top(?s:.*)give a pilot run with --from"):
        planned(pilot, "CVaR(R)", run=None, stated=spreads)
    with pytest.raises(InputError, match="the variance of GF is unknown"):
        planned(pilot, run=None)
    with pytest.raises(InputError, match="--mean cannot change the scores of a pilot"):
        planned(pilot, stated={"mean": 0.5})


def test_the_worst_case_within_topics_has_no_interval_to_plan(pilot: Path) -> None:
    with pytest.raises(InputError, match="no interval covers the worst case within topics"):
        planned(pilot, "CVaR(GF, beta=0.25, within=topics)")


def test_the_command_prints_the_plan_in_every_form(pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*options: str) -> str:
        words = ["plan", str(pilot.parent / "audit.yaml"), "--from", str(pilot), "--measure", "Q(GF, beta=0.5)"]
        with pytest.raises(SystemExit) as done:
            main([*words, "--detect", "0.2", "--topics", "7,8", "--trials", "2", *options])
        assert done.value.code == 0
        return capsys.readouterr().out

    shown = said()
    assert "bound 0.2 above it: shown missed" in " ".join(shown.split())
    assert "no interval: the worst share must contain 4 topics, so 8 topics are the fewest" in " ".join(shown.split())
    document = json.loads(said("--json"))
    assert document["format"] == "harvest-plan/1"
    missed = [row for row in document["long"] if row["figure"] == "bound above shown missed"]
    some = [row for row in document["long"] if row["figure"] == "studies with an interval"]
    assert (missed[0]["topics"], missed[0]["estimate"], some[0]["estimate"]) == (7, None, 0.0)
    assert (some[-1]["topics"], some[-1]["note"] is None or some[-1]["estimate"] < 1) == (8, True)
    rows = list(csv.DictReader(io.StringIO(said("--csv"))))
    assert {row["figure"] for row in rows} >= {"bound above shown missed", "bound below shown kept", "user turns"}
    assert {row["estimand"] for row in rows if row["system"]} == {"like-these"}
    table = said("--latex", "--topics", "7")
    assert "\\begin{tabular}" in table
    assert "simulated studies" not in table
