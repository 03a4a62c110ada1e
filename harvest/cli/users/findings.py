"""`harvest users findings`: show what probing users found out about the systems of a run."""

from pathlib import Path

import click

from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import setting_option
from harvest.cli.study_output import Output, form_options
from harvest.studies.probes.figures import answers_form, findings_form
from harvest.studies.probes.findings import read_probes
from harvest.studies.probes.rows import CRITERION, D_PRIME, probe_rows
from harvest.terminal import people_console, printable
from recordings.conversations.conversation import LARGEST_NUMBER
from recordings.log.run_folder import read
from scoring.notation import parse_all
from scoring.table import ScoreRow
from topics.errors import InputError

_COMPONENTS = {D_PRIME: ("kept(right)", "kept(wrong)"), CRITERION: ("kept(right)", "kept(wrong)")}


@click.command(cls=ShortHelp)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option(
    "--measure", "-m", "wanted", multiple=True, metavar="MEASURE", help="Only these, as the table prints them."
)
@click.option("--turns", is_flag=True, help="List every answer that counts, with the words that decided it.")
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--topic", metavar="ID", help="With --turns: only this topic.")
@click.option("--trial", type=WholeNumberRange(1, LARGEST_NUMBER), help="With --turns: only this trial.")
@setting_option("level")
@form_options
def command(
    runs: tuple[Path, ...],
    wanted: tuple[str, ...],
    turns: bool,
    system: str | None,
    topic: str | None,
    trial: int | None,
    level: float,
    output: Output,
) -> None:
    """Show the findings of probes: retentiveness, consistency, d' and c, false premises, recoverability.

    RUN is the folder of a run that was played with a user `simulator: probe`. Other simulators may wrap this user.
    """
    recorded = [read(run) for run in runs]
    found = read_probes(recorded)
    if (topic is not None or trial is not None) and not turns:
        raise InputError("--topic and --trial can only be used with --turns", advice="add --turns")
    systems = found.material.systems
    if system is not None and system not in systems:
        raise InputError(f"no system is called {system!r}", allowed=", ".join(systems))
    if topic is not None:
        found.material.topics[topic]  # raises an error that names the existing topics
    rows = probe_rows(found, level=level)
    measures = tuple(dict.fromkeys(str(term) for text in wanted for term in parse_all(text)))
    known = dict.fromkeys(map(_base_measure, rows))
    if unknown := next((name for name in measures if name not in known), None):
        raise InputError(f"these runs have no findings for {unknown!r}", allowed=", ".join(known) or "none")
    made_of = {part for name in measures for part in _COMPONENTS.get(name, (name,))}
    rows = tuple(
        row for row in rows if system in (None, row.system) and (not measures or _base_measure(row) in measures)
    )
    study = findings_form(found, rows, recorded, level=level, measures=measures)
    if turns:
        noted = [
            one
            for conversation in found.found
            for one in conversation.noted
            if system in (None, one.key.system)
            and topic in (None, one.key.topic)
            and trial in (None, one.key.trial)
            and (not measures or one.case.measure in made_of)
        ]
        study = answers_form(study, found, noted)
    output.show(study)
    people = people_console(stderr=bool(output.form))
    for sentence in found.material.damage:
        people.print(f"damage: {printable(sentence, line=True)}", markup=False)


def _base_measure(row: ScoreRow) -> str:
    undecided = row.measure.startswith("undecided(")
    return row.measure.removeprefix("undecided(").removesuffix(")") if undecided else row.measure
