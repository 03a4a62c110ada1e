"""`harvest users fit`: fit a simulated user to recorded users."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click

from harvest.cli.parameters import NumberRange, PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import setting_option
from harvest.cli.users.people import intents_option, read_people
from harvest.studies.users import simulation_figures
from harvest.studies.users.fitted_users import Answers, fit_notes, fit_user, foresight
from harvest.studies.users.played_users import BOTH, CANDIDATES, HIDDEN, candidates, fit_hidden_user
from harvest.terminal import people_console, print_message
from recordings.acts.reading import Level
from scoring.simulation.act_model import Smoothing
from simulators.fitted import check_name
from topics.counting import pluralize
from topics.errors import InputError, Place


@click.command(cls=ShortHelp, rare="--order --answers --smoothing --weight --folds --intents")
@click.argument("data", nargs=-1, required=True, metavar="RUN|FILE...", type=PathArgument())
@click.option("--out", type=PathArgument(), metavar="USER.yaml", help="Write the fitted user here.")
@click.option("--name", default="fitted", show_default=True, help="Name of this user in recordings.")
@click.option(
    "--order", type=WholeNumberRange(1, 2), default=1, show_default=True, help="How many previous acts are used."
)
@click.option(
    "--answers",
    type=click.Choice(["nothing", "labels"]),
    default="nothing",
    show_default=True,
    help="Which part of the last answer is used.",
)
@click.option(
    "--smoothing",
    type=click.Choice(["witten-bell", "additive"]),
    default="witten-bell",
    show_default=True,
    help="Smoothing of rarely seen rows.",
)
@click.option(
    "--weight",
    type=NumberRange(0, 1000, min_open=True),
    default=0.5,
    show_default=True,
    help="Weight of additive smoothing.",
)
@click.option(
    "--stop",
    type=click.Choice(["best", *CANDIDATES]),
    default="best",
    show_default=True,
    help="The model to play: rows by turn and last act, rows over all turns, these with a stop model, hidden states, "
    "these with a table, or the one that best predicts people it was not fitted on.",
)
@click.option(
    "--folds", type=WholeNumberRange(2, 1000), default=10, show_default=True, help="Folds of cross-validation."
)
@setting_option("level")
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of folds and resampling.")
@intents_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    data: tuple[Path, ...],
    out: Path | None,
    name: str,
    order: Literal[1, 2],
    answers: Answers,
    smoothing: Literal["witten-bell", "additive"],
    weight: float,
    stop: str,
    folds: int,
    level: float,
    seed: int,
    intents: Level,
    as_json: bool,
) -> None:
    """Fit a simulated user to recorded users.

    RUN is the folder of a run. The act of a turn is the simulated user's act or, if there is none, the protocol's
    state. FILE is a harvest-acts/1 file (.jsonl), the IARD file as its authors publish it, or search sessions as in
    Sim4IA. The fitted user is written as a harvest-user/2 file, or as harvest-user/3 if it has hidden states. The
    texts that express each act must be added by hand.
    """
    check_name(name)
    if stop == BOTH and order != 1:
        raise InputError(f"--stop {BOTH}: its table counts what followed the last act", allowed="--order 1")
    if out is not None:  # refuse before the work, not after it
        if out.exists():
            raise _exists_error(out)
        if not out.parent.is_dir():
            raise _unwritable_error(out, "No such directory")
    people = people_console(stderr=as_json)
    dialogues = read_people(data, intents, people)
    if sys.stderr.isatty():  # this may take minutes, and nothing else is printed until it is done
        print_message(f"{pluralize(len(dialogues), 'dialogue')}: users are fitted and compared over {folds} folds …")
    played = candidates(
        dialogues,
        order=order,
        answers=answers,
        smoothing=Smoothing(smoothing, weight),
        folds=folds,
        level=level,
        seed=seed,
    )
    if stop != "best":
        played = replace(played, chosen=stop)
    files = [path.name for path in data]
    counted = fit_user(
        dialogues,
        name=name,
        files=files,
        order=order,
        answers=answers,
        smoothing=Smoothing(smoothing, weight),
        stop="turn-and-act" if played.chosen in (HIDDEN, BOTH) else played.chosen,
        level=level,
    )
    found = (
        fit_hidden_user(
            dialogues,
            name=name,
            files=files,
            answers=answers,
            smoothing=Smoothing(smoothing, weight),
            table=played.chosen == BOTH,
            seed=seed,
        )
        if played.chosen in (HIDDEN, BOTH)
        else counted
    )
    worth = foresight(
        dialogues,
        order=order,
        answers=answers,
        smoothing=Smoothing(smoothing, weight),
        folds=folds,
        level=level,
        seed=seed,
    )
    notes = fit_notes(dialogues)
    if out is not None:
        _write_new(out, found.text())
    if as_json:
        document: dict[str, Any] = {
            "format": simulation_figures.FORMAT,
            "user": found.model_dump(mode="json"),
            "foresight": simulation_figures.foresight_json(worth),
            "candidates": {
                "chosen": played.chosen,
                "held_out": simulation_figures.foresight_json(played.held_out),
                "left_out": dict(played.left_out),
            },
            "notes": list(notes),
            "seed": seed,
        }
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        for table in simulation_figures.fit_tables(counted, worth, played):
            people.print(table)
    source = found.source
    for note in notes:
        people.print(f"note: {note}", markup=False)
    people.print(
        f"[dim]{pluralize(source.dialogues, 'dialogue')} of {pluralize(source.users, 'user')}, "
        f"{pluralize(source.decisions, 'decision')}, {source.censored} cut off. "
        "Intervals: Jeffreys, each share alone, dialogues of one user together; bits and perplexity: on users the "
        "model was not fitted on.[/]"
    )
    if out is not None:
        acts = ", ".join(found.options.acts)
        people.print(f"written to {out}; before it can be played, add words to its options, for {acts}", markup=False)


def _write_new(out: Path, text: str) -> None:
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise _exists_error(out) from None
    except OSError as fault:
        raise _unwritable_error(out, fault.strerror) from None


def _unwritable_error(out: Path, reason: str | None) -> InputError:
    return InputError(
        f"the file cannot be written: {reason}",
        place=Place(str(out)),
        advice="name a file in an existing folder that you can write to",
    )


def _exists_error(out: Path) -> InputError:
    return InputError(
        "this file exists already and was not replaced, because texts may have been added to it",
        place=Place(str(out)),
        advice="give --out another name, or remove the file first",
    )
