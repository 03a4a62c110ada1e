"""`harvest attribute`: attribute the difference between two runs to its causes."""

from pathlib import Path

import click

from harvest.cli.parameters import PathArgument, ShortHelp
from harvest.cli.setting_options import measures_option
from harvest.cli.study_output import Output, form_options
from harvest.studies.attribute.attribution import study_attribution
from harvest.studies.attribute.figures import attribution_form
from recordings.log.run_folder import read
from scoring.notation import Term


@click.command(cls=ShortHelp)
@click.argument("before", type=PathArgument())
@click.argument("after", type=PathArgument())
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Only these systems [all in both runs].")
@measures_option("Only these [%useful S1, ave%useful].")
@form_options
def command(
    before: Path,
    after: Path,
    systems: tuple[str, ...],
    measures: tuple[Term, ...],
    output: Output,
) -> None:
    """Attribute the difference between two runs to its causes.

    The difference between BEFORE and AFTER is split into shares that add up to the whole difference: the shares of
    the system, the simulated users, the protocol's rules, the reading of pages, and the topics that only one run has.
    No system is contacted: stored pages are read again with today's code, and all answers are labelled by both
    protocols.
    """
    runs = [read(before), read(after)]
    output.show(attribution_form(study_attribution(*runs, systems=systems, measures=measures), runs))
