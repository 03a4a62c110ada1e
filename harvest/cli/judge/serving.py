"""The local page on which people judge, served until the command is stopped, and the printed report on the judges."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harvest.cli.installation import require_page_packages
from harvest.cli.interruption import run_until_stopped
from harvest.judging.sheets.adjudication import disputed_rows, plain_vote
from harvest.judging.sheets.annotation_sheet import Assessed
from harvest.judging.sheets.annotators import PeopleAgreement, agreement_words, agreements
from harvest.judging.sheets.asked_rows import Draw, assess_run, rows_by_criterion, select_rows
from harvest.judging.sheets.sheet_file import Row
from harvest.terminal import print_message, printable
from recordings.files.errors import StoreError, describe_fault
from recordings.judged.decision_book import DecisionBook
from recordings.judged.judgments import read_layers
from recordings.log.run_folder import Run
from scoring.forms.readings import POOLED
from scoring.measures.wan import WAN
from scoring.scores import SHIPPED
from scoring.swan.precedence import FOLDINGS
from scoring.swan.schema import SCALES, Schema, is_scale
from topics.counting import pluralize
from topics.errors import InputError
from topics.topic import Topic

if TYPE_CHECKING:  # the page is made where it is served
    from harvest.judging.serving.desk import Choice
    from harvest.judging.serving.page_words import PageWords
    from harvest.judging.serving.questions import Question, Sameness

SCALE = "0,0.5,1"
_SAME_OPTIONS: Mapping[str, tuple[str, ...]] = {"node": (), "trial": ("--each",), "words": ("--once",)}
_YES_OR_NO = (0, 1)


def read_scale(text: str) -> tuple[float, ...]:
    """Parse a scale such as `0,0.5,1`. Raises InputError unless the scale has 2 to 9 rising numbers from 0 to 1."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not is_scale(found):
        raise InputError(f"--scale: {text[:60]!r} is not a scale", allowed=SCALES)
    return found


def serve_page(
    run: Path,
    recorded: Run,
    schema: Schema,
    names: Sequence[str],
    people: Sequence[str],
    *,
    version: str,
    draw: Draw,
    nuggets: str,
    port: int,
    language: str,
    scale: str,
    sameness: Sameness,
    schema_option: str,
    adjudicate: bool = False,
) -> None:
    """Serve a page with questions on the criteria in `names`, and print a link to the page for each judge in `people`.
    With `adjudicate`, the page shows only items that people judged differently, with their judgments. `schema_option`
    and `scale` are the values of `--schema` and `--scale`, for the commands that are printed at the end."""
    scores = read_scale(scale) if scale else schema.scale or read_scale(SCALE)
    if not names and len(schema.criteria) == 1:
        names = [one.name for one in schema]  # there is nothing to choose
    if names:  # without any, the criteria are listed, for which nobody is needed yet
        people = check_people(people)
    from harvest.judging.serving.desk import scale_choices, value_choices
    from harvest.judging.serving.page_words import load_words
    from harvest.judging.serving.questions import questions

    words = load_words(language, schema)
    assessed = assess_run(run, recorded, schema, nuggets=nuggets)
    rows, total = criterion_rows(assessed, schema, names, draw, goal="page")
    choices = scale_choices(scores, words.words)
    values = {one.name: value_choices(words.values(one), words.words) for one in schema if one.values}
    if adjudicate:
        shown = {(of.name, one.value): one.words for of in schema for one in values.get(of.name, choices)}
        rows = list(
            disputed_rows(rows, read_layers(run), lambda name, value: shown.get((name, value), plain_vote(name, value)))
        )
        if not rows:
            raise InputError(
                "there is nothing to adjudicate: no two people judged an item differently by these criteria"
            )
    asked = questions(rows, assessed, sameness=sameness)
    # In the language of the page, and without the values, since the choices explain themselves.
    bare = {one.name: words.question(one) for one in schema}
    asked = tuple(replace(one, question=bare[one.criterion] or one.question) for one in asked)
    drawn = (
        f"{len(rows):,} of {total:,} rows, drawn with seed {draw.seed}" if len(rows) < total else f"{len(rows):,} rows"
    )
    if adjudicate:
        drawn = f"the {pluralize(len(rows), 'row')} on which people differ"
    told = f" ({drawn}; the same words are asked about once)" if len(asked) < len(rows) or len(rows) < total else ""
    topics = recorded.header.topic_set()
    known = {topic.id: topic for topic in topics.topics} if topics else {}
    serve_questions(
        run,
        asked,
        people,
        choices,
        known,
        values=values,
        told=told,
        port=port,
        version=version,
        seed=draw.seed,
        adjudicating=adjudicate,
        words=words,
    )
    print_judged(
        run,
        schema,
        [one.criterion for one in asked],
        schema_option,
        nuggets,
        scale=scale,
        scores=scores,
        sameness=sameness,
    )


