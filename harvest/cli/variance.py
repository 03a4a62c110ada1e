"""`harvest variance`: show how much trials vary, and how much more trials would help."""

from pathlib import Path
from typing import Any

import click

from harvest.cli.garbage import pause_collection
from harvest.cli.judges_options import check_judges, judges_options
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import measures_option, setting_options, sources_option
from harvest.cli.study_output import Output, output_options
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.one_pass import run_with_values
from harvest.studies.scores.score_request import ScoreRequest
from harvest.studies.scores.scorecard import Judges
from harvest.studies.variance.rows import variance_form
from harvest.studies.variance.variance import study_variance
from recordings.log.run_folder import read
from scoring.notation import Term
from topics.source_table import SourceTable


@click.command(cls=ShortHelp)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Only these systems [all].")
@measures_option("Only these [%useful S1, ave%useful].")
@click.option(
    "-k",
    "ks",
    multiple=True,
    type=WholeNumberRange(1, 10_000),
    metavar="K",
    help="pass^K, the chance that K trials all pass [2, and as many as every topic has].",
)
@setting_options("level", "replications")
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of resampling.")
@sources_option
@judges_options
@output_options
def command(
    runs: tuple[Path, ...],
    systems: tuple[str, ...],
    measures: tuple[Term, ...],
    ks: tuple[int, ...],
    seed: int,
    sources: SourceTable | None,
    output: Output,
    judges: Judges,
    **changes: Any,
) -> None:
    """Show how much trials vary, and why.

    The variance of each measure is split into parts between topics, between trials of a topic and between systems.
    The command also counts how often trials disagree and how often all of K trials pass. It tests whether whole
    trials differ, and whether answers depend on earlier topics of a continued session.
    """
    check_judges(judges, measures)
    with pause_collection():
        request = ScoreRequest(tuple(map(str, measures)), settings=changes)
        if len(runs) == 1 and sources is None:
            recorded = [run_with_values(runs[0], request)]
        else:
            recorded = [read(run) for run in runs]
        gathered = gather_runs(recorded, changes, sources=sources)
        study = study_variance(gathered, systems=systems, measures=measures, ks=ks, seed=seed, judges=judges)
    output.show(variance_form(study, recorded, seed))
