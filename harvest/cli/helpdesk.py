"""`harvest helpdesk eval`: how good predictions of dialogue quality and nugget types are (STC-3, DialEval)."""

import json
from pathlib import Path

import click
from rich.markup import escape

from harvest.cli.number import NumberRange
from harvest.cli.path import GivenPath
from harvest.cli.setting_options import resampling_options
from harvest.studies.breakdown.figures import predictor_table
from harvest.tables.figures import interval_notes
from harvest.terminal import people_console
from scoring.annotations.helpdesk_files import read_helpdesk_files
from scoring.annotations.helpdesk_scores import helpdesk_rows
from scoring.table import FORMAT
from topics.counting import pluralize

_FIRST = ("NMD(", "RSNOD(")
_LAST = ("RNSS(nugget", "JSD(nugget")


@click.group()
def command() -> None:
    """Evaluate predictions for helpdesk dialogues (STC-3)."""


@command.command("eval")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=GivenPath())
@click.option(
    "--alpha", type=NumberRange(0, 1), default=0.5, show_default=True, help="Weight of the customer's blocks."
)
@resampling_options()
@click.option("--all", "every", is_flag=True, help="Print every measure, with -log2 of the means.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def evaluate(
    files: tuple[Path, ...],
    alpha: float,
    level: float,
    replications: int,
    seed: int,
    every: bool,
    as_json: bool,
) -> None:
    """Evaluate predicted dialogue quality and nugget types against the annotations of people.

    FILE... takes annotations and predictions together; their contents show which is which. Every file of predictions is
    one submission, and may leave out a subtask. With annotations alone, the baselines are printed.
    """
    material = read_helpdesk_files(files)
    rows = helpdesk_rows(material, alpha=alpha, seed=seed, level=level, replications=replications)
    notes = list(material.notes)
    if not material.submissions:
        notes.append("no predictions were given: these are the baselines to compare a submission with")
    people = people_console(stderr=as_json)
    if as_json:
        document = {
            "format": FORMAT,
            "settings": {"alpha": alpha, "level": level, "replications": replications},
            "notes": notes,
            "rows": [row.as_json() for row in rows],
            "seed": seed,
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    measures = list(dict.fromkeys(row.measure for row in rows))
    if not every:
        measures = [
            name
            for name in measures
            if name.startswith(_LAST) or (name.startswith(_FIRST) and not name.startswith("-log2"))
        ]
    people.print(predictor_table(rows, measures))
    people.print(f"[dim]{pluralize(len(material.gold), 'dialogue')}. Means of divergences: 0 is good. n: dialogues.[/]")
    for line in interval_notes([row for row in rows if row.measure in measures]):
        people.print(line)
    for note in notes:
        people.print(f"note: {escape(note)}")
