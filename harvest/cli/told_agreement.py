"""How far people agree, in sentences for those who asked them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import click

from harvest.judging.sheets.annotators import agreements
from harvest.terminal import printable
from recordings.judgments import Layer

__all__ = ["tell_agreement"]


def tell_agreement(people: Sequence[Layer], criteria: Iterable[str]) -> None:
    """Nothing where no two people judged the same thing. people: their layers, the oldest first."""
    names, found = agreements(people, criteria)
    if not found:
        return
    people_named = ", ".join(printable(name, line=True) for name in names)
    click.echo(f"agreement of {people_named}, where two or more of them judged the same thing:", err=True)
    wide = max(map(len, found))
    for name, one in found.items():
        alpha = "n/a" if math.isnan(one.alpha) else f"{one.alpha:.2f}"
        click.echo(
            f"  {name:<{wide}}  equal {100 * one.equal:.0f}% (n={one.things})  alpha {alpha} (n={one.scored})", err=True
        )
    click.echo(
        "  alpha: Krippendorff's of the scores; 1 is full agreement, 0 chance, n/a if all scores are equal", err=True
    )
