"""`harvest judge sheet`: write a sheet for people to fill in, or import a sheet that was filled in."""

from dataclasses import replace
from pathlib import Path

import click

from harvest.cli.judge import options
from harvest.cli.judge.serving import check_author, criterion_rows, print_judged
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange, check_output_file
from harvest.judging.serving.page_words import load_words
from harvest.judging.sheets import adjudication, annotated_tasks, annotators, sheet_file
from harvest.judging.sheets.annotation_sheet import question_text, write_sheet
from harvest.judging.sheets.asked_rows import Draw, assess_run
from harvest.judging.sheets.filled_sheet import FilledSheet, judge_rows, read_sheet
from harvest.terminal import print_message
from recordings.files.times import stamp, utc_now
from recordings.judged.judgments import Layer, read_layers, write_layer
from recordings.log.run_folder import Run
from recordings.secrets.redaction import Redactor
from scoring.swan.schema import Schema, load_schema
from topics.counting import pluralize
from topics.errors import InputError, Place


@click.command(cls=ShortHelp, rare="--topics")
@click.argument("run", type=PathArgument())
@click.option("--export", "sheet", type=PathArgument(), metavar="FILE", help="Write a .csv or .jsonl sheet.")
@click.option(
    "--import",
    "filled",
    type=PathArgument(),
    metavar="FILE",
    help="Import a sheet that was filled in, or judgments from Label Studio or Potato (.json).",
)
@click.option(
    "--criterion",
    "names",
    multiple=True,
    metavar="NAME",
    help="With --export: a criterion to ask about; may be repeated, or `all`.",
)
@click.option("--author", default="", metavar="NAME", help="With --import: who scored.")
@click.option(
    "--sample",
    type=WholeNumberRange(1),
    metavar="N",
    help="With --export: N random rows of each criterion, spread over the topics in proportion.",
)
@options.topics_option
@click.option("--seed", type=WholeNumberRange(0), help="With --export: the same seed draws the same rows [0].")
@click.option(
    "--adjudicate",
    is_flag=True,
    help="With --export: only what people judged differently, with their votes. With --import: these scores decide, "
    "and every one has a reason in its note.",
)
@click.option("--version", default="", metavar="TEXT", help="With --import: version of the guideline followed.")
@click.option("--force", is_flag=True, help="With --export: overwrite an existing file.")
@options.words_option
@options.schema_option
@options.nuggets_option
def command(
    run: Path,
    sheet: Path | None,
    filled: Path | None,
    names: tuple[str, ...],
    author: str,
    sample: int | None,
    topics: int | None,
    seed: int | None,
    adjudicate: bool,
    version: str,
    force: bool,
    words: str,
    schema: str,
    nuggets: str,
) -> None:
    """Write a sheet for people to fill in, or import one.

    With --export, the rows to score are written to a sheet. People fill in copies of the sheet, and each copy comes
    back with --import, as a layer of judgments of its author in RUN.
    """
    if (sheet is None) == (filled is None):
        raise InputError(
            "--export and --import cannot be used together" if sheet else "neither --export nor --import is given",
            advice="give --export FILE to write a sheet, or --import FILE to import a sheet that was filled in",
        )
    if sheet is None and (
        names or sample is not None or topics is not None or seed is not None or force or words != "en"
    ):
        raise InputError("--criterion, --sample, --topics, --seed, --words and --force can only be used with --export")
    if filled is None and (author or version):
        raise InputError("--author and --version can only be used with --import")
    options.refuse_draw(adjudicate, sample, topics)
    author = check_author(author)
    exported = filled is not None and annotated_tasks.is_export(filled)
    if exported and author:
        raise InputError("--author has no effect: this file names its annotators", advice="leave out --author")
    if filled is not None and not author and not exported:
        raise InputError("the author of these scores is missing", advice="give --author NAME")
    criteria = load_schema(schema)
    recorded = options.read_reporting_damage(run)
    if sheet is not None:
        draw = Draw(sample, seed or 0, topics)
        _export_sheet(run, recorded, criteria, sheet, names, draw, force, nuggets, adjudicate, words)
    elif filled is not None:
        assessed = assess_run(run, recorded, criteria, nuggets=nuggets)
        if exported:
            by_author = {
                check_author(name): rows for name, rows in annotated_tasks.read_tasks(filled, assessed).items() if rows
            }
            if not by_author:
                raise InputError("this file has no judgments", place=Place.of(filled))
            sheets = {
                name: judge_rows(rows, filled, assessed, criteria, reasons=adjudicate)
                for name, rows in by_author.items()
            }
        else:
            sheets = {author: read_sheet(filled, assessed, criteria, reasons=adjudicate)}
        for name, one in sheets.items():
            _keep_sheet(run, one, filled.name, name, version, adjudicate)
        judged = [one.criterion for sheet in sheets.values() for one in sheet.judgments]
        print_judged(run, criteria, judged, schema, nuggets, sheet=True)


