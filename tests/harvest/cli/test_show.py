"""`harvest show`: what it lists, and what it says of trials that have no valid attempt."""

from __future__ import annotations

from pathlib import Path

from tests.support.command_line import harvest

AUDIT = """\
format: harvest-audit/1
name: shown
topics: fairweb-45
only: [M001, M002, M003]
protocol: fairweb-two-round
trials: 1
systems:
  - {name: mine, driver: python, attempts: 2, retry_wait: 0, options: {function: "bot.py:answer"}}
"""
BOT = """\
asked = []
def answer(text):
    asked.append(text)
    if len(asked) > 4:
        raise ValueError("out of order")
    return "No idea."
"""


def test_the_attempts_that_are_counted_are_those_at_the_trials_asked_for(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "audit.yaml").write_text(AUDIT)
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 3
    whole = harvest("show", "run", cwd=tmp_path).stdout
    lost = harvest("show", "run", "--topic", "M003", cwd=tmp_path).stdout
    assert "2 shown; attempts recorded: " in " ".join(whole.split())
    hint = "--all also shows invalid and interrupted ones"
    assert lost == f"\nno valid attempt; attempts recorded: 2 invalid (exception); {hint}\n"
    every = harvest("show", "run", "--topic", "M003", "--all", cwd=tmp_path).stdout
    assert every.endswith("\n2 shown; attempts recorded: 2 invalid (exception)\n")
