"""What playing a lost trial again may have chosen: where attempts were lost, and how far that can move the figures.

Whether an attempt is valid may not depend on what the system answered. It does where a state of the protocol that only
some answers lead to cannot be said: each trial is then played again until it gets by without that state. So a trial
whose first attempt with an answer was lost, or cut short by a failure of its user, counts with that attempt here, with
the answers it had got, and what was lost is taken for useless or for useful. Interrupted attempts are not lost in this
sense, because stopping a run does not depend on the answers.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harvest.studies.scores.lost_attempts import filled
from harvest.studies.scores.scorecard import Material
from harvest.studies.validity.concentrations import Concentration
from protocols.labels import NOT_USEFUL
from protocols.labels import USEFUL as USEFUL_LABEL
from recordings.conversations.conversation import INVALID, Conversation, Outcome, TrialKey
from scoring.forms.worst import RATE
from scoring.library import declared
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.notation import Term, parse
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreRow, ScoreTable
from topics.identity import generator

_SHARES = (USEFUL.name, MEAN_USEFUL.name, RECOVERY.name)

# Scores other conversations as those of the table were scored, by the measures given.
Rescored = Callable[[Material, Sequence[Term]], ScoreTable]


@dataclass(frozen=True, slots=True)
class Bound:
    """A share of a system over everything, as scored and with the first attempts. useless, useful: what was lost is
    taken for that; of `P(M, below=…)` and `breakdown`, the trial is taken for such a case, or not. turn: of %useful.
    """

    system: str
    measure: str
    turn: int | None
    value: float
    useless: float
    useful: float


@dataclass(frozen=True, slots=True)
class Selection:
    """lost: by system, trials whose first attempt with an answer was lost. trials: by system, all that were tried."""

    lost: Mapping[str, int]
    trials: Mapping[str, int]
    concentrations: tuple[Concentration, ...] = ()
    bounds: tuple[Bound, ...] = ()

    def as_json(self) -> dict[str, object] | None:
        """What `harvest-scores/1` holds as `selection`; None where nothing was lost after an answer."""
        if not (self.lost or self.concentrations):
            return None
        return {
            "lost_after_an_answer": dict(self.lost),
            "concentrations": [
                {name: _plain(getattr(one, name)) for name in Concentration.__slots__} for one in self.concentrations
            ],
            "bounds": [{name: _plain(getattr(one, name)) for name in Bound.__slots__} for one in self.bounds],
        }


def selection(material: Material, table: ScoreTable, rescored: Rescored) -> Selection:
    """What the lost attempts of `material` come to; empty where none was lost after an answer. Bounds are given of the
    shares in `table`, and of no other figure."""
    lost = material.first_lost
    tried = {one.key for one in material.conversations if one.outcome is not None}
    return Selection(
        lost=Counter(key.system for key in lost),
        trials=Counter(key.system for key in tried),
        concentrations=material.concentrations,
        bounds=tuple(_bounds(material, lost, table, rescored)) if lost else (),
    )


def _bounds(
    material: Material, lost: Mapping[TrialKey, Conversation], table: ScoreTable, rescored: Rescored
) -> Iterator[Bound]:
    """The shares in the table of every system that lost a trial after an answer."""
    systems = {key.system for key in lost}
    rows = [row for row in _overall(table) if row.system in systems]
    shares = [row for row in rows if row.measure in _SHARES]
    if shares:
        settings = Settings(replications=100)  # its intervals are not looked at
        useless, useful, recovering = (
            _shares(material, filled_trials(material, lost, fill), settings)
            for fill in (NOT_USEFUL, USEFUL_LABEL, NOT_USEFUL + USEFUL_LABEL)
        )
        for row in shares:
            key = (row.system, row.measure, row.turn)
            best = recovering if row.measure == RECOVERY.name else useful
            yield Bound(*key, row.value, useless.get(key, math.nan), best.get(key, math.nan))
    rates = [(row, _rate(row.measure)) for row in rows if _rate(row.measure) and not math.isnan(row.value)]
    if rates:
        # What a whole conversation would have been is not known: its trial counts as one that was never valid.
        without = tuple(
            replace(one, outcome=Outcome(INVALID)) if one.valid and one.key in lost else one
            for one in material.conversations
        )
        terms = [parse(name) for name in dict.fromkeys(name for _, name in rates)]
        again = _overall(rescored(replace(material, conversations=without), terms))
        found = {(row.system, row.measure): row for row in again}
        for row, name in rates:
            one = found[row.system, name]
            yield Bound(row.system, row.measure, None, row.value, one.worst, one.best)


def _rate(measure: str) -> str:
    """How often something happens, as a measure; "" for a measure that is no such share."""
    found = declared(measure)
    if found is None or not found.event:
        return ""
    return measure if found is RATE else str(Term(RATE.name, (parse(measure),)))


def _overall(table: ScoreTable) -> list[ScoreRow]:
    return [row for row in table.joint if (row.topic, row.topic_type, row.trial) == (None, None, None)]


def _shares(
    material: Material, conversations: Collection[Conversation], settings: Settings
) -> dict[tuple[str, str, int | None], float]:
    table = score(
        conversations, material.topics, None, settings, generator(0, "bounds of what was lost"), turns=material.turns
    )
    return {(row.system, row.measure, row.turn): row.value for row in _overall(table) if row.measure in _SHARES}


def filled_trials(material: Material, lost: Mapping[TrialKey, Conversation], fill: str) -> tuple[Conversation, ...]:
    """The finished trials, those that were lost first with that attempt, and those that were never answered whole.

    fill: the labels of what was lost, the last one of all that follow.
    """
    first = {one.key: one for one in material.finished}
    invalid = material.invalid  # once: it is made of all conversations
    nothing = {one.key: replace(one, turns=()) for one in material.conversations if one.key in invalid}
    return tuple(
        one if one.valid and one.key not in lost else filled(one, material.turns[key.system, key.topic], fill)
        for key, one in {**nothing, **first, **lost}.items()
    )


def _plain(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return dict(value) if isinstance(value, Mapping) else value
