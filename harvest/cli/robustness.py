"""`harvest robustness`: compare the arms of an audit with their control."""

from pathlib import Path
from typing import Any

import click

from harvest.cli.judges_options import check_judges, judges_options
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import measures_option, setting_options, sources_option
from harvest.cli.study_output import Output, output_options
from harvest.studies.robustness.document import robustness_form
from harvest.studies.robustness.factors import factor_study
from harvest.studies.robustness.levels import level_study
from harvest.studies.robustness.ranking_by_user import ranking_by_user, unranked_pairs
from harvest.studies.robustness.robustness import robustness
from harvest.studies.scores.arms import gather_arms
from harvest.studies.scores.scorecard import Judges
from recordings.log.run_folder import read
from scoring.notation import Term
from topics.source_table import SourceTable


@click.command(cls=ShortHelp)
@click.argument("run", type=PathArgument())
@measures_option("Only these [ave%useful].")
@setting_options(
    "level", "replications", level="Confidence level of the intervals; a p of at most 1 - level finds a difference"
)
@click.option(
    "--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of resampling and permutations."
)
@sources_option
@judges_options
@output_options
def command(
    run: Path,
    measures: tuple[Term, ...],
    seed: int,
    sources: SourceTable | None,
    output: Output,
    judges: Judges,
    **changes: Any,
) -> None:
    """Compare the arms of an audit with their control.

    RUN was played by an audit with `arms`, which express the same needs and draws in several ways. For each system,
    the command shows the difference of each arm from the control, the spread of the arms, the worst arm, and the
    topics that flip between useful and not useful. For every two systems, the command shows the difference between
    the systems in each arm, and whether the better system depends on the user. For `factors`, and for groups combined
    with arms, the command shows main effects and interactions; for a `design`, also its levels compared within each
    system, and the systems within each level.
    """
    check_judges(judges, measures)
    armed = gather_arms(read(run), measures=measures, changes=changes, judges=judges, sources=sources)
    output.show(
        robustness_form(
            robustness(armed, seed=seed),
            ranking_by_user(armed, seed=seed),
            factor_study(armed, seed=seed),
            seed,
            unranked_pairs(armed),
            level_study(armed, seed=seed),
        )
    )
