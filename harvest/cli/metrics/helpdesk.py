"""`harvest metrics helpdesk`: predict dialogue quality and nugget types (STC-3, DialEval), and evaluate predictions."""

from dataclasses import replace
from pathlib import Path

import click
from rich.console import RenderableType
from rich.text import Text

from harvest.cli.metrics.helpdesk_prediction import predict as predict_command
from harvest.cli.metrics.helpdesk_prediction import train as train_command
from harvest.cli.metrics.helpdesk_prediction import with_predictions
from harvest.cli.parameters import NumberRange, PathArgument, ShortHelp
from harvest.cli.setting_options import resampling_options
from harvest.cli.study_output import Output, form_options
from harvest.studies.breakdown.figures import predictor_form, predictor_table
from harvest.tables.figures import interval_notes
from scoring.annotations.helpdesk_files import read_helpdesk_files
from scoring.annotations.helpdesk_scores import MICRO, baseline_notes, helpdesk_differences, helpdesk_rows
from topics.counting import pluralize

_MAIN_PREFIXES = ("NMD(", "RSNOD(")
_JSON_ONLY_PREFIXES = ("RNSS(nugget", "JSD(nugget")


@click.group()
def command() -> None:
    """Predict quality and nuggets of helpdesk dialogues (STC-3)."""


command.add_command(train_command, "train")
command.add_command(predict_command, "predict")


@command.command("eval", cls=ShortHelp)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PathArgument())
@click.option(
    "--alpha", type=NumberRange(0, 1), default=0.5, show_default=True, help="Weight of the customer's blocks."
)
@click.option(
    "--predictor",
    metavar="FILE",
    type=PathArgument(),
    help="A predictor trained by harvest metrics helpdesk train [the one that comes with Harvest].",
)
@click.option(
    "--cross-validate", is_flag=True, help="Train a predictor without each tenth of the dialogues to predict it."
)
@resampling_options(seed="Seed of the bootstrap and of the tenths.")
@click.option("--all", "every", is_flag=True, help="Print every measure, with -log2 of the means.")
@form_options
def evaluate(
    files: tuple[Path, ...],
    alpha: float,
    predictor: Path | None,
    cross_validate: bool,
    level: float,
    replications: int,
    seed: int,
    every: bool,
    output: Output,
) -> None:
    """Evaluate predicted dialogue quality and nugget types against human annotations.

    FILE... are annotations and predictions; the content of a file shows which of the two it has. Every file of
    predictions is one submission and may leave out a subtask. If the turns have texts, or lengths in words, the
    predictor's own predictions are compared, too. Each submission is also compared with the baselines, dialogue by
    dialogue. If no predictions are given, the baselines are printed.
    """
    material = with_predictions(read_helpdesk_files(files), predictor, cross_validate, seed)
    rows = helpdesk_rows(material, alpha=alpha, seed=seed, level=level, replications=replications)
    differences = helpdesk_differences(material, alpha=alpha, level=level)
    notes = [*material.notes, *baseline_notes(material.gold)]
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
    if differences:
        counted += " Differences are paired by dialogue."
    tables: list[RenderableType] = [predictor_table(rows, measures)]
    for name in dict.fromkeys(row.system for row, _ in differences):
        named = [replace(row, system=f"− {other}") for row, other in differences if row.system == name]
        title = f"{name} − each baseline (below 0 is better)"
        tables.append(predictor_table(named, measures, title=title))
    tables += [
        Text(counted, style="dim"),
        *interval_notes([row for row in rows if row.measure in measures]),
        *(Text(f"note: {note}") for note in notes),
    ]
    settings = {
        "alpha": alpha,
        "predictor": str(predictor) if predictor else None,
        "cross_validated": cross_validate,
        "level": level,
        "replications": replications,
    }
    form = predictor_form("helpdesk", rows, tables, settings=settings, notes=notes, seed=seed, differences=differences)
    output.show(form)
