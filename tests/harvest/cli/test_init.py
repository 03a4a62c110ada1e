"""`harvest init` writes an audit that is taken as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.audits.starter_files import starter_drivers
from harvest.drivers.registry import DRIVERS


def harvest(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harvest", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done


def test_every_driver_that_reaches_a_system_of_ones_own_has_starter_files() -> None:
    assert set(starter_drivers()) == set(DRIVERS) - {"parrot", "replay"}


@pytest.mark.parametrize("driver", starter_drivers())
def test_the_audit_that_is_written_is_taken_as_it_is(tmp_path: Path, driver: str) -> None:
    harvest("init", tmp_path / "new", "--driver", driver)
    audit = load_audit(str(tmp_path / "new" / "audit.yaml"))
    assert [system.driver for system in audit.systems] == [driver]
    assert audit.protocol.name == "first"
    assert len(audit.topics.topics) == 2
    assert all(len(line) <= 120 for file in (tmp_path / "new").iterdir() for line in file.read_text().splitlines())


@pytest.mark.parametrize("driver", ["command", "python"])
def test_an_audit_of_a_program_can_be_played_at_once(tmp_path: Path, driver: str) -> None:
    harvest("init", tmp_path, "--driver", driver)
    harvest("run", tmp_path / "audit.yaml", "--out", tmp_path / "run", "--trials", 1)
    assert "http" in harvest("show", tmp_path / "run", "--system", "mine", "--topic", "T1", "--trial", 1).stdout


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "topics.yaml").write_text("mine")
    said = harvest("init", tmp_path, code=2).stderr
    assert "topics.yaml exists already" in said
    assert [file.name for file in tmp_path.iterdir()] == ["topics.yaml"]
    assert (tmp_path / "topics.yaml").read_text() == "mine"


def test_an_unknown_driver_is_answered_with_those_there_are(tmp_path: Path) -> None:
    said = harvest("init", tmp_path, "--driver", "opnai", code=2).stderr
    assert all(name in said for name in starter_drivers())
