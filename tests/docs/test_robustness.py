"""The page about robustness: its audit is played, and what it shows of it is what the program prints.

Run as a program, it writes the example anew: `python -m tests.docs.test_robustness`.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.command_line import harvest

PAGE = ROOT / "docs" / "robustness.md"
AUDIT = re.compile(r"<!-- audit.yaml -->\n```yaml\n(.*?)```\n", re.DOTALL)
WORDINGS = re.compile(r"```yaml\n(format: harvest-wordings/1\n.*?)```\n", re.DOTALL)
SHOWN = re.compile(r"(<!-- robustness -->\n```\n)(.*?)(```\n)", re.DOTALL)


def example(page: str, folder: Path) -> str:
    found = AUDIT.search(page)
    assert found is not None
    (folder / "audit.yaml").write_text(found[1])
    assert harvest("run", "audit.yaml", "--out", "robust", cwd=folder).returncode == 0
    done = harvest("robustness", "robust", cwd=folder)
    assert done.returncode == 0, done.stderr
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def test_the_example_is_what_the_program_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = PAGE.read_text(encoding="utf-8")
    shown = SHOWN.search(page)
    assert shown is not None
    assert shown[2] == example(page, tmp_path), "renew it with: python -m tests.docs.test_robustness"


def test_the_file_of_texts_is_valid(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    audit, wordings = AUDIT.search(page), WORDINGS.search(page)
    assert audit is not None
    assert wordings is not None
    (tmp_path / "french.yaml").write_text(wordings[1])
    one = re.sub(r"only: .*", "only: [M001]", audit[1])
    (tmp_path / "audit.yaml").write_text(one + "  french: {texts: french.yaml}\n")
    done = harvest("check", "audit.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "french: 5" in done.stdout


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    with tempfile.TemporaryDirectory() as folder:
        text = PAGE.read_text(encoding="utf-8")
        said = example(text, Path(folder))
        PAGE.write_text(SHOWN.sub(lambda block: block[1] + said + block[3], text), encoding="utf-8")
