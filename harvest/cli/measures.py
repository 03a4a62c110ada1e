"""`harvest measures`: list all measures, or explain a single measure."""

import json

import click

from harvest.studies.scores import measure_tables
from harvest.terminal import people_console
from scoring.notation import parse_all
from topics.errors import InputError, nearest_name


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(name: str | None, as_json: bool) -> None:
    """List all measures, or explain one.

    NAME is a measure as printed in tables, such as R, GF(RATINGS) or CVaR. If several measures share a name, such as
    GF of conversations and GF of ranked lists, all of them are explained.
    """
    known = measure_tables.every_measure()
    wanted = known
    if name is not None:
        if "(" in name:
            parse_all(name)  # also refuse measures that could not be requested
        bare = name.partition("(")[0].split(" ")[0]
        wanted = tuple(one for one in known if one.name == bare)
        if not wanted:
            names = list(dict.fromkeys(one.name for one in known))
            meant = nearest_name(bare, names)
            asked = f": did you mean {meant}?" if meant else ""
            raise InputError(f"{name!r} is not a measure{asked}", allowed=", ".join(names))
    if as_json:
        click.echo(json.dumps(measure_tables.measures_document(wanted), ensure_ascii=False))
        return
    console = people_console()
    if name is None:
        for part in measure_tables.measure_list(known):
            console.print(part)
        console.print("harvest measures NAME explains one; harvest score RUN --measure NAME computes it", style="dim")
        return
    if len(wanted) > 1:
        kinds = ", ".join(map(measure_tables.measure_kind, wanted))
        console.print(f"{len(wanted)} measures are called {wanted[0].name}: {kinds}", markup=False)
    for one in wanted:
        for part in measure_tables.explain_measure(one, shares_name=len(wanted) > 1):
            console.print(part)
