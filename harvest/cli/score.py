"""`harvest score`: score recorded runs, offline."""

from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from harvest.cli.garbage import pause_collection
from harvest.cli.judges_options import judgment_options
from harvest.cli.notifying import Channels, notice_options
from harvest.cli.parameters import NameOrFile, PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import setting_options
from harvest.studies.runs.readings import recorded_audit
from harvest.studies.scores.bound_lines import bound_lines
from harvest.studies.scores.bounds import exit_code
from harvest.studies.scores.criteria_table import criterion_terms
from harvest.studies.scores.kept_columns import keep_columns
from harvest.studies.scores.one_pass import run_or_columns
from harvest.studies.scores.report import print_scores
from harvest.studies.scores.score_file import scores_document, write_scores
from harvest.studies.scores.score_request import ScoreRequest
from harvest.studies.validity.user_card_figures import card_document
from harvest.systems.timing import REAL_CLOCK
from harvest.tables.figures import ordered_rows
from harvest.tables.long_rows import LATEX_NEEDS, csv_rows, latex_table
from harvest.terminal import people_console, print_message
from recordings.log.run_folder import read
from scoring.scores import SHIPPED
from scoring.swan.schema import load_schema
from topics.counting import pluralize
from topics.errors import InputError

_NO_THRESHOLDS = "give the audit thresholds; those of several runs are not checked"


