"""`harvest robustness`: what the arms of an audit change, beside their control."""

import json
from pathlib import Path
from typing import Any

import click

from harvest.cli.judges_options import check_judges, judges_options
from harvest.cli.number import WholeNumberRange
from harvest.cli.path import GivenPath
from harvest.cli.setting_options import setting_options
from harvest.cli.study_output import check_output, study_output, write_figures
from harvest.studies.robustness.chart import robustness_chart
from harvest.studies.robustness.document import long_robustness_rows, robustness_document
from harvest.studies.robustness.factor_figures import factor_legend, factor_tables
from harvest.studies.robustness.factors import factor_study
from harvest.studies.robustness.figures import robustness_legend, robustness_tables
from harvest.studies.robustness.ranking_by_user import ranking_by_user, unranked_pairs
from harvest.studies.robustness.ranking_figures import ranking_legend, ranking_tables
from harvest.studies.robustness.robustness import robustness
from harvest.studies.scores.arms import gather_arms
from harvest.studies.scores.judges import Judges
from harvest.tables.long_rows import long_latex
from harvest.tables.paper_tables import csv_rows
from harvest.terminal import people_console
from recordings.log.run_folder import read
from scoring.notation import parse_all


@click.command()
@click.argument("run", type=GivenPath())
@click.option("--measure", "-m", "wanted", multiple=True, metavar="MEASURE", help="These [ave%useful].")
@setting_options(
    "level", "replications", level="Confidence level of the intervals; a p of at most 1 - level finds a difference"
)
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Of resampling and permutations.")
@judges_options
@study_output
def command(
    run: Path,
    wanted: tuple[str, ...],
    seed: int,
    as_json: bool,
    as_csv: bool,
    as_latex: bool,
    figures: tuple[Path, ...],
    judges: Judges,
    **changes: Any,
) -> None:
    """Compare the arms of an audit with their control.

    RUN was played by an audit with `arms`: the same needs and draws, asked for in several ways. Of each system: by how
    much each arm differs, how far arms spread, the worst of them, and which topics turn round. Of every two systems:
    by how much one is better in each arm, and whether which one is depends on the user. Of `factors`, and of groups
    beside arms: main effects and interactions.
    """
    check_output(figures, as_json, as_csv, as_latex)
    measures = tuple(dict.fromkeys(term for text in wanted for term in parse_all(text)))
    check_judges(judges, measures)
    armed = gather_arms(read(run), measures=measures, changes=changes, judges=judges)
    found, ranked, factors = (
        robustness(armed, seed=seed),
        ranking_by_user(armed, seed=seed),
        factor_study(armed, seed=seed),
    )
    unranked = unranked_pairs(armed)
    if as_json:
        click.echo(json.dumps(robustness_document(found, ranked, factors, seed, unranked), ensure_ascii=False))
    elif as_csv:
        click.echo(csv_rows(long_robustness_rows(found, ranked, factors)), nl=False)
    elif as_latex:
        click.echo(long_latex(list(long_robustness_rows(found, ranked, factors)), found[0].sources), nl=False)
    else:
        people = people_console()
        for one in found:
            for part in robustness_tables(one):
                people.print(part)
        for part in ranking_tables(ranked, found, unranked):
            people.print(part)
        for part in factor_tables(factors):
            people.print(part)
        for line in (*robustness_legend(found), *ranking_legend(ranked), *factor_legend(factors)):
            people.print(line)
        for note in dict.fromkeys(note for one in found for note in one.notes):
            people.print(f"note: {note}", markup=False)
    write_figures(figures, lambda: robustness_chart(found))
