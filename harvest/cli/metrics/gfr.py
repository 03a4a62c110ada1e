"""`harvest metrics gfr`: score ranked lists in NTCIREVAL's file formats by relevance and group fairness."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import click
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from harvest.cli.parameters import NumberRange, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import resampling_options
from harvest.tables.figures import interval_notes, shown_with_interval
from harvest.terminal import people_console, printable
from scoring.library import OF_LISTS
from scoring.notation import parse
from scoring.rankings.groups import Scale, files_by_set, read_groups
from scoring.rankings.list_scores import GAINS, UTILITY, ListSettings, list_scores, read_qrels
from scoring.rankings.run import read_run
from scoring.table import ScoreRow
from topics.errors import InputError
from topics.identity import generator

_NAME_WIDTH, _CELL_WIDTH = 26, 28
_ORDER = [one.name for one in OF_LISTS]
_GAIN = re.compile(r"(L(?:0|[1-9][0-9]{0,2}))=([0-9]{1,9}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})")
_WEIGHT = re.compile(r"([^\W\d][\w%-]*)=([0-9]{1,9}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})")
_LIST_OPTIONS = ("--membership", "--gold", "--run", "--ordinal", "--nominal")


class _ListOptionCommand(ShortHelp):
    """A command that reads `--run A B C` as `--run A --run B --run C`, because shells expand `--run toy/*` this way."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        option, taken = "", False
        for arg in args:
            if arg.startswith("-"):
                option, taken = arg if arg in _LIST_OPTIONS else "", False
            elif option and taken:
                spread.append(option)
            else:
                taken = True
            spread.append(arg)
        return super().parse_args(context, spread)


