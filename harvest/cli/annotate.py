"""`harvest annotate`: nuggets and rule scores into a run, sheets for people, and their scores back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from harvest.annotation_sheet import Assessed, read_sheet, sheet_rows, write_sheet
from recordings.judgments import Judgment, Layer, Target, keep_layer, read_gold_layers, read_layers, write_layer
from recordings.provenance import stamp, utc_now
from recordings.run_folder import Run, read
from scoring.settings import Settings
from scoring.swan.assessment import Ground, assess
from scoring.swan.extraction import RULES
from scoring.swan.judged import NUGGET, Judgments, Precedence
from scoring.swan.schema import Criterion, Schema, load_schema
from topics.errors import InputError, Place

__all__ = ["command"]


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--schema", default="sakai-2023", show_default=True, metavar="NAME|FILE", help="The criteria.")
@click.option(
    "--export", "sheet", type=click.Path(path_type=Path), metavar="FILE", help="Write a .csv or .jsonl sheet."
)
@click.option("--criterion", "names", multiple=True, metavar="NAME", help="With --export: only these; may be repeated.")
@click.option("--force", is_flag=True, help="With --export: write over a file that is there.")
@click.option(
    "--import", "filled", type=click.Path(path_type=Path), metavar="FILE", help="Take a filled-in sheet back."
)
@click.option("--author", metavar="NAME", help="With --import: who scored.")
@click.option("--version", default="", metavar="TEXT", help="With --import: version of the guideline followed.")
def command(
    run: Path,
    schema: str,
    sheet: Path | None,
    names: tuple[str, ...],
    force: bool,
    filled: Path | None,
    author: str | None,
    version: str,
) -> None:
    """Extract nuggets, score them by rule, and exchange sheets with people.

    Without --export and --import, RUN gets the nuggets of every finished conversation and all scores that rules can
    give, as layers of judgments. Layers are added, never changed: what people scored stays as it is.
    """
    if sheet is not None and filled is not None:
        raise InputError("--export and --import were both given", advice="do one after the other")
    if (author is not None or version) and filled is None:
        raise InputError("--author and --version go with --import")
    if (names or force) and sheet is None:
        raise InputError("--criterion and --force go with --export")
    if filled is not None and not (author or "").strip():
        raise InputError("nobody says whose scores these are", advice="give --author NAME")
    criteria = load_schema(schema)
    recorded = read(run)
    for sentence in recorded.damage:
        click.echo(f"damage: {sentence}", err=True)
    if sheet is not None:
        _export(run, recorded, criteria, sheet, names, force)
    elif filled is not None:
        _import(run, recorded, criteria, filled, str(author).strip(), version)
    else:
        _annotate(run, recorded, criteria)


def _annotate(run: Path, recorded: Run, schema: Schema) -> None:
    assessed = _assessed(run, recorded, schema, kept=False)
    now = stamp(utc_now())
    layers = [_nuggets(assessed, now), *_scores(assessed, schema, now)]
    for layer in layers:
        path = keep_layer(run, layer)
        place = f"written to judgments/{path.name}" if path else "nothing new to write"
        click.echo(f"{layer.author}: {_counted(layer)}, {place}", err=True)
    unscored = [one.name for one in schema if not one.rules]
    click.echo(f"{len(assessed)} conversations. No rule scores: {', '.join(unscored) or 'none'}", err=True)


def _nuggets(assessed: Iterable[Assessed], now: str) -> Layer:
    """The nuggets of types F and O of both sides; entities are found anew by their URLs."""
    found = []
    for one in assessed:
        for nugget in one.assessment.nuggets:
            if nugget.type == "E":
                continue
            turn, speaker, start, end = nugget.span
            target = Target(one.conversation.trial_id, one.conversation.attempt, turn, speaker, start, end)
            value = {"type": nugget.type, "act": nugget.act} if nugget.act else {"type": nugget.type}
            more = {"rule": nugget.rule, "version": nugget.version, "position": nugget.position, "text": nugget.text}
            found.append(Judgment(target.about(), NUGGET, {**value, **more}))
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
        return f"{len(layer.judgments)} nuggets ({types['F']} of type F, {types['O']} of type O)"
    criteria = ", ".join(sorted({judgment.criterion for judgment in layer.judgments}))
    return f"{len(layer.judgments)} scores{f' for {criteria}' if criteria else ''}"


def _export(run: Path, recorded: Run, schema: Schema, sheet: Path, names: Sequence[str], force: bool) -> None:
    if sheet.exists() and not force:
        raise InputError(
            "there is such a file already", place=Place(str(sheet)), advice="take another name, or --force"
        )
    chosen: list[Criterion] = [schema[name] for name in names] or [one for one in schema if one.may_score("human")]
    barred = [one.name for one in chosen if not one.may_score("human")]
    if barred:
        raise InputError(f"{', '.join(barred)}: not for people to score in the schema {schema.name!r}")
    count = write_sheet(sheet_rows(_assessed(run, recorded, schema), chosen), sheet)
    click.echo(f"{count} rows written to {sheet}: fill in 'value' (0 to 1, or n/a), then --import it", err=True)


def _import(run: Path, recorded: Run, schema: Schema, filled: Path, author: str, version: str) -> None:
    judgments = read_sheet(filled, _assessed(run, recorded, schema), schema)
    path = write_layer(run, Layer("human", author, version, filled.name, stamp(utc_now()), judgments))
    click.echo(f"{len(judgments)} scores of {author} written to {path}", err=True)


def _assessed(run: Path, recorded: Run, schema: Schema, *, kept: bool = True) -> list[Assessed]:
    """The finished conversations. kept: with the nuggets of the layers there are; otherwise extracted anew."""
    topics = recorded.header.topic_set()
    gold = read_gold_layers([run], topics)
    # Scores that people gave must not keep a rule from saying what it sees, nor change what a sheet lists.
    only_rules = Precedence((("rule", ""),))
    judgments = Judgments.of(read_layers(run), schema, only_rules) if kept else Judgments(only_rules)
    if kept:
        judgments = Judgments(only_rules, layers=judgments.layers)
    known = {topic.id: topic for topic in topics.topics} if topics else {}
    found = []
    for conversation in recorded.finished:
        topic = known.get(conversation.key.topic)
        ground = Ground(topic, gold, topics.attributes if topics else {}, Settings())
        found.append(Assessed(conversation, assess(conversation, schema, judgments, ground)))
    return found
