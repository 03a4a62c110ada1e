"""The place from which a system is asked: recorded, part of what is under audit, and a condition to compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recordings.log.run_folder import read
from tests.support.command_line import harvest

AUDIT = """\
format: harvest-audit/1
name: places
topics: fairweb-45
only: [M001, M002, R001]
protocol: fairweb-two-round
trials: 2
systems:
  - {name: chat-tokyo, driver: parrot, options: {profile: steady}, vantage: Tokyo}
  - {name: chat-paris, driver: parrot, options: {profile: steady}, vantage: Paris}
  - {name: chat, driver: parrot, options: {profile: steady}}
"""


def test_a_vantage_is_recorded_and_two_of_them_can_be_compared(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    done = harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path, width=200)
    assert done.returncode == 0, done.stderr
    assert "chat-tokyo: parrot (profile steady), from Tokyo" in done.stderr
    systems: dict[str, Any] = dict(read(tmp_path / "run").header.systems)
    assert {name: entry.get("vantage") for name, entry in systems.items()} == {
        "chat-tokyo": "Tokyo",
        "chat-paris": "Paris",
        "chat": None,
    }
    compared = harvest("compare", "run", "--json", cwd=tmp_path)
    assert compared.returncode == 0
    assert "chat-tokyo" in compared.stdout


def test_a_run_from_one_place_is_not_resumed_from_another(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    (tmp_path / "audit.yaml").write_text(AUDIT.replace("Tokyo", "Osaka"))
    done = harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path, width=200)
    assert done.returncode == 2
    assert "Tokyo" in done.stderr
    assert "Osaka" in done.stderr
