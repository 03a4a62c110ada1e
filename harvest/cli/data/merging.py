"""`harvest data merge`: merge the runs of several machines into a new run."""

import shlex
from pathlib import Path

import click

from harvest.cli.parameters import NameOrFile, PathArgument, ShortHelp
from harvest.stores.merging import merge_stored
from harvest.terminal import print_message, printable
from topics.counting import pluralize


@click.command(cls=ShortHelp)
@click.argument("runs", nargs=-1, required=True, type=NameOrFile(), metavar="RUN...")
@click.option("--out", type=PathArgument(), required=True, metavar="RUN", help="The new run folder.")
@click.option("--salvage", is_flag=True, help="Use the readable parts of damaged runs; a single RUN is enough.")
def command(runs: tuple[str, ...], out: Path, salvage: bool) -> int:
    """Merge the runs of several machines into a new one.

    Every attempt is kept exactly once, and the RUNS themselves stay unchanged. With --salvage, an attempt is cut off
    at a damaged line that may belong to the attempt, and counts as interrupted. Damaged files are kept in the folder
    `damaged` of the new run, each with a text that lists the affected attempts.

    A RUN may be the address of a run in an object store. The address of a folder of runs, such as s3://BUCKET/weekly,
    merges all runs in the folder.

    Missing shards of an audit (`harvest run --shard`) and missing evidence are listed, and the exit code is then 3.
    The exit code is also 3 if a recording was changed after it was written, or cannot be shown to be unchanged. The
    new run records this, and `harvest data verify` reports it again. With --salvage, which is meant for damaged runs, a
    changed recording alone gives exit code 0.
    """
    merged = merge_stored(runs, out, salvage=salvage)
    for sentence in (*([merged.names] if merged.names else ()), *merged.settings, *merged.conflicts, *merged.damage):
        print_message(printable(f"note: {sentence}", line=True))
    if merged.conflicts:
        print_message(
            "note: if these are separate repetitions rather than parts of one run, score them together: "
            "harvest score RUN RUN; in the merged run the first valid attempt of each trial counts"
        )
    for sentence in merged.missing:
        print_message(printable(f"missing: {sentence}", line=True))
    interrupted = f", {merged.interrupted} of them interrupted," if merged.interrupted else ""
    click.echo(
        f"{pluralize(merged.attempts, 'attempt')}{interrupted} at {pluralize(merged.trials, 'trial')} in {merged.path}",
        err=True,
    )
    if salvage and (merged.interrupted or merged.damage):
        part = ["--shard", f"{merged.shard.index}/{merged.shard.of}"] if merged.shard else []
        again = shlex.join(["harvest", "run", "AUDIT", *part, "--out", str(merged.path)])
        click.echo(f"interrupted and lost trials of an audit are played again by: {again}", err=True)
    return 3 if merged.missing or (merged.unproven and not salvage) else 0
