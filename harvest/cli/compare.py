"""`harvest compare`: compare systems over their common topics."""

import math
from pathlib import Path
from typing import Any

import click

from harvest.cli.garbage import pause_collection
from harvest.cli.judges_options import check_judges, judges_options
from harvest.cli.parameters import NumberRange, PathArgument, ShortHelp, WholeNumberRange
from harvest.cli.setting_options import guard_option, setting_options, sources_option
from harvest.cli.study_output import Output, output_options
from harvest.studies.compare.comparison import MOST_PAIRS, compare_runs
from harvest.studies.compare.document import comparison_form
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.one_pass import run_with_values
from harvest.studies.scores.score_request import ScoreRequest
from harvest.studies.scores.scorecard import Judges
from recordings.log.run_folder import read
from scoring.inference.paired import ESTIMANDS, Estimand
from scoring.notation import parse_all
from scoring.settings import Guard
from scoring.statistics.standardisation import STANDARDS, Standard
from topics.errors import InputError
from topics.source_table import SourceTable


@click.command(cls=ShortHelp, rare="--standardise --reference --across --parted --all-pairs")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=PathArgument())
@click.option("--systems", metavar="A,B,...", help="Only these, in this order [all that were played].")
@click.option(
    "--measure", "-m", "wanted", multiple=True, metavar="MEASURE", help="Only these, with the topics that drive them."
)
@click.option(
    "--estimand",
    type=click.Choice(list(ESTIMANDS)),
    default="like-these",
    show_default=True,
    help="Whether conclusions hold for other topics like these, or for more trials of these.",
)
@guard_option
@click.option(
    "--matters",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Call systems the same that certainly differ by less than this share.",
)
@click.option("--ratios", is_flag=True, help="Also print the lower figure of each pair in percent of the higher one.")
@click.option(
    "--standardise",
    type=click.Choice(list(STANDARDS)),
    help="Also compare scores relative to those of a reference group on each topic.",
)
@click.option(
    "--reference", metavar="A,B,...", help="With --standardise: the systems of the reference group [all of the runs]."
)
@click.option(
    "--parted",
    type=WholeNumberRange(0),
    metavar="N",
    default=MOST_PAIRS,
    show_default=True,
    help="Say of at most this number of pairs where their conversations part.",
)
@click.option("--all-pairs", is_flag=True, help="Print every pair, also of more than six systems.")
@click.option("--by-type", is_flag=True, help="Also compare each type of topics separately.")
@click.option(
    "--across", type=click.Choice(["scoring"]), help="Score all runs with the settings of the first one's audit."
)
@setting_options("level", level="Confidence level of the intervals; a p of at most 1 - level tells systems apart")
@click.option("--seed", type=WholeNumberRange(0), default=0, show_default=True, help="Seed of permutations.")
@sources_option
@judges_options
@output_options
def command(
    runs: tuple[Path, ...],
    systems: str | None,
    wanted: tuple[str, ...],
    estimand: Estimand,
    guard: Guard,
    matters: float | None,
    ratios: bool,
    standardise: Standard | None,
    reference: str | None,
    parted: int,
    all_pairs: bool,
    by_type: bool,
    across: str | None,
    seed: int,
    sources: SourceTable | None,
    output: Output,
    judges: Judges,
    **changes: Any,
) -> int:
    """Compare systems over common topics.

    For each pair of systems, the command shows by which measures one system is better, by how much, and which
    differences are undecided. p is corrected over all pairs of systems. Exit codes: 0 the systems were compared; 3 no
    measure has a value to compare.
    """
    names = _split_names("--systems", systems)
    if not all(text.strip() for text in wanted):
        raise InputError("--measure is empty", advice="write a measure as in tables, for example ave%useful or R")
    measures = tuple(dict.fromkeys(term for text in wanted for term in parse_all(text)))
    check_judges(judges, measures)
    with pause_collection():
        alone = runs[0] if len(runs) == 1 and sources is None and standardise is None else None
        request = ScoreRequest(tuple(map(str, measures)), settings=changes)
        recorded = [read(run) for run in runs] if alone is None else [run_with_values(alone, request)]
        found = compare_runs(
            gather_runs(recorded, changes, sources=sources),
            systems=names,
            measures=measures,
            estimand=estimand,
            guard=guard,
            ratios=ratios,
            standardise=standardise,
            reference=_split_names("--reference", reference),
            by_type=by_type,
            across_scoring=across == "scoring",
            seed=seed,
            judges=judges,
            most_parted=parted,
            matters=math.nan if matters is None else matters,
        )
    output.show(comparison_form(found, details=bool(wanted) or len(found.systems) == 2, every=all_pairs))
    return 0 if any(pair.verdict != "no value" for one in found.measures for pair in one.pairs) else 3


def _split_names(option: str, given: str | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in given.split(",")) if given is not None else ()
    if not all(names):
        raise InputError(f"one of the names in {option} is empty", advice=f"separate names with commas: {option} A,B")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{option} contains {twice!r} twice", advice=f"name each system once: {option} A,B")
    return names
