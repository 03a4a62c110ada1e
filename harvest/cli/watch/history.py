"""`harvest watch history`: show the figures of a watched audit at each look."""

from pathlib import Path

import click

from harvest.cli.parameters import PathArgument, WholeNumberRange
from harvest.cli.study_output import Output, output_options
from harvest.studies.watch.history import whole_history
from harvest.studies.watch.history_tables import audit_times, history_form
from harvest.systems.timing import REAL_CLOCK
from harvest.terminal import print_message
from topics.errors import InputError, Place


@click.command()
@click.argument("history", type=PathArgument(), metavar="HISTORY")
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Only these systems [all].")
@click.option(
    "--measure", "-m", "measures", multiple=True, metavar="FIGURE", help="Only these [those that raise alarms]."
)
@click.option(
    "--last",
    type=WholeNumberRange(1),
    metavar="N",
    default=365,
    show_default=True,
    help="Print this number of audits; --csv, --json and --figure have all.",
)
@output_options
def command(history: Path, systems: tuple[str, ...], measures: tuple[str, ...], last: int, output: Output) -> None:
    """Show the figures of a watched audit over time.

    HISTORY is the file AUDIT.history.jsonl that `harvest watch run` writes into the folder of the baseline. Change
    points are also shown if there are at least eight audits.
    """
    if not history.exists():
        raise InputError(
            "no such file",
            place=Place(str(history)),
            advice="check the path; harvest watch run AUDIT writes a history",
        )
    whole = whole_history(history)
    looks = whole.looks
    for sentence in whole.damage(history, REAL_CLOCK.now().timestamp()):
        print_message(f"note: {sentence}")
    if not looks:
        raise InputError("this history has no looks yet", place=Place(str(history)), advice="harvest watch run AUDIT")
    known = list(dict.fromkeys(name for look in looks for name in look.systems))
    every = dict.fromkeys(name for look in looks for one in look.systems.values() for name in one.figures)
    for figure in measures:
        if figure not in every:
            place = Place(str(history))
            raise InputError(f"no figure is called {figure!r}", place=place, allowed=", ".join(every) or "none yet")
    series: list[tuple[str, str]] = []
    for system in systems or known:
        if system not in known:
            raise InputError(f"no system is called {system!r}", place=Place(str(history)), allowed=", ".join(known))
        there = dict.fromkeys(
            name
            for look in looks
            for name, one in (look.systems[system].figures if system in look.systems else {}).items()
            if name in measures or (not measures and one.evidence is not None)
        )
        series += [(system, own) for own in there]
    Output(output.form, output.figures if series else ()).show(history_form(whole, series, last))
    if not output.form:
        for look, time in zip(looks, audit_times(looks), strict=True):
            for before in whole.earlier(look):
                print_message(f"note: the audit of {time} was judged again; before: {before.verdict_text}")
