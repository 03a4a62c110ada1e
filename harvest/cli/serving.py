"""`harvest annotate --serve`: the local page on which people judge, until it is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from harvest.cli.asked_criteria import asked_criteria
from harvest.cli.interruption import run_until_stopped
from harvest.judging.sheets.asked_rows import assess_run
from harvest.terminal import printable
from recordings.decisions import DecisionBook
from recordings.run_folder import Run
from scoring.swan.schema import Schema
from topics.counting import pluralize
from topics.errors import InputError

__all__ = ["PORT", "SCALE", "read_scale", "serve_page"]

PORT = 8477
SCALE = "0,0.5,1"


def read_scale(text: str) -> tuple[float, ...]:
    """Raises InputError for what is no scale."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not 2 <= len(found) <= 9 or list(found) != sorted(set(found)) or not 0 <= found[0] < found[-1] <= 1:
        raise InputError(
            f"--scale: {text[:60]!r} is not a scale",
            allowed="2 to 9 numbers from 0 to 1 in rising order, as in 0,0.5,1",
        )
    return found


def serve_page(
    run: Path,
    recorded: Run,
    schema: Schema,
    names: Sequence[str],
    people: Sequence[str],
    *,
    version: str,
    sample: int | None,
    seed: int,
    nuggets: str,
    port: int,
    scale: Sequence[float],
    each: bool,
) -> None:
    """names: of criteria. people: who judges, each with a link."""
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise InputError(
                f"--serve needs the package {package!r}, which is not installed",
                advice="pip install 'conversation-harvest[annotate]'; or use a sheet: --export FILE",
            )
    from harvest.judging.serving.desk import Desk
    from harvest.judging.serving.questions import questions
    from harvest.judging.serving.serving import bind, make_links, serve

    people = [name.strip() for name in people]
    if not people or not all(people):
        raise InputError("it is not known who judges", advice="give --author NAME for each person")
    if len(set(people)) < len(people):
        raise InputError("--author: one person was named twice")
    assessed = assess_run(run, recorded, schema, nuggets=nuggets)
    rows, total = asked_criteria(assessed, schema, names, sample, seed, goal="page")
    asked = questions(rows, assessed, each=each)
    topics = recorded.header.topic_set()
    listening = bind(port)
    try:
        book = DecisionBook.open(run)
    except BaseException:
        listening.close()
        raise
    tokens, links = make_links(people, int(listening.getsockname()[1]))

    def tell() -> None:
        part = f" of {total}, drawn with seed {seed}" if len(rows) < total else ""
        same = f" ({len(rows)}{part} rows; what trials share is asked once)" if len(asked) < len(rows) or part else ""
        click.echo(f"{pluralize(len(asked), 'decision')} for each person{same}", err=True)
        wide = max(len(printable(name, line=True)) for name in people)
        for name, link in links.items():
            click.echo(f"  {printable(name, line=True):<{wide}}  {link}", err=True)
        click.echo("each link is for one person; this machine alone can open it. ctrl-C ends the page", err=True)

    async def work() -> None:
        try:
            desk = Desk(
                run,
                asked,
                people,
                book,
                scale=scale,
                version=version,
                seed=seed,
                topics={topic.id: topic for topic in topics.topics} if topics else {},
            )
            try:
                await serve(desk, listening, tokens, tell)
            finally:
                for sentence in desk.summary():
                    click.echo(printable(sentence, line=True), err=True)
        finally:
            await book.close()

    try:
        run_until_stopped(work())
    except KeyboardInterrupt:
        pass  # which is how it ends: all that was said to be saved is on disk
    finally:
        listening.close()
