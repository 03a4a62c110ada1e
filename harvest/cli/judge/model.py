"""`harvest judge model`: let a model score nuggets, turns or conversations, or choose between two conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import Progress

from harvest.audits.exposures import refuse_keys_in_clear
from harvest.cli.exposures import keys_in_clear_option, show_exposures
from harvest.cli.interruption import run_until_stopped
from harvest.cli.judge.options import nuggets_option, read_reporting_damage, schema_option
from harvest.cli.judge.pairs import sheet_pairs
from harvest.cli.parameters import PathArgument, ShortHelp, WholeNumberRange
from harvest.judging.serving.blind_pairs import decision_folder
from harvest.judging.sheets.annotators import judgment_key, people_means
from harvest.judging.sheets.asked_rows import Draw, assess_run, rows_by_criterion, select_rows
from harvest.terminal import print_message
from recordings.judged.judgments import Layer, Target, read_layers
from recordings.log.run_folder import read
from scoring.swan.schema import Schema, load_schema
from topics.counting import pluralize
from topics.document import read_document
from topics.errors import InputError

if TYPE_CHECKING:
    from harvest.judging.models.judge_file import Judge
    from harvest.judging.models.questions import Thing


@click.command(cls=ShortHelp, rare="--concurrency --tries --max-requests")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option(
    "--with",
    "file",
    required=True,
    metavar="FILE",
    type=PathArgument(),
    help="The judge: its endpoint, criteria, scale and samples.",
)
@click.option(
    "--criterion", "names", multiple=True, metavar="NAME", help="Instead of the file's; may be repeated, or `all`."
)
@schema_option
@nuggets_option
@click.option("--pairs", type=PathArgument(), metavar="FILE", help="Blind pairs instead, in both orders.")
@click.option("--systems", metavar="A,B,...", help="With --pairs: only these [all that were played].")
@click.option("--topic", "only", multiple=True, metavar="ID", help="Only this topic; may be repeated.")
@click.option(
    "--sample",
    type=WholeNumberRange(1),
    metavar="N",
    help="N random rows of each criterion, as `harvest judge page` draws them. With --pairs: at most N of each two"
    " systems.",
)
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of the draw.")
@click.option("--concurrency", type=WholeNumberRange(1, 1000), help="Requests at the same time [8].")
@click.option(
    "--tries",
    type=WholeNumberRange(1, 20),
    default=2,
    show_default=True,
    metavar="N",
    help="Requests per question while replies cannot be read.",
)
@click.option(
    "--max-requests",
    "most",
    type=WholeNumberRange(1),
    metavar="N",
    help="Send no more; the same command goes on. What is judged so far is a random part.",
)
@click.option("--dry-run", is_flag=True, help="Print the number of requests, and who gets which key; send nothing.")
@keys_in_clear_option
def command(
    runs: tuple[Path, ...],
    file: Path,
    names: tuple[str, ...],
    schema: str,
    nuggets: str,
    pairs: Path | None,
    systems: str | None,
    only: tuple[str, ...],
    sample: int | None,
    seed: int,
    concurrency: int | None,
    tries: int,
    most: int | None,
    dry_run: bool,
    keys_in_clear: bool,
) -> int:
    """Let a model judge nuggets, turns, conversations or blind pairs.

    The judgments become a layer of kind `model`, which `harvest score RUN --judges model -m 'WAN(NAME)'` uses. If
    people judged at least two items of each topic, such a figure is corrected by their judgments; otherwise it is
    marked as unchecked. Items that the model could not judge stay unjudged, with a reason. Running the command again
    continues the work, and the model is not asked about any item twice.
    """
    from harvest.judging.models.bias_card import order_sentences
    from harvest.judging.models.judge_file import check_criteria, read_judge  # brings httpx
    from harvest.judging.models.judging import estimate, judge_things, result_sentences

    secrets: set[str] = set()
    judge, endpoint = read_judge(file, secrets, concurrency=concurrency)
    show_exposures([endpoint.exposure], err=True)
    if not keys_in_clear:
        refuse_keys_in_clear([endpoint.exposure], read_document(file))
    if pairs is not None:
        if names or nuggets:
            raise InputError("--criterion and --nuggets cannot be used with --pairs")
        from harvest.judging.models.questions import pair_things

        folder = decision_folder(pairs)
        things: Sequence[Thing] = pair_things(sheet_pairs(runs, pairs, systems, only, sample, seed), judge)
    else:
        if systems is not None:
            raise InputError("--systems can only be used with --pairs")
        if len(runs) > 1:
            raise InputError(
                f"{len(runs)} runs were given, but only --pairs accepts several", advice="judge one by one"
            )
        folder = runs[0]
        criteria = load_schema(schema)
        check_criteria(file, judge, criteria, used=not names)
        things = _choose_items(folder, criteria, names or judge.criteria, nuggets, only, sample, seed, judge)
    click.echo(str(estimate(folder, things, judge, endpoint, tries)), err=True)
    if dry_run:
        return 0
    endpoint.report_waits(lambda name, why: print_message(f"{name} {why}"))
    folder.mkdir(exist_ok=True)
    total = len({one.key for thing in things for one in thing.asked})
    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("judged", total=total)
        # If it is stopped, the answers so far are on disk.
        done = run_until_stopped(
            judge_things(
                folder, things, judge, endpoint, secrets, tries=tries, most=most, tell=lambda: shown.advance(task)
            )
        )
    for sentence in result_sentences(done):
        click.echo(sentence, err=True)
    for sentence in (
        order_sentences(done.layer.judgments) if pairs is not None else _bias_sentences(folder, done.layer, judge)
    ):
        click.echo(f"  {sentence}", err=True)
    if pairs is not None:
        click.echo(f"then: harvest judge preferences {folder} --key {pairs.with_suffix('.key.json')}", err=True)
    return 3 if done.unjudged else 0


def _bias_sentences(run: Path, layer: Layer, judge: Judge) -> Iterator[str]:
    from harvest.judging.models.bias_card import Item, bias_sentences, model_vendor

    recorded = read(run)
    talks = {(one.trial_id, one.attempt): one for one in recorded.finished}
    said = people_means(read_layers(run))
    items = []
    for one in layer.judgments:
        talk = talks.get((str(one.about.get("trial")), int(one.about.get("attempt", 0))))
        if talk is not None and not one.unjudged:
            target = Target.from_judgment(one)
            texts = [
                turn.reply.answer.text
                for turn in talk.turns
                if turn.reply is not None and (target is None or turn.number == target.turn)
            ]
            if target is not None and target.start >= 0:
                texts = [text[target.start : target.end] for text in texts]
            words = sum(len(text.split()) for text in texts)
            items.append(Item(one, talk.key.topic, talk.key.system, words, said.get(judgment_key(one))))
    answered: dict[str, set[str]] = {}
    for talk in recorded.finished:
        models = {turn.reply.model for turn in talk.turns if turn.reply is not None and turn.reply.model}
        answered.setdefault(talk.key.system, set()).update(models)
    yield from bias_sentences(items, judge.vendor.lower() or model_vendor(judge.author), answered)


def _choose_items(
    run: Path,
    schema: Schema,
    names: Sequence[str],
    nuggets: str,
    only: Sequence[str],
    sample: int | None,
    seed: int,
    judge: Judge,
) -> Sequence[Thing]:
    from harvest.judging.models.questions import item_things
    from harvest.judging.serving.questions import questions

    recorded = read_reporting_damage(run)
    finished = {one.key.topic for one in recorded.finished}
    for topic in only:
        if topic not in finished:
            what = f"there is no finished conversation on the topic {topic!r}"
            raise InputError(what, allowed=", ".join(sorted(finished)))
    assessed = assess_run(run, recorded, schema, nuggets=nuggets)
    assessed = [one for one in assessed if not only or one.conversation.key.topic in only]
    there = {name: n for name, n in rows_by_criterion(assessed, schema, "model").items() if schema[name].level != "set"}
    if not names:
        raise InputError(
            "the judge has no criterion",
            allowed=", ".join(f"{name} ({pluralize(count, 'row')})" for name, count in there.items()),
            advice="give --criterion NAME, or set `criteria` in the file",
        )
    chosen = list(there) if [name.casefold() for name in names] == ["all"] else list(names)
    sets = [name for name in chosen if schema[name].level == "set"]
    if sets:
        raise InputError(f"{', '.join(sets)}: only people judge sets of conversations", allowed=", ".join(there))
    rows, _ = select_rows(assessed, schema, chosen, Draw(sample, seed), "model")
    topics = recorded.header.topic_set()
    return item_things(questions(rows, assessed), judge, {one.id: one for one in topics.topics} if topics else {})
