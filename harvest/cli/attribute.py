"""`harvest attribute`: attribute the difference of a figure between two audits to its causes."""

from pathlib import Path

import click

from harvest.cli.parameters import GivenPath
from harvest.cli.setting_options import measures_option
from harvest.cli.study_output import Output, form_options
from harvest.studies.attribute.attribution import study_attribution
from harvest.studies.attribute.figures import attribution_form
from recordings.log.run_folder import read
from scoring.notation import Term


@click.command()
@click.argument("before", type=GivenPath())
@click.argument("after", type=GivenPath())
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

    Splits the difference between BEFORE and AFTER into shares that add up to it: of the system, of the simulated
    users, of the protocol's rules, of how pages were read, and of topics that only one run has. Contacts no system:
    stored pages are read again with today's code, and all answers are labelled by both protocols.
    """
    runs = [read(before), read(after)]
    output.show(attribution_form(study_attribution(*runs, systems=systems, measures=measures), runs))
