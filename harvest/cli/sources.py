"""`harvest sources`: show which sources systems cite, where systems differ, and which sources are new."""

from pathlib import Path
from typing import Any

import click

from harvest.cli.garbage import pause_collection
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import setting_options, sources_option
from harvest.cli.study_output import Output, output_options
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.sources.exposure import MOST_NAMES, study_sources
from harvest.studies.sources.news import News, find_news, refuse_same_run
from harvest.studies.sources.rows import source_form
from recordings.log.run_folder import read
from topics.source_table import SourceTable


@click.command(cls=ShortHelp, common="--sources")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option("--since", type=PathArgument(), metavar="RUN", help="Also show what is new since then.")
@click.option("--by", "columns", multiple=True, metavar="COLUMN", help="Only by domain, or by this column [all].")
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Only these systems [all].")
@click.option(
    "--top", type=WholeNumberRange(1, 100), default=MOST_NAMES, show_default=True, help="Names of each column."
)
@sources_option
@setting_options("citations", "level", "replications")
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of resampling.")
@output_options
def command(
    runs: tuple[Path, ...],
    since: Path | None,
    columns: tuple[str, ...],
    systems: tuple[str, ...],
    top: int,
    sources: SourceTable | None,
    seed: int,
    output: Output,
    **changes: Any,
) -> None:
    """Show which sources answers cite.

    For each system: which domains, kinds and owners its answers show, how concentrated they are, and how alike its
    trials are. For several systems, arms or runs: where they differ. With --since: which sources are new, and how many
    would be new by chance.
    """
    with pause_collection():
        recorded = [read(run) for run in runs]
        gathered = gather_runs(recorded, changes, sources=sources)
        study = study_sources(gathered, systems=systems, columns=columns, most=top, seed=seed)
        news: tuple[News, ...] = ()
        if since is not None:
            earlier = read(since)
            refuse_same_run(recorded, earlier)
            before = gather_runs([earlier], changes, sources=gathered.material.topics.sources)
            news = find_news(gathered, before, study.systems, study.groupings, seed=seed)
    output.show(source_form(study, news, seed))
