"""The rows that `harvest annotate --criterion` asks people about, or a list of criteria."""

from collections.abc import Sequence

import click

from harvest.judging.sheets.annotation_sheet import Assessed
from harvest.judging.sheets.asked_rows import chosen_rows, rows_by_criterion
from harvest.judging.sheets.sheet_file import Row
from scoring.swan.schema import Schema
from topics.errors import InputError


def asked_criteria(
    assessed: Sequence[Assessed], schema: Schema, names: Sequence[str], sample: int | None, seed: int, *, goal: str
) -> tuple[list[Row], int]:
    """Return rows as `chosen_rows` does. Without names, raise an InputError that lists the criteria and their rows.

    goal: the purpose of the rows, as in “no criterion was given for the sheet”.
    """
    if names:
        return chosen_rows(assessed, schema, names, sample, seed)
    there = rows_by_criterion(assessed, schema)
    wide = max(map(len, there), default=0)
    for name, count in there.items():
        click.echo(f"  {name:<{wide}}  {schema[name].level:<8}  {count:>7} {'row' if count == 1 else 'rows'}", err=True)
    click.echo(f"  {'all':<{wide}}  {'':<8}  {sum(there.values()):>7} rows", err=True)
    raise InputError(
        f"no criterion was given for the {goal}",
        allowed="--criterion NAME for each criterion wanted, or --criterion all",
        advice="begin with one criterion; --sample N draws some of its rows",
    )
