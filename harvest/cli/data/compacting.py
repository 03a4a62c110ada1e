"""`harvest data compact`: compress a run that is not being played, or write it as plain files again."""

from pathlib import Path

import click

from harvest.cli.parameters import PathArgument
from harvest.terminal import print_message, printable
from recordings.log.compaction import compact, write_back
from topics.counting import pluralize


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option("--undo", is_flag=True, help="Make plain files of a compacted run again.")
def command(runs: tuple[Path, ...], undo: bool) -> int:
    """Compress the events and the evidence of runs.

    Every command reads a compacted run as before, and `harvest run` resumes it: the new events are in new files, until
    RUN is compacted again. `zstdcat RUN/trials-*.jsonl.zst` prints the events. A run that is being played is refused.
    If the command is stopped, the run stays as it was or is compacted in part, and the same command finishes.

    A file of events that was changed after it was written stays as it is and is named; the exit code is then 3.
    """
    left = False
    for run in runs:
        done = write_back(run) if undo else compact(run)
        for sentence in done.left:
            print_message(printable(f"left: {sentence}", line=True))
            left = True
        files, exhibits = pluralize(done.files, "file"), pluralize(done.exhibits, "exhibit")
        sizes = f"{done.before / 1e6:,.1f} MB before, {done.after / 1e6:,.1f} MB now"
        click.echo(f"{printable(str(run), line=True)}: {files} of events and {exhibits}; {sizes}", err=True)
    return 3 if left else 0
