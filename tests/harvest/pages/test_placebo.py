"""The placebo of a page is read through a real browser, whole, and each turn is sent once."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from harvest.audits.audit import load_audit
from harvest.cli.watch.reaudit import play_placebo
from recordings.log.run_folder import read

AUDIT = """\
format: harvest-audit/1
name: page
topics: fairweb-45
only: [M001, M002]
protocol: recovery
trials: 25
placebo: true
systems:
  - {name: page, driver: browser, options: {url: "https://chat.example/"}, delay: 5}
"""


def test_a_placebo_page_is_read_unchanged(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    found = play_placebo(load_audit(str(tmp_path / "audit.yaml")), tmp_path / "run", Console(quiet=True))
    assert list(found.sentences()) == []
    run = read(tmp_path / "run.placebo")
    assert len(run.finished) == 2
    assert found.turns >= 2
