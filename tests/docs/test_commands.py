"""What docs/commands.md and the README say is what the program says and takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

from harvest.audits.audit import load_audit
from harvest.audits.audit_file import AuditFile, SystemEntry
from harvest.cli.commands import COMMANDS
from harvest.cli.score import command as score_command
from recordings.log.run_folder import read
from scoring.settings import Settings
from tests.support.checkout import ROOT
from tests.support.command_line import harvest

COMMANDS_PAGE = (ROOT / "docs" / "commands.md").read_text()
README = (ROOT / "README.md").read_text()


def test_the_help_on_the_page_is_what_the_program_prints() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harvest", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    block = re.search(r"```\n(Usage: .*?)```", COMMANDS_PAGE, re.DOTALL)
    assert block is not None
    assert block[1] == done.stdout


def test_every_key_of_an_audit_and_of_a_system_is_on_the_page() -> None:
    for model in (AuditFile, SystemEntry):
        for key in model.model_fields:
            assert f"| `{key}` |" in COMMANDS_PAGE, key


def test_every_scoring_setting_can_be_given_in_an_audit_and_on_the_command_line_and_is_on_the_page() -> None:
    settings = set(Settings().as_json())
    assert set(type(AuditFile.model_fields["scoring"].default).model_fields) == settings
    given = {str(parameter.name) for parameter in score_command.params}
    assert {name if name in given else name.removesuffix("s") for name in settings} <= given
    for name in settings:
        assert f"`{name}`" in COMMANDS_PAGE, name


def test_the_first_audit_is_accepted(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "first-audit.md").read_text(encoding="utf-8")
    block = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert block is not None
    text = re.sub(r"^ {3}", "", block[1], flags=re.MULTILINE)
    assert yaml.safe_load(text)["format"] == "harvest-audit/1"
    (tmp_path / "audit.yaml").write_text(text)
    assert [topic.id for topic in load_audit(str(tmp_path / "audit.yaml")).topics.topics] == ["M002", "R001", "Y001"]


def test_every_page_and_command_that_is_named_exists() -> None:
    pages = [README, *(page.read_text() for page in (ROOT / "docs").rglob("*.md"))]
    for text in pages:
        for command, below in re.findall(r"(?:^|`)harvest ([a-z][a-z-]+)(?:\s+([a-z][a-z-]+))?", text, re.MULTILINE):
            assert command in COMMANDS, command
            assert not COMMANDS[command].commands or f"{command} {below}" in COMMANDS, (command, below)
    for link in re.findall(r"\]\((docs/[^)#]+)", README):
        assert (ROOT / link).is_file(), link
    for page in (ROOT / "docs").glob("*.md"):
        for link in re.findall(r"\]\(([a-z]+\.md)", page.read_text()):
            assert (ROOT / "docs" / link).is_file(), (page.name, link)


def test_an_audit_on_two_machines_is_merged_and_scored_as_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    section = COMMANDS_PAGE.partition("## Several machines, or several runs\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^(?:\w+\$ )?harvest (.*)$", section, re.MULTILINE)
    assert [line.split(" runs/")[0].split(" audit")[0] for line in lines] == ["run", "run", "data merge", "score"]
    for line in lines:
        done = harvest(*line.split(), cwd=tmp_path)
        assert done.returncode == 0, (line, done.stderr)
    merged = read(tmp_path / "runs" / "weekly")
    assert len(merged.finished) == 45
    assert {one.worker.split("-")[0] for one in merged.finished} == {"shard1", "shard2"}


AUDIT = """\
format: harvest-audit/1
name: weekly
topics: fairweb-45
protocol: fairweb-two-round
trials: 1
systems: [{name: A, driver: parrot, options: {profile: steady}}]
"""
