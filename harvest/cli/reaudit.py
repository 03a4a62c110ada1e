"""`harvest reaudit`: play an audit anew, and hold it against its blessed baseline."""

from __future__ import annotations

import json
import shlex
import sys
from itertools import chain, count
from pathlib import Path
from typing import TextIO, cast

import click
from rich.text import Text

from harvest.audits.audit import load_audit, read_audit
from harvest.audits.placebo import check_placebo
from harvest.cli.exposures import keys_in_clear_option
from harvest.cli.notifying import Channels, notice_options
from harvest.cli.number import NumberRange, WholeNumberRange
from harvest.cli.output_file import check_output_file
from harvest.cli.path import GivenPath
from harvest.cli.placebo import play_placebo
from harvest.cli.playing import introduce, play_to_folder
from harvest.notices.verdicts import watch_bulletin
from harvest.studies.baseline import read_baseline, refuse_other_audit
from harvest.studies.recorded_audit import recorded_audit
from harvest.studies.watch import watch
from harvest.studies.watch_history import (
    APART,
    LOOKS,
    MATTERS,
    WatchRules,
    alarm_waits,
    read_history,
    write_history,
)
from harvest.systems.timing import REAL_CLOCK
from harvest.tables.watch_figures import watch_document, watch_tables
from harvest.terminal import Lasting, live_console, people_console, printable
from recordings.errors import in_words
from recordings.run_folder import is_run, read, run_around
from recordings.times import moment, stamp
from topics.errors import InputError, Place

__all__ = ["baseline_beside", "command", "history_beside"]


