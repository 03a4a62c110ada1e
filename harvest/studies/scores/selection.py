"""The selection effect of repeating lost trials: where attempts were lost, and how much figures can change.

Whether an attempt is valid should not depend on the system's answers. It does depend on the answers if some answers
lead to a state of the protocol in which the user cannot speak, because each trial is then repeated until it avoids
that state. To bound the effect, a trial whose first attempt with an answer was lost, or cut short by a failure of
its user, counts with this attempt and its answers. The missing turns count once as useless and once as useful.
Interrupted attempts do not count as lost, because stopping a run does not depend on the answers.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harvest.studies.scores.lost_attempts import fill_labels
from harvest.studies.scores.scorecard import Material
from harvest.studies.validity.concentrations import Concentration
from protocols.labels import NOT_USEFUL
from protocols.labels import USEFUL as USEFUL_LABEL
from recordings.conversations.conversation import INVALID, Conversation, Outcome, TrialKey
from recordings.conversations.endings import DIVERGED, cut_words, is_cut_short
from recordings.conversations.outlines import Outlines
from recordings.conversations.outlining import with_others
from recordings.conversations.trial_sets import TrialSet
from scoring.forms.worst import RATE
from scoring.library import declared
from scoring.measured import Measured
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.notation import Term, parse
from scoring.scores import score
from scoring.settings import Settings
from scoring.table import ScoreRow, ScoreTable
from topics.identity import generator

_SHARES = (USEFUL.name, MEAN_USEFUL.name, RECOVERY.name)

_WITHHELD = "which trials are left depended on the answers: see the bounds"

# The lowest and the highest share of a system in a measure, and in a turn of %useful.
Ranges = Mapping[tuple[str, str, int | None], tuple[float, float]]

# Scores other conversations like those of the table, by the given measures.
Rescored = Callable[[Material, Sequence[Term]], ScoreTable]


@dataclass(frozen=True, slots=True)
class Bound:
    """The bounds of a system's overall share. `value` is the share as scored. `useless` is the share if lost turns
    count as useless, and `useful` the share if lost turns count as useful. For `P(M, below=…)` and `breakdown`,
    one of these shares counts lost trials as cases, and the other does not. `turn` is the turn of %useful, or
    None."""

    system: str
    measure: str
    turn: int | None
    value: float
    useless: float
    useful: float


@dataclass(frozen=True, slots=True)
class Selection:
    """The effect of lost attempts. By system, `lost` is the number of trials whose first attempt with an answer was
    lost, and `trials` the number of all trials that were tried. If all of a system's attempts were cut short and none
    was tried again, `cut` says how. `diverged` are the systems of which a replay has no answers to what would have been
    said instead."""

    lost: Mapping[str, int]
    trials: Mapping[str, int]
    concentrations: tuple[Concentration, ...] = ()
    bounds: tuple[Bound, ...] = ()
    cut: Mapping[str, str] = field(default_factory=dict)
    diverged: Collection[str] = ()

    @property
    def ranges(self) -> Ranges:
        """The bounds of shares that are based on a selection, because losses depended on the answers. If this applies
        to one system, it applies to all: a comparison counts the losses of both sides."""
        return {
            (one.system, one.measure, one.turn): (one.useless, one.useful)
            for one in (self.bounds if self.concentrations else ())
            if one.measure in _SHARES and not one.useless == one.useful == one.value
        }

    def withhold_intervals(self, rows: Iterable[ScoreRow]) -> list[ScoreRow]:
        """Return rows for people. Where losses depended on the answers, as in a replay, an interval of the rest speaks
        of a choice among the answers. If it does not hold both bounds, it is withheld, and the note says why."""
        bounds = {
            (one.system, one.measure, one.turn): (one.useless, one.useful)
            for one in self.bounds
            if self.concentrations or one.system in self.diverged
        }
        return [
            replace(row, low=math.nan, high=math.nan, note="; ".join(filter(None, (row.note, _WITHHELD))))
            if (row.topic, row.topic_type, row.trial) == (None, None, None)
            and (ends := bounds.get((row.system, row.measure, row.turn))) is not None
            and (min(ends) < row.low or max(ends) > row.high)
            else row
            for row in rows
        ]

    def as_json(self) -> dict[str, object] | None:
        """Return the `selection` entry of `harvest-scores/1`, or None if nothing was lost after an answer."""
        if not (self.lost or self.concentrations):
            return None
        return {
            "lost_after_an_answer": dict(self.lost),
            "concentrations": [
                {name: _json_value(getattr(one, name)) for name in Concentration.__slots__}
                for one in self.concentrations
            ],
            "bounds": [{name: _json_value(getattr(one, name)) for name in Bound.__slots__} for one in self.bounds],
        }


def selection(material: Material, table: ScoreTable, rescored: Rescored) -> Selection:
    """Compute the effect of lost attempts on the shares in `table`. Other figures have no bounds."""
    lost = material.first_lost
    return Selection(
        lost=Counter(key.system for key in lost),
        trials=_count_ended(material.conversations),
        concentrations=material.concentrations,
        bounds=tuple(_bounds(material, lost, table, rescored)) if lost else (),
        cut=_cut_words(lost),
        diverged={
            key.system for key, one in lost.items() if one.outcome is not None and one.outcome.reason == DIVERGED
        },
    )


def _cut_words(lost: Mapping[TrialKey, Conversation]) -> dict[str, str]:
    outcomes: dict[str, list[Outcome | None]] = {}
    for key, one in lost.items():
        outcomes.setdefault(key.system, []).append(one.outcome)
    return {
        system: cut_words(one.reason for one in own if one is not None)
        for system, own in outcomes.items()
        if all(map(is_cut_short, own))
    }


def _count_ended(conversations: Sequence[Conversation]) -> Counter[str]:
    """Return the number of trials with an attempt that ended, by system."""
    if isinstance(conversations, Outlines):
        ended = conversations.select(conversations.rows_of(lambda one: one.outcome is not None)).trials
        found: Counter[str] = Counter()
        for (system, _), numbers in ended.numbers.items():
            found[system] += len(numbers)
        return found
    return Counter(key.system for key in dict.fromkeys(one.key for one in conversations if one.outcome is not None))


def _bounds(
    material: Material, lost: Mapping[TrialKey, Conversation], table: ScoreTable, rescored: Rescored
) -> Iterator[Bound]:
    systems = {key.system for key in lost}
    rows = [row for row in _overall_rows(table) if row.system in systems]
    shares = [row for row in rows if row.measure in _SHARES]
    if shares:
        settings = Settings(replications=100)  # its intervals are not used
        useless, useful, recovering = (
            _shares(material, _filled(material, lost, fill, settings), settings)
            for fill in (NOT_USEFUL, USEFUL_LABEL, NOT_USEFUL + USEFUL_LABEL)
        )
        for row in shares:
            key = (row.system, row.measure, row.turn)
            best = recovering if row.measure == RECOVERY.name else useful
            yield Bound(*key, row.value, useless.get(key, math.nan), best.get(key, math.nan))
    rates = [(row, _event_rate(row.measure)) for row in rows if _event_rate(row.measure) and not math.isnan(row.value)]
    if rates:
        # The whole conversation is unknown, so its trial counts as never valid.
        assert not isinstance(material.conversations, Outlines), "no default measure is an event"
        without = tuple(
            replace(one, outcome=Outcome(INVALID)) if one.valid and one.key in lost else one
            for one in material.conversations
        )
        terms = [parse(name) for name in dict.fromkeys(name for _, name in rates)]
        again = _overall_rows(rescored(replace(material, conversations=without), terms))
        found = {(row.system, row.measure): row for row in again}
        for row, name in rates:
            one = found[row.system, name]
            yield Bound(row.system, row.measure, None, row.value, one.worst, one.best)


def _event_rate(measure: str) -> str:
    """Return the measure of how often an event happens, or "" if `measure` is not about an event."""
    found = declared(measure)
    if found is None or not found.event:
        return ""
    return measure if found is RATE else str(Term(RATE.name, (parse(measure),)))


def _overall_rows(table: ScoreTable) -> list[ScoreRow]:
    return [row for row in table.joint if (row.topic, row.topic_type, row.trial) == (None, None, None)]


def _shares(
    material: Material, conversations: Collection[Conversation] | Measured, settings: Settings
) -> dict[tuple[str, str, int | None], float]:
    table = score(
        conversations, material.topics, None, settings, generator(0, "bounds of what was lost"), turns=material.turns
    )
    return {(row.system, row.measure, row.turn): row.value for row in _overall_rows(table) if row.measure in _SHARES}


def _filled(
    material: Material, lost: Mapping[TrialKey, Conversation], fill: str, settings: Settings
) -> Collection[Conversation] | Measured:
    """Return what `filled_trials` does, for shares alone; of outlines, again as outlines."""
    whole, turns = material.finished, material.turns
    if not isinstance(whole, Outlines) or not isinstance(material.conversations, Outlines):
        return filled_trials(material, lost, fill)
    nothing = {one.key: replace(one, turns=()) for one in material.conversations.invalid if one.key in material.invalid}
    others = [fill_labels(one, turns[key.system, key.topic], fill) for key, one in {**nothing, **lost}.items()]
    kept = whole.select(np.flatnonzero(~whole.are_of(TrialSet.of(lost))))
    return Measured(with_others(kept, others), {}, 0, False, settings.of_values)


def filled_trials(material: Material, lost: Mapping[TrialKey, Conversation], fill: str) -> tuple[Conversation, ...]:
    """Return all tried trials, with lost first attempts in place of their repetitions. `fill` has labels for the
    missing turns; the last label repeats."""
    first = {one.key: one for one in material.finished}
    invalid = material.invalid  # computed once, from all conversations
    nothing = {one.key: replace(one, turns=()) for one in material.conversations if one.key in invalid}
    return tuple(
        one if one.valid and one.key not in lost else fill_labels(one, material.turns[key.system, key.topic], fill)
        for key, one in {**nothing, **first, **lost}.items()
    )


def _json_value(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return dict(value) if isinstance(value, Mapping) else value
