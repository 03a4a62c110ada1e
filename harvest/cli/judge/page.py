"""`harvest judge page`: let people judge on a page of this machine."""

from pathlib import Path

import click

from harvest.cli.judge import options
from harvest.cli.judge.serving import SCALE, serve_page
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.judging.sheets.asked_rows import Draw
from scoring.swan.schema import load_schema
from topics.errors import InputError


@click.command(cls=ShortHelp, rare="--each --once --version --port", common="--schema")
@click.argument("run", type=PathArgument())
@click.option(
    "--criterion", "names", multiple=True, metavar="NAME", help="A criterion to ask about; may be repeated, or `all`."
)
@click.option("--author", "authors", multiple=True, metavar="NAME", help="Who judges; may be repeated.")
@click.option(
    "--scale", default="", metavar="A,B,...", help=f"The scores that can be given [those of the schema, or {SCALE}]."
)
@click.option(
    "--sample",
    type=WholeNumberRange(1),
    metavar="N",
    help="N random rows of each criterion, spread over the topics in proportion.",
)
@options.topics_option
@click.option(
    "--seed",
    type=WholeNumberRange(0),
    default=0,
    show_default=True,
    help="Seed of the draw and of orders.",
)
@click.option(
    "--adjudicate",
    is_flag=True,
    help="Ask only what people judged differently, and show their votes. These scores decide, and need a reason.",
)
@click.option("--each", is_flag=True, help="Ask again for each trial that said the same words.")
@click.option("--once", is_flag=True, help="Ask once about the same words of a topic.")
@click.option("--version", default="", metavar="TEXT", help="Version of the guideline followed; optional.")
@options.port_option
@options.words_option
@options.schema_option
@options.nuggets_option
def command(
    run: Path,
    names: tuple[str, ...],
    authors: tuple[str, ...],
    scale: str,
    sample: int | None,
    topics: int | None,
    seed: int,
    adjudicate: bool,
    each: bool,
    once: bool,
    version: str,
    port: int,
    words: str,
    schema: str,
    nuggets: str,
) -> None:
    """Let people judge on a page of this machine.

    The command prints a link for each person, and serves the page until it is stopped with ctrl-C. Every decision is
    saved in RUN at once.
    """
    if each and once:
        raise InputError("--each and --once cannot be used together")
    options.refuse_draw(adjudicate, sample, topics)
    serve_page(
        run,
        options.read_reporting_damage(run),
        load_schema(schema),
        names,
        authors,
        version=version,
        draw=Draw(sample, seed, topics),
        nuggets=nuggets,
        port=port,
        language=words,
        scale=scale,
        schema_option=schema,
        sameness="trial" if each else "words" if once else "node",
        adjudicate=adjudicate,
    )
