"""`harvest metrics helpdesk`: predict dialogue quality and nugget types (STC-3, DialEval), and evaluate predictions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import RenderableType
from rich.text import Text

from harvest.cli.parameters import NumberRange, PathArgument, ShortHelp, check_output_file
from harvest.cli.setting_options import resampling_options
from harvest.cli.study_output import Output, form_options
from harvest.studies.breakdown.figures import predictor_form, predictor_table
from harvest.tables.figures import interval_notes
from recordings.conversations.conversation import Conversation
from recordings.files.evidence import write_safely
from recordings.log.run_folder import is_run, read
from scoring.annotations.helpdesk_blocks import Block, read_blocks, spoken_blocks
from scoring.annotations.helpdesk_files import HelpdeskMaterial, read_helpdesk_files
from scoring.annotations.helpdesk_predictor import NAME, load_predictor
from scoring.annotations.helpdesk_scores import MICRO, baseline_notes, helpdesk_differences, helpdesk_rows
from scoring.annotations.helpdesk_training import cross_validate
from scoring.annotations.helpdesk_training import train as train_predictor
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.json_file import read_json

_MAIN_PREFIXES = ("NMD(", "RSNOD(")
_JSON_ONLY_PREFIXES = ("RNSS(nugget", "JSD(nugget")


@click.group()
def command() -> None:
    """Predict quality and nuggets of helpdesk dialogues (STC-3)."""


@command.command()
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


@command.command()
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
