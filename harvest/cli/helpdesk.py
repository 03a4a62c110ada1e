"""`harvest helpdesk eval`: evaluate predicted dialogue quality and nugget types (STC-3, DialEval)."""

from pathlib import Path

import click
from rich.console import RenderableType
from rich.text import Text

from harvest.cli.parameters import NumberRange, PathArgument
from harvest.cli.setting_options import resampling_options
from harvest.cli.study_output import Output, form_options
from harvest.studies.breakdown.figures import predictor_form, predictor_table
from harvest.tables.figures import interval_notes
from scoring.annotations.helpdesk_files import read_helpdesk_files
from scoring.annotations.helpdesk_scores import MICRO, helpdesk_rows
from topics.counting import pluralize

_MAIN_PREFIXES = ("NMD(", "RSNOD(")
_JSON_ONLY_PREFIXES = ("RNSS(nugget", "JSD(nugget")


@click.group()
def command() -> None:
    """Evaluate predictions for helpdesk dialogues (STC-3)."""


@command.command("eval")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PathArgument())
@click.option(
    "--alpha", type=NumberRange(0, 1), default=0.5, show_default=True, help="Weight of the customer's blocks."
)
@resampling_options()
@click.option("--all", "every", is_flag=True, help="Print every measure, with -log2 of the means.")
@form_options
def evaluate(
    files: tuple[Path, ...],
    alpha: float,
    level: float,
    replications: int,
    seed: int,
    every: bool,
    output: Output,
) -> None:
    """Evaluate predicted dialogue quality and nugget types against human annotations.

    FILE... are annotations and predictions; the content of a file shows which of the two it has. Every file of
    predictions is one submission and may leave out a subtask. If only annotations are given, the baselines are
    printed.
    """
    material = read_helpdesk_files(files)
    rows = helpdesk_rows(material, alpha=alpha, seed=seed, level=level, replications=replications)
    notes = list(material.notes)
    if not material.submissions:
        notes.append("no predictions were given: these are the baselines to compare a submission with")
    measures = list(dict.fromkeys(row.measure for row in rows))
    if not every:
        measures = [
            name
            for name in measures
            if (name.startswith(_JSON_ONLY_PREFIXES) and not name.endswith(MICRO))
            or (name.startswith(_MAIN_PREFIXES) and not name.startswith("-log2"))
        ]
    counted = f"{pluralize(len(material.gold), 'dialogue')}. Means of divergences: 0 is good. n: dialogues."
    tables: list[RenderableType] = [
        predictor_table(rows, measures),
        Text(counted, style="dim"),
        *interval_notes([row for row in rows if row.measure in measures]),
        *(Text(f"note: {note}") for note in notes),
    ]
    settings = {"alpha": alpha, "level": level, "replications": replications}
    output.show(predictor_form("helpdesk", rows, tables, settings=settings, notes=notes, seed=seed))
