"""Options that several commands for judging share, and the reading of the run to judge."""

from pathlib import Path

import click

from harvest.cli.parameters import NameOrFile, WholeNumberRange
from harvest.terminal import print_message, printable
from recordings.log.run_folder import Run, read
from topics.errors import InputError

schema_option = click.option(
    "--schema",
    default="sakai-2023",
    show_default=True,
    type=NameOrFile(),
    metavar="NAME|FILE",
    help="The criteria; `useful` asks yes or no for each answer.",
)
nuggets_option = click.option(
    "--nuggets", default="", metavar="NAME", help="Whose nuggets are judged; also sentences or turns [rules]."
)
topics_option = click.option(
    "--topics",
    type=WholeNumberRange(1),
    metavar="N",
    help="All rows of N random topics, the same ones of every system and cell.",
)
port_option = click.option(
    "--port", type=WholeNumberRange(0, 65535), default=8477, show_default=True, metavar="N", help="Port of the page."
)
words_option = click.option(
    "--words",
    default="en",
    show_default=True,
    type=NameOrFile(),
    metavar="LANGUAGE|FILE",
    help="The language of what people read: en, de, es, fr, it, ja, or your file.",
)


def refuse_draw(adjudicate: bool, sample: int | None, topics: int | None) -> None:
    """Raise InputError for an adjudication of a part of the differences."""
    for option, number in (("--sample", sample), ("--topics", topics)):
        if adjudicate and number is not None:
            raise InputError(f"--adjudicate and {option} cannot be used together, as all differences are needed")


def read_reporting_damage(run: Path) -> Run:
    """Read a run, and print a sentence about each damaged part of it."""
    recorded = read(run)
    for sentence in recorded.damage:
        print_message(printable(f"damage: {sentence}", line=True))
    return recorded
