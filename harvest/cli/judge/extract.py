"""`harvest judge extract`: let a model extract nuggets."""

from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from harvest.audits.exposures import refuse_keys_in_clear
from harvest.cli.exposures import keys_in_clear_option, show_exposures
from harvest.cli.interruption import run_until_stopped
from harvest.cli.judge.options import read_reporting_damage
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.terminal import print_message
from topics.document import read_document
from topics.errors import InputError


@click.command(cls=ShortHelp, rare="--concurrency --tries")
@click.argument("run", type=PathArgument())
@click.option(
    "--with", "file", required=True, metavar="FILE", type=PathArgument(), help="The file of the model's endpoint."
)
@click.option("--endpoint", "name", metavar="NAME", help="Which endpoint of the file to use [nuggets].")
@click.option("--topic", "only", multiple=True, metavar="ID", help="Only this topic; may be repeated.")
@click.option("--concurrency", type=WholeNumberRange(1, 1000), help="Requests at the same time [8].")
@click.option(
    "--tries",
    type=WholeNumberRange(1, 20),
    default=2,
    show_default=True,
    metavar="N",
    help="Requests per passage while replies are unreadable.",
)
@keys_in_clear_option
def command(
    run: Path,
    file: Path,
    name: str | None,
    only: tuple[str, ...],
    concurrency: int | None,
    tries: int,
    keys_in_clear: bool,
) -> int:
    """Let a model extract nuggets.

    The nuggets of every finished conversation are added to RUN as a layer of judgments. Running the command again
    continues the work: only missing passages are sent. The exit code is 3 if a conversation is incomplete.
    """
    recorded = read_reporting_damage(run)
    from harvest.judging.extraction.endpoint_file import read_extraction_endpoint  # brings httpx
    from harvest.judging.extraction.extracting import extract, result_sentences

    topics = {one.key.topic for one in recorded.finished}
    for topic in only:
        if topic not in topics:
            what = f"there is no finished conversation on the topic {topic!r}"
            raise InputError(what, allowed=", ".join(sorted(topics)))
    chosen = [one for one in recorded.finished if not only or one.key.topic in only]
    secrets: set[str] = set()
    endpoint = read_extraction_endpoint(file, name, secrets, concurrency=concurrency)
    show_exposures([endpoint.exposure], err=True)
    if not keys_in_clear:
        refuse_keys_in_clear([endpoint.exposure], read_document(file))
    endpoint.report_waits(lambda name, why: print_message(f"{name} {why}"))
    with Progress(console=Console(stderr=True), transient=True) as shown:

        def watch(total: int) -> Callable[[], None]:
            task = shown.add_task("passages", total=total)
            return lambda: shown.advance(task)

        # If it is stopped, the answers so far are on disk.
        done = run_until_stopped(extract(run, chosen, endpoint, secrets, tries=tries, watch=watch))
    for sentence in result_sentences(done):
        print_message(sentence)
    return 0 if done.is_complete else 3
