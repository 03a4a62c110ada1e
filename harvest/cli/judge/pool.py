"""`harvest judge pool`: list the items to judge in several runs, each once, with the number already judged."""

from pathlib import Path

import click

from harvest.cli.judge.options import nuggets_option, read_reporting_damage, schema_option
from harvest.cli.parameters import PathArgument, ShortHelp, check_output_file
from harvest.cli.study_output import Output, form_options
from harvest.judging.gold_rows import add_entities
from harvest.judging.pool import PooledRun, criteria_on_text, pooled_entities, pooled_words, spread_judgments
from harvest.judging.sheets.asked_rows import assess_run
from harvest.judging.sheets.sheet_file import sheet_ending, write_rows
from harvest.studies.pool.figures import COLUMNS, pool_form, pool_rows
from harvest.studies.runs.side_by_side import refuse_repeated_runs
from harvest.terminal import print_message
from recordings.files.times import stamp, utc_now
from recordings.judged.judgments import keep_layer, read_layers
from scoring.swan.schema import Schema, load_schema
from topics.counting import pluralize
from topics.errors import InputError


@click.command(cls=ShortHelp)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@schema_option
@click.option("--criterion", "names", multiple=True, metavar="NAME", help="Only this criterion [all]; may be repeated.")
@nuggets_option
@click.option(
    "--out",
    type=PathArgument(),
    metavar="FILE",
    help="Write a .csv or .jsonl list of everything, with where it occurs.",
)
@click.option("--force", is_flag=True, help="With --out: overwrite an existing file.")
@click.option(
    "--gold",
    type=PathArgument(),
    metavar="FILE.csv",
    help="Add the entities that are not judged yet to this gold table.",
)
@click.option(
    "--spread", "everywhere", is_flag=True, help="Apply people's judgments to the same words everywhere in RUNs."
)
@form_options
def command(
    runs: tuple[Path, ...],
    schema: str,
    names: tuple[str, ...],
    nuggets: str,
    out: Path | None,
    force: bool,
    gold: Path | None,
    everywhere: bool,
    output: Output,
) -> None:
    """List the items to judge in RUNs, each once.

    The items are the entities that systems named on each topic, and the texts on which a criterion needs people's
    judgments, over all systems, trials and runs. An item that occurs several times needs only one judgment. Entities
    are judged in a gold table (--gold). Texts are judged in a sheet (--spread) or, within one run, by `harvest
    judge page --once`.
    """
    if force and out is None:
        raise InputError("--force can only be used with --out")
    if out is not None:
        sheet_ending(out)
        check_output_file(out, replace=force, other="choose another name, or --force")
    criteria = load_schema(schema)
    chosen = {criteria[name].name for name in names}
    for one in criteria:
        if one.name in chosen and one not in criteria_on_text(criteria):
            why = f"of level {one.level}" if one.level != "nugget" else "not for people to score"
            raise InputError(
                f"{one.name} is {why}, but only criteria of level nugget can be judged without the conversation",
                allowed=", ".join(each.name for each in criteria_on_text(criteria)) or "none of this schema",
                advice="judge it with harvest judge page RUN, which asks only once about turns that trials share",
            )
    pooled = [_pool_run(run, criteria, nuggets) for run in runs]
    refuse_repeated_runs([one.recorded for one in pooled])
    if everywhere:
        known = [one for one in pooled_words(pooled, criteria) if not chosen or one.criterion in chosen]
        layers, differing = spread_judgments(known, stamp(utc_now()))
        for number, judged in enumerate(pooled):
            for layer in layers.get(number, ()):
                path = keep_layer(judged.path, layer)
                place = f"written to {path}" if path else f"in {judged.path} already"
                count = pluralize(len(layer.judgments), "adjudication" if layer.adjudicates else "judgment")
                print_message(f"{layer.author}: {count} of the same words, {place}")
        if not layers:
            print_message("nothing to spread: nobody judged words that also occur elsewhere")
        if differing:
            print_message(
                f"{differing} left as they are: the same person judged the same words differently in different places"
            )
        pooled = [_pool_run(run, criteria, nuggets) for run in runs]
    table, added = add_entities(pooled, gold) if gold is not None else (None, 0)
    if gold is not None:
        print_message(f"{pluralize(added, 'entity')} added to {gold}: fill in 'grade' (L0, L1, L2)")
    entities = pooled_entities(pooled, table)
    words = [one for one in pooled_words(pooled, criteria) if not chosen or one.criterion in chosen]
    if out is not None:
        written = write_rows(pool_rows(pooled, entities, words), COLUMNS, out)
        print_message(f"{pluralize(written, 'row')} written to {out}")
    output.show(pool_form(pooled, entities, words))


def _pool_run(run: Path, criteria: Schema, nuggets: str) -> PooledRun:
    recorded = read_reporting_damage(run)
    people = [layer for layer in read_layers(run) if layer.kind == "human"]
    return PooledRun(run, recorded, assess_run(run, recorded, criteria, nuggets=nuggets), people)
