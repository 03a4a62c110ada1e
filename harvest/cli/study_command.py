"""The command of a study that needs nothing but recorded runs, and therefore no module here."""

from collections.abc import Callable, Sequence
from inspect import cleandoc
from pathlib import Path

import click

from harvest.cli.path import GivenPath
from harvest.cli.study_output import Output, output_options
from harvest.tables.study_form import StudyForm
from recordings.log.run_folder import Run, read


def study_command(study: Callable[[Sequence[Run]], StudyForm]) -> click.Command:
    """Return the command `harvest NAME RUN…` with every form of output; its help is the docstring of `study`."""

    @click.command(help=cleandoc(study.__doc__ or ""))
    @click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=GivenPath())
    @output_options
    def command(runs: tuple[Path, ...], output: Output) -> None:
        output.show(study([read(run) for run in runs]))

    return command
