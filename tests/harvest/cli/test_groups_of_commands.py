"""Commands are found in their groups, and somebody who types a former name is told the present one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harvest.cli.commands import COMMANDS
from tests.support.command_line import harvest


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("bless run-1 --out b.json", "harvest bless is now harvest watch bless"),
        ("reaudit audit.yaml", "harvest reaudit is now harvest watch run"),
        ("import a.txt --format gfrc", "harvest import is now harvest data import"),
        ("reread run-1", "harvest reread is now harvest pages read-again"),
        ("simulate fit run-1", "harvest simulate is now harvest users"),
        ("chat demo --topic M001", "harvest chat is now harvest users chat"),
        ("gfr --qrels q", "harvest gfr is now harvest metrics gfr"),
        ("annotate run-1 --serve", "harvest annotate is now harvest judge page (--serve)"),
        ("judge {run} --with judge.yaml", "harvest judge RUN is now harvest judge model RUN"),
        ("wacth run", "No such command 'wacth': did you mean 'watch'?"),
        ("watch rnu", "No such command 'rnu': did you mean 'run'?"),
        ("judge nothing-here", "No such command 'nothing-here'"),
        ("metrics report", "No such command 'report'"),
    ],
)
def test_an_unknown_command_is_answered_with_the_one_that_is_probably_meant(
    tmp_path: Path, typed: str, said: str
) -> None:
    (tmp_path / "run").mkdir()
    done = harvest(*typed.format(run=tmp_path / "run").split())
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Error: {said}" in done.stderr


@pytest.mark.parametrize("group", [name for name, entry in COMMANDS.items() if entry.commands])
def test_a_group_lists_its_commands(group: str) -> None:
    listed = harvest(group, "--help", width=80).stdout.partition("Commands:\n")[2]
    assert re.findall(r"^  ([a-z-]+) ", listed, re.MULTILINE) == list(COMMANDS[group].commands)
