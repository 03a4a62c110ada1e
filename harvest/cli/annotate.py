"""`harvest annotate`: nuggets and rule scores into a run, sheets for people, and their scores back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from harvest.cli.blind_pairs import write_blind_pairs
from harvest.cli.interruption import run_until_stopped
from harvest.judging.extraction.layer import nugget_judgments
from harvest.judging.sheets.annotation_sheet import Assessed, counts, sample_rows, sheet_rows, write_sheet
from harvest.judging.sheets.annotators import agreements, compare_with_earlier, newest_judgments
from harvest.judging.sheets.filled_sheet import read_sheet
from harvest.judging.sheets.sheet_file import Row, sheet_ending
from harvest.terminal import printable
from recordings.gold_layers import read_gold_layers
from recordings.judgments import Judgment, Layer, Target, keep_layer, read_layers, write_layer
from recordings.redaction import Redactor
from recordings.run_folder import Run, read
from recordings.times import stamp, utc_now
from scoring.settings import Settings
from scoring.swan.assessment import PageText, assess
from scoring.swan.extraction import RULES
from scoring.swan.judged import NUGGET, Judgments, Precedence
from scoring.swan.schema import Schema, load_schema
from topics.counting import pluralize
from topics.errors import InputError, Place
from topics.identity import generator

__all__ = ["command"]


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@click.option("--schema", default="sakai-2023", show_default=True, metavar="NAME|FILE", help="The criteria.")
@click.option(
    "--export", "sheet", type=click.Path(path_type=Path), metavar="FILE", help="Write a .csv or .jsonl sheet."
)
@click.option(
    "--criterion",
    "names",
    multiple=True,
    metavar="NAME",
    help="With --export: a criterion to ask about; may be repeated, or `all`.",
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    metavar="N",
    help="With --export: N random rows of each criterion, spread over the topics in proportion. With --pairs: at most N"
    " of each two systems.",
)
@click.option("--seed", type=click.IntRange(0), help="With --sample, --pairs: the same seed draws the same rows [0].")
@click.option("--force", is_flag=True, help="With --export: overwrite an existing file.")
@click.option(
    "--pairs", type=click.Path(path_type=Path), metavar="FILE", help="Write a .csv or .jsonl sheet of blind pairs."
)
@click.option("--systems", metavar="A,B,...", help="With --pairs: of these [all that were played].")
@click.option(
    "--import", "filled", type=click.Path(path_type=Path), metavar="FILE", help="Import a sheet that was filled in."
)
@click.option("--author", metavar="NAME", help="With --import: who scored.")
@click.option(
    "--version", default="", metavar="TEXT", help="With --import: version of the guideline followed; optional."
)
@click.option(
    "--extract", "model", type=click.Path(path_type=Path), metavar="FILE", help="Let a model extract nuggets."
)
@click.option("--endpoint", metavar="NAME", help="With --extract: which endpoint of the file to use [nuggets].")
@click.option(
    "--topic", "only", multiple=True, metavar="ID", help="With --extract, --pairs: only this topic; may be repeated."
)
@click.option("--concurrency", type=click.IntRange(1, 1000), help="With --extract: requests at the same time [8].")
@click.option(
    "--tries",
    type=click.IntRange(1, 20),
    metavar="N",
    help="With --extract: requests per passage while replies are unreadable [2].",
)
@click.option("--nuggets", metavar="NAME", help="With --export, --import: whose nuggets are scored [rules].")
def command(
    runs: tuple[Path, ...],
    schema: str,
    sheet: Path | None,
    names: tuple[str, ...],
    sample: int | None,
    seed: int | None,
    force: bool,
    pairs: Path | None,
    systems: str | None,
    filled: Path | None,
    author: str | None,
    version: str,
    model: Path | None,
    endpoint: str | None,
    only: tuple[str, ...],
    concurrency: int | None,
    tries: int | None,
    nuggets: str | None,
) -> int:
    """Extract nuggets, score them by rules, and exchange sheets with people.

    Without --export, --import, --extract and --pairs, RUN gets the nuggets of every finished conversation and all
    scores that rules can give, as layers of judgments. Layers are added, never changed: what people scored stays as it
    is.
    """
    if pairs is not None:
        if any((sheet, filled, model, names, author, version, endpoint, concurrency, tries, nuggets, force)):
            raise InputError("--pairs goes with --systems, --topic, --sample and --seed, and with no other option")
        write_blind_pairs(runs, pairs, systems, only, sample, seed or 0)
        return 0
    if systems is not None:
        raise InputError("--systems goes with --pairs")
    if len(runs) > 1:
        raise InputError(f"{len(runs)} runs were given; only --pairs takes several", advice="annotate one at a time")
    (run,) = runs
    if model is not None and (sheet is not None or filled is not None):
        raise InputError("--extract was given with --export or --import", advice="do one after the other")
    if model is None and (endpoint or only or concurrency or tries):
        raise InputError("--endpoint, --topic, --concurrency and --tries go with --extract")
    if nuggets is not None and sheet is None and filled is None:
        raise InputError("--nuggets goes with --export and --import")
    if sheet is not None and filled is not None:
        raise InputError("--export and --import were both given", advice="do one after the other")
    if (author is not None or version) and filled is None:
        raise InputError("--author and --version go with --import")
    if (names or force or sample is not None) and sheet is None:
        raise InputError("--criterion, --sample and --force go with --export")
    if seed is not None and sample is None:
        raise InputError("--seed goes with --sample")
    if filled is not None and not (author or "").strip():
        raise InputError("it is not known whose scores these are", advice="give --author NAME")
    criteria = load_schema(schema)
    recorded = read(run)
    for sentence in recorded.damage:
        click.echo(f"damage: {sentence}", err=True)
    if model is not None:
        return _extract(run, recorded, model, endpoint, only, concurrency, tries or 2)
    if sheet is not None:
        _export(run, recorded, criteria, sheet, names, sample, seed or 0, force, nuggets or "")
    elif filled is not None:
        _import(run, recorded, criteria, filled, str(author).strip(), version, nuggets or "")
    else:
        _annotate(run, recorded, criteria)
    return 0


def _extract(
    run: Path,
    recorded: Run,
    file: Path,
    name: str | None,
    only: tuple[str, ...],
    concurrency: int | None,
    tries: int,
) -> int:
    """Nuggets by a model, as a layer; 3 where a conversation is not whole."""
    from harvest.judging.extraction.endpoint_file import read_extraction_endpoint  # brings httpx
    from harvest.judging.extraction.extracting import account, extract

    topics = {one.key.topic for one in recorded.finished}
    for topic in only:
        if topic not in topics:
            what = f"no finished conversation here is on the topic {topic!r}"
            raise InputError(what, allowed=", ".join(sorted(topics)))
    chosen = [one for one in recorded.finished if not only or one.key.topic in only]
    secrets: set[str] = set()
    endpoint = read_extraction_endpoint(file, name, secrets, concurrency=concurrency)
    with Progress(console=Console(stderr=True), transient=True) as shown:

        def watch(total: int) -> Callable[[], None]:
            task = shown.add_task("passages", total=total)
            return lambda: shown.advance(task)

        # Where it is stopped, what was answered is on disk.
        done = run_until_stopped(extract(run, chosen, endpoint, secrets, tries=tries, watch=watch))
    for sentence in account(done):
        click.echo(sentence, err=True)
    return 0 if done.whole else 3


def _annotate(run: Path, recorded: Run, schema: Schema) -> None:
    assessed = _assessed(run, recorded, schema, kept=False)
    now = stamp(utc_now())
    layers = [_nuggets(assessed, now), *_scores(assessed, schema, now)]
    for layer in layers:
        path = keep_layer(run, layer)
        place = f"written to judgments/{path.name}" if path else "nothing new to write"
        click.echo(f"{layer.author}: {_counted(layer)}, {place}", err=True)
    unscored = [one.name for one in schema if not one.rules]
    click.echo(f"{pluralize(len(assessed), 'conversation')}. No rule scores: {', '.join(unscored) or 'none'}", err=True)
    waiting = {one.name: rule.needs for one in schema for rule in one.rules if rule.needs}
    for name, needs in waiting.items():
        click.echo(f"{name}: its rule scores it by the scores of {', '.join(needs)}, when the run is scored", err=True)


def _nuggets(assessed: Iterable[Assessed], now: str) -> Layer:
    """The nuggets of types F and O of both sides."""
    found = [row for one in assessed for row in nugget_judgments(one.conversation, one.assessment.nuggets)]
    name, _, version = RULES.partition("/")
    return Layer("rule", name, version, "harvest annotate", now, tuple(found))


def _scores(assessed: Sequence[Assessed], schema: Schema, now: str) -> list[Layer]:
    """A layer for each rule. Rules that read other scores are left out: they are asked anew at every scoring."""
    found: dict[tuple[str, str], list[Judgment]] = {}
    for criterion in schema:
        for rule in criterion.rules:
            if not rule.needs:
                found.setdefault((str(rule), rule.version), [])
    for one in assessed:
        for name, scored in one.assessment.scored.items():
            for entry in scored:
                kept = found.get((entry.by.author, entry.by.version))
                if kept is None:
                    continue
                item = entry.item
                target = Target(
                    one.conversation.trial_id, one.conversation.attempt, item.turn, item.speaker, item.start, item.end
                )
                kept.append(Judgment(target.about(), name, entry.value))
    return [
        Layer("rule", author, version, schema.name, now, tuple(judgments))
        for (author, version), judgments in found.items()
    ]


def _counted(layer: Layer) -> str:
    if layer.judgments and layer.judgments[0].criterion == NUGGET:
        types: Counter[str] = Counter()
        for judgment in layer.judgments:
            if isinstance(judgment.value, dict):
                types[str(judgment.value["type"])] += 1
        return f"{pluralize(len(layer.judgments), 'nugget')} ({types['F']} of type F, {types['O']} of type O)"
    criteria = ", ".join(sorted({judgment.criterion for judgment in layer.judgments}))
    return f"{len(layer.judgments)} scores{f' for {criteria}' if criteria else ''}"


def _export(
    run: Path,
    recorded: Run,
    schema: Schema,
    sheet: Path,
    names: tuple[str, ...],
    sample: int | None,
    seed: int,
    force: bool,
    nuggets: str,
) -> None:
    sheet_ending(sheet)
    if sheet.exists() and not force:
        raise InputError("this file exists already", place=Place(str(sheet)), advice="take another name, or --force")
    assessed = _assessed(run, recorded, schema, nuggets=nuggets)
    there = counts(assessed, (one for one in schema if one.may_score("human")))
    if not names:
        _list_criteria(schema, there)
        raise InputError(
            "no criterion was given for the sheet",
            allowed="--criterion NAME for each criterion wanted, or --criterion all",
            advice="begin with one criterion; --sample N draws some of its rows",
        )
    everything = [name.casefold() for name in names] == ["all"]
    chosen = [schema[name] for name in there] if everything else [schema[name] for name in names]
    barred = [one.name for one in chosen if not one.may_score("human")]
    if barred:
        raise InputError(f"{', '.join(barred)}: not for people to score in the schema {schema.name!r}")
    chosen = list(dict.fromkeys(chosen))
    total = sum(there[one.name] for one in chosen)
    if not total:
        raise InputError(f"there is nothing to score by {', '.join(one.name for one in chosen)} in this run")
    rows: Iterator[Row] = chain.from_iterable(
        sheet_rows(assessed, one)
        if sample is None
        else sample_rows(sheet_rows(assessed, one), sample, generator(seed, "sheet", one.name))
        for one in chosen
    )
    count = write_sheet(rows, sheet)
    part = f" of {total}, drawn with seed {seed}," if count < total else ""
    click.echo(f"{count} rows{part} written to {sheet}: fill in 'value' (0 to 1, or n/a), then --import it", err=True)


def _list_criteria(schema: Schema, there: Mapping[str, int]) -> None:
    wide = max(map(len, there), default=0)
    for name, count in there.items():
        click.echo(f"  {name:<{wide}}  {schema[name].level:<6}  {count:>7} rows", err=True)
    click.echo(f"  {'all':<{wide}}  {'':<6}  {sum(there.values()):>7} rows", err=True)


def _import(run: Path, recorded: Run, schema: Schema, filled: Path, author: str, version: str, nuggets: str) -> None:
    sheet = read_sheet(filled, _assessed(run, recorded, schema, nuggets=nuggets), schema)
    cleaner = Redactor()  # a note is compared as it would be kept
    judgments = tuple(replace(one, note=str(cleaner.value(one.note))) for one in sheet.judgments)
    people = [layer for layer in read_layers(run) if layer.kind == "human"]
    # Who names no version says nothing of it: what was said before under any version was said before.
    mine = newest_judgments(layer for layer in people if layer.author == author and version in ("", layer.version))
    news = compare_with_earlier(judgments, mine)
    if news.anything:
        layer = Layer("human", author, version, filled.name, stamp(utc_now()), judgments)
        path = write_layer(run, layer)
        people.append(layer)
        told = {"new": news.new, "changed": news.changed, "with another note": news.noted, "as before": news.same}
        parts = ", ".join(f"{count} {what}" for what, count in told.items() if count)
        click.echo(f"{len(judgments)} scores of {author} written to {path} ({parts})", err=True)
    else:
        click.echo(f"nothing new: {author} gave all {len(judgments)} scores before; they still hold", err=True)
    if sheet.empty:
        lost = f", {sheet.notes} of them with a note, which is not kept" if sheet.notes else ""
        click.echo(f"{sheet.empty} rows have no value and were skipped{lost}", err=True)
    _tell_agreement(people, [one.criterion for one in judgments])


def _tell_agreement(people: Sequence[Layer], criteria: Iterable[str]) -> None:
    names, found = agreements(people, criteria)
    if not found:
        return
    people_named = ", ".join(printable(name, line=True) for name in names)
    click.echo(f"agreement of {people_named}, where two or more of them judged the same thing:", err=True)
    wide = max(map(len, found))
    for name, one in found.items():
        alpha = "n/a" if math.isnan(one.alpha) else f"{one.alpha:.2f}"
        click.echo(
            f"  {name:<{wide}}  equal {100 * one.equal:.0f}% (n={one.things})  alpha {alpha} (n={one.scored})", err=True
        )
    click.echo(
        "  alpha: Krippendorff's of the scores; 1 is full agreement, 0 chance, n/a if all scores are equal", err=True
    )


def _assessed(run: Path, recorded: Run, schema: Schema, *, kept: bool = True, nuggets: str = "") -> list[Assessed]:
    """The finished conversations. kept: with the nuggets of the layers there are; otherwise extracted anew."""
    topics = recorded.header.topic_set()
    gold = read_gold_layers([run], topics)
    # Scores that people gave must not keep a rule from saying what it sees, nor change what a sheet lists.
    only_rules = Precedence((("rule", ""),), nuggets)
    judgments = Judgments.of(read_layers(run), schema, only_rules) if kept else Judgments(only_rules)
    if kept:
        judgments = Judgments(only_rules, layers=judgments.layers)
    known = {topic.id: topic for topic in topics.topics} if topics else {}
    found = []
    for conversation in recorded.finished:
        topic = known.get(conversation.key.topic)
        ground = PageText(topic, gold, topics.attributes if topics else {}, Settings())
        found.append(Assessed(conversation, assess(conversation, schema, judgments, ground)))
    return found
