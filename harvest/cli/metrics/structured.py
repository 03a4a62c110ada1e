"""`harvest metrics structured`: evaluate structured answers by line, against the pool of all answers (experimental)."""

from pathlib import Path

import click

from harvest.cli.parameters import NameOrFile, PathArgument, ShortHelp, WholeNumberRange, check_output_file
from harvest.cli.study_output import Output, form_options
from harvest.judging.pool import PooledRun, criteria_on_text, pooled_words
from harvest.judging.sheets.asked_rows import assess_run
from harvest.judging.sheets.sheet_file import sheet_ending, write_rows
from harvest.studies.pool import structured
from harvest.studies.scores.gathered import gather_runs, recorded_design
from harvest.terminal import print_message, printable
from recordings.log.run_folder import read
from scoring.swan.precedence import Precedence
from scoring.swan.schema import load_schema
from topics.counting import pluralize
from topics.errors import InputError

_UNITS = "lines"


@click.command(cls=ShortHelp)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option(
    "--schema",
    default="structured-answers",
    show_default=True,
    type=NameOrFile(),
    metavar="NAME|FILE",
    help="The criteria of lines.",
)
@click.option(
    "--out", type=PathArgument(), metavar="FILE", help="Write a .csv or .jsonl sheet of all lines, to name pieces."
)
@click.option("--force", is_flag=True, help="With --out: overwrite an existing file.")
@click.option("--pieces", "named", type=PathArgument(), metavar="FILE", help="A sheet in which people named pieces.")
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of the bootstrap.")
@form_options
def command(
    runs: tuple[Path, ...],
    schema: str,
    out: Path | None,
    force: bool,
    named: Path | None,
    seed: int,
    output: Output,
) -> None:
    """Evaluate structured answers by line (experimental).

    A structured answer has an overview, titled sections and a list of documents. Its comprehensiveness is the share of
    the information pooled from all answers to the topic in RUNs. Lines with the same words are one piece of
    information; people can give several lines the name of one piece in a sheet (--out, --pieces). Faithfulness and
    relevance are people's scores of the lines.
    """
    if force and out is None:
        raise InputError("--force can only be used with --out")
    if output.form and out is not None:
        raise InputError(f"--{output.form} can only be used without --out")
    if out is not None:
        sheet_ending(out)
        check_output_file(out, replace=force, other="choose another name, or --force")
    criteria = load_schema(schema)
    asked = criteria_on_text(criteria)
    if not asked:
        raise InputError(
            f"the schema {criteria.name!r} has no criterion of nuggets that people score",
            advice="add a criterion with 'level: nugget' and 'scorers: [human]'",
        )
    gathered = gather_runs([read(run) for run in runs], whole=True)
    for sentence in gathered.material.damage:
        print_message(printable(f"damage: {sentence}", line=True))
    pooled = [
        PooledRun(run.path, run, assess_run(run.path, run, criteria, nuggets=_UNITS), ()) for run in gathered.runs
    ]
    words = [one for one in pooled_words(pooled, criteria) if one.criterion == asked[0].name]
    pieces = structured.read_pieces(named, words) if named is not None else {}
    if out is not None:
        count = write_rows(structured.sheet_rows(pooled, words, pieces), structured.COLUMNS, out)
        print_message(f"{pluralize(count, 'row')} written to {out}: name the piece of each line in 'piece'")
        return
    chosen = Precedence(nuggets=_UNITS)
    judged = [assess_run(run.path, run, criteria, judges=chosen) for run in gathered.runs]
    answers = structured.pooled_answers(judged, gathered.names, words, pieces)
    designs = {
        name: recorded_design(run, {system})
        for run, names in zip(gathered.runs, gathered.names, strict=True)
        for system, name in names.items()
    }
    figures = structured.structured_figures(answers, [one.name for one in asked], designs, seed=seed)
    output.show(structured.structured_form(pooled, answers, figures, seed))
    if output.form:
        return
    sizes = structured.pool_sizes(answers).values()
    told = f"pool: {pluralize(sum(size for _, size in sizes), 'piece')} of {pluralize(len(sizes), 'topic')}"
    click.echo(f"{told}, in {pluralize(len(answers), 'conversation')}", err=True)
    if named is not None:
        count = sum(map(bool, pieces.values()))
        click.echo(f"{named}: people named the piece of {count} of {pluralize(len(words), 'line')}", err=True)
    alone = sum({one.system: one.unassigned for one in figures}.values())
    if alone:
        why = "their topic's pool has no other conversation, or no piece"
        click.echo(f"{pluralize(alone, 'conversation')} without comprehensiveness: {why}", err=True)
    unscored = [one.name for one in asked if not any(by == one.name for answer in answers for by, _ in answer.scores)]
    if unscored:
        advice = f"harvest judge page RUN --schema {schema} --nuggets {_UNITS} --criterion all --author NAME"
        click.echo(f"nobody scored {', '.join(unscored)}; to score lines: {advice}", err=True)
