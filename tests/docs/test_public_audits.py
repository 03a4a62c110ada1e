"""The page about public audits: its rehearsal is played by its own commands, on a small table and, in soak, whole."""

from __future__ import annotations

import csv
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recordings.log.run_folder import read
from tests.support.checkout import ROOT
from tests.support.command_line import harvest

PAGE = (ROOT / "docs" / "public-audits.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- ([a-z.]+) -->\n```\w+\n(.*?)```\n", re.DOTALL)
ASKED = {
    "question": ("Who may vote in", "When do people vote in", "How are votes counted in"),
    "question:de": ("Wer wählt in", "Wann wird gewählt in", "Wie wird gezählt in"),
    "question:fr": ("Qui vote à", "Quand vote-t-on à", "Comment compte-t-on à"),
    "question:es": ("Quién vota en", "Cuándo se vota en", "Cómo se cuenta en"),
}


def rehearsal(folder: Path, questions: int) -> list[list[str]]:
    """Write the files of the page and a table of questions, and return its commands."""
    blocks = dict(BLOCK.findall(PAGE))
    for name in ("assistants.py", "audit.yaml"):
        (folder / name).write_text(blocks[name], encoding="utf-8")
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", *ASKED))
        for n in range(questions):
            writer.writerow((f"Q{n + 1}", *(f"{words[n % 3]} ward {n // 3 + 1}?" for words in ASKED.values())))
    return [shlex.split(line, comments=True)[1:] for line in blocks["commands"].splitlines()]


def test_the_commands_of_the_page_play_a_small_table(tmp_path: Path) -> None:
    said = {}
    for words in rehearsal(tmp_path, 6):
        done = harvest(*words, cwd=tmp_path, width=200)
        assert done.returncode == 0, (words, done.stderr)
        said[words[0]] = done.stdout
    assert "language (en, de, fr, es) x place (oslo, lyon, quito): 12 cells of each system" in said["check"]
    assert "steady is asked in the same way from oslo and lyon and quito" in said["check"]
    assert "english-only: fr − en" in said["robustness"]
    assert "language fr: steady − english-only" in said["robustness"]
    assert len(read(tmp_path / "run").conversations) == 6 * 5 * 12
    with (tmp_path / "answers.csv").open(encoding="utf-8", newline="") as file:
        assert {row["country"] for row in csv.DictReader(file)} == {"NO", "FR", "EC"}


@pytest.mark.soak
def test_the_whole_table_is_killed_resumed_and_found_out(tmp_path: Path) -> None:
    """75 questions × 5 systems × 3 places × 4 languages."""
    rehearsal(tmp_path, 75)
    command = [sys.executable, "-m", "harvest", "run", "audit.yaml", "--out", "run", "--no-report"]
    path = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    with subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}) as playing:
        shard = tmp_path / "run" / "trials-000001.jsonl"
        while not shard.is_file() or shard.stat().st_size < 500_000:
            assert playing.poll() is None
            time.sleep(0.1)
        playing.send_signal(signal.SIGKILL)
    before = len(read(tmp_path / "run").finished)
    assert 0 < before < 4500
    assert harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path).returncode == 0
    assert len(read(tmp_path / "run").finished) == 4500
    told = harvest("robustness", "run", cwd=tmp_path, width=200).stdout
    found = " ".join(re.findall(r"found to differ: (.*)", told))
    assert "english-only: fr − en" in found
    assert "local: quito − oslo" in found
    assert "steady − twin" not in found
