"""`harvest check`: validate an audit and print its plan; sends nothing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click

from harvest.audit import Audit, System, load_audit, placed
from harvest.bounds import check_bounds
from harvest.plan import make_plan
from harvest.scorecard import scoring_settings
from harvest.terminal import shown
from recordings.continuation import refuse_differences
from recordings.conversation import Conversation
from recordings.run_folder import is_run, read

__all__ = ["command"]


_ADDRESSES = ("url", "base_url", "function", "run")
"""Options, of several drivers, that say where their system is."""


@click.command()
@click.argument("audit")
@click.option("--out", metavar="RUN", type=click.Path(path_type=Path), help="Count what this run already holds.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(audit: str, out: Path | None, as_json: bool) -> None:
    """Validate an audit and print its plan; sends nothing.

    AUDIT is a file, or a shipped name such as `demo`.
    """
    resolved = load_audit(audit)
    with placed(resolved.document, ("scoring",)):
        scoring_settings(resolved.scoring, resolved.topics, resolved.gold)
    check_bounds(resolved)
    recorded: tuple[Conversation, ...] = ()
    if out is not None and is_run(out):
        run = read(out)
        refuse_differences(run.header, resolved.header(), out)
        recorded = run.conversations
    plan = make_plan(resolved, recorded)
    systems = [
        {
            "name": system.name,
            "driver": system.driver,
            "address": _address(resolved, system),
            "session": system.session,
            "concurrency": system.limits.concurrency,
            "spacing": system.limits.spacing,
            "trials": sum(len(sitting.works) for sitting in plan.sittings[system.name]),
        }
        for system in resolved.systems
    ]
    document = {
        "format": "harvest-plan/1",
        "audit": resolved.name,
        "protocol": resolved.protocol.name,
        "topics": len(resolved.topics.topics),
        "trials_each": resolved.trials,
        "systems": systems,
        "trials_planned": plan.planned,
        "trials_recorded": plan.recorded,
        "trials_to_play": plan.to_play,
        "turns_at_most": plan.most_turns,
        "requests_at_most": plan.most_requests,
        "gold": len(resolved.gold) if resolved.gold is not None else 0,
    }
    if as_json:
        click.echo(json.dumps(document, indent=2))
        return
    click.echo(f"{resolved.name}: {resolved.protocol.name} over {resolved.topics.name}, nothing was sent")
    click.echo(f"  topics: {len(resolved.topics.topics)}, trials of each: {resolved.trials}, systems: {len(systems)}")
    for system in systems:
        where = f" ({shown(str(system['address']), line=True)})" if system["address"] else ""
        pace = f", a turn every {system['spacing']:g} s" if system["spacing"] else ""
        click.echo(
            f"  {system['name']}: {system['driver']}{where}, {system['session']} sessions, "
            f"{system['concurrency']} at a time{pace}, {system['trials']} trials to play"
        )
    click.echo(f"  trials: {plan.planned} planned, {plan.recorded} recorded, {plan.to_play} to play")
    click.echo(f"  user turns: {plan.most_turns} at most; requests: {plan.most_requests} at most, retries included")
    gold = f"{document['gold']} judged entities" if document["gold"] else "none: only usefulness will be scored"
    click.echo(f"  gold: {gold}")


def _address(audit: Audit, system: System) -> str | None:
    """Where a system is reached, as far as one line says it: a URL, a program, a function, a run."""
    if system.driver == "browser":
        from harvest.drivers.browser import BrowserDriver  # late: brings the browser's library

        driver = audit.drivers[system.name]
        assert isinstance(driver, BrowserDriver)
        return driver.url  # which may stand in a site file
    if "argv" in system.options:
        return shlex.join(map(str, system.options["argv"]))
    return next((str(system.options[name]) for name in _ADDRESSES if name in system.options), None)
