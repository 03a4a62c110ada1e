"""A service and a timer, put in place by the printed script, and read as systemd reads them."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.schedules.job import EVERY, Job
from harvest.schedules.systemd import service, systemd, timer
from tests.harvest.schedules.test_job import job
from tests.support.schedulers import check_units, command_of

FLOCK = "/usr/bin/flock"


def installed(made: Job, folder: Path) -> tuple[Path, Path]:
    """The units as the script leaves them, with a systemctl that only says what it is told."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "systemctl").write_text(f'#!/bin/sh\necho "$*" >> {folder}/told\n')
    (tools / "systemctl").chmod(0o755)
    environment = {"HOME": str(folder), "PATH": f"{tools}:/usr/bin:/bin"}
    subprocess.run(["/bin/sh"], input=systemd([made], FLOCK), env=environment, text=True, check=True, timeout=20)
    units = folder / ".config" / "systemd" / "user"
    return units / "harvest-weekly.service", units / "harvest-weekly.timer"


@pytest.mark.parametrize("every", EVERY)
def test_the_script_installs_units_that_systemd_accepts(tmp_path: Path, every: str) -> None:
    made = job("/bin/true", "watch", "run", "audit.yaml", folder=str(tmp_path))
    check_units(*installed(replace(made, every=every), tmp_path))  # type: ignore[arg-type]
    assert (tmp_path / "told").read_text().splitlines() == [
        "--user daemon-reload",
        "--user enable --now harvest-weekly.timer",
    ]


def test_words_and_paths_are_quoted_correctly(tmp_path: Path) -> None:
    folder = tmp_path / "100% 'mine'"
    folder.mkdir()
    words = ("/bin/true", "a b", '"', "$HOME", "50%", "x'y", "")
    made = job(*words, folder=str(folder), variables=("KEY",))
    (folder / "audit.env").write_text("KEY=x\n")
    path, other = installed(made, tmp_path)
    check_units(path, other)
    assert command_of(path.read_text()) == [FLOCK, "-n", "-E", "75", str(folder / "audit.lock"), *words]
    assert f"EnvironmentFile={str(folder / 'audit.env').replace('%', '%%')}\n" in path.read_text()


def test_a_change_fails_the_unit_and_an_audit_that_is_still_running_does_not() -> None:
    text = service(job("/bin/true"), FLOCK)
    assert "SuccessExitStatus=75\n" in text
    assert "#OnFailure=" in text
    assert "EnvironmentFile" not in text


def test_a_missed_run_is_caught_up_on_and_not_all_start_at_once() -> None:
    text = timer(job("/bin/true"))
    assert "Persistent=true\nRandomizedDelaySec=10min\nFixedRandomDelay=true\n" in text
