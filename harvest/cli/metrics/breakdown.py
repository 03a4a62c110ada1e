"""`harvest metrics breakdown`: train a breakdown detector, make predictions, and compare predictions with baselines."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange, check_output_file
from harvest.cli.setting_options import resampling_options
from harvest.cli.study_output import Output, form_options
from harvest.studies.breakdown import detection
from harvest.studies.breakdown.figures import predictor_form, predictor_table
from harvest.tables.figures import interval_notes
from protocols.breakdown.detector import Detector, load_detector
from protocols.breakdown.features import Utterance
from protocols.breakdown.training import train as train_detector
from recordings.conversations.utterances import utterances_of
from recordings.files.evidence import write_safely
from recordings.formats.dbdc import SpokenDialogue, spoken_dialogues
from recordings.log.run_folder import is_run, read
from scoring.annotations.breakdown_files import BreakdownMaterial, Counts, read_breakdown_files
from scoring.annotations.breakdown_scores import BASELINES, breakdown_rows
from scoring.measures.breakdown import ACCURACY, DIVERGENCE, F1, LABELS, SQUARED_ERROR, label_shares
from topics.counting import pluralize
from topics.errors import InputError, Place

_MAIN_MEASURES = (
    ACCURACY.name,
    *(f"{F1.name}({positive})" for positive in ("B", "PB+B")),
    *(f"{one.name}(O,T,X)" for one in (DIVERGENCE, SQUARED_ERROR)),
)
_MOST_SHOWN = 5  # features behind each prediction


@click.group()
def command() -> None:
    """Detect dialogue breakdown, and evaluate predictions of it (DBDC)."""


@command.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PathArgument())
@click.option("--out", required=True, metavar="FILE", type=PathArgument(), help="Write the detector here.")
@click.option("--counts", type=click.Choice(["workshop", "revised"]), default="workshop", show_default=True)
@click.option("--source", default="", metavar="TEXT", help="Where the data are from and their licence, for the file.")
@click.option(
    "--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of the sample for each tree."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def train(files: tuple[Path, ...], out: Path, counts: Counts, source: str, seed: int, force: bool) -> None:
    """Train a detector of breakdown on annotated dialogues.

    FILE... are files or folders of DBDC dialogues with text and annotations. The same data and seed give the same
    detector file, whatever the order of FILE...
    """
    check_output_file(out, replace=force, other="choose another name, or --force")
    examples = detection.training_examples(detection.annotated_dialogues(files, counts))
    detector = train_detector(examples, seed=seed, about={"source": source, "counts": counts})
    try:
        out.write_text(detector.to_json(), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", place=Place.of(out)) from error
    told = f"{pluralize(len(examples.moments), 'turn')} of {pluralize(len(detector.dialogues), 'dialogue')}"
    pieces = f"{len(detector.words)} words and pairs, {pluralize(len(detector.trees.features), 'tree')}"
    click.echo(f"trained on {told}: {pieces} written to {out}", err=True)


@command.command()
@click.argument("paths", nargs=-1, required=True, metavar="RUN|FILE...", type=PathArgument())
@click.option("--detector", metavar="FILE", type=PathArgument(), help="[the one that comes with Harvest]")
@click.option("--why", is_flag=True, help="Add the features and words with the largest effect on each prediction.")
@click.option("--out", metavar="FILE", type=PathArgument(), help="Write the lines here [standard output].")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def predict(paths: tuple[Path, ...], detector: Path | None, why: bool, out: Path | None, force: bool) -> None:
    """Predict the annotators' labels for every system turn, including empty ones.

    RUN is the folder of a run; the valid attempt of each trial is read. FILE is a file of DBDC dialogues. The output
    has a line of JSON for each system turn, with the probabilities of O (no breakdown), T (possible breakdown) and X
    (breakdown). The predictions for a FILE can be passed to `harvest metrics breakdown eval`.
    """
    if out is None:
        for line in _predictions(paths, load_detector(detector), why):
            click.echo(line)
        return
    check_output_file(out, replace=force, other="choose another name, or --force")
    count = 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for line in _predictions(paths, load_detector(detector), why):
            count += 1
            yield f"{line}\n".encode("utf-8", "surrogatepass")

    try:
        write_safely(out, lines())
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", place=Place.of(out)) from error
    click.echo(f"{pluralize(count, 'prediction')} written to {out}", err=True)


def _predictions(paths: Sequence[Path], chosen: Detector, why: bool) -> Iterator[str]:
    for head, turns, places in _read_turns(paths):
        numbers = list(places)
        rows, labels = chosen.predict_labels(turns, [places[number] for number in numbers])
        for number, row, label in zip(numbers, rows, labels.tolist(), strict=True):
            line: dict[str, Any] = {**head, "turn": number, "probabilities": row.round(9).tolist()}
            line["probabilities"][2] = round(1 - sum(line["probabilities"][:2]), 9)
            line["label"] = LABELS[label]
            if why:
                found = chosen.explain(turns, places[number])
                added = {one.name: round(one.added, 4) for one in found.contributions[:_MOST_SHOWN]}
                others = round(sum(one.added for one in found.contributions[_MOST_SHOWN:]), 4)
                line["why"] = {
                    "familiarity": round(found.familiarity, 4),
                    "base": round(found.base, 4),
                    "added": added,
                    "others": others,
                }
            yield json.dumps(line, ensure_ascii=False)


def _read_turns(paths: Sequence[Path]) -> Iterator[tuple[dict[str, Any], tuple[Utterance, ...], dict[int, int]]]:
    """For each conversation, yield a dict of its name and system, its turns, and a dict from the number of each
    system turn to its index."""
    for path in paths:
        if is_run(path):
            for conversation in read(path).finished:
                key = conversation.key
                turns, places = utterances_of(conversation)
                yield {"dialogue": f"{key.system}/{key.topic}/{key.trial}", "system": key.system}, turns, places
        else:
            has_texts = False
            for dialogue in spoken_dialogues(detection.dialogue_files([path])):
                has_texts = has_texts or dialogue.has_texts
                # A turn without words is predicted, too: people annotated it, so `eval` asks for it.
                at = {turn.number: k for k, turn in enumerate(dialogue.turns) if turn.speaker == "S"}
                yield {"dialogue": dialogue.name, "system": dialogue.system}, detection.utterances(dialogue), at
            if not has_texts:
                raise InputError(
                    "this file does not contain the text of turns, which the detector needs",
                    place=Place.of(path),
                    advice="give files with the text of both speakers, such as the original *.log.json of DBDC",
                )


def with_predictions(
    material: BreakdownMaterial,
    files: Sequence[Path],
    counts: Counts,
    detector: Path | None,
    cross_validated: Literal["dialogue", "system"] | None,
    seed: int,
) -> BreakdownMaterial:
    """Add the detector's predictions to `material` if `files` contain the text of all annotated dialogues. Otherwise
    `material` is returned unchanged. Raises InputError if `detector` or `cross_validated` requested predictions but
    the text is missing, or if both arguments are given."""
    if cross_validated and detector:
        raise InputError("--detector and --cross-validate cannot be used together", advice="leave one of them out")
    dialogues = _read_with_text(files, counts)
    spoken = {(dialogue.name, turn.number) for dialogue in dialogues for turn in dialogue.turns if turn.counts}
    if not material.gold or spoken != {(turn.dialogue, turn.turn) for turn in material.gold}:
        if detector or cross_validated:
            raise InputError(
                "these files do not contain the text of all annotated turns, which the detector needs",
                advice="give the original files of DBDC, *.log.json",
            )
        return material
    notes = list(material.notes)
    if cross_validated:
        found = detection.cross_validate(dialogues, cross_validated, seed)
    else:
        chosen = load_detector(detector)
        found = detection.predict_turns(chosen, dialogues)
        names = [dialogue.name for dialogue in dialogues]
        if known := len({*chosen.dialogues} & {*names}):
            notes.append(
                f"the detector was trained on {known} of these {pluralize(len(names), 'dialogue')}: its figures "
                "are too good; --cross-validate trains without the predicted turns"
            )
    if found.name in {one.name for one in material.submissions}:
        raise InputError(
            f"the submission {found.name!r} has the name of the detector",
            advice="rename its file or folder",
        )
    return replace(material, submissions=(*material.submissions, found), notes=tuple(notes))


def _read_with_text(files: Sequence[Path], counts: Counts) -> list[SpokenDialogue]:
    try:
        found = detection.dialogue_files([file for file in files if file.suffix != ".jsonl"])
        return detection.annotated_dialogues([file for file in found if not file.name.endswith(".labels.json")], counts)
    except InputError:  # compact files contain only counts, and predictions may have another name
        return []


def reliability_tables(material: BreakdownMaterial) -> Iterator[Table]:
    """Yield a table of predicted and observed rates of breakdown for each submission. The rates are given in ten
    bins, over all turns and, if there are several systems, for each system."""
    gold = label_shares([turn.counts for turn in material.gold])[:, 2]
    systems = np.array([turn.system for turn in material.gold])
    for one in material.submissions:
        said = np.array([one.turns[turn.dialogue, turn.turn].probabilities[2] for turn in material.gold])
        table = Table(title=f"{one.name}: probability of X", box=box.SIMPLE, title_justify="left")
        for column in ("system", "predicted from", "turns", "mean predicted", "mean observed"):
            table.add_column(column, justify="left" if column == "system" else "right")
        names = sorted(set(systems.tolist()))
        for name in ["all", *(names if len(names) > 1 else [])]:
            here = np.ones(len(said), dtype=bool) if name == "all" else systems == name
            for part in detection.reliability_bins(said[here], gold[here]):
                means = [f"{value:.3f}" if part.n else "-" for value in (part.predicted, part.observed)]
                table.add_row(name, f"{part.low:.1f}", str(part.n), *means)
            table.add_section()
        yield table


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
