"""Bounds of a figure given a system's losses, for the check of thresholds.

Bounds are computed only if losses depend on the answers, or if failures of the user and trials without a valid
attempt are frequent enough to matter.
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

# Scores other conversations like those of the table, with intervals of this estimand.
Rescored = Callable[[Material, Estimand], ScoreTable]


@dataclass(frozen=True)
class LostBounds:
    """The bounds of a figure. `rows` has the figure with all lost turns useless, and with all lost turns useful;
    `rows` is () for measures other than shares. `why` describes the losses, or is "" if no loss matters."""

    why: str
    rows: tuple[ScoreRow, ...] = ()


def lost_bounds(material: Material, rescored: Rescored) -> Callable[[ScoreRow, Estimand], LostBounds]:
    """Return a function that computes the bounds of a figure for an estimand."""

    @cache
    def table(fill: str, estimand: Estimand) -> ScoreTable:
        return rescored(replace(material, conversations=filled_trials(material, material.first_lost, fill)), estimand)

    def bounds_of_row(row: ScoreRow, estimand: Estimand) -> LostBounds:
        why = _why_bounded(row.system, material)
        if not why:
            return LostBounds("")
        fills = (NOT_USEFUL, NOT_USEFUL + USEFUL if row.measure == RECOVERY.name else USEFUL)
        if row.measure not in {one.name for one in SHARES}:
            return LostBounds(why)
        return LostBounds(
            why,
            tuple(
                own
                for fill in fills
                for own in table(fill, estimand).joint
                if all(
                    getattr(own, name) == getattr(row, name)
                    for name in ("system", "measure", "turn", "topic", "topic_type", "trial")
                )
            ),
        )

    return bounds_of_row


def losses_matter(material: Material) -> bool:
    """Return True if the figures of some system have bounds."""
    return any(_why_bounded(system, material) for system in material.systems)


def _why_bounded(system: str, material: Material) -> str:
    depends = any(one.system == system for one in material.concentrations)
    why = loss_words(system, material) if depends or many_lost(system, material) else ""
    if depends:
        why = f"{why}{', and ' if why else ''}whether trials were lost depended on what had been answered"
    return why
