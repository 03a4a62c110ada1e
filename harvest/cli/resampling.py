"""Options of commands whose intervals come from a bootstrap: the same names, ranges and defaults everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["LEVEL", "NumberRange", "resampling_options"]

_Command = TypeVar("_Command", bound=Callable[..., object])


class NumberRange(click.FloatRange):
    """As click's, which lets NaN through: it is not outside any range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


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
