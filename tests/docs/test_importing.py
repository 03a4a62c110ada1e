"""docs/importing.md: every format is in its table, and its example prints what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from recordings.formats.importers import IMPORTERS
from recordings.formats.shapes.audit_table import COLUMNS
from recordings.log.run_folder import read
from tests.support.checkout import DOCS, ROOT
from tests.support.command_line import harvest

PAGE = (DOCS / "importing.md").read_text(encoding="utf-8")


def test_every_format_is_in_the_table() -> None:
    rows = re.findall(r"^\| [^|]+ \| \[?`([a-z0-9-]+)`", PAGE, re.MULTILINE)
    assert {*rows} - {"--format"} == set(IMPORTERS)


def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    block = re.search(r"```\n\$ harvest (data import .*?)\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    words = shlex.split(block[1])
    words[-1] = str(tmp_path / "films")
    words[2] = str(ROOT / words[2])
    done = harvest(*words)
    assert done.returncode == 0
    assert done.stderr.replace(f"{tmp_path}/", "") == block[2]


def test_the_table_of_answers_is_read_as_it_says(tmp_path: Path) -> None:
    section = PAGE.partition("## Tables\n")[2]
    block = re.search(r"```\n(system,.*?)```", section, re.DOTALL)
    assert block is not None
    (tmp_path / "answers.csv").write_text(block[1])
    assert harvest("data", "import", tmp_path / "answers.csv", "--out", tmp_path / "run").returncode == 0
    (one,) = read(tmp_path / "run").conversations
    assert [(turn.said, turn.reply and turn.reply.answer.text, turn.label) for turn in one.turns] == [
        ("When do you open?", "At nine.", "o"),
        ("And on Sunday?", "", "x"),
    ]
    for meaning in COLUMNS:
        assert f"`{meaning}`" in section or f"{meaning}" in block[1].partition("\n")[0], meaning
