"""`harvest relabel`: label recorded answers again, by another protocol or by today's rules."""

from pathlib import Path

import click

from harvest.cli.parameters import NameOrFile, PathArgument, ShortHelp
from harvest.cli.setting_options import measures_option
from harvest.cli.study_output import Output, form_options
from harvest.studies.relabel.figures import relabel_form
from harvest.studies.relabel.relabelling import relabel
from harvest.studies.runs.side_by_side import refuse_repeated_runs
from protocols.library import load_protocol
from recordings.log.run_folder import read
from scoring.notation import Term


@click.command(cls=ShortHelp)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option(
    "--protocol", type=NameOrFile(), metavar="NAME|FILE", help="The protocol to use instead of the recorded one."
)
@measures_option("Figures besides the shares of useful turns.")
@click.option("--all", "every", is_flag=True, help="List every change, and not only the first of each kind.")
@click.option("--fail-on-change", is_flag=True, help="Exit with 1 if any label, path or end differs.")
@form_options
def command(
    runs: tuple[Path, ...],
    protocol: str | None,
    measures: tuple[Term, ...],
    every: bool,
    fail_on_change: bool,
    output: Output,
) -> int:
    """Label recorded answers again, and show what changes.

    The answers of RUNs get the labels of another protocol, or of the recorded one with today's rules. The command
    prints the labels that change, the conversations that would have continued differently, and the figures before and
    after. No system is contacted, and no run is changed.
    """
    chosen = load_protocol(protocol) if protocol else None
    recorded = [read(run) for run in runs]
    if len(recorded) > 1:
        refuse_repeated_runs(recorded)
    found = [relabel(run, chosen, measures=measures) for run in recorded]
    output.show(relabel_form(found, every=every))
    return 1 if fail_on_change and any(one.differs for one in found) else 0
