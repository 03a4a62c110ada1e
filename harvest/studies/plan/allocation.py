"""Allocate the trials of the next run to topics from a pilot, for `harvest plan --allocate`.

Topics whose trials vary more get more trials, which narrows the interval for these topics. The plan also estimates,
for each topic, the probability that a trial takes a path that the pilot did not show.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harvest.audits.audit import Audit
from harvest.studies.plan.grid import Basis, pilot_basis, planned_settings
from harvest.studies.plan.pilot import pilot_cells, planned_measure
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import Key
from harvest.studies.trees.folded_trees import merging_named
from recordings.log.run_folder import Run
from recordings.trees.builder import path_of
from scoring.inference.allocation import FLOOR, Allocation, Chances, Spreads, Variances, allocate, predict_widths
from scoring.inference.unseen import UnseenMass, unseen_mass
from scoring.measure import Measure
from scoring.measures.usefulness import USEFUL
from scoring.notation import Term
from scoring.settings import Settings
from topics.arrays import Floats
from topics.errors import InputError, Place
from topics.identity import generator

# A topic needs no more trials for its tree if the chance that the next one takes a new path is at most the first,
# and the upper end of its interval at most the second, which takes about 30 trials.
SEEN_ENOUGH, SURELY = 0.05, 0.2

_MOST_TRIALS = 1_000_000  # trials


@dataclass(frozen=True, slots=True)
class SpentTopic:
    """The allocation to one topic of the audit.

    `pilot` is the number of pilot trials with a value, over all systems. `spread` is the predicted standard
    deviation between trials. `trials` is the proposed number of trials of each system. `unseen` is the probability
    that the next trial takes a path that its system has not yet taken on this topic. `unseen_low` and `unseen_high`
    are the interval of this probability. All three are NaN if the topic has no pilot trial. `stop` is true if the
    probability and the upper end of the interval are small (see `SEEN_ENOUGH`).
    """

    topic: str
    pilot: int
    spread: float
    trials: int
    unseen: float
    unseen_low: float
    unseen_high: float
    stop: bool


@dataclass(frozen=True, slots=True)
class Spending:
    """A proposed allocation of `total` trials of each system to topics. `systems` are the pilot's systems whose
    variances are used. `found` is the allocation, with interval widths in the measure's own units.
    `continued_width` is the width if each topic gets the same number of trials in addition to the pilot's
    trials. `unseen` is the mean probability of an unseen path over topics, or NaN if no topic has a pilot trial."""

    audit: str
    basis: Basis
    key: Key
    systems: tuple[str, ...]
    total: int
    topics: tuple[SpentTopic, ...]
    found: Allocation
    continued_width: float
    unseen: float
    notes: tuple[str, ...]

    @property
    def usual_trials(self) -> int:
        """The most frequent number of trials of a topic. Among equally frequent numbers, the largest is used."""
        counts = Counter(one.trials for one in self.topics)
        return max(counts, key=lambda trials: (counts[trials], trials))


def plan_spending(
    audit: Audit,
    run: Run,
    *,
    measure: Term | None = None,
    total: int | None = None,
    changes: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Spending:
    """Propose a number of trials for each topic. `measure` is as in `plan_difference`. `run` is the pilot. `total`
    is the number of trials of each system over all topics; None means the audit's number. Raises InputError for
    a total below two trials of each topic, for sessions that continue from topic to topic, and for a pilot that
    has none of the audit's topics or fewer than two trials of every topic."""
    settings = planned_settings(audit, changes)
    asked, key = planned_measure(measure, settings, audit)
    topics = [topic.id for topic in audit.topics.topics]
    whole = sum(audit.trials_with(topic) for topic in audit.topics.topics) if total is None else total
    if not FLOOR * len(topics) <= whole <= _MOST_TRIALS:
        raise InputError(
            f"{whole} trials of each system cannot be shared among {len(topics)} topics",
            allowed=f"from {FLOOR * len(topics)} ({FLOOR} trials of each topic) to {_MOST_TRIALS:,}",
            advice="give another --total, or more trials in the audit",
        )
    going_on = [system.name for system in audit.systems if system.session != "fresh"]
    if going_on:
        raise InputError(
            f"the sessions of {', '.join(going_on)} continue from topic to topic, so topics depend on each other and "
            "trials of one topic cannot be allocated separately",
            advice="play equal trials, or fresh sessions",
        )
    basis, material = pilot_basis(settings, seed, run, asked=(asked, key))
    cells, systems, notes = _cells(audit, run, material, asked, key, settings, topics)
    yes_or_no = asked.declaration is USEFUL or asked.declaration.event
    try:
        known: Variances = Chances.from_cells(cells) if yes_or_no else Spreads.from_cells(cells)
        found = allocate(known, whole, generator(seed, "allocation"), level=settings.level)
    except ValueError as fault:
        raise InputError(f"{run.path}: {fault}", advice="use a pilot with at least 2 trials of a topic") from None
    seen = _unseen_ways(material, systems, topics, settings.level)
    played = (~np.isnan(cells)).sum(axis=2)
    spreads = np.sqrt(known.expected.mean(axis=0))
    kept = predict_widths(
        known,
        np.asarray(np.rint(played.mean(axis=0)), dtype=np.int64) + found.equal,
        int(generator(seed, "allocation", "kept").integers(2**63)),
        level=settings.level,
    )
    return Spending(
        audit=audit.name,
        basis=basis,
        key=key,
        systems=systems,
        total=whole,
        topics=tuple(
            SpentTopic(
                topic,
                int(played[:, place].sum()),
                float(spreads[place]),
                int(found.trials[place]),
                float(seen.estimate[place]),
                float(seen.low[place]),
                float(seen.high[place]),
                bool(seen.estimate[place] <= SEEN_ENOUGH and seen.high[place] <= SURELY),
            )
            for place, topic in enumerate(topics)
        ),
        found=found,
        continued_width=float(np.nanmean(kept)) if not np.isnan(kept).all() else math.nan,
        unseen=float(np.nanmean(seen.estimate)) if (seen.n > 0).any() else math.nan,
        notes=notes,
    )


