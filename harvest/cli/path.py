"""Paths as arguments and options of commands. An empty path comes from an unset shell variable."""

import os
from pathlib import Path
from typing import Any

import click

_EMPTY = "it is empty: give a path (a variable of the shell may not be set)"
_ADDRESS = (
    "this is an address, but a path on this machine is needed: first fetch a run from a store with "
    "harvest merge URL --out RUN"
)


class GivenPath(click.Path):
    """A path that is neither an address nor empty, which click reads as the current folder. kind: of the values."""

    def __init__(self, kind: type = Path) -> None:
        super().__init__(path_type=kind)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if not str(value):
            self.fail(_EMPTY, param, ctx)
        if "://" in str(value):
            self.fail(_ADDRESS, param, ctx)  # do not repeat it: it may contain a password
        return super().convert(value, param, ctx)


class NameOrFile(click.types.StringParamType):
    """The name of a shipped file, or the path of a file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail(_EMPTY.replace("a path", "a name or a path"), param, ctx)
        return super().convert(value, param, ctx)
