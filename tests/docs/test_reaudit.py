"""docs/reaudit.md shows what the program prints, and names what it writes."""

from __future__ import annotations

import re
from pathlib import Path

from harvest.cli.watch.reaudit import command
from harvest.notices.prometheus import metrics
from harvest.schedules.crontab import crontab
from harvest.schedules.job import Job
from tests.support.bulletins import CHANGED, bulletin
from tests.support.checkout import ROOT

PAGE = (ROOT / "docs" / "reaudit.md").read_text(encoding="utf-8")


def test_the_line_of_cron_on_the_page_is_the_one_that_is_printed() -> None:
    folder = Path("/home/me/audits")
    words = ("/home/me/.venv/bin/harvest", "watch", "run", "audit.yaml", "--prometheus", "weekly.prom")
    lock, log, environment = (folder / f"audit.{end}" for end in ("lock", "log", "env"))
    job = Job("weekly", "week", words, folder, lock, log, environment)
    assert job.follow_up is not None
    assert crontab(job, "/usr/bin/flock") + crontab(job.follow_up, "/usr/bin/flock") in PAGE


def test_every_metric_and_option_that_is_named_exists() -> None:
    written = metrics(bulletin(CHANGED))
    named = set(re.findall(r"\bharvest_[a-z_]+", PAGE))
    assert named
    assert [name for name in named if f"\n{name}{{" not in written] == []
    options = {option for one in command.params for option in one.opts}
    told = re.findall(r"^\| `(--[a-z-]+)", PAGE, re.MULTILINE)
    assert len(told) == 5
    assert set(told) <= options
