"""`harvest robustness`: what the arms of an audit change, beside their control."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from harvest.cli.setting_options import setting_options
from harvest.studies.robustness import robustness
from harvest.tables.robustness_figures import FORMAT, robustness_legend, robustness_rows, robustness_tables
from recordings.provenance import software
from recordings.run_folder import read
from scoring.notation import parse_all

__all__ = ["command"]


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--measure", "-m", "wanted", multiple=True, metavar="MEASURE", help="These [ave%useful].")
@setting_options(
    "level", "replications", level="Confidence level of the intervals; a p of at most 1 - level finds a difference"
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of resampling and permutations.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(run: Path, wanted: tuple[str, ...], seed: int, as_json: bool, **changes: Any) -> None:
    """Compare the arms of an audit with their control.

    RUN was played by an audit with `arms`: the same needs and draws, asked for in several ways. Of each system: by how
    much each arm differs, how far arms spread, the worst of them, and which topics turn round.
    """
    measures = tuple(dict.fromkeys(term for text in wanted for term in parse_all(text)))
    found = robustness(read(run), measures=measures, changes=changes, seed=seed)
    if as_json:
        document = {
            "format": FORMAT,
            "settings": found[0].settings.as_json(),
            "notes": list(found[0].notes),
            "rows": [row for one in found for row in robustness_rows(one)],
            "seed": seed,
            "sources": [dict(one) for one in found[0].sources],
            "software": software(),
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    people = Console(highlight=False)
    for one in found:
        for part in robustness_tables(one):
            people.print(part)
    for line in robustness_legend(found):
        people.print(line)
    for note in found[0].notes:
        people.print(f"note: {note}", markup=False)
