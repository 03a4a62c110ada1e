"""`harvest simulate groups`: the groups of users of a run beside each other."""

import json
from pathlib import Path
from typing import Any

import click

from harvest.cli.number import WholeNumberRange
from harvest.cli.path import GivenPath
from harvest.cli.setting_options import setting_options
from harvest.studies.groups.figures import FORMAT, group_rows, group_tables, legend
from harvest.studies.groups.group_comparison import compare_groups, grouped_systems
from harvest.terminal import people_console
from recordings.log.run_folder import read
from scoring.notation import parse_all


@click.command("groups")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=GivenPath())
@click.option("--measure", "-m", "wanted", multiple=True, metavar="MEASURE", help="These [%useful S1, ave%useful, …].")
@click.option("--base", metavar="GROUP", help="The group that the others are compared with [the audit's first].")
@setting_options(
    "level", "replications", level="Confidence level of the intervals; a p of at most 1 - level is significant"
)
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Of resampling.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    runs: tuple[Path, ...],
    wanted: tuple[str, ...],
    base: str | None,
    seed: int,
    as_json: bool,
    **changes: Any,
) -> None:
    """Compare groups of users.

    RUN was played by an audit with `groups`. Differences are taken pair by pair, over the same topics and trials, and
    set beside that of a null pair, two groups that say the same.
    """
    measures = tuple(dict.fromkeys(term for text in wanted for term in parse_all(text)))
    systems = grouped_systems([read(run) for run in runs])
    found = compare_groups(systems, measures=measures, base=base, changes=changes, seed=seed)
    people = people_console(stderr=as_json)
    notes = dict.fromkeys(note for one in found for note in one.notes)
    if as_json:
        document = {
            "format": FORMAT,
            "settings": {one.system.name: one.settings.as_json() for one in found},
            "notes": list(notes),
            "rows": list(group_rows(found)),
            "seed": seed,
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    for one in found:
        for part in group_tables(one):
            people.print(part)
        people.print()
    for line in legend(found):
        people.print(line)
    for note in notes:
        people.print(f"note: {note}", markup=False)
