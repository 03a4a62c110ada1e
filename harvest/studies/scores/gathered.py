"""Recorded runs, gathered and scored once for several studies: a report shows them all, and computes nothing twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from harvest.studies.runs.side_by_side import SideBySide, set_apart
from harvest.studies.scores.assessed import Assessed, assess_material
from harvest.studies.scores.scorecard import Material, gather_material, score_material
from harvest.studies.scores.trial_values import Values, share_values
from recordings.log.run_folder import Run
from scoring.swan.precedence import Precedence
from scoring.swan.schema import Schema
from scoring.table import ScoreTable
from topics.errors import HarvestError


@dataclass(frozen=True)  # without slots, so that what is derived is kept
class Gathered:
    """beside: how the runs differ. scores: of all that is always shown, under the settings of the first run's audit,
    and of SWAN where anybody judged. assessed: what they judged; why it cannot be scored; None where nobody did."""

    beside: SideBySide
    material: Material
    scores: ScoreTable
    assessed: Assessed | str | None = None

    @cached_property
    def shares(self) -> Mapping[str, Values]:
        """By system, the cells of the measures of shares."""
        return {name: share_values(name, self.material) for name in self.material.systems}


def gather_runs(
    runs: Sequence[Run], *, seed: int = 0, schema: Schema | None = None, judges: Precedence | None = None
) -> Gathered:
    """seed: of the bootstrap. schema, judges: of SWAN, as `score_material` takes them. The figures over single trials
    have no intervals: no study takes them.

    Raises InputError where runs cannot be set side by side, or do not know their topics.
    """
    beside = set_apart(runs)
    material = gather_material(runs, beside.left_out)
    assessed: Assessed | str | None = None
    try:
        assessed = assess_material(material, schema, judges)
        if assessed is not None:
            terms = tuple(assessed.terms.values())
            scores = score_material(
                material, seed=seed, measures=terms, schema=assessed.schema, judges=judges, trial_intervals=False
            )
            return Gathered(beside, material, scores, assessed)
    except HarvestError as refused:
        assessed = str(refused)
    return Gathered(beside, material, score_material(material, seed=seed, trial_intervals=False), assessed)
