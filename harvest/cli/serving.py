"""`harvest annotate --serve`: serve the local page on which people judge, until it is stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harvest.cli.asked_criteria import asked_criteria
from harvest.cli.author_name import check_author
from harvest.cli.interruption import run_until_stopped
from harvest.cli.told_agreement import tell_agreement
from harvest.judging.sheets.adjudication import disputed_rows
from harvest.judging.sheets.asked_rows import assess_run
from harvest.terminal import printable
from recordings.files.errors import StoreError, in_words
from recordings.judged.decisions import DecisionBook
from recordings.judged.judgments import read_layers
from recordings.log.run_folder import Run
from scoring.swan.schema import Schema
from topics.counting import pluralize
from topics.errors import InputError
from topics.topic import Topic

if TYPE_CHECKING:  # the page is made where it is served
    from harvest.judging.serving.choices import Choice
    from harvest.judging.serving.questions import Question, Same

PORT = 8477
SCALE = "0,0.5,1"


def read_scale(text: str) -> tuple[float, ...]:
    """Parse a scale. Raises InputError."""
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
    same: Same,
    adjudicate: bool = False,
) -> None:
    """Serve the page. names: of criteria. people: who judges, each with a link. adjudicate: only things that people
    judged differently, with their judgments."""
    people = check_people(people)
    from harvest.judging.serving.choices import scale_choices, value_choices
    from harvest.judging.serving.questions import questions

    assessed = assess_run(run, recorded, schema, nuggets=nuggets)
    rows, total = asked_criteria(assessed, schema, names, sample, seed, goal="page")
    if adjudicate:
        rows = list(disputed_rows(rows, read_layers(run)))
        if not rows:
            raise InputError("no two people judged the same thing differently by these criteria, so nothing is open")
    asked = questions(rows, assessed, same=same)
    bare = {one.name: one.question for one in schema if one.values and one.question}  # the choices say what they mean
    asked = tuple(replace(one, question=bare.get(one.criterion, one.question)) for one in asked)
    part = f" of {total}, drawn with seed {seed}" if len(rows) < total else ""
    told = f" ({len(rows)}{part} rows; the same words are asked about once)" if len(asked) < len(rows) or part else ""
    topics = recorded.header.topic_set()
    known = {topic.id: topic for topic in topics.topics} if topics else {}
    serve_questions(
        run,
        asked,
        people,
        scale_choices(scale),
        known,
        values={one.name: value_choices(one.values) for one in schema if one.values},
        told=told,
        port=port,
        version=version,
        seed=seed,
        adjudicating=adjudicate,
    )
    people_said = [layer for layer in read_layers(run) if layer.kind == "human"]
    tell_agreement(people_said, [one.criterion for one in asked])


def check_people(people: Sequence[str]) -> list[str]:
    """Return the names of the people who judge. Raises InputError without names, or without the packages that serve
    the page."""
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise InputError(
                f"--serve needs the package {package!r}, which is not installed",
                advice="pip install '.[annotate]' in Harvest's folder; or use a sheet: --export FILE, --pairs FILE",
            )
    found = [check_author(name) for name in people]
    if not found or not all(found):
        raise InputError("the names of those who judge are missing", advice="give --author NAME for each person")
    if len(set(found)) < len(found):
        raise InputError("--author names one person twice")
    return found


def serve_questions(
    folder: Path,
    asked: Sequence[Question],
    people: Sequence[str],
    choices: Sequence[Choice],
    topics: Mapping[str, Topic],
    *,
    told: str,
    port: int,
    seed: int,
    values: Mapping[str, Sequence[Choice]] | None = None,
    version: str = "",
    adjudicating: bool = False,
) -> None:
    """Serve questions until stopped. folder: where decisions are stored. told: a sentence to print after their
    number."""
    from harvest.judging.serving.desk import Desk
    from harvest.judging.serving.serving import bind, make_links, serve

    listening = bind(port)
    try:
        book = DecisionBook.open(folder)
    except BaseException:
        listening.close()
        raise
    tokens, links = make_links(people, int(listening.getsockname()[1]))

    def tell() -> None:
        click.echo(f"{pluralize(len(asked), 'decision')} for each person{told}", err=True)
        wide = max(len(printable(name, line=True)) for name in people)
        for name, link in links.items():
            click.echo(f"  {printable(name, line=True):<{wide}}  {link}", err=True)
        click.echo("each link is for one person; this machine alone can open it. ctrl-C ends the page", err=True)

    troubles: set[str] = set()

    def trouble(fault: StoreError) -> None:
        sentence = f"a decision could not be saved: {fault.path}: {in_words(fault.fault)[0]}"
        if sentence not in troubles:  # browsers send it again every few seconds
            troubles.add(sentence)
            click.echo(
                printable(f"{sentence}; once there is room, it is sent and saved without a restart", line=True),
                err=True,
            )

    async def work() -> None:
        try:
            desk = Desk(
                folder,
                asked,
                people,
                book,
                choices=choices,
                values=values,
                version=version,
                seed=seed,
                topics=topics,
                adjudicating=adjudicating,
            )
            try:
                await serve(desk, listening, tokens, tell, trouble)
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
