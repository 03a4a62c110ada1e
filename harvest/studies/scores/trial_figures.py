"""The values of single trials behind figures that are watched over time, in [0, 1].

Figures that weight trials equally within a topic, and topics equally (such as %useful, ave%useful and GF), have values
by topic. %recovery is a ratio over all conversations that failed first. It has values only for such conversations, all
under the name `""`, so that their mean is the figure that `harvest score` prints. For a ratio whose conversations have
different weights (%citations), each trial has its own share, and the mean of these shares is not the ratio.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harvest.studies.scores.lost_attempts import lost_attempts
from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import SHARES, Key, measure_values, share_values, usual_measures
from harvest.studies.scores.trial_values import Values as CellsOfTrials
from recordings.conversations.endings import is_cut_short
from scoring.figure import Good
from scoring.library import list_forms, read_term, single_measures
from scoring.measure import Measure
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.swan.schema import load_schema
from topics.errors import InputError

# The name for trials of all topics if they count alike.
POOLED = ""

# By figure, then by topic: the values of its trials.
Values = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A watched figure. `name` is its printed name, `key` finds its values, and `good` is the good end of [0, 1]."""

    name: str
    key: Key
    measure: Measure
    good: Good


def figures_of(terms: Sequence[Term], settings: Settings, material: Material, *, gated: bool) -> tuple[Figure, ...]:
    """Return the figures that `terms` request. If there are no terms, the default is ave%useful if `gated`, and
    otherwise all measures that `harvest score` shows by default. Raises InputError for a measure that has no
    value of a single trial in [0, 1]."""
    if not terms and gated:
        terms = [Term(MEAN_USEFUL.name)]
    schema, found = load_schema(SHIPPED), list[Figure]()
    last = max(material.turns.values(), default=1)
    for term in terms or usual_measures(material):
        for measure in read_term(term, settings, material.topics, schema):
            one = measure.declaration
            if measure.form is not None or (one.of != "conversation" and one not in SHARES) or one.range != (0, 1):
                if not terms:
                    continue
                raise InputError(
                    f"{term} has no value from 0 to 1 for each trial, so it cannot be watched over time",
                    allowed=list_forms((*SHARES, *(other for other in single_measures() if other.range == (0, 1)))),
                )
            good = one.better(measure.term)
            if one is USEFUL:
                turns = range(1, last + 1) if measure.turn is None else (measure.turn,)
                found += [Figure(f"{one.name} S{turn}", (one.name, turn), measure, good) for turn in turns]
            else:
                found.append(Figure(str(measure.base), (str(measure.base), None), measure, good))
    return tuple(found)


def figure_values(system: str, material: Material, figures: Sequence[Figure], settings: Settings) -> Values:
    """Return the values of one system's trials by figure and topic."""
    cells = figure_cells(system, material, figures, settings)
    return {one.name: _by_topic(one, cells.get(one.key, {})) for one in figures}


def figure_cells(system: str, material: Material, figures: Sequence[Figure], settings: Settings) -> CellsOfTrials:
    """Return the cells of one system's trials by the key of a figure."""
    others = [one.measure for one in figures if one.measure.declaration not in SHARES]
    computed, _ = measure_values([system], material, others, settings)
    return {**share_values(system, material), **computed[system]}


def cut_reaches(
    system: str, material: Material, figures: Sequence[Figure], settings: Settings
) -> dict[str, tuple[float, float]]:
    """Return how much lower and higher each figure could be if no conversation had been cut short. In conversations
    that user failures cut short, the missing turns count once as useless and once as useful. Returns {} if there
    is no such conversation."""
    if system not in material.cut_short:
        return {}
    values = figure_cells(system, material, figures, settings)
    topics = [topic.id for topic in material.topics.topics]
    cut = {(one.key.topic, one.key.trial) for one in material.finished if is_cut_short(one.outcome)}
    reaches: dict[str, tuple[float, float]] = {}
    for one in figures:
        lost = lost_attempts(one.key, one.measure, system, {system: values}, material, topics).losses_in_comparison("")
        low, high = ({at: cell for at, cell in side.items() if at in cut} for side in (lost.low, lost.high))
        own = values.get(one.key, {})
        least, seen, most = (_mean(_by_topic(one, {**own, **moved})) for moved in (low, {}, high))
        reaches[one.name] = max(0.0, seen - least), max(0.0, most - seen)
    return reaches


def _mean(by_topic: Mapping[str, Sequence[float]]) -> float:
    means = [math.fsum(own) / len(own) for own in by_topic.values()]
    return math.fsum(means) / len(means) if means else 0.0


def _by_topic(figure: Figure, cells: Mapping[tuple[str, int], tuple[float, float]]) -> dict[str, list[float]]:
    pooled = figure.measure.declaration.pooled and figure.measure.declaration in SHARES
    found: dict[str, list[float]] = {}
    for (topic, _), (above, below) in sorted(cells.items()):
        if below > 0 and not math.isnan(above):
            found.setdefault(POOLED if pooled else topic, []).append(above / below)
    return found
