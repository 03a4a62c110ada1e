"""Options of commands whose intervals come from a bootstrap: the same names, ranges and defaults everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from harvest.cli.number import NumberRange

__all__ = ["LEVEL", "resampling_options"]

_Command = TypeVar("_Command", bound=Callable[..., object])


LEVEL = NumberRange(0.5, 0.9999)
"""Of a confidence interval."""


def resampling_options(*, seed: str = "Of the bootstrap.") -> Callable[[_Command], _Command]:
    """--level, --replications and --seed. seed: what else it draws."""

    def with_options(command: _Command) -> _Command:
        for option in (
            click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help=seed),
            click.option(
                "--replications",
                type=click.IntRange(100, 10**6),
                default=2000,
                show_default=True,
                help="Of the bootstrap.",
            ),
            click.option("--level", type=LEVEL, default=0.95, show_default=True, help="Of the intervals."),
        ):
            command = option(command)
        return command

    return with_options
