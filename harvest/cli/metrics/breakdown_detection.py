"""`harvest metrics breakdown train` and `predict`, and the predictions of the detector in `eval`."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
from rich import box
from rich.table import Table

from harvest.cli.parameters import PathArgument, WholeNumberRange, check_output_file
from harvest.studies.breakdown import detection
from protocols.breakdown.detector import Detector, load_detector
from protocols.breakdown.features import Utterance
from protocols.breakdown.training import train as train_detector
from recordings.conversations.utterances import utterances_of
from recordings.files.evidence import write_safely
from recordings.formats.dbdc import Counts, SpokenDialogue, spoken_dialogues
from recordings.log.run_folder import is_run, read
from scoring.annotations.breakdown_files import BreakdownMaterial
from scoring.measures.breakdown import LABELS, label_shares
from topics.counting import pluralize
from topics.errors import InputError, Place

_MOST_SHOWN = 5  # features behind each prediction


@click.command()
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


@click.command()
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
