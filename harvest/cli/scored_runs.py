"""The work of `harvest score`: figures computed, and printed in one form. `harvest.cli.score` has its options."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.markup import escape

from harvest.cli.garbage import pause_collection
from harvest.cli.notifying import Channels
from harvest.console import PeopleConsole
from harvest.studies.runs.readings import recorded_audit
from harvest.studies.scores import kept_columns
from harvest.studies.scores.bound_lines import bound_lines
from harvest.studies.scores.bounds import exit_code
from harvest.studies.scores.kept_print import KeptPrint
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
from scoring.swan.schema import Schema, load_schema
from topics.counting import pluralize
from topics.errors import InputError

Output = Literal["table", "json", "csv", "latex"]
_NO_THRESHOLDS = "give the audit thresholds; those of several runs are not checked"


def criteria_to_print(schema: str | None) -> Schema:
    """Return the criteria of a table of criteria. Raises InputError if none of them has a score."""
    criteria = load_schema(schema or SHIPPED)
    if all(one.values for one in criteria):
        raise InputError(
            f"--criteria prints scores, and the criteria of {criteria.name!r} have values without an order",
            advice=" or ".join(f"write -m 'share_of({one.written_name})'" for one in criteria),
        )
    return criteria


def print_scored(
    runs: Sequence[Path],
    request: ScoreRequest,
    people: PeopleConsole,
    output: Output,
    channels: Channels,
    place: KeptPrint | None,
    *,
    keep: bool,
    every: bool,
    strict: bool,
    criteria: Schema | None,
) -> int:
    """Score recorded runs, print the figures on standard output, and return the exit code. `place` is where the
    printed text of a large run is kept. The other arguments are the options of the command."""
    with pause_collection():
        alone = len(runs) == 1 and not keep and output not in ("json", "csv")
        known = None if place is None else place.basis
        outlined, basis = run_or_columns(runs[0], request, basis=known) if alone else (None, None)
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
    code = exit_code(bounds, strict=strict)
    paths = []
    if keep:
        seed = request.seed
        paths = [write_scores(runs[0], table, seed, lost.as_json(), measures=scored.measures, names=names)]

    def print_people(console: Console) -> None:
        if output == "table":
            print_scores(
                console,
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
            console.print(line, soft_wrap=True)

    if output == "json":
        users = card_document(material.user_card)
        for piece in scores_document(table, request.seed, beside, lost.as_json(), recorded, bounds, users=users):
            click.echo(piece.decode(), nl=False)
    elif output == "csv":
        click.echo(csv_rows(table.stream()), nl=False)
    elif output == "latex":
        rows = ordered_rows(lost.withhold_intervals(table.joint), every=every, asked=names)
        click.echo(latex_table(rows, material.systems), nl=False)
        click.echo(LATEX_NEEDS, err=True)
    if place is not None and outlined is not None and len(outlined.outlines) >= kept_columns.FEWEST:
        with people.capture() as printed:
            print_people(people)
        people.write(printed.get())
        place.write(printed.get(), code)
    else:
        print_people(people)
    if outlined is not None and basis is not None:  # when everything is printed, as all files are hashed
        kept_columns.keep_columns(outlined, basis, None if names else table)
    if channels.has_requests:
        from harvest.notices.verdicts import bounds_bulletin  # late: it has many imports that nothing else here needs

        own, at = str(recorded_audit(recorded[0]).get("name") or runs[0].name), REAL_CLOCK.now().timestamp()
        channels.send_reports(bounds_bulletin(bounds, audit=own, run=str(runs[0]), at=at, code=code, strict=strict))
    return code


def score_separately(runs: Sequence[Path], request: ScoreRequest, dask: str, *, strict: bool) -> int:
    """Score each run by itself on a Dask cluster, print the verdicts on thresholds, and return the exit code. Raises
    InputError if some run could not be scored."""
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
