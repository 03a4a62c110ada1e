"""Sentences on the agreement between people."""

import math
from collections.abc import Iterable, Sequence

import click

from harvest.judging.sheets.annotators import agreements
from harvest.terminal import printable, tell
from recordings.judged.judgments import Layer
from scoring.annotations.agreement import Agreement
from topics.decimals import decimal

# Things with a rare judgment below which their number is printed: alpha depends on them.
_FEW = 10


def tell_agreement(people: Sequence[Layer], criteria: Iterable[str]) -> None:
    """Print how far people agree, if two of them judged the same thing. people: their layers, the oldest first."""
    found = agreements(people, criteria)
    if not found:
        return
    names = sorted({name for one in found for name in one.people})
    people_named = ", ".join(printable(name, line=True) for name in names)
    tell(f"agreement of {people_named}, over things that two or more of them judged:")
    whole = dict.fromkeys(one.criterion for one in found)
    wide = max(map(len, whole))
    for criterion in whole:
        first, *pairs = (one for one in found if one.criterion == criterion)
        click.echo(f"  {criterion:<{wide}}  {_agreement_figures(first.found)}", err=True)
        for one in pairs:
            who = " and ".join(printable(name, line=True) for name in one.people)
            click.echo(f"  {'':<{wide}}  {who}: {_agreement_figures(one.found)}", err=True)
    tell("  alpha: Krippendorff's of the scores or values; 1 is full agreement, 0 chance, n/a if all are equal")


def _agreement_figures(one: Agreement) -> str:
    own = one.interval
    ends = f" [{decimal(own.low, 2)}, {decimal(own.high, 2)}]" if own.printed else ""
    alpha = "n/a" if math.isnan(one.alpha) else f"{decimal(one.alpha, 2)}{ends}"
    few = f", {one.rare} of them not like most" if own.printed and one.rare < _FEW else ""
    return f"equal {100 * one.equal:.0f}% (n={one.things})  alpha {alpha} (n={one.scored}{few})"