def _export_sheet(
    run: Path,
    recorded: Run,
    schema: Schema,
    sheet: Path,
    names: tuple[str, ...],
    draw: Draw,
    force: bool,
    nuggets: str,
    adjudicate: bool,
    language: str,
) -> None:
    sheet_file.sheet_ending(sheet)
    words = load_words(language, schema)
    check_output_file(sheet, replace=force, other="choose another name, or --force")
    assessed = assess_run(run, recorded, schema, nuggets=nuggets)
    rows, total = criterion_rows(assessed, schema, names, draw, goal="sheet")
    texts = {one.name: question_text(words.question(one), words.values(one)) for one in schema}
    rows = [{**row, "question": texts[row["criterion"]]} for row in rows]
    if adjudicate:
        rows = list(adjudication.disputed_rows(rows, read_layers(run)))
        if not rows:
            raise InputError(
                "there is nothing to adjudicate: no two people judged an item differently by these criteria"
            )
        write_sheet(rows, sheet, adjudication.ADJUDICATION_COLUMNS)
        told = (
            f"{pluralize(len(rows), 'row')} on which people differ, of {total}, written to {sheet}: fill in 'value', "
        )
        print_message(f"{told}and why in 'note', then --import it with --adjudicate")
        return
    count = write_sheet(rows, sheet)
    part = f" of {total}, drawn with seed {draw.seed}," if count < total else ""
    valued = {bool(schema[name].values) for name in {row["criterion"] for row in rows}}
    kinds = " or ".join(
        words for has, words in ((False, "0 to 1"), (True, "one of those in 'question'")) if has in valued
    )
    told = f"{pluralize(count, 'row')}{part} written to {sheet}"
    print_message(f"{told}: fill in 'value' ({kinds}, n/a, or unsure), then --import it")


def _keep_sheet(run: Path, sheet: FilledSheet, source: str, author: str, version: str, adjudicate: bool) -> None:
    cleaner = Redactor()  # compare a note in the form in which it is stored
    judgments = tuple(replace(one, note=str(cleaner.value(one.note))) for one in sheet.judgments)
    people = [layer for layer in read_layers(run) if layer.kind == "human"]
    # Without a version, earlier scores of the author count under any version.
    mine = annotators.newest_judgments(
        layer
        for layer in people
        if layer.author == author and version in ("", layer.version) and layer.adjudicates == adjudicate
    )
    news = annotators.compare_with_earlier(judgments, mine)
    if news.has_changes:
        layer = Layer("human", author, version, source, stamp(utc_now()), judgments, adjudicate)
        path = write_layer(run, layer)
        told = {"new": news.new, "changed": news.changed, "with another note": news.noted, "as before": news.same}
        parts = ", ".join(f"{count} {what}" for what, count in told.items() if count)
        print_message(f"{pluralize(len(judgments), 'score')} of {author} written to {path} ({parts})")
    else:
        whole = pluralize(len(judgments), "score")
        print_message(f"nothing new: {author} gave all {whole} before, unchanged")
    if sheet.empty:
        lost = f", {sheet.notes} of them with a note, which is not kept" if sheet.notes else ""
        print_message(f"{pluralize(sheet.empty, 'row')} without a value skipped{lost}")
