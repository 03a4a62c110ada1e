"""Numbers as options of commands."""

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """A range of click that refuses NaN and infinities, since NaN is not outside any range."""

    name = "number"  # "float range" is no word for people

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        if math.isinf(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class WholeNumberRange(click.IntRange):
    """A range of click, described as a whole number."""

    name = "integer"
