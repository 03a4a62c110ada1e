"""`harvest watch bless`: make runs the baseline of later audits."""

import getpass
import shlex
from contextlib import suppress
from pathlib import Path

import click

from harvest.cli.parameters import PathArgument, check_output_file
from harvest.cli.setting_options import measures_option
from harvest.studies.watch.baseline import GATED, is_baseline, make_baseline
from harvest.studies.watch.sensitivity import sensitivity_sentences
from harvest.studies.watch.watch import SHADOW
from harvest.studies.watch.words import dependence_sentences
from harvest.systems.timing import REAL_CLOCK
from harvest.terminal import print_message
from recordings.files.shared_file import shared_file
from recordings.files.times import stamp, unix_seconds
from recordings.log.run_folder import read
from scoring.notation import Term
from topics.counting import pluralize
from topics.errors import InputError, Place

# Seconds between the first and the last of the blessed runs below which they are one moment.
_APART = 3600


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option("--out", required=True, type=PathArgument(), metavar="FILE", help="The baseline to write.")
@measures_option(f"These may raise an alarm, at most {GATED} [ave%useful]; the others are only shown.")
@click.option("--by", default="", metavar="NAME", help="Who blesses the runs [you].")
@click.option("--replace", is_flag=True, help="Overwrite an earlier baseline; its history no longer counts.")
def command(runs: tuple[Path, ...], out: Path, measures: tuple[Term, ...], by: str, replace: bool) -> None:
    """Make recorded runs the baseline of later audits.

    The baseline file contains counts and content hashes but no text of any conversation, so it can be committed. Four
    runs at different hours or on different days show how much results vary without any change of the system.
    """
    other = "give another --out"
    there = out.read_bytes() if out.is_file() else b""
    if not replace and is_baseline(there):
        raise InputError("this baseline exists already", place=Place(str(out)), advice=f"{other}, or --replace")
    check_output_file(out, replace=replace or (out.is_file() and not there), ours=is_baseline, other=other)
    if not by:
        # A container may have no name for who runs it.
        with suppress(KeyError, OSError):
            by = getpass.getuser()
    recorded = [read(run) for run in runs]
    found = make_baseline(recorded, measures=measures, by=by, at=stamp(REAL_CLOCK.now()))
    with shared_file(out) as file:
        # Two people may bless at the same time: neither replaces a baseline that they have not seen.
        if file.data != there:
            raise InputError(
                "another process wrote this file while the runs were read, so it was not replaced",
                place=Place(str(out)),
                advice=f"look at its content; then {other}, or give --replace",
            )
        file.replace(found.text().encode())
    watched = ", ".join(found.gated)
    print_message(f"wrote {out}: {pluralize(len(runs), 'run')}, {', '.join(found.systems)}; watched: {watched}")
    for sentence in sensitivity_sentences(found):
        print_message(sentence)
    for name, system in found.systems.items():
        for sentence in dependence_sentences(name, system.in_time, ""):
            print_message(sentence)
    began = [unix_seconds(run.header.created_at) for run in recorded]
    if len(runs) > 1 and min(began) >= 0 and max(began) - min(began) < _APART:
        print_message(
            "these runs began within an hour: what varies from day to day is not in them, and may raise false alarms; "
            "better bless runs of different days"
        )
    if len(runs) < SHADOW:
        words = shlex.join(["harvest", "watch", "bless", *map(str, runs), "RUN…", "--out", str(out), "--replace"])
        print_message(f"to bless further runs, too: {words.replace(shlex.quote('RUN…'), 'RUN…')}")
