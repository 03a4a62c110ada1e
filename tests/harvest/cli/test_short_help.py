"""The help of a command fits a screen, and nothing that is left out of it is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

import click
import pytest

from harvest.cli.commands import COMMANDS
from harvest.cli.parameters import ShortHelp
from tests.support.command_line import harvest


def commands() -> Iterator[tuple[str, click.Command]]:
    for name, entry in COMMANDS.items():
        command = import_module(entry.module).command if entry.module else click.Command(name)
        below = command.commands if isinstance(command, click.Group) else {}
        yield name, command
        yield from ((f"{name} {inner}", one) for inner, one in below.items())


ALL = dict(commands())


@pytest.mark.parametrize("name", ALL)
def test_the_help_of_a_command_has_at_most_24_lines(name: str) -> None:
    assert len(harvest(*name.split(), "--help", width=80).stdout.splitlines()) <= 24


@pytest.mark.parametrize("name", [name for name, one in ALL.items() if isinstance(one, ShortHelp)])
def test_the_whole_help_lists_every_option_and_the_short_one_says_how_many_are_left_out(name: str) -> None:
    short, whole = (harvest(*name.split(), word, width=80).stdout for word in ("-h", "-hh"))
    listed = [
        set(re.findall(r"^  (?:-\w, )?(-[\w-]+)", text.partition("Options:")[2], re.M)) for text in (short, whole)
    ]
    options = {max(one.opts, key=len) for one in ALL[name].params if isinstance(one, click.Option)}
    assert listed[1] == options | {"--help"}
    missing = options - listed[0]
    assert (f"-hh lists {len(missing)} more options." in " ".join(short.split())) == bool(missing)
    assert ("More options:" in whole) == bool(missing)
    assert "More options:" not in short


def test_every_rare_option_is_an_option_of_the_command() -> None:
    for name, one in ALL.items():
        if isinstance(one, ShortHelp):
            assert one.own_rare <= {word for option in one.params for word in option.opts}, name


def test_paragraphs_are_left_out_only_of_the_short_help() -> None:
    short, whole = (harvest("tree", word, width=80).stdout for word in ("--help", "-hh"))
    assert ("With --score, each branch" in short, "With --score, each branch" in whole) == (False, True)
