"""A line for cron, read as cron reads it."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.schedules.crontab import crontab
from harvest.schedules.job import EVERY
from tests.harvest.schedules.test_job import job
from tests.support.schedulers import as_cron_reads
from topics.errors import InputError

FLOCK = "/usr/bin/flock"


@pytest.mark.parametrize("every", EVERY)
def test_the_time_is_valid_for_cron(every: str) -> None:
    text = crontab(replace(job("/bin/harvest"), every=every), FLOCK)  # type: ignore[arg-type]
    fields, _ = as_cron_reads(text)
    given = [field != "*" for field in fields]
    assert (
        given
        == {
            "hour": [True, False, False, False, False],
            "day": [True, True, False, False, False],
            "week": [True, True, False, False, True],
            "month": [True, True, True, False, False],
        }[every]
    )


def run(text: str) -> subprocess.CompletedProcess[str]:
    _, command = as_cron_reads(text)
    return subprocess.run(["/bin/sh", "-c", command], env={}, capture_output=True, text=True, check=False, timeout=20)


def program(folder: Path, code: int = 0, sleep: float = 0) -> str:
    path = folder / "pro gram %d $x"
    path.write_text(f'#!/bin/sh\necho "said $*" "$KEY"\necho problem >&2\nsleep {sleep}\nexit {code}\n')
    path.chmod(0o755)
    return str(path)


def test_a_good_night_prints_nothing_and_the_log_has_everything(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s 100% "mine" $HOME'
    folder.mkdir()
    done = run(crontab(job(program(tmp_path), "a b", "50%", folder=str(folder)), FLOCK))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "audit.log").read_text() == "said a b 50% \nproblem\n"


@pytest.mark.parametrize("code", [1, 3])
def test_after_a_bad_night_cron_mails_the_end_of_the_log_and_the_code_is_kept(tmp_path: Path, code: int) -> None:
    done = run(crontab(job(program(tmp_path, code), folder=str(tmp_path)), FLOCK))
    assert done.returncode == code
    assert done.stdout == f"harvest watch run of weekly: exit code {code}\nsaid  \nproblem\n"


def test_two_audits_never_overlap(tmp_path: Path) -> None:
    text = crontab(job(program(tmp_path, sleep=3), folder=str(tmp_path)), FLOCK)
    _, command = as_cron_reads(text)
    first = subprocess.Popen(["/bin/sh", "-c", command], env={})
    try:
        while not (tmp_path / "audit.log").exists() or "said" not in (tmp_path / "audit.log").read_text():
            assert first.poll() is None
            time.sleep(0.02)
        done = run(text)
        assert (done.returncode, done.stdout.splitlines()[0]) == (75, "harvest watch run of weekly: exit code 75")
        assert (tmp_path / "audit.log").read_text().count("said") == 1
    finally:
        assert first.wait(20) == 0


def test_secrets_come_from_a_file_and_without_it_nothing_is_played(tmp_path: Path) -> None:
    text = crontab(job(program(tmp_path), folder=str(tmp_path), variables=("KEY",)), FLOCK)
    assert "audit.env holds KEY" in text
    assert run(text).returncode != 0
    assert not (tmp_path / "audit.log").exists()
    (tmp_path / "audit.env").write_text("KEY='of a secret'\n")
    assert run(text).returncode == 0
    assert "of a secret" in (tmp_path / "audit.log").read_text()


def test_a_missing_folder_is_not_a_change(tmp_path: Path) -> None:
    assert run(crontab(job(program(tmp_path), folder=str(tmp_path / "gone")), FLOCK)).returncode == 3


def test_a_line_that_cron_would_truncate_is_refused() -> None:
    with pytest.raises(InputError, match="cron cuts it off after 998"):
        crontab(job("/bin/harvest", "x" * 900), FLOCK)
