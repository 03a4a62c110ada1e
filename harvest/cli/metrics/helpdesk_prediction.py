"""`harvest metrics helpdesk train` and `predict`, and the predictions of the predictor in `eval`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from harvest.cli.parameters import PathArgument, check_output_file
from recordings.conversations.conversation import Conversation
from recordings.files.evidence import write_safely
from recordings.log.run_folder import is_run, read
from scoring.annotations.helpdesk_blocks import Block, read_blocks, spoken_blocks
from scoring.annotations.helpdesk_files import HelpdeskMaterial, read_helpdesk_files
from scoring.annotations.helpdesk_predictor import NAME, load_predictor
from scoring.annotations.helpdesk_training import cross_validate
from scoring.annotations.helpdesk_training import train as train_predictor
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.json_file import read_json


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PathArgument())
@click.option("--out", required=True, metavar="FILE", type=PathArgument(), help="Write the predictor here.")
@click.option("--source", default="", metavar="TEXT", help="Where the data are from and their licence, for the file.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def train(files: tuple[Path, ...], out: Path, source: str, force: bool) -> None:
    """Train a predictor of dialogue quality and nugget types on annotated dialogues.

    FILE... are annotations with the texts of the turns, or with their lengths in words. The same data give the same
    file, whatever the order of FILE...
    """
    check_output_file(out, replace=force, other="choose another name, or --force")
    predictor = train_predictor(read_helpdesk_files(files).gold, about={"source": source})
    _write(out, [predictor.to_json()])
    words = sum(len(one.words) for one in (*predictor.quality.values(), *predictor.nuggets.values()))
    about = predictor.about
    click.echo(
        f"trained on {pluralize(about['dialogues'], 'dialogue')} with {pluralize(about['blocks'], 'block')}: the "
        f"questions {', '.join(predictor.quality) or '(none)'} and the nugget types, with the weights of "
        f"{pluralize(words, 'word')}, written to {out}",
        err=True,
    )


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="RUN|FILE...", type=PathArgument())
@click.option("--predictor", metavar="FILE", type=PathArgument(), help="[the one that comes with Harvest]")
@click.option("--out", metavar="FILE", type=PathArgument(), help="Write the lines here [standard output].")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def predict(paths: tuple[Path, ...], predictor: Path | None, out: Path | None, force: bool) -> None:
    """Predict how people would annotate dialogues: quality, and the nugget types of each block.

    RUN is the folder of a run; the valid attempt of each trial is read, with the user as the customer. FILE is a file
    of helpdesk dialogues, with or without annotations. The output has a line of JSON for each dialogue. The
    predictions for a FILE can be passed to `harvest metrics helpdesk eval`.
    """
    chosen = load_predictor(predictor)
    lines = [f"{chosen.line(name, blocks)}\n" for name, blocks in _read_dialogues(paths)]
    if out is None:
        click.echo("".join(lines), nl=False)
        return
    check_output_file(out, replace=force, other="choose another name, or --force")
    _write(out, lines)
    click.echo(f"{pluralize(len(lines), 'prediction')} written to {out}", err=True)


def _write(out: Path, lines: Sequence[str]) -> None:
    try:
        write_safely(out, (line.encode("utf-8", "surrogatepass") for line in lines))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", place=Place.of(out)) from error


def _read_dialogues(paths: Sequence[Path]) -> Iterator[tuple[str, tuple[Block, ...]]]:
    for path in paths:
        if is_run(path):
            for conversation in read(path).finished:
                key = conversation.key
                yield f"{key.system}/{key.topic}/{key.trial}", _blocks_of(conversation)
            continue
        for value in read_json(path):
            inside = value["dialogues"] if value.has_key("dialogues") else value
            for one in inside.elements() if isinstance(inside.value, list) else (inside,):
                blocks = read_blocks(one)
                if not blocks:
                    raise one["turns"].error(
                        "the dialogue has no turns"
                        if blocks is not None
                        else "the turns of this dialogue have no lengths, which the predictor needs",
                        allowed="'utterances' (texts) or 'words' (a count) in each turn",
                    )
                yield one["id"].text(), blocks


def _blocks_of(conversation: Conversation) -> tuple[Block, ...]:
    said: list[tuple[str, str]] = []
    for turn in conversation.turns:
        if turn.said:
            said.append(("customer", turn.said))
        if turn.reply is not None:
            said.append(("helpdesk", turn.reply.answer.text))
    return spoken_blocks(said)


def with_predictions(
    material: HelpdeskMaterial, predictor: Path | None, cross_validated: bool, seed: int
) -> HelpdeskMaterial:
    """Add the predictor's predictions to `material`. The predictor that comes with Harvest is left out, with a note,
    if it does not fit the dialogues or was trained on one of them. Raises InputError if `predictor` or
    `cross_validated` requested predictions that cannot be made, or if both arguments are given."""
    if cross_validated and predictor:
        raise InputError("--predictor and --cross-validate cannot be used together", advice="leave one of them out")
    notes = list(material.notes)
    if cross_validated:
        found = cross_validate(material.gold, seed)
    else:
        chosen = load_predictor(predictor)
        known = len({*chosen.dialogues} & {dialogue.name for dialogue in material.gold})
        trained = f"was trained on {known} of these {pluralize(len(material.gold), 'dialogue')}"
        misfit = chosen.find_misfit(material.gold)
        if predictor is None and NAME in {one.name for one in material.submissions}:
            misfit = f"a submission is called {NAME!r}, too"
        if predictor is None and (misfit or known):
            why = f": {misfit}" if misfit else f": it {trained}; use --cross-validate"
            notes.append(f"the predictor that comes with Harvest is left out{why}")
            return replace(material, notes=tuple(notes))
        found = chosen.predict(material.gold)
        if known:
            notes.append(f"the predictor {trained}: its figures are too good; use --cross-validate instead")
    if found.name in {one.name for one in material.submissions}:
        raise InputError(f"the submission {found.name!r} has the name of Harvest's predictor", advice="rename its file")
    return replace(material, submissions=(*material.submissions, found), notes=tuple(notes))
