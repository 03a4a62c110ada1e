"""`harvest variance`: how much trials vary, and what more of them would bring."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from harvest.cli.garbage import uncollected
from harvest.cli.judges_options import check_judges, judges_options
from harvest.cli.number import WholeNumberRange
from harvest.cli.path import GivenPath
from harvest.cli.setting_options import setting_options
from harvest.cli.study_output import check_output, study_output, write_figures
from harvest.studies.runs.sources import sources
from harvest.studies.scores.judges import Judges
from harvest.studies.variance.chart import variance_chart
from harvest.studies.variance.figures import variance_legend, variance_tables
from harvest.studies.variance.rows import FORMAT, long_variance_rows, variance_rows
from harvest.studies.variance.variance import VarianceStudy, study_variance
from harvest.tables.long_rows import long_latex
from harvest.tables.paper_tables import csv_rows
from harvest.terminal import people_console, printable
from recordings.log.provenance import software
from recordings.log.run_folder import Run, read
from scoring.notation import parse_all


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=GivenPath())
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Only these systems [all].")
@click.option("--measure", "-m", "wanted", multiple=True, metavar="MEASURE", help="These [%useful S1, ave%useful].")
@click.option(
    "-k",
    "ks",
    multiple=True,
    type=WholeNumberRange(1, 10_000),
    metavar="K",
    help="pass^K, the chance that K trials all pass [2, and as many as every topic has].",
)
@setting_options("level", "replications")
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Of resampling.")
@judges_options
@study_output
def command(
    runs: tuple[Path, ...],
    systems: tuple[str, ...],
    wanted: tuple[str, ...],
    ks: tuple[int, ...],
    seed: int,
    as_json: bool,
    as_csv: bool,
    as_latex: bool,
    figures: tuple[Path, ...],
    judges: Judges,
    **changes: Any,
) -> None:
    """Say how much trials vary, and why.

    Splits the spread of each measure into what lies between topics, between trials of one topic and between systems;
    counts how often trials disagree and how often all of K pass; and tests whether whole trials lie apart, and whether
    answers depend on what came before them in a continued session.
    """
    check_output(figures, as_json, as_csv, as_latex)
    measures = tuple(dict.fromkeys(term for text in wanted for term in parse_all(text)))
    check_judges(judges, measures)
    with uncollected():
        recorded = [read(run) for run in runs]
        study = study_variance(
            recorded, systems=systems, measures=measures, ks=ks, changes=changes, seed=seed, judges=judges
        )
    if as_json:
        click.echo(json.dumps(_document(study, recorded, seed), ensure_ascii=False))
    elif as_csv:
        click.echo(csv_rows(long_variance_rows(study)), nl=False)
    elif as_latex:
        click.echo(long_latex(list(long_variance_rows(study)), sources(recorded)), nl=False)
    else:
        _print(study)
    write_figures(figures, lambda: variance_chart(study))


def _document(study: VarianceStudy, recorded: Sequence[Run], seed: int) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "settings": study.settings.as_json(),
        "notes": list(study.notes),
        "differences": [one.as_json() for one in study.contrasts],
        "rows": list(variance_rows(study)),
        "long": [one.as_json() for one in long_variance_rows(study)],
        "seed": seed,
        "sources": sources(recorded),
        "software": software(),
    }


def _print(study: VarianceStudy) -> None:
    people = people_console()
    for contrast in study.contrasts:
        differ = "the runs differ" if len(contrast.by_run) > 1 else "the run differs within itself"
        people.print(Text(printable(f"{differ}: {contrast.said}", line=True), style="yellow"))
    for part in variance_tables(study):
        people.print(part)
    for line in variance_legend(study):
        people.print(line)
    for note in study.notes:
        people.print(f"note: {note}", markup=False)