def _parse_gains(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[int, float]:
    """Parse `L1=1,L2=3`, possibly split over several options, as a mapping from grade to gain."""
    found = _parse_pairs(value, _GAIN, "the gain of a grade, from 0 to 1000000; write L1=1,L2=3")
    return {int(grade.removeprefix("L")): gain for grade, gain in found.items()} or dict(GAINS)


def _parse_weights(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, float]:
    """Parse `utility=2,RATINGS=1`, possibly split over several options, as a mapping from part of GFR to weight."""
    return _parse_pairs(value, _WEIGHT, f"the weight of a part, from 0 to 1000000; write {UTILITY}=2,RATINGS=1")


def _parse_pairs(value: tuple[str, ...], form: re.Pattern[str], what: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in ",".join(value).split(",") if value else ():
        read = form.fullmatch(part.strip())
        if read is None:
            raise click.BadParameter(f"{part!r} does not give {what}")
        if read[1] in found:
            raise click.BadParameter(f"{read[1]} is given twice")
        found[read[1]] = float(read[2])
    return found


@click.command(cls=_ListOptionCommand, rare="--persistence")
@click.option("--qrels", required=True, metavar="F", help="Relevance assessments: topic document L<n>.")
@click.option("--membership", multiple=True, metavar="F…", help="Group memberships (gmemb): topic document p1..pC.")
@click.option("--gold", multiple=True, metavar="F…", help="Gold distributions (golddistr): one probability per line.")
@click.option("--run", "runs", required=True, multiple=True, metavar="F…", help="Ranked lists in TREC format.")
@click.option(
    "--gains", multiple=True, callback=_parse_gains, metavar="L1=1,L2=3", help="Gain of each grade [L1=1,L2=3]."
)
@click.option(
    "--weights",
    multiple=True,
    callback=_parse_weights,
    metavar="PART=W,…",
    help=f"Weights of GFR's parts: {UTILITY}, and attribute sets [1 each].",
)
@click.option("--cutoff", type=WholeNumberRange(1), metavar="N", help="How many documents of a list count [all].")
@click.option("--ordinal", multiple=True, metavar="SET…", help="Sets whose groups are ordered.")
@click.option("--nominal", multiple=True, metavar="SET…", help="Sets whose groups are not ordered.")
@click.option("--persistence", type=NumberRange(0, 1, min_open=True), default=0.99, help="p of iRBU [0.99].")
@resampling_options()
@click.option("--all", "every", is_flag=True, help="Print every topic too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def command(
    qrels: str,
    membership: tuple[str, ...],
    gold: tuple[str, ...],
    runs: tuple[str, ...],
    gains: dict[int, float],
    weights: dict[str, float],
    cutoff: int | None,
    ordinal: tuple[str, ...],
    nominal: tuple[str, ...],
    persistence: float,
    level: float,
    replications: int,
    seed: int,
    every: bool,
    as_json: bool,
) -> None:
    """Score ranked lists: ERR, iRBU, GF and GFR.

    Files are in NTCIREVAL's formats. A membership file and a gold file are matched by name, such as
    toy.M-RATINGS.gmemb and M-RATINGS.golddistr, or named explicitly as NAME=FILE. Options that take several files
    also accept --run A B C.
    """
    settings = ListSettings(gains, cutoff, persistence, level, replications, weights)
    both = set(ordinal) & set(nominal)
    if both:
        raise InputError(f"{', '.join(sorted(both))} cannot be both ordinal and nominal")
    found: dict[str, Scale] = dict.fromkeys(ordinal, "ordinal")
    groups = read_groups(
        files_by_set(membership, ".gmemb"),
        files_by_set(gold, ".golddistr"),
        {**found, **dict.fromkeys(nominal, "nominal")},
    )
    judged = read_qrels(qrels)
    scores = list_scores([read_run(run) for run in runs], judged, groups, settings, generator(seed, "gfr"))
    if as_json:
        files = {
            "qrels": Path(qrels).name,
            "membership": [Path(file).name for file in membership],
            "gold": [Path(file).name for file in gold],
            "runs": [Path(file).name for file in runs],
        }
        click.echo(json.dumps({**scores.as_json(), "seed": seed, "files": files}, ensure_ascii=False))
        return
    console, scales = people_console(), {one.name: one.scale for one in scores.groups}

    def fits_scale(row: ScoreRow) -> bool:
        """Return True if a row's divergence fits the scale of its groups. Other rows are only in JSON output."""
        term = parse(row.measure)
        by, scale = term.get("by"), scales.get(str(term.arguments[0])) if term.arguments else None
        return by is None or scale is None or (str(by) == "JSD") == (scale == "nominal")

    rows = sorted(filter(fits_scale, scores.rows), key=lambda row: _ORDER.index(parse(row.measure).name))
    systems = list(dict.fromkeys(row.system for row in rows))
    a_table = max(1, (console.width - _NAME_WIDTH) // _CELL_WIDTH)
    for topic in (*dict.fromkeys(row.topic for row in rows if every and row.topic is not None), None):
        here = [row for row in rows if row.topic == topic]
        counted = "documents" if topic is not None else "topics"
        title = f"topic {printable(topic, line=True)}" if topic is not None else "mean over topics"
        for start in range(0, len(systems), a_table):
            console.print(Text(title, style="bold"))
            console.print(_score_table(here, systems[start : start + a_table]))
        console.print(f"[dim]n: {counted}[/]")
    for line in interval_notes([row for row in rows if row.topic is None]):
        console.print(line)
    given = ", ".join(f"L{grade}={gain:g}" for grade, gain in scores.settings.gains.items())
    if weights:
        shown = ", ".join(f"{part}={weight:g}" for part, weight in weights.items())
        console.print(f"[dim]weights of GFR: {escape(printable(shown, line=True))}; other parts 1[/]")
    console.print(f"[dim]gains: {given}; all measures from 0 to 1, 1 is good[/]")
    for note in scores.notes:
        console.print(f"note: {escape(printable(note, line=True))}")


def _score_table(rows: Sequence[ScoreRow], systems: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("measure", min_width=_NAME_WIDTH - 6, overflow="fold")
    for system in systems:
        table.add_column(Text(printable(system, line=True), overflow="fold"), no_wrap=True, justify="right")
        table.add_column("n", no_wrap=True, justify="right", style="dim")
    cells = {(row.measure, row.system): row for row in rows}
    for measure in dict.fromkeys(row.measure for row in rows):
        line = [Text(measure)]
        for system in systems:
            row = cells.get((measure, system))
            line += [Text(shown_with_interval(row) if row else ""), Text(str(row.n) if row else "")]
        table.add_row(*line)
    return table
