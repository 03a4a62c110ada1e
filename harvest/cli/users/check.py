"""`harvest users check`: compare simulated users with real users."""

import json
from pathlib import Path

import click

from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import setting_option
from harvest.cli.users.people import intents_option, read_people
from harvest.studies.scores.kept_scores import with_kept_scores
from harvest.studies.users import simulation_figures
from harvest.terminal import people_console
from recordings.acts.reading import Level
from scoring.simulation.realism import realism
from topics.errors import InputError, Place


@click.command(cls=ShortHelp, rare="--order --splits --folds --intents")
@click.argument("real", type=PathArgument())
@click.argument("simulated", type=PathArgument())
@click.option(
    "--order", type=WholeNumberRange(1, 2), default=1, show_default=True, help="How many previous acts are used."
)
@click.option(
    "--measure", metavar="NAME", help="Scores: this measure of the runs' scores.json [share of o among labels]."
)
@click.option("--splits", type=WholeNumberRange(20, 10**5), default=200, show_default=True, help="Random halves.")
@click.option(
    "--folds", type=WholeNumberRange(2, 1000), default=10, show_default=True, help="Folds of cross-validation."
)
@setting_option("level")
@setting_option("replications")
@click.option(
    "--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of halves, folds and resampling."
)
@intents_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    real: Path,
    simulated: Path,
    order: int,
    measure: str | None,
    splits: int,
    folds: int,
    level: float,
    replications: int,
    seed: int,
    intents: Level,
    as_json: bool,
) -> None:
    """Compare simulated users with real users.

    REAL and SIMULATED are files or folders that `harvest users fit` accepts. Every distance is tested by permuting
    whole users, and shown with the distance between random halves of the real dialogues. The order of systems, which
    is shown first, is tested in the same way.
    """
    people = people_console(stderr=as_json)
    sides = [read_people([path], intents, people) for path in (real, simulated)]
    if measure is not None:
        sides = [with_kept_scores(side, path, measure) for side, path in zip(sides, (real, simulated))]
    if real.resolve() == simulated.resolve():
        raise InputError("REAL and SIMULATED must be different files or folders", place=Place(str(simulated)))
    settings = {"order": order, "splits": splits, "folds": folds, "level": level, "replications": replications}
    found = realism(*sides, seed=seed, order=order, splits=splits, folds=folds, level=level, replications=replications)
    if as_json:
        document = {
            "format": simulation_figures.FORMAT,
            "settings": {**settings, "measure": measure},
            **simulation_figures.check_json(found),
            "seed": seed,
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    for table in simulation_figures.check_tables(found):
        people.print(table)
    people.print(f"behaviour: {simulation_figures.behaviour_verdict(found)}")
    for note in simulation_figures.check_notes(found):
        people.print(f"note: {note}", markup=False)
    people.print(
        "[dim]all: every dialogue; matched: half of the real ones (fewer, if fewer were simulated) against as many "
        "simulated ones, median; floor: against as many real ones; p: everybody counted, whole users dealt to the "
        "sides at random, each measure alone. Beyond: p is at most 0.05.[/]"
    )
