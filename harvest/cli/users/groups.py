"""`harvest users groups`: compare groups of users."""

from pathlib import Path
from typing import Any

import click

from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import measures_option, setting_options
from harvest.cli.study_output import Output, form_options
from harvest.studies.groups.figures import group_form
from harvest.studies.groups.group_comparison import compare_groups, grouped_systems
from recordings.log.run_folder import read
from scoring.notation import Term


@click.command(cls=ShortHelp)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@measures_option("Only these [%useful S1, ave%useful, …].")
@click.option("--base", metavar="GROUP", help="The group that the others are compared with [the audit's first].")
@setting_options(
    "level", "replications", level="Confidence level of the intervals; a p of at most 1 - level is significant"
)
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of resampling.")
@form_options
def command(
    runs: tuple[Path, ...],
    measures: tuple[Term, ...],
    base: str | None,
    seed: int,
    output: Output,
    **changes: Any,
) -> None:
    """Compare groups of users.

    RUN was played by an audit with `groups`. Differences are computed pair by pair, over the same topics and trials.
    They are shown with the differences of a null pair: two groups whose users say exactly the same.
    """
    recorded = [read(run) for run in runs]
    found = compare_groups(grouped_systems(recorded), measures=measures, base=base, changes=changes, seed=seed)
    output.show(group_form(found, recorded, seed))
