"""`harvest simulate findings`: what probes found out about the systems of a run."""

import json
from pathlib import Path

import click
from rich.text import Text

from harvest.cli.number import WholeNumberRange
from harvest.cli.path import GivenPath
from harvest.cli.setting_options import setting_option
from harvest.studies.probes.figures import case_json, case_lines, tables
from harvest.studies.probes.findings import Noted, notes_of, read_probes
from harvest.studies.probes.rows import CRITERION, D_PRIME, probe_rows
from harvest.terminal import people_console, printable, wrap_lines
from recordings.conversations.conversation import LARGEST_NUMBER
from recordings.log.run_folder import read
from scoring.notation import parse_all
from scoring.table import FORMAT, ScoreRow
from topics.errors import InputError

_MADE_OF = {D_PRIME: ("kept(right)", "kept(wrong)"), CRITERION: ("kept(right)", "kept(wrong)")}


@click.command("findings")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=GivenPath())
@click.option(
    "--measure", "-m", "wanted", multiple=True, metavar="MEASURE", help="Only these, as the table prints them."
)
@click.option("--turns", is_flag=True, help="List every answer that counts, with the words that decided it.")
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--topic", metavar="ID", help="With --turns: only this topic.")
@click.option("--trial", type=WholeNumberRange(1, LARGEST_NUMBER), help="With --turns: only this trial.")
@setting_option("level")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    runs: tuple[Path, ...],
    wanted: tuple[str, ...],
    turns: bool,
    system: str | None,
    topic: str | None,
    trial: int | None,
    level: float,
    as_json: bool,
) -> None:
    """Say what probes found out: retentiveness, consistency, d' and c, false premises, recoverability.

    RUN is the folder of a run that was played with a user `simulator: probe`, alone or under other users.
    """
    found = read_probes([read(run) for run in runs])
    if (topic is not None or trial is not None) and not turns:
        raise InputError("--topic and --trial choose what --turns lists", advice="add --turns")
    systems = found.material.systems
    if system is not None and system not in systems:
        raise InputError(f"no system is called {system!r}", allowed=", ".join(systems))
    if topic is not None:
        found.material.topics[topic]  # raises, naming the topics there are
    rows = probe_rows(found, level=level)
    measures = _requested_measures(wanted, rows)
    rows = tuple(row for row in rows if system in (None, row.system) and (not measures or _of(row) in measures))
    noted = tuple(
        one
        for conversation in found.found
        for one in conversation.noted
        if system in (None, one.key.system)
        and topic in (None, one.key.topic)
        and trial in (None, one.key.trial)
        and _counts_for(one, measures)
    )
    notes = notes_of(found)
    people = people_console(stderr=as_json)
    if as_json:
        document: dict[str, object] = {
            "format": FORMAT,
            "settings": {"level": level},
            "notes": list(notes),
            "rows": [row.as_json() for row in rows],
        }
        if turns:
            document["turns"] = [case_json(one) for one in noted]
        click.echo(json.dumps(document, ensure_ascii=False))
    elif turns:
        for line in case_lines(noted):
            people.print(Text(wrap_lines(line.plain, people.width), style=line.style))
        if not noted:
            people.print("no answer counts for what was asked")
    else:
        for table in tables(found, rows, measures):
            people.print(table)
    for note in () if as_json else notes:
        people.print(f"note: {printable(note, line=True)}", markup=False)
    for sentence in found.material.damage:
        people.print(f"damage: {printable(sentence, line=True)}", markup=False)


def _requested_measures(wanted: tuple[str, ...], rows: tuple[ScoreRow, ...]) -> tuple[str, ...]:
    """The measures that were asked for, as tables print them. Raises InputError for one that the runs do not have."""
    measures = tuple(dict.fromkeys(str(term) for text in wanted for term in parse_all(text)))
    known = tuple(dict.fromkeys(row.measure for row in rows if not row.measure.startswith("undecided(")))
    for name in measures:
        if name not in known:
            raise InputError(f"these runs have no findings for {name!r}", allowed=", ".join(known) or "none")
    return measures


def _of(row: ScoreRow) -> str:
    """The measure that a row belongs to."""
    return (
        row.measure.removeprefix("undecided(").removesuffix(")")
        if row.measure.startswith("undecided(")
        else row.measure
    )


def _counts_for(one: Noted, measures: tuple[str, ...]) -> bool:
    made_of = {part for name in measures for part in _MADE_OF.get(name, (name,))}
    return not measures or one.case.measure in made_of