@click.command(
    cls=ShortHelp,
    rare="--patience --patience-characters --unit --gain --alpha --weight --ordinal --irrelevant --turn-weight "
    "--input-price --output-price --resample --shares --user-words --citations --sources --keep --dask --strict",
)
@click.argument("runs", nargs=-1, required=True, type=PathArgument())
@click.option("--gold", type=NameOrFile(), metavar="NAME|FILE.csv", help="Gold table to use instead of the run's own.")
@click.option("--sources", type=NameOrFile(), metavar="FILE", help="Table of sources to use instead of the run's own.")
@click.option(
    "--measure",
    "-m",
    "wanted",
    multiple=True,
    metavar="MEASURE",
    help="Print only these measures, in this order, named as in tables: R, %useful S1, SWAN, …",
)
@click.option(
    "--criteria", "by_criterion", is_flag=True, help="Print only SWAN's criteria, their weights and who scored them."
)
@judgment_options
@setting_options()
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--keep/--no-keep", default=False, help="Write scores.json into the run folder (one run only).")
@click.option("--dask", metavar="ADDRESS", help="With --keep: each run by itself, on the workers of this Dask cluster.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Print all variants (by=NMD, GF_cum, GF_rel by set) and the whole card of users.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--csv", "as_csv", is_flag=True, help="Every figure as a row of CSV on standard output.")
@click.option("--strict", is_flag=True, help="Exit with 3 if a threshold of the audit is undecided.")
@click.option("--latex", "as_latex", is_flag=True, help="The table of figures in LaTeX on standard output.")
@notice_options
def command(
    runs: tuple[Path, ...],
    gold: str | None,
    sources: str | None,
    wanted: tuple[str, ...],
    by_criterion: bool,
    schema: str | None,
    judges: str | None,
    folding: str | None,
    nuggets: str | None,
    seed: int,
    keep: bool,
    dask: str | None,
    every: bool,
    strict: bool,
    as_json: bool,
    as_csv: bool,
    as_latex: bool,
    channels: Channels,
    **settings: Any,
) -> int:
    """Score recorded runs, offline, as often as you like.

    Several RUNS are scored side by side, over the topics that all of them tried; other differences between the runs
    are printed. A system that occurs in several runs is shown as SYSTEM@RUN.

    With --dask and --keep, each of many RUNS is instead scored separately, as if it were given alone.
    """
    if not all(text.strip() for text in wanted):
        raise InputError("--measure is empty", advice="write a measure as in tables, for example R or CVaR(R)")
    criteria = load_schema(schema or SHIPPED) if by_criterion else None
    if criteria is not None:
        if wanted:
            raise InputError("--criteria and --measure cannot be used together", advice="give only one of them")
        if all(one.values for one in criteria):
            raise InputError(
                f"--criteria prints scores, and the criteria of {criteria.name!r} have values without an order",
                advice=" or ".join(f"write -m 'share_of({one.written_name})'" for one in criteria),
            )
        wanted = tuple(map(str, criterion_terms(criteria)))
    request = ScoreRequest(wanted, gold, schema, judges, nuggets, folding, settings, seed, sources)
    measures = request.terms
    if not measures and (schema or judges):
        raise InputError("--schema and --judges only affect SWAN", advice="add --measure SWAN")
    if not measures and folding:
        raise InputError("--judgments only affects SWAN", advice="add --measure SWAN")
    if not measures and nuggets:
        raise InputError("--nuggets only affects SWAN", advice="add --measure SWAN")
    if dask is not None:
        if not keep or every or as_json or as_csv or as_latex or channels.has_requests:
            raise InputError(
                "--dask scores each run separately and prints no figures",
                allowed="with --keep, and without --all, --json, --csv, --latex and options for other programs",
            )
        return _score_separately(runs, request, dask, strict=strict)
    if keep and len(runs) > 1:
        raise InputError(
            "--keep writes to one run, but several were given",
            advice="score them one by one, or on a cluster (--dask)",
        )
    if as_json + as_csv + as_latex > 1:
        raise InputError("--json, --csv and --latex cannot be used together", advice="give only one of them")
    with pause_collection():
        rows_of_each = keep or as_json or as_csv
        outlined, basis = (None, None) if rows_of_each or len(runs) > 1 else run_or_columns(runs[0], request)
        recorded = [read(run) for run in runs] if outlined is None else [outlined]
        gathered = request.gathered(recorded)
        beside, material = gathered.beside, gathered.material
        thresholds = material.thresholds
        if strict and not thresholds:
            raise InputError("--strict only affects thresholds, but the audit has none", advice=_NO_THRESHOLDS)
        if channels.has_requests and not thresholds:
            raise InputError(
                "--junit, --prometheus, --webhook-env and --github report thresholds, but the audit has none",
                advice=_NO_THRESHOLDS,
            )
        scored = request.scored(material)
    table, names, lost, bounds = scored.table, scored.names, scored.selection, scored.bounds
    paths = []
    if keep:
        paths = [write_scores(runs[0], table, seed, lost.as_json(), measures=scored.measures, names=names)]
    people = people_console(stderr=as_json or as_csv or as_latex)
    if as_json:
        users = card_document(material.user_card)
        for piece in scores_document(table, seed, beside, lost.as_json(), recorded, bounds, users=users):
            click.echo(piece.decode(), nl=False)
    elif as_csv:
        click.echo(csv_rows(table.stream()), nl=False)
    elif as_latex:
        click.echo(latex_table(ordered_rows(table.joint, every=every, asked=names), material.systems), nl=False)
        click.echo(LATEX_NEEDS, err=True)
    else:
        print_scores(
            people,
            material,
            table,
            paths,
            every=every,
            asked=names,
            contrasts=beside.contrasts,
            selection=lost,
            criteria=criteria,
        )
    for line in bound_lines(bounds):
        people.print(line, soft_wrap=True)
    if outlined is not None and basis is not None:  # when everything is printed, as all files are hashed
        keep_columns(outlined, basis, None if wanted else table)
    code = exit_code(bounds, strict=strict)
    if channels.has_requests:
        from harvest.notices.verdicts import bounds_bulletin  # late: it has many imports that nothing else here needs

        own, at = str(recorded_audit(recorded[0]).get("name") or runs[0].name), REAL_CLOCK.now().timestamp()
        channels.send_reports(bounds_bulletin(bounds, audit=own, run=str(runs[0]), at=at, code=code, strict=strict))
    return code


def _score_separately(runs: tuple[Path, ...], request: ScoreRequest, dask: str, *, strict: bool) -> int:
    from harvest.cluster.scoring import score_on_cluster  # late: no other run needs it

    people = people_console()
    codes, failed = {0}, 0
    for run, kept in score_on_cluster(runs, request, dask):
        if kept.fault:
            failed += 1
            print_message(f"{run}: {kept.fault}")
            continue
        people.print(escape(f"{run / 'scores.json'}"), soft_wrap=True)
        for line in bound_lines(kept.bounds):
            people.print(line, soft_wrap=True)
        codes.add(exit_code(kept.bounds, strict=strict))
    if failed:
        raise InputError(f"{failed} of {pluralize(len(runs), 'run')} could not be scored")
    return 1 if 1 in codes else max(codes)
