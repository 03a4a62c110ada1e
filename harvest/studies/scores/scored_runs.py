"""Scoring recorded runs from Python, as `harvest score` does."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from harvest.studies.scores.gathered import gather_runs
from harvest.studies.scores.scorecard import score_material
from recordings.log.run_folder import Run, read
from scoring.notation import parse_all
from scoring.table import ScoreTable


def score_runs(
    *runs: Run | str | PathLike[str],
    measures: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> ScoreTable:
    """The table that `harvest score RUN…` prints, with one row per value.

    runs: run folders, or runs that were read. Several are scored side by side over the topics that all of them tried; a
    system that several of them recorded is told apart as `system@run`. measures: computed besides the default ones, as
    tables write them, for example `["CVaR(R)"]`. settings: scoring settings that replace those of the audit
    (`scoring.Settings`). seed: of the bootstrap; the same runs, settings and seed give the same table.

    Raises InputError for a measure or a setting that is none, and where the runs cannot be compared.
    """
    read_runs = [run if isinstance(run, Run) else read(run) for run in runs]
    terms = tuple(dict.fromkeys(term for text in measures for term in parse_all(text)))
    return score_material(gather_runs(read_runs, settings).material, settings, seed=seed, measures=terms)
