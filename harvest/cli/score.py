"""`harvest score`: score recorded runs, offline."""

from pathlib import Path
from typing import Any

import click

from harvest.cli.judges_options import judgment_options
from harvest.cli.notifying import Channels, notice_options
from harvest.cli.parameters import NameOrFile, PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import setting_options
from harvest.studies.scores.kept_print import KeptPrint
from harvest.studies.scores.score_request import ScoreRequest
from harvest.terminal import people_console
from topics.errors import InputError


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
    criteria = None
    if by_criterion:
        from harvest.cli.scored_runs import criteria_to_print
        from harvest.studies.scores.criteria_table import criterion_terms

        criteria = criteria_to_print(schema)
        if wanted:
            raise InputError("--criteria and --measure cannot be used together", advice="give only one of them")
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
        from harvest.cli.scored_runs import score_separately

        return score_separately(runs, request, dask, strict=strict)
    if keep and len(runs) > 1:
        raise InputError(
            "--keep writes to one run, but several were given",
            advice="score them one by one, or on a cluster (--dask)",
        )
    if as_json + as_csv + as_latex > 1:
        raise InputError("--json, --csv and --latex cannot be used together", advice="give only one of them")
    people = people_console(stderr=as_json or as_csv or as_latex)
    usual = len(runs) == 1 and not (wanted or keep or as_json or as_csv or as_latex or channels.has_requests)
    kept = KeptPrint.of(runs[0], request, people, {"every": every, "strict": strict}) if usual else None
    if kept is not None and (printed := kept.read()) is not None:
        text, code = printed
        people.write(text)
        return code
    from harvest.cli.scored_runs import Output, print_scored  # late: these bring all measures and protocols

    form: Output = "json" if as_json else "csv" if as_csv else "latex" if as_latex else "table"
    return print_scored(
        runs,
        request,
        people,
        form,
        channels,
        kept,
        keep=keep,
        every=every,
        strict=strict,
        criteria=criteria,
    )
