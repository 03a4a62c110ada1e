"""What figures of a system could be with all that was lost of it: what its thresholds are held against.

It is asked only where a failure of the user cut conversations short, or trials have no valid attempt, so often that the
figure may be another one, or where losses depend on what was answered.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from harvest.studies.scores.lost_attempts import loss_words, many_lost
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.selection import filled_trials
from harvest.studies.scores.trial_values import SHARES
from protocols.labels import NOT_USEFUL, USEFUL
from scoring.measures.usefulness import RECOVERY
from scoring.settings import Estimand
from scoring.table import ScoreRow, ScoreTable

# Scores other conversations by the measures of trials, as the table was scored; with intervals of this estimand.
Rescored = Callable[[Material, Estimand], ScoreTable]


@dataclass(frozen=True)
class LostBounds:
    """rows: the figure with what was lost useless, and useful throughout; () if it has no such ends. why: how much was
    lost; "" if that leaves the figure as it is."""

    why: str
    rows: tuple[ScoreRow, ...] = ()


def lost_bounds(material: Material, rescored: Rescored) -> Callable[[ScoreRow, Estimand], LostBounds]:
    """Of a figure, what was lost and what it could have been."""

    @cache
    def table(fill: str, estimand: Estimand) -> ScoreTable:
        return rescored(replace(material, conversations=filled_trials(material, material.first_lost, fill)), estimand)

    def of(row: ScoreRow, estimand: Estimand) -> LostBounds:
        depends = any(one.system == row.system for one in material.concentrations)
        why = loss_words(row.system, material) if depends or many_lost(row.system, material) else ""
        if depends:
            why = f"{why}{', and ' if why else ''}whether trials were lost depended on what had been answered"
        if not why:
            return LostBounds("")
        fills = (NOT_USEFUL, NOT_USEFUL + USEFUL if row.measure == RECOVERY.name else USEFUL)
        if row.measure not in {one.name for one in SHARES}:
            return LostBounds(why)
        return LostBounds(
            why, tuple(own for fill in fills for own in table(fill, estimand).joint if _is_same(own, row))
        )

    return of


def _is_same(one: ScoreRow, other: ScoreRow) -> bool:
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("system", "measure", "turn", "topic", "topic_type", "trial")
    )
