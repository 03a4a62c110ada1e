"""`harvest history`: how the figures of a watched audit went, look by look."""

import json
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from harvest.cli.path import GivenPath
from harvest.cli.study_output import check_output, figure_option, write_figures
from harvest.studies.watch.figures import audit_times, history_tables
from harvest.studies.watch.history import Look, whole_history
from harvest.studies.watch.history_chart import history_chart
from harvest.systems.timing import REAL_CLOCK
from harvest.terminal import people_console, printable, tell
from topics.errors import InputError, Place


@click.command()
@click.argument("history", type=GivenPath(), metavar="HISTORY")
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Only these systems [all].")
@click.option(
    "--measure", "-m", "measures", multiple=True, metavar="FIGURE", help="Only these [those that raise alarms]."
)
@figure_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    history: Path, systems: tuple[str, ...], measures: tuple[str, ...], figures: tuple[Path, ...], as_json: bool
) -> None:
    """Show how the figures of a watched audit went.

    HISTORY is the file that `harvest reaudit` keeps beside its baseline: AUDIT.history.jsonl. Of eight audits or more
    it also says where a figure moved to another level.
    """
    check_output(figures, as_json)
    if not history.exists():
        raise InputError(
            "no such file", place=Place(str(history)), advice="check the path; harvest reaudit AUDIT writes a history"
        )
    whole = whole_history(history)
    looks = whole.looks
    for sentence in whole.damage(history, REAL_CLOCK.now().timestamp()):
        tell(f"note: {sentence}")
    if not looks:
        raise InputError("there is no look in it", place=Place(str(history)), advice="harvest reaudit AUDIT")
    if as_json:
        told = [{"earlier": list(map(_plain, whole.earlier(one))), **_plain(one)} for one in looks]
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    people = people_console()
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
    for system, own in series:
        people.print(Text(printable(f"{system}, {own}", line=True), style="bold"))
        for part in history_tables(looks, system, own):
            people.print(part)
    for look, time in zip(looks, audit_times(looks), strict=True):
        for before in whole.earlier(look):
            tell(f"note: the audit of {time} was judged again; before: {before.told}")
    if series:
        write_figures(figures, lambda: history_chart(looks, series))


def _plain(look: Look) -> dict[str, Any]:
    return look.model_dump(mode="json")
