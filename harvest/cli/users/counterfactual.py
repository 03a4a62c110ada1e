"""`harvest users counterfactual`: estimate the figures that another user would have produced."""

import json
from pathlib import Path
from typing import Any

import click

from harvest.cli.judges_options import check_judges, judges_options
from harvest.cli.parameters import PathArgument, ShortHelp
from harvest.cli.setting_options import measures_option, setting_options
from harvest.studies.scores.scorecard import Judges
from harvest.studies.users import counterfactual_figures
from harvest.studies.users.counterfactual import counterfactual
from harvest.terminal import people_console
from recordings.log.run_folder import read
from scoring.notation import Term


@click.command(cls=ShortHelp)
@click.argument("run", type=PathArgument())
@click.option(
    "--as",
    "other",
    required=True,
    metavar="USER",
    help="A member of the run's population, one of its arms, or a YAML file of users by their names in the protocol.",
)
@measures_option("Only these [ave%useful].")
@setting_options("level", level="Confidence level of the intervals")
@judges_options
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(run: Path, other: str, measures: tuple[Term, ...], as_json: bool, judges: Judges, **changes: Any) -> None:
    """Estimate the figures of a run with another user.

    RUN is the folder of a run with simulated users that can list their possible acts. No system is contacted: each
    conversation is weighted by the probability of its acts under the other user, relative to the user that was
    played. Figures that cannot be estimated are listed with the reason.
    """
    check_judges(judges, measures)
    found = counterfactual(read(run), other, measures=measures, changes=changes, judges=judges)
    if as_json:
        document = {
            "format": counterfactual_figures.FORMAT,
            "settings": found.settings.as_json(),
            "notes": list(found.notes),
            "rows": list(counterfactual_figures.counterfactual_rows(found)),
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    people = people_console()
    for part in (
        *counterfactual_figures.counterfactual_tables(found),
        *counterfactual_figures.counterfactual_legend(found),
    ):
        people.print(part)
    for note in found.notes:
        people.print(f"note: {note}", markup=False)
