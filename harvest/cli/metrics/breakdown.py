"""`harvest metrics breakdown`: train a breakdown detector, make predictions, and compare predictions with baselines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import RenderableType
from rich.text import Text

from harvest.cli.metrics.breakdown_detection import predict as predict_command
from harvest.cli.metrics.breakdown_detection import reliability_tables, with_predictions
from harvest.cli.metrics.breakdown_detection import train as train_command
from harvest.cli.parameters import PathArgument, ShortHelp
from harvest.cli.setting_options import resampling_options
from harvest.cli.study_output import Output, form_options
from harvest.studies.breakdown.figures import predictor_form, predictor_table
from harvest.tables.figures import interval_notes
from scoring.annotations.breakdown_files import Counts, read_breakdown_files
from scoring.annotations.breakdown_scores import BASELINES, breakdown_rows
from scoring.measures.breakdown import ACCURACY, DIVERGENCE, F1, SQUARED_ERROR
from topics.counting import pluralize
from topics.errors import InputError

_MAIN_MEASURES = (
    ACCURACY.name,
    *(f"{F1.name}({positive})" for positive in ("B", "PB+B")),
    *(f"{one.name}(O,T,X)" for one in (DIVERGENCE, SQUARED_ERROR)),
)


@click.group()
def command() -> None:
    """Detect dialogue breakdown, and evaluate predictions of it (DBDC)."""


command.add_command(train_command, "train")
command.add_command(predict_command, "predict")


@command.command("eval", cls=ShortHelp, rare="--held-out --detector --reliability")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PathArgument())
@click.option(
    "--counts",
    type=click.Choice(["workshop", "revised"]),
    default="workshop",
    show_default=True,
    help="Which annotation of DBDC3 is the gold.",
)
@click.option(
    "--train",
    multiple=True,
    metavar="FILE",
    type=PathArgument(),
    help="Annotations that the prior baselines are computed from; may be repeated [the other dialogues of FILE...].",
)
@click.option(
    "--held-out",
    type=click.Choice(["dialogue", "system"]),
    default="dialogue",
    show_default=True,
    help="Without --train: a prior is computed from all other dialogues, or from all other systems.",
)
@click.option(
    "--detector",
    metavar="FILE",
    type=PathArgument(),
    help="A detector trained by harvest metrics breakdown train [the one that comes with Harvest].",
)
@click.option(
    "--cross-validate",
    is_flag=True,
    help="Train a detector without each tenth of the dialogues (--held-out system: without each system) to predict it.",
)
@click.option("--reliability", is_flag=True, help="Print predicted and observed breakdowns in ten bins.")
@resampling_options(seed="Seed of the bootstrap and of the splits of annotators.")
@click.option("--all", "every", is_flag=True, help="Print every measure, and each system's dialogues separately.")
@form_options
def evaluate(
    files: tuple[Path, ...],
    counts: Counts,
    train: tuple[Path, ...],
    held_out: Literal["dialogue", "system"],
    detector: Path | None,
    cross_validate: bool,
    reliability: bool,
    level: float,
    replications: int,
    seed: int,
    every: bool,
    output: Output,
) -> None:
    """Evaluate predictions of breakdown against the labels of annotators.

    FILE... are files or folders of annotations and predictions. The content of a file shows whether it has
    annotations or predictions; a line of JSONL may have both. Every JSONL file or folder of predictions is one
    submission. If all annotated dialogues contain their text, the detector's own predictions are compared, too. If no
    predictions are given, the baselines are printed.
    """
    material = read_breakdown_files(files, counts=counts)
    material = with_predictions(material, files, counts, detector, held_out if cross_validate else None, seed)
    training = read_breakdown_files(train, counts=counts).gold if train else ()
    both = {turn.dialogue for turn in training} & {turn.dialogue for turn in material.gold}
    if both:
        raise InputError(
            f"dialogue {min(both)!r} must not be both in --train and among the dialogues to evaluate",
            advice="train on other dialogues, because a prior that has seen the labels is not a baseline",
        )
    rows = breakdown_rows(
        material, training=training, held_out=held_out, seed=seed, level=level, replications=replications
    )
    settings: dict[str, Any] = {
        "counts": counts,
        "train": [str(path) for path in train],
        "held_out": None if train else held_out,
        "detector": str(detector) if detector else None,
        "cross_validated": held_out if cross_validate else None,
        "level": level,
        "replications": replications,
    }
    notes = list(material.notes)
    if not material.submissions:
        notes.append("no predictions were given: these are the baselines to compare a submission with")

    def tables() -> Iterator[RenderableType]:
        measures = list(dict.fromkeys(row.measure for row in rows)) if every else _MAIN_MEASURES
        for scope in dict.fromkeys(row.topic_type for row in rows) if every else (None,):
            here = [row for row in rows if row.topic_type == scope]
            yield predictor_table(here, measures, title=f"dialogues of {scope}" if scope else "")
        turns, dialogues = len(material.gold), len({turn.dialogue for turn in material.gold})
        yield Text(
            f"{pluralize(turns, 'turn')} of {pluralize(dialogues, 'dialogue')}. Accuracy, P, R and F1: 1 is good; "
            "JSD (bits), MSE and SNOD: 0 is good. n: turns; of P labels given, of R gold labels, of F1 turns with "
            "either.",
            style="dim",
        )
        yield from interval_notes([row for row in rows if row.measure in measures])
        if not every:
            said = "Other groupings, SNOD, precision, recall, and each system separately: --all or --json"
            yield Text(said, style="dim")
        if reliability:
            yield from reliability_tables(material)
        present = {row.system for row in rows}
        for name, meaning in BASELINES.items():
            if name in present:
                yield Text(f"{name}: {meaning}", style="dim")
        yield from (Text(f"note: {note}") for note in notes)

    output.show(predictor_form("breakdown", rows, tables(), settings=settings, notes=notes, seed=seed))