def _cells(
    audit: Audit, run: Run, material: Material, asked: Measure, key: Key, settings: Settings, topics: Sequence[str]
) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """Return pilot values of shape (systems, topics, trials), the names of the systems, and notes. The topics are
    the audit's topics. The systems are the audit's systems or, if the pilot has none of these, all systems of
    the pilot."""
    tables, notes = pilot_cells(material, asked, key, settings)
    own = [one.name for one in audit.played if one.name in tables]
    systems = tuple(own or tables)
    rows = {topic.id: row for row, topic in enumerate(material.topics.topics)}
    common = [topic for topic in topics if topic in rows]
    most = max((table.shape[1] for table in tables.values()), default=1)
    cells = np.full((len(systems), len(topics), most), np.nan)
    for place, topic in enumerate(topics):
        for column, name in enumerate(systems):
            if topic in rows:
                cells[column, place] = tables[name][rows[topic]]
    if np.isnan(cells).all():
        raise InputError(
            "the pilot has no value for any topic of this audit"
            if common
            else "the pilot has none of the topics of this audit",
            place=Place(str(run.path)),
            advice="use a run of the same topics",
        )
    valued = [not np.isnan(own).all() for own in cells]
    systems, cells = tuple(name for name, has in zip(systems, valued, strict=True) if has), cells[valued]
    unknown = [topic for place, topic in enumerate(topics) if np.isnan(cells[:, place]).all()]
    if unknown:
        named = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        notes = (*notes, f"the pilot says nothing of {named}: taken to vary as topics do on average")
    if not own:
        notes = (*notes, f"the pilot has no system of the audit; variances are those of {', '.join(systems)}")
    return cells, systems, notes


def _unseen_ways(material: Material, systems: Sequence[str], topics: Sequence[str], level: float) -> UnseenMass:
    """Estimate the probability of an unseen path for each topic, over all systems. Two conversations take the same
    path if their user turns have equal states and their answers equal labels."""
    merging = merging_named("label")
    ways: dict[str, Counter[tuple[object, ...]]] = {topic: Counter() for topic in topics}
    for one in material.finished:
        if one.key.topic in ways and one.key.system in systems:
            way = tuple((speaker, text) for speaker, text, _ in path_of(one, merging))
            ways[one.key.topic][one.key.system, way] += 1
    each = [ways[topic].values() for topic in topics]
    once, twice = ([sum(count == times for count in own) for own in each] for times in (1, 2))
    return unseen_mass(once, twice, [sum(own) for own in each], level)
