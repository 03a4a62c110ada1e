"""`harvest annotate`: extract nuggets, score them by rules, and exchange sheets with human judges."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from harvest.audits.exposures import KEYS_IN_CLEAR, refuse_keys_in_clear
from harvest.cli.blind_pairs import serve_blind_pairs, write_blind_pairs
from harvest.cli.exposures import keys_in_clear_option, show_exposures
from harvest.cli.interruption import run_until_stopped
from harvest.cli.parameters import NameOrFile, PathArgument, WholeNumberRange, check_output_file
from harvest.cli.serving import PORT, SCALE, check_author, criterion_rows, print_agreement, read_scale, serve_page
from harvest.judging.rule_layers import other_languages, rule_layers, spans_to_review
from harvest.judging.sheets.adjudication import ADJUDICATION_COLUMNS, disputed_rows
from harvest.judging.sheets.annotation_sheet import write_sheet
from harvest.judging.sheets.annotators import compare_with_earlier, newest_judgments
from harvest.judging.sheets.asked_rows import assess_run, sight_function
from harvest.judging.sheets.filled_sheet import read_sheet
from harvest.judging.sheets.sheet_file import sheet_ending
from harvest.terminal import print_message, printable
from recordings.files.times import stamp, utc_now
from recordings.judged.judgments import Layer, keep_layer, read_layers, write_layer
from recordings.log.run_folder import Run, read
from recordings.secrets.redaction import Redactor
from scoring.swan.judged import NUGGET
from scoring.swan.schema import Schema, load_schema
from topics.counting import pluralize
from topics.document import read_document
from topics.errors import InputError


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option(
    "--schema", default="sakai-2023", show_default=True, type=NameOrFile(), metavar="NAME|FILE", help="The criteria."
)
@click.option("--export", "sheet", type=PathArgument(), metavar="FILE", help="Write a .csv or .jsonl sheet.")
@click.option(
    "--criterion",
    "names",
    multiple=True,
    metavar="NAME",
    help="With --export, --serve: a criterion to ask about; may be repeated, or `all`.",
)
@click.option(
    "--sample",
    type=WholeNumberRange(1),
    metavar="N",
    help="With --export, --serve: N random rows of each criterion, spread over the topics in proportion. With --pairs:"
    " at most N of each two systems.",
)
@click.option(
    "--seed",
    type=WholeNumberRange(0),
    help="With --export, --pairs, --serve: the same seed draws the same rows and orders [0].",
)
@click.option(
    "--adjudicate",
    is_flag=True,
    help="With --export, --serve: only what people judged differently, with their votes. With --import, --serve: these"
    " decide, and every one has a reason in its note.",
)
@click.option("--force", is_flag=True, help="With --export: overwrite an existing file.")
@click.option("--pairs", type=PathArgument(), metavar="FILE", help="Write a .csv or .jsonl sheet of blind pairs.")
@click.option("--systems", metavar="A,B,...", help="With --pairs: only these [all that were played].")
@click.option("--import", "filled", type=PathArgument(), metavar="FILE", help="Import a sheet that was filled in.")
@click.option(
    "--triage", is_flag=True, help="List the turns to look at first, by Harmlessness and Fluency, without their words."
)
@click.option("--serve", is_flag=True, help="Let people judge on a page that only this machine can open.")
@click.option("--port", type=WholeNumberRange(0, 65535), metavar="N", help=f"With --serve: its port [{PORT}].")
@click.option("--scale", metavar="A,B,...", help=f"With --serve: the scores that can be given [{SCALE}].")
@click.option("--each", is_flag=True, help="With --serve: ask again for each trial that said the same words.")
@click.option("--once", is_flag=True, help="With --serve: ask once about the same words of a topic.")
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="NAME",
    help="With --import: who scored. With --serve: who judges; may be repeated.",
)
@click.option(
    "--version", default="", metavar="TEXT", help="With --import, --serve: version of the guideline followed; optional."
)
@click.option("--extract", "model", type=PathArgument(), metavar="FILE", help="Let a model extract nuggets.")
@click.option("--endpoint", metavar="NAME", help="With --extract: which endpoint of the file to use [nuggets].")
@click.option(
    "--topic", "only", multiple=True, metavar="ID", help="With --extract, --pairs: only this topic; may be repeated."
)
@click.option("--concurrency", type=WholeNumberRange(1, 1000), help="With --extract: requests at the same time [8].")
@click.option(
    "--tries",
    type=WholeNumberRange(1, 20),
    metavar="N",
    help="With --extract: requests per passage while replies are unreadable [2].",
)
@click.option(
    "--nuggets",
    metavar="NAME",
    help="With --export, --import, --serve: whose nuggets are scored; also sentences or turns [rules].",
)
@keys_in_clear_option
def command(
    runs: tuple[Path, ...],
    schema: str,
    sheet: Path | None,
    names: tuple[str, ...],
    sample: int | None,
    seed: int | None,
    adjudicate: bool,
    force: bool,
    pairs: Path | None,
    systems: str | None,
    filled: Path | None,
    triage: bool,
    serve: bool,
    port: int | None,
    scale: str | None,
    each: bool,
    once: bool,
    authors: tuple[str, ...],
    version: str,
    model: Path | None,
    endpoint: str | None,
    only: tuple[str, ...],
    concurrency: int | None,
    tries: int | None,
    nuggets: str | None,
    keys_in_clear: bool,
) -> int:
    """Extract nuggets, score them by rules, and let people judge them.

    Without --serve, --export, --import, --extract, --triage and --pairs, the nuggets of every finished conversation and
    all scores that rules can give are added to RUN as layers of judgments. A layer is never changed once it is written,
    so people's scores stay as they are.
    """
    if pairs is not None:
        others = (sheet, filled, model, names, version, endpoint, concurrency, tries, nuggets, force, scale, each, once)
        if adjudicate or any(others) or (not serve and (authors or port is not None)):
            raise InputError(
                "--pairs can only be combined with --systems, --topic, --sample, --seed, --serve, --author and --port"
            )
        if serve:
            port = PORT if port is None else port
            serve_blind_pairs(runs, pairs, systems, only, sample, seed or 0, authors, port)
        else:
            write_blind_pairs(runs, pairs, systems, only, sample, seed or 0)
        return 0
    if systems is not None:
        raise InputError("--systems can only be used with --pairs")
    if len(runs) > 1:
        raise InputError(f"{len(runs)} runs were given, but only --pairs accepts several", advice="annotate one by one")
    (run,) = runs
    ways = {"--extract": model, "--export": sheet, "--import": filled, "--serve": serve or None}
    ways["--triage"] = triage or None
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} cannot be used together", advice="give the command once for each")
    if model is None and (endpoint or only or concurrency or tries):
        raise InputError("--endpoint, --topic, --concurrency and --tries can only be used with --extract")
    if model is None and keys_in_clear:
        raise InputError(f"{KEYS_IN_CLEAR} can only be used with --extract, as nothing else sends a key")
    if nuggets is not None and (not given or triage or model is not None):
        raise InputError("--nuggets can only be used with --export, --import or --serve")
    if (authors or version) and filled is None and not serve:
        raise InputError("--author and --version can only be used with --import or --serve")
    if (names or sample is not None) and sheet is None and not serve:
        raise InputError("--criterion and --sample can only be used with --export or --serve")
    if adjudicate and sheet is None and filled is None and not serve:
        raise InputError("--adjudicate can only be used with --serve, --export or --import")
    if adjudicate and sample is not None:
        raise InputError("--adjudicate and --sample cannot be used together, as all differences are needed")
    if force and sheet is None:
        raise InputError("--force can only be used with --export")
    if (port is not None or scale is not None or each or once) and not serve:
        raise InputError("--port, --scale, --each and --once can only be used with --serve")
    if each and once:
        raise InputError("--each and --once cannot be used together")
    if seed is not None and sheet is None and not serve:
        raise InputError("--seed can only be used with --export, --pairs or --serve")
    author = check_author(authors[0]) if len(authors) == 1 else ""
    if filled is not None and not author:
        raise InputError("the author of these scores is missing", advice="give --author NAME, once")
    criteria = load_schema(schema)
    recorded = read(run)
    for sentence in recorded.damage:
        print_message(printable(f"damage: {sentence}", line=True))
    if triage:
        places = list(spans_to_review(recorded.finished))
        for place in places:
            click.echo(str(place))
        what = f"{pluralize(len(places), 'place')} to look at first"
        whole = pluralize(len(recorded.finished), "conversation")
        print_message(f"{what}, in {whole}. This is not a score, and other places may be as bad.")
        elsewhere = other_languages(recorded.finished)
        if elsewhere:
            listed = ", ".join(f"{language} {count}" for language, count in sorted(elsewhere.items()))
            print_message(
                f"{pluralize(elsewhere.total(), 'answer')} not in English ({listed}): harm is looked for by English "
                "words, except for a few insults in German, French and Spanish"
            )
        return 0
    if model is not None:
        return _extract_nuggets(run, recorded, model, endpoint, only, concurrency, tries or 2, keys_in_clear)
    if sheet is not None:
        _export_sheet(run, recorded, criteria, sheet, names, sample, seed or 0, force, nuggets or "", adjudicate)
    elif filled is not None:
        _import_sheet(run, recorded, criteria, filled, author, version, nuggets or "", adjudicate)
    elif serve:
        serve_page(
            run,
            recorded,
            criteria,
            names,
            authors,
            version=version,
            sample=sample,
            seed=seed or 0,
            nuggets=nuggets or "",
            port=PORT if port is None else port,
            scale=read_scale(scale or SCALE),
            same="trial" if each else "words" if once else "node",
            adjudicate=adjudicate,
        )
    else:
        _score_by_rules(run, recorded, criteria)
    return 0


def _extract_nuggets(
    run: Path,
    recorded: Run,
    file: Path,
    name: str | None,
    only: tuple[str, ...],
    concurrency: int | None,
    tries: int,
    keys_in_clear: bool,
) -> int:
    """Let a model extract nuggets and store them as a layer. Returns 3 if a conversation is incomplete, else 0."""
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


def _score_by_rules(run: Path, recorded: Run, schema: Schema) -> None:
    assessed = assess_run(run, recorded, schema, kept=False)
    now = stamp(utc_now())
    layers = rule_layers(assessed, schema, sight_function(run, recorded), now)
    for layer in layers:
        path = keep_layer(run, layer)
        place = f"written to judgments/{path.name}" if path else "nothing new to write"
        print_message(f"{layer.author}: {_count_judgments(layer)}, {place}")
    unscored = [one.name for one in schema if not one.may_score("rule")]
    print_message(f"{pluralize(len(assessed), 'conversation')}. No rule scores: {', '.join(unscored) or 'none'}")
    waiting = {one.name: rule.needs for one in schema for rule in one.rules if rule.needs}
    for name, needs in waiting.items():
        print_message(f"{name}: its rule scores it by the scores of {', '.join(needs)}, when the run is scored")


def _count_judgments(layer: Layer) -> str:
    if layer.judgments and layer.judgments[0].criterion == NUGGET:
        types: Counter[str] = Counter()
        for judgment in layer.judgments:
            if isinstance(judgment.value, dict):
                types[str(judgment.value["type"])] += 1
        return f"{pluralize(len(layer.judgments), 'nugget')} ({types['F']} of type F, {types['O']} of type O)"
    criteria = ", ".join(sorted({judgment.criterion for judgment in layer.judgments}))
    return f"{pluralize(len(layer.judgments), 'score')}{f' for {criteria}' if criteria else ''}"


def _export_sheet(
    run: Path,
    recorded: Run,
    schema: Schema,
    sheet: Path,
    names: tuple[str, ...],
    sample: int | None,
    seed: int,
    force: bool,
    nuggets: str,
    adjudicate: bool,
) -> None:
    sheet_ending(sheet)
    check_output_file(sheet, replace=force, other="choose another name, or --force")
    assessed = assess_run(run, recorded, schema, nuggets=nuggets)
    rows, total = criterion_rows(assessed, schema, names, sample, seed, goal="sheet")
    if adjudicate:
        rows = list(disputed_rows(rows, read_layers(run)))
        if not rows:
            raise InputError(
                "there is nothing to adjudicate: no two people judged an item differently by these criteria"
            )
        write_sheet(rows, sheet, ADJUDICATION_COLUMNS)
        told = (
            f"{pluralize(len(rows), 'row')} on which people differ, of {total}, written to {sheet}: fill in 'value', "
        )
        print_message(f"{told}and why in 'note', then --import it with --adjudicate")
        return
    count = write_sheet(rows, sheet)
    part = f" of {total}, drawn with seed {seed}," if count < total else ""
    valued = {bool(schema[name].values) for name in {row["criterion"] for row in rows}}
    kinds = " or ".join(
        words for has, words in ((False, "0 to 1"), (True, "one of those in 'question'")) if has in valued
    )
    told = f"{pluralize(count, 'row')}{part} written to {sheet}"
    print_message(f"{told}: fill in 'value' ({kinds}, n/a, or unsure), then --import it")


def _import_sheet(
    run: Path,
    recorded: Run,
    schema: Schema,
    filled: Path,
    author: str,
    version: str,
    nuggets: str,
    adjudicate: bool,
) -> None:
    sheet = read_sheet(filled, assess_run(run, recorded, schema, nuggets=nuggets), schema, reasons=adjudicate)
    cleaner = Redactor()  # compare a note in the form in which it is stored
    judgments = tuple(replace(one, note=str(cleaner.value(one.note))) for one in sheet.judgments)
    people = [layer for layer in read_layers(run) if layer.kind == "human"]
    # Without a version, earlier scores of the author count under any version.
    mine = newest_judgments(
        layer
        for layer in people
        if layer.author == author and version in ("", layer.version) and layer.adjudicates == adjudicate
    )
    news = compare_with_earlier(judgments, mine)
    if news.has_changes:
        layer = Layer("human", author, version, filled.name, stamp(utc_now()), judgments, adjudicate)
        path = write_layer(run, layer)
        people.append(layer)
        told = {"new": news.new, "changed": news.changed, "with another note": news.noted, "as before": news.same}
        parts = ", ".join(f"{count} {what}" for what, count in told.items() if count)
        print_message(f"{pluralize(len(judgments), 'score')} of {author} written to {path} ({parts})")
    else:
        whole = pluralize(len(judgments), "score")
        print_message(f"nothing new: {author} gave all {whole} before, unchanged")
    if sheet.empty:
        lost = f", {sheet.notes} of them with a note, which is not kept" if sheet.notes else ""
        print_message(f"{pluralize(sheet.empty, 'row')} without a value skipped{lost}")
    print_agreement(people, [one.criterion for one in judgments])