def check_people(people: Sequence[str]) -> list[str]:
    """Return the judges' names without surrounding whitespace. Raises InputError if a name is missing, repeated or
    unusable, or if the packages that serve the page are missing."""
    require_page_packages("the page", "; or use a sheet: harvest judge sheet, or harvest judge pairs without --serve")
    found = [check_author(name) for name in people]
    if not found or not all(found):
        raise InputError("the names of the judges are missing", advice="give --author NAME for each person")
    if len(set(found)) < len(found):
        raise InputError("--author contains the same name twice")
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
    words: PageWords | None = None,
) -> None:
    """Serve questions until the command is stopped, and save decisions in `folder`. `told` is printed after the
    number of decisions. `words` are those of the page, in English by default."""
    from harvest.judging.serving.desk import Desk
    from harvest.judging.serving.page_words import ENGLISH
    from harvest.judging.serving.serving import serve_desk
    from harvest.serving.server import bind, make_links

    listening = bind(port)
    try:
        book = DecisionBook.open(folder)
    except BaseException:
        listening.close()
        raise
    tokens, links = make_links(people, int(listening.getsockname()[1]))

    def print_progress() -> None:
        click.echo(f"{pluralize(len(asked), 'decision')} for each person{told}", err=True)
        wide = max(len(printable(name, line=True)) for name in people)
        for name, link in links.items():
            click.echo(f"  {printable(name, line=True):<{wide}}  {link}", err=True)
        click.echo("each link is for one person; this machine alone can open it. ctrl-C ends the page", err=True)

    troubles: set[str] = set()

    def trouble(fault: StoreError) -> None:
        sentence = f"a decision could not be saved: {fault.path}: {describe_fault(fault.fault)[0]}"
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
                words=words or ENGLISH,
            )
            try:
                await serve_desk(desk, listening, tokens, print_progress, trouble)
            finally:
                for sentence in desk.summary():
                    click.echo(printable(sentence, line=True), err=True)
        finally:
            await book.close()

    try:
        run_until_stopped(work())
    except KeyboardInterrupt:
        pass  # the normal end; everything reported as saved is on disk
    finally:
        listening.close()


def criterion_rows(
    assessed: Sequence[Assessed], schema: Schema, names: Sequence[str], draw: Draw, *, goal: str
) -> tuple[list[Row], int]:
    """Return the rows of some criteria and the total number of their rows, as `select_rows` does. If `names` is
    empty, the criteria and their numbers of rows are printed, and InputError is raised. `goal` is the purpose of the
    rows in the error message, as in “no criterion was given for the sheet”."""
    if names:
        return select_rows(assessed, schema, names, draw)
    there = rows_by_criterion(assessed, schema)
    wide = max(map(len, there), default=0)
    for name, count in there.items():
        click.echo(f"  {name:<{wide}}  {schema[name].level:<8}  {count:>7} {'row' if count == 1 else 'rows'}", err=True)
    click.echo(f"  {'all':<{wide}}  {'':<8}  {sum(there.values()):>7} rows", err=True)
    raise InputError(
        f"no criterion was given for the {goal}",
        allowed="--criterion NAME for each criterion, or --criterion all",
        advice="begin with one criterion, and draw some of its rows with --sample N, or some topics with --topics N",
    )


_LONGEST_NAME = 100  # characters


