"""`harvest data compact`: what every command says of a run afterwards is what it said before."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from harvest.viewing.tally import Tally
from recordings.log.run_folder import read
from tests.support.checkout import ROOT
from tests.support.command_line import harvest

AUDIT = """\
format: harvest-audit/1
name: compact
topics: fairweb-45
protocol: fairweb-two-round
gold: parrot
trials: {trials}
seed: 1
systems:
  - {{name: A, driver: parrot, options: {{profile: steady}}}}
  - {{name: B, driver: parrot, options: {{profile: erratic}}}}
"""

SAYS = (
    "score run --json",
    "show run --system A --topic M002 --trial 1",
    "data verify run --json",
    "data export run --format table --out table.csv",
    "data merge run --out merged",
)
FURTHER = (
    "score run --all --json",
    "compare run --json",
    "variance run --json",
    "tree run --json",
    "show run --all",
    "data export run --format messages --out messages.jsonl",
    "relabel run --json",
    "report run --out page.html",
)


def said(folder: Path, commands: Sequence[str]) -> dict[str, object]:
    """What the commands say, and what they write."""
    found: dict[str, object] = {}
    for command in commands:
        done = harvest(*command.split(), cwd=folder)
        found[command] = done.returncode, done.stdout, re.sub(r"\d+\.\d+ s\b", "", done.stderr)
    for name in ("merged/trials-000001.jsonl", "merged/run.json", "messages.jsonl", "table.csv", "page.html"):
        if (folder / name).exists():
            data = (folder / name).read_bytes()
            found[name] = len(data) if name == "page.html" else data  # it names the time at which it was made
            (folder / name).unlink()
    tally = Tally(folder / "run")
    tally.read_on()
    found["view"] = tally.systems, tally.past
    shutil.rmtree(folder / "merged", ignore_errors=True)
    return found


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    (folder / "audit.yaml").write_text(AUDIT.format(trials=1))
    assert harvest("run", "audit.yaml", "--out", "run", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "folder"))


@pytest.mark.parametrize("commands", [SAYS, pytest.param(FURTHER, marks=pytest.mark.soak)])
def test_every_command_prints_the_same_for_a_compacted_run_as_before(folder: Path, commands: Sequence[str]) -> None:
    before = said(folder, commands)
    done = harvest("data", "compact", "run", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"run: 1 file of events and 0 exhibits; \d\.\d MB before, \d\.\d MB now\n", done.stderr)
    after = said(folder, commands)
    assert {name: one for name, one in after.items() if one != before[name]} == {}
    (folder / "audit.yaml").write_text(AUDIT.format(trials=2))
    assert harvest("run", "audit.yaml", "--out", "run", cwd=folder).returncode == 0
    assert harvest("data", "verify", "run", cwd=folder).returncode == 0
    assert len(read(folder / "run").finished) == 180
    assert harvest("data", "compact", "run", cwd=folder).returncode == 0
    assert not list((folder / "run").glob("trials-0*.jsonl"))
    assert harvest("data", "compact", "--undo", "run", cwd=folder).returncode == 0
    assert len(list((folder / "run").glob("trials-0*.jsonl"))) == 2


def test_the_command_line_on_the_page_prints_the_answers(folder: Path) -> None:
    page = (ROOT / "docs" / "recordings.md").read_text(encoding="utf-8")
    (plain,) = re.findall(r"`(jq -r 'select\(.event == \"turn\"\) \| .text' run-1/trials-\*.jsonl)`", page)
    (line,) = re.findall(r"\$ (zstdcat run-1/trials-\*.jsonl.zst \| jq .*)", page)
    (folder / "run").rename(folder / "run-1")
    for program in ("zstdcat", "jq"):
        if shutil.which(program) is None:
            pytest.skip(f"this machine has no {program}")

    def printed(command: str) -> str:
        return subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, check=True, text=True).stdout

    answers = printed(plain)
    assert len(answers) > 1000
    assert harvest("data", "compact", "run-1", cwd=folder).returncode == 0
    assert printed(line) == answers


def test_a_changed_file_is_named_and_a_folder_that_is_not_a_run_is_refused(folder: Path) -> None:
    file = folder / "run" / "trials-000001.jsonl"
    file.write_bytes(file.read_bytes().replace(b"https", b"httqs", 1))
    done = harvest("data", "compact", "run", cwd=folder)
    assert done.returncode == 3
    assert re.match(r"left: run/trials-000001.jsonl:\d+: this line was changed after it was written", done.stderr)
    assert harvest("data", "compact", ".", cwd=folder).returncode == 2
