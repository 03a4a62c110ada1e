"""`harvest attribute`: whose change it was that a figure moved between two audits."""

import json
from pathlib import Path

import click
from rich.text import Text

from harvest.cli.path import GivenPath
from harvest.studies.attribute.attribution import study_attribution
from harvest.studies.attribute.figures import (
    FORMAT,
    attribution_legend,
    attribution_rows,
    attribution_tables,
    long_attribution_rows,
)
from harvest.studies.runs.sources import sources
from harvest.tables.long_rows import long_latex
from harvest.tables.paper_tables import csv_rows
from harvest.terminal import people_console, printable
from recordings.log.provenance import software
from recordings.log.run_folder import read
from scoring.notation import parse_all
from topics.errors import InputError


@click.command()
@click.argument("before", type=GivenPath())
@click.argument("after", type=GivenPath())
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Only these systems [all in both runs].")
@click.option("--measure", "-m", "wanted", multiple=True, metavar="MEASURE", help="These [%useful S1, ave%useful].")
@click.option("--latex", "as_latex", is_flag=True, help="A table of the figures in LaTeX on standard output.")
@click.option("--csv", "as_csv", is_flag=True, help="Every figure as a row of CSV on standard output.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    before: Path,
    after: Path,
    systems: tuple[str, ...],
    wanted: tuple[str, ...],
    as_latex: bool,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Say whose change it was that a figure moved between two runs.

    Splits the difference between BEFORE and AFTER into shares that add up to it: of the system, of the simulated users,
    of the protocol's rules, of how pages were read, and of topics that are not in both. Contacts no system: kept pages
    are read again with today's code, and all answers are labelled by both protocols.
    """
    if as_json + as_csv + as_latex > 1:
        raise InputError("--json, --csv and --latex exclude each other", advice="give one of them")
    measures = tuple(dict.fromkeys(term for text in wanted for term in parse_all(text)))
    runs = [read(before), read(after)]
    study = study_attribution(*runs, systems=systems, measures=measures)
    if as_csv:
        click.echo(csv_rows(long_attribution_rows(study)), nl=False)
        return
    if as_latex:
        click.echo(long_latex(list(long_attribution_rows(study)), sources(runs)), nl=False)
        return
    if as_json:
        document = {
            "format": FORMAT,
            "settings": study.settings.as_json(),
            "differences": [one.as_json() for one in study.contrasts],
            "harness": {name: list(pair) for name, pair in study.harness.items()},
            "coverage": {
                one.system: [{"planned": side.planned, "valid": side.valid, "lost": side.lost} for side in one.coverage]
                for one in study.systems
            },
            "rows": list(attribution_rows(study)),
            "long": [one.as_json() for one in long_attribution_rows(study)],
            "sources": sources(runs),
            "software": software(),
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    people = people_console()
    for contrast in study.contrasts:
        people.print(Text(printable(f"the runs differ: {contrast.said}", line=True), style="yellow"))
    for part in (*attribution_tables(study), *attribution_legend(study)):
        people.print(part)