def check_author(name: str) -> str:
    """Return the name without surrounding whitespace. Raises InputError for a name that spans several lines, or that
    `--judges` or `--judgments` would misread."""
    found = name.strip()
    if found.casefold() in FOLDINGS:
        raise InputError(
            f"--author: {found!r} is a value of --judgments, so it cannot be a name",
            advice="choose another name",
        )
    if not found.isprintable() or "," in found or len(found) > _LONGEST_NAME:
        raise InputError(
            f"--author: {found[:40]!r} cannot be a name",
            allowed=f"at most {_LONGEST_NAME} characters on one line, without commas, which separate names",
        )
    return found


def print_judged(
    run: Path,
    schema: Schema,
    criteria: Iterable[str],
    schema_option: str,
    nuggets: str,
    *,
    sheet: bool = False,
    scale: str = "",
    scores: Sequence[float] = (),
    sameness: Sameness = "node",
) -> None:
    """Print how far judges agree, if at least two people judged the same item, and the commands that follow.
    `schema_option`, `nuggets` and `scale` are the values of the options, `scores` the possible scores, and `sameness`
    the items that were asked about once. `sheet` is True if people judge on sheets."""
    people = [layer for layer in read_layers(run) if layer.kind == "human"]
    asked = list(dict.fromkeys(criteria))
    found = agreements(people, asked)
    _print_agreement(found)
    judged = {one.criterion for layer in people for one in layer.judgments}
    scored = [schema[name] for name in asked if name in judged]
    written = [one.written_name for one in scored if not one.values and one.level != "set"]
    if not written:
        return
    # Of conversations and topics with unlike numbers of judged answers, a mean of WANs is not the share of answers.
    yes_or_no = tuple(scores) == _YES_OR_NO
    measures = [f"{WAN.name}({one})" for one in written]
    if yes_or_no:
        measures = [f"{POOLED.name}({WAN.name}({one}, weights=uniform))" for one in written]
    options = ["--schema", schema_option] if schema_option != SHIPPED else []
    options += ["--nuggets", nuggets] if nuggets else []
    adjudicated = any(layer.adjudicates for layer in people)
    differing = dict.fromkeys(one.criterion for one in found if one.found.equal < 1)
    steps = []
    if differing and not adjudicated:
        kind, on = ("sheet", ["--export", "open.csv"]) if sheet else ("page", ["--author", "NAME"])
        names = [word for name in differing for word in ("--criterion", name)]
        asked_for = [*(["--scale", scale] if scale else []), *_SAME_OPTIONS[sameness]]
        decide = ["harvest", "judge", kind, str(run), *options, *names, *asked_for, "--adjudicate", *on]
        steps.append(("where people differ, somebody else decides, with a reason", decide))
    score = ["harvest", "score", str(run), *options, "-m", ", ".join(measures)]
    what = "the share of answers judged 1 (yes)" if yes_or_no else "the scores"
    if not adjudicated:
        until = ", in which all who judged an answer count alike" if differing else ""
        steps.append((f"{what}{until}", score))
    if adjudicated or differing:
        after = "" if adjudicated else ", once the differences are decided"
        steps.append((f"{what}{after}", [*score, "--judgments", "adjudicated"]))
    print_message("what to do next:")
    for what, command in steps:
        print_message(f"  {what}:")
        click.echo(f"    {printable(shlex.join(command), line=True)}", err=True)  # unbroken, so that it can be copied


def _print_agreement(found: Sequence[PeopleAgreement]) -> None:
    if not found:
        return
    names = sorted({name for one in found for name in one.people})
    people_named = ", ".join(printable(name, line=True) for name in names)
    print_message(f"agreement of {people_named}, over things that two or more of them judged:")
    whole = dict.fromkeys(one.criterion for one in found)
    wide = max(map(len, whole))
    for criterion in whole:
        first, *pairs = (one for one in found if one.criterion == criterion)
        click.echo(f"  {criterion:<{wide}}  {agreement_words(first)}", err=True)
        for one in pairs:
            who = " and ".join(printable(name, line=True) for name in one.people)
            click.echo(f"  {'':<{wide}}  {who}: {agreement_words(one)}", err=True)
    print_message(
        "  alpha: Krippendorff's of the scores or values; 1 is full agreement, 0 chance, n/a if all are equal"
    )
