"""`harvest users population`: show the figures of a run whose users were drawn from a population."""

import json
from pathlib import Path
from typing import Any

import click

from harvest.cli.judges_options import check_judges, judges_options
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import measures_option, setting_options
from harvest.studies.scores.scorecard import Judges
from harvest.studies.users.population_figures import FORMAT, population_legend, population_rows, population_tables
from harvest.studies.users.populations import population_figures
from harvest.terminal import people_console
from recordings.log.run_folder import read
from scoring.notation import Term


def _read_weights(context: click.Context, parameter: click.Parameter, value: str | None) -> dict[str, float] | None:
    if value is None:
        return None
    found: dict[str, float] = {}
    for part in value.split(","):
        name, _, number = part.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            raise click.BadParameter(f"{part!r} is not MEMBER=WEIGHT, such as hasty=.5") from None
        if not name.strip() or name.strip() in found:
            raise click.BadParameter(f"{part!r} repeats a member; name each once, as MEMBER=WEIGHT")
        found[name.strip()] = weight
    return found


@click.command(cls=ShortHelp)
@click.argument("run", type=PathArgument())
@measures_option("Only these [ave%useful].")
@click.option(
    "--weights",
    callback=_read_weights,
    metavar="MEMBER=W,...",
    help="Add the figures of a population with these weights; members that are not named have weight 0.",
)
@setting_options("level", "replications", level="Confidence level of the intervals")
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of resampling.")
@judges_options
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    run: Path,
    measures: tuple[Term, ...],
    weights: dict[str, float] | None,
    seed: int,
    as_json: bool,
    judges: Judges,
    **changes: Any,
) -> None:
    """Show figures of a population of users, by user and re-weighted.

    RUN was played by an audit with a `population`, from which the user of each trial was drawn. The command shows
    figures of the population and of each of its users. With --weights, the command also shows figures of a population
    with other shares of the same users.
    """
    check_judges(judges, measures)
    found = population_figures(read(run), measures=measures, weights=weights, changes=changes, judges=judges, seed=seed)
    if as_json:
        document = {
            "format": FORMAT,
            "settings": found.settings.as_json(),
            "notes": list(found.notes),
            "rows": list(population_rows(found)),
            "seed": seed,
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    people = people_console()
    for part in (*population_tables(found), *population_legend(found)):
        people.print(part)
    for note in found.notes:
        people.print(f"note: {note}", markup=False)
