"""No command takes an empty path, which an unset variable of the shell leaves, for the current folder."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from harvest.cli.commands import COMMANDS
from harvest.cli.parameters import NameOrFile, PathArgument
from tests.support.command_line import harvest


def parameters(command: click.Command, name: str) -> Iterator[tuple[str, click.Parameter]]:
    for one in command.params:
        yield f"{name} {one.name}", one
    if isinstance(command, click.Group):
        for below, further in command.commands.items():
            yield from parameters(further, f"{name} {below}")


def test_every_path_of_every_command_is_of_the_type_that_refuses_an_empty_path() -> None:
    found = [
        one
        for name, entry in COMMANDS.items()
        if entry.module
        for one in parameters(import_module(entry.module).command, name)
    ]
    paths = {name: one for name, one in found if isinstance(one.type, click.Path) or "FILE" in (one.metavar or "")}
    assert len(paths) > 80
    assert [name for name, one in paths.items() if not isinstance(one.type, (PathArgument, NameOrFile))] == []


@pytest.mark.parametrize("words", [("run", "demo", "--out", ""), ("score", ""), ("score", "run", "--gold", "")])
def test_an_empty_path_is_refused_and_nothing_is_written(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = harvest(*words, cwd=tmp_path)
    assert (done.returncode, "is empty (a variable" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ("score",),
        ("show",),
        ("data", "verify"),
        ("run", "demo", "--out"),
    ],
)
def test_an_address_is_not_treated_as_a_path(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = harvest(*words, f"s3://name:CANARY7f3a9c@{tmp_path}", cwd=tmp_path)
    assert (done.returncode, "harvest data merge URL --out RUN" in " ".join(done.stderr.split())) == (2, True)
    assert "CANARY" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_number_is_refused_in_plain_words() -> None:
    assert "'1e9' is not a valid integer." in harvest("run", "demo", "--seed", "1e9").stderr
    assert "'x' is not a valid number." in harvest("score", "run", "--alpha", "x").stderr
