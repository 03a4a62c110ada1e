"""The fixture `harvest_audit` in a project of its own, whose tests are run by a pytest of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

AUDIT = """\
format: harvest-audit/1
name: bank
topics: fairweb-45
only: [M001, M002, M003, R001, R002, R003]
protocol: fairweb-two-round
trials: 4
seed: 5
systems: [{name: A, driver: parrot, options: {profile: steady}}]
thresholds: [{measure: "%useful", turn: 1, at_least: 0.5, estimand: these}]
"""
PASSING = f"""\
SHARED = []


def test_a_fresh_run(harvest_audit):
    audited = harvest_audit("audit.yaml")
    figure = audited.figure("%useful", turn=1)
    assert figure.low >= 0.5, figure
    assert figure.n == 24
    wide = audited.figure("%useful", turn=1, estimand="like-these")
    assert (wide.value, wide.low < figure.low) == (figure.value, True)
    audited.check("%useful S1", at_least=0.5, strict=True)
    audited.check_thresholds()
    assert len(audited.run.finished) == 24


def test_several_tests_share_what_is_played_once(harvest_audit):
    SHARED.append(harvest_audit("audit.yaml", once=True).run.path)


def test_and_this_is_another_of_them(harvest_audit):
    SHARED.append(harvest_audit("audit.yaml", once=True).run.path)
    assert SHARED == [SHARED[0]] * 2
    assert harvest_audit("audit.yaml").run.path != SHARED[0]


def test_a_recorded_run(harvest_audit):
    audited = harvest_audit({str(ROOT / "recordings" / "samples" / "run-1")!r})
    assert audited.figure("ave%useful").n > 0
"""
FAILING = """\
import pytest


def test_a_bound_that_is_missed(harvest_audit):
    harvest_audit("audit.yaml", once=True).check("%useful", turn=1, at_most=0.01)


def test_a_bound_inside_the_interval_passes(harvest_audit):
    audited = harvest_audit("audit.yaml", once=True)
    audited.check("%useful", turn=1, at_least=audited.figure("%useful", turn=1).value)


def test_a_bound_inside_the_interval_fails_if_strict(harvest_audit):
    audited = harvest_audit("audit.yaml", once=True)
    audited.check("%useful", turn=1, at_least=audited.figure("%useful", turn=1).value, strict=True)


def test_a_figure_that_does_not_exist(harvest_audit):
    harvest_audit("audit.yaml", once=True).figure("%useful", turn=7)


def test_a_figure_without_its_turn(harvest_audit):
    harvest_audit("audit.yaml", once=True).check("%useful", at_least=0.5)


def test_a_figure_of_another_system(harvest_audit):
    harvest_audit("audit.yaml", once=True).figure("ave%useful", system="B")


def test_a_figure_of_each_system(harvest_audit):
    harvest_audit("demo", once=True).figure("ave%useful")


def test_a_measure_without_a_value(harvest_audit):
    harvest_audit("audit.yaml", once=True).check("R", at_least=0.1)


def test_an_audit_without_thresholds(harvest_audit):
    harvest_audit("demo", once=True).check_thresholds()
"""


def project(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    (folder / "audit.yaml").write_text(AUDIT)
    (folder / "test_bank.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:asyncio",
            "--tb=line",
            "-rP",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_figures_are_asserted_with_their_intervals(tmp_path: Path) -> None:
    done = project(tmp_path, PASSING)
    assert "4 passed" in done.stdout, done.stdout
    assert re.search(r"A: .* wanted at least 50%: with so many trials the check fails below about 1\d%", done.stdout)


def test_a_failure_shows_the_figure_and_the_bound(tmp_path: Path) -> None:
    done = project(tmp_path, FAILING)
    assert "8 failed, 1 passed" in done.stdout, done.stdout
    assert "threshold missed: %useful of turn 1, A: " in done.stdout
    assert "for these topics, wanted at most 1%" in done.stdout
    assert "threshold cannot tell: %useful of turn 1, A: " in done.stdout
    assert "%useful of turn 7: this figure does not exist; turn: 1, 2" in done.stdout
    assert "%useful: wanted at least 50% (this figure does not exist; turn: 1, 2)" in done.stdout
    assert "ave%useful: this figure does not exist; system: A" in done.stdout
    assert "pytest_plugin.py" not in done.stdout, "the line of the test is shown"
    assert "ave%useful has a figure for each system" in done.stdout
    assert "system= one of A, B" in done.stdout
    assert "threshold not measured: R" in done.stdout
    assert "the audit of this run has no thresholds" in done.stdout


def test_projects_that_do_not_use_the_fixture_import_nothing_else(tmp_path: Path) -> None:
    code = """\
import sys


def test_nothing():
    assert {name for name in sys.modules if name.split(".")[0] == "harvest"} <= {HARVEST}
    assert not {"numpy", "pydantic", "httpx", "rich"} & set(sys.modules)
"""
    done = project(tmp_path, code.replace("{HARVEST}", "{'harvest', 'harvest.pytest_plugin', 'harvest.shadowed'}"))
    if "1 passed" not in done.stdout:
        pytest.fail(done.stdout)