@click.command()
@click.argument("audit", type=GivenPath(str))
@click.option("--baseline", type=GivenPath(), metavar="FILE", help="[AUDIT.baseline.json beside it]")
@click.option("--history", type=GivenPath(), metavar="FILE", help="[beside the baseline]")
@click.option("--out", type=GivenPath(), metavar="FOLDER", help="Where dated runs are put [runs/NAME].")
@click.option("--run", "recorded", type=GivenPath(), metavar="RUN", help="Judge this run; play none.")
@click.option("--extend", type=WholeNumberRange(1), metavar="N", help="Play N more trials in the last run.")
@click.option(
    "--matters",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=MATTERS,
    show_default=True,
    help="The smallest difference that matters, as a share: 0.05 for 5 points.",
)
@click.option(
    "--looks",
    type=WholeNumberRange(1),
    default=LOOKS,
    show_default=True,
    help="Audits that share a chance of 5% of a false alarm.",
)
@click.option(
    "--confirm-after",
    type=NumberRange(0),
    default=APART,
    show_default=True,
    help="Seconds before an audit confirms.",
)
@click.option("--enforce", is_flag=True, help="Count alarms although the baseline has fewer than 4 runs.")
@click.option("--if-alarm", is_flag=True, help="Play only where an alarm waits for another audit to confirm it.")
@click.option("--strict", is_flag=True, help="Exit with 3 also where it cannot be told whether anything changed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@keys_in_clear_option
@notice_options
def command(
    audit: str,
    baseline: Path | None,
    history: Path | None,
    out: Path | None,
    recorded: Path | None,
    extend: int | None,
    matters: float,
    looks: int,
    confirm_after: float,
    enforce: bool,
    if_alarm: bool,
    strict: bool,
    as_json: bool,
    keys_in_clear: bool,
    channels: Channels,
) -> int:
    """Play an audit again, and tell whether it changed.

    Each call plays a dated run of its own, and holds it against the baseline that somebody blessed. Exit codes: 0 the
    same, or nothing shown; 1 changed; 3 could not be measured.
    """
    if recorded is not None and extend:
        raise InputError("--run and --extend exclude each other", advice="--extend plays more trials of the last run")
    if if_alarm and (recorded is not None or extend or as_json):
        raise InputError("--if-alarm plays a new run or none", advice="leave out --run, --extend and --json")
    console = live_console()
    base = baseline or baseline_beside(audit)
    if recorded is None or not base.exists():
        read_audit(audit)  # what is no audit has no baseline either
    if not base.exists():
        raise InputError(
            "there is no baseline",
            place=Place(str(base)),
            advice=f"play the audit, look at it, then: harvest bless RUN --out {base}",
        )
    blessed = read_baseline(base)
    log = history or history_beside(base)
    past = read_history(log)
    check_output_file(log, replace=True, other="give another --history")  # before anything is sent
    mine = [one for one in past if one.baseline == blessed.identity]
    if if_alarm and not alarm_waits(mine):
        console.print("no alarm waits to be confirmed, so nothing is played")
        return 0
    folder, harness = recorded, None
    if folder is None:
        resolved = load_audit(audit, keys_in_clear=keys_in_clear)
        runs = out or Path("runs") / resolved.name
        if around := run_around(runs):
            raise InputError(
                "dated runs would be put inside a run folder",
                place=Place(str(around)),
                advice="give a folder beside it: --out FOLDER",
            )
        if extend:
            if not mine or not is_run(runs / mine[-1].run):
                raise InputError("there is no last run to extend", advice="leave out --extend to play one")
            folder = runs / mine[-1].run
            trials = max((one.key.trial for one in read(folder).conversations), default=0) + extend
            resolved = load_audit(audit, trials=trials, keys_in_clear=keys_in_clear)
        else:
            folder = _dated(runs)
        refuse_other_audit(resolved.header(), blessed, Place(audit))
        check_placebo(resolved)
        introduce(console, resolved)
        play_to_folder(resolved, folder.absolute(), "", console)
        console.print(Text(printable(f"recorded in {folder}", line=True)), soft_wrap=True)
        if resolved.placebo and not extend:
            harness = play_placebo(resolved, folder, console)
    run = read(folder)
    # A run that is judged again, with more trials or other options, is the same look: its evidence counts once.
    rules = WatchRules(matters=matters, looks=looks, apart=confirm_after, enforce=enforce)
    found = watch(run, blessed, past, rules=rules, name=folder.name)
    past = tuple(one for one in past if (one.baseline, one.at) != (blessed.identity, run.header.created_at))
    sound = harness is None or harness.sound
    if sound:  # what a faulty harness read is no evidence of the system
        try:
            write_history(log, tuple(sorted((*past, found.noted), key=lambda one: moment(one.at))))
        except OSError as fault:
            raise _unwritten(log, fault, audit, folder) from fault
    people = people_console(file=cast(TextIO, Lasting(sys.stderr))) if as_json else people_console()
    for sentence in () if harness is None else harness.sentences():
        people.print(Text(printable(f"harness: {sentence}", line=True), style="bold red"))
    if not sound:
        people.print("harness: so nothing is said of the systems, and this audit does not count; what was read:")
    for part in watch_tables(found):
        people.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
    if as_json:
        faults = None if harness is None else list(harness.sentences())
        click.echo(json.dumps({**watch_document(found), "harness": faults, "run": str(folder)}, ensure_ascii=False))
    code = found.code(strict=strict) if sound else 3
    if channels.any:
        own, at = str(recorded_audit(run).get("name") or run.path.name), REAL_CLOCK.now().timestamp()
        channels.tell(watch_bulletin(found, harness, audit=own, run=str(folder), at=at, code=code, strict=strict))
    return code


def _unwritten(log: Path, fault: OSError, audit: str, folder: Path) -> InputError:
    """The run is recorded, so nothing needs to be played again."""
    again = shlex.join(["harvest", "reaudit", audit, "--run", str(folder)])
    return InputError(
        f"this look was not written: {in_words(fault)[0]}",
        place=Place(str(log)),
        advice=f"make room for it, then judge the recorded run, with the same other options: {again}",
    )


def baseline_beside(audit: str) -> Path:
    """Where the baseline of an audit is, unless somebody says otherwise."""
    return Path(f"{Path(audit).with_suffix('')}.baseline.json")


def history_beside(baseline: Path) -> Path:
    """Where the history is, likewise."""
    return baseline.with_name(f"{baseline.name.removesuffix('.json').removesuffix('.baseline')}.history.jsonl")


def _dated(runs: Path) -> Path:
    """A folder of its own, whatever was begun in the same second."""
    named = stamp(REAL_CLOCK.now())[:19].replace(":", "-")
    return next(
        one
        for one in (runs / f"{named}{more}" for more in chain([""], (f"-{n}" for n in count(2))))
        if not one.exists()
    )
