"""Sentences and table cells that plans under all models share."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol

from rich.text import Text

from harvest.studies.plan.grid import WANTED, Design, Grid, Simulated
from topics.decimals import decimal, percent

ONE_SYSTEM = "one system: what is compared are two audits of it; turns are of one of them"

_EQUAL_WITHIN = 2.0  # standard errors of simulation within which two powers count as equal
_DIGITS = 6  # the precision of a simulation


@dataclass(frozen=True, slots=True)
class Words(Generic[Simulated]):
    """The printed text of a plan except its answer. `advice` follows the answer, and `grounds` lists the components
    and assumptions. `tables` has a title and a function from a design to a table cell, for each kind of figure."""

    advice: Sequence[str]
    grounds: Sequence[str]
    tables: Sequence[tuple[str, Callable[[Design[Simulated]], Text]]]
    legend: Sequence[str]


class SimulatedPower(Protocol):
    """A power and its simulation error."""

    @property
    def found(self) -> float: ...

    @property
    def found_error(self) -> float: ...


def more_helpful(topics: SimulatedPower, trials: SimulatedPower) -> str:
    """Return `topics` or `trials`, whichever gives more power when doubled, or `either` if they are too close."""
    far = topics.found - trials.found
    if math.isnan(far):
        return "trials" if math.isnan(topics.found) and not math.isnan(trials.found) else "either"
    if abs(far) <= _EQUAL_WITHIN * math.hypot(topics.found_error, trials.found_error):
        return "either"
    return "topics" if far > 0 else "trials"


def cheapest_design(grid: Grid[Simulated], design: Design[Simulated], finds: str, shares: str) -> str:
    """Describe the cheapest design. `finds` is a verb phrase such as `names it`, and `shares` a text on its powers."""
    cost = f"{design.turns:,} user {'turn' if design.turns == 1 else 'turns'}{' at most' if grid.turns_at_most else ''}"
    return (
        f"{design} is the cheapest design below that {finds} in 4 studies of 5 ({shares}; "
        f"{cost}{hours_after(design.hours)})."
    )


def share_cell(share: float, more: str = "", none: str = "no test") -> Text:
    """Return a table cell with a share of studies, in bold if it reaches the wanted power. `none` replaces NaN."""
    if math.isnan(share):
        return Text(none)
    return Text(f"{in_percent(share)}{more}", style="bold" if share >= WANTED else "")


def error_words(errors: Sequence[float]) -> str:
    """Return text such as ` (simulation error up to 1.6 points)`, or "" if no design has an error."""
    known = [error for error in errors if not math.isnan(error)]
    return f" (simulation error up to {decimal(100 * max(known), 1)} points)" if known else ""


def in_percent(share: float) -> str:
    """Format a share as a whole percentage such as `80%`; NaN becomes `n/a`."""
    return "n/a" if math.isnan(share) else percent(share)


def hours_after(hours: float) -> str:
    """Return text such as `, 2.5 h` or `, 40 min`, or "" if hours are unknown or negligible."""
    if not hours >= 1 / 120:
        return ""
    return f", {60 * hours:.0f} min" if hours < 1 else f", {hours:,.1f} h"


def points(number: float) -> str:
    """Format a number of points, such as `1 point` or `2.5 points`."""
    return f"{number:g} {'point' if number == 1 else 'points'}"


def simulated(value: float) -> float | None:
    """Round a simulated value for JSON; undefined and infinite values become null."""
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None
