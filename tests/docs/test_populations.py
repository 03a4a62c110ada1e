"""The page about populations: its audit is played, and what it shows of it is what the program prints.

Run as a program, it writes the examples anew: `python -m tests.docs.test_populations`.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.command_line import harvest

PAGE = ROOT / "docs" / "simulators" / "populations.md"
FILE = re.compile(r"<!-- (audit\.yaml|bot\.py|middling\.yaml) -->\n```\w+\n(.*?)```\n", re.DOTALL)
COMMAND = re.compile(r"`harvest (users [^`]+)`\s+(?:then )?prints")
SHOWN = re.compile(r"(<!-- (?:population|counterfactual) -->\n```\n)(.*?)(```\n)", re.DOTALL)


def examples(page: str, folder: Path) -> list[str]:
    for name, text in FILE.findall(page):
        (folder / name).write_text(text, encoding="utf-8")
    assert harvest("run", "audit.yaml", "--out", "drawn", cwd=folder).returncode == 0
    found = []
    for command in COMMAND.findall(page):
        done = harvest(*command.split(), cwd=folder)
        assert done.returncode == 0, done.stderr
        found.append("".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines()))
    return found


def test_the_examples_are_what_the_program_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    page = PAGE.read_text(encoding="utf-8")
    shown = [block[1] for block in SHOWN.findall(page)]
    assert shown
    assert shown == examples(page, tmp_path), "renew it with: python -m tests.docs.test_populations"


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    with tempfile.TemporaryDirectory() as folder:
        text = PAGE.read_text(encoding="utf-8")
        said = iter(examples(text, Path(folder)))
        PAGE.write_text(SHOWN.sub(lambda block: block[1] + next(said) + block[3], text), encoding="utf-8")
