"""The contribution of each valid conversation to a measure, for comparisons of systems and of groups.

A contribution is a cell, a pair of numerator and denominator.
"""

import math
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from harvest.studies.scores.scorecard import Judges, Material
from recordings.conversations.conversation import TrialKey
from recordings.conversations.outlines import Outlines
from scoring.asked import AskedMeasures, cautions
from scoring.columns import Columns
from scoring.conversations import joint_columns
from scoring.figure import Figure
from scoring.inference.aligned import Cell, Trial
from scoring.library import declared, find_declaration, measures, read_term
from scoring.material import Judged, why_unscorable
from scoring.material import Material as Ground
from scoring.measure import Declaration, Measure
from scoring.measures import usefulness
from scoring.notation import Term
from scoring.settings import Settings
from scoring.swan.schema import Schema
from scoring.table import ScoreTable
from topics.errors import InputError
from topics.topic import TopicSet

# The measures of trials to which each conversation contributes.
SHARES = (usefulness.USEFUL, usefulness.MEAN_USEFUL, usefulness.RECOVERY)

# A measure and its turn.
Key = tuple[str, int | None]

# The cells of a system, by measure, then by topic and trial.
Values = dict[Key, dict[Trial, Cell]]


def key_name(key: Key) -> str:
    """Return the printed name of a measure with its turn, such as `%useful S2`."""
    measure, turn = key
    return f"{measure} S{turn}" if turn else measure


def share_values(system: str, material: Material) -> Values:
    """Return a system's cells of the measures in `SHARES`. For %recovery, a cell is (recovered, failed first),
    which is (0, 0) if the first answer was useful."""
    cells = {
        kind: _share_cells(labels[: material.turns[key.system, key.topic]])
        for kind, (key, labels, _) in enumerate(material.ways)
        if key.system == system
    }
    whole = material.finished
    own: Iterable[tuple[TrialKey, int]]
    if isinstance(whole, Outlines):
        rows = whole.rows_of_system(system)
        own = zip(whole.select(rows).keys, whole.groups[2][rows].tolist(), strict=True)
    else:
        own = ((one.key, kind) for kind, one in enumerate(whole) if one.key.system == system)
    found: Values = {}
    for one, kind in own:
        for name, cell in cells[kind].items():
            found.setdefault(name, {})[one.topic, one.trial] = cell
    return found


@lru_cache(maxsize=2**12)
def _share_cells(labels: tuple[str, ...]) -> Mapping[Key, Cell]:
    found: dict[Key, Cell] = {
        (usefulness.USEFUL.name, turn): (cell, 1.0) for turn, cell in enumerate(usefulness.useful_cells(labels), 1)
    }
    value, over = usefulness.useful_share(labels)
    found[usefulness.MEAN_USEFUL.name, None] = value, float(over > 0)
    found[usefulness.RECOVERY.name, None] = usefulness.recovery_cells(labels)
    return MappingProxyType(found)


def refuse_turn(asked: object, turn: int | None, last: int) -> None:
    """Raise InputError for a turn after `last`, the last turn that a conversation can have."""
    if turn is not None and turn > last:
        raise InputError(f"{asked}: no conversation can have that many turns", allowed=f"S1 to S{last}")


def read_single(
    term: Term,
    settings: Settings,
    topics: TopicSet,
    schema: Schema | Callable[[], Schema],
    shares: Collection[Declaration] = SHARES,
) -> tuple[Measure, ...]:
    """Return the measures that a term names, as `read_term`. Raises InputError also for a measure that is not in
    `shares` and has no value for a single conversation, before what is inside the term is read."""
    declaration = find_declaration(term.name)
    if declaration.of not in ("trials", "measure") or declaration in shares:
        return read_term(term, settings, topics, schema)
    advice = f"see each system's value: harvest score RUN -m {shlex.quote(str(term))}"
    if declaration.of == "measure" and term.arguments and isinstance(term.arguments[0], Term):
        inside = term.arguments[0]
        read_single(inside, settings, topics, schema, shares)  # do not advise what would be refused, too
        advice = f"write {inside}, or {advice}"
    named = "".join(f"{one.name}, " for one in shares)
    raise InputError(
        f"{term} is computed over many conversations at once, so a single one has no value of it",
        allowed=f"{named}and what `harvest measures` lists as of one conversation".removeprefix("and "),
        advice=advice,
    )


def usual_measures(material: Material) -> list[Term]:
    """Return the measures in `SHARES` and of single conversations that `harvest score` shows by default."""
    return [
        Term(one.name)
        for one in measures()
        if one.shown == "always"
        and (one in SHARES or one.of == "conversation")
        and ("gold" not in one.needs or material.gold is not None)
    ]


def row_values(system: str, table: ScoreTable) -> Values:
    """Return a system's cells of measures of single conversations from a table of scores."""
    own = next((one for one in table.each if one.system == system), None)
    if own is None:
        return {}
    trials = [(key.topic, key.trial) for key in own.keys]
    found: Values = {}
    for measure in own.order:
        declaration = declared(measure)
        at, cells = own.cells(measure, pooled=declaration is not None and declaration.pooled)
        found[measure, None] = {trials[i]: (above, below) for i, (above, below) in zip(at.tolist(), cells.tolist())}
    return found


def measure_values(
    systems: Sequence[str],
    material: Material,
    measures: Sequence[Measure],
    settings: Settings,
    judges: Judges | None = None,
) -> tuple[Mapping[str, Values], tuple[str, ...]]:
    """Return each system's cells of measures of single conversations, and notes on the judgments used. If `judges`
    is None, judgments by people and then by rules count, with the shipped schema. Raises InputError if several
    judgments of one item have the same precedence and a measure depends on the choice."""

    if isinstance(material.finished, Outlines):
        found = _outlined_values(systems, material, material.finished, measures, settings)
        return found, (*cautions(measures), *_missing_input_notes(measures, material))

    @cache
    def judged() -> Judged:
        return (judges or Judges()).judged(material.layers)

    topics = {topic.id: topic for topic in material.topics.topics}
    found = {system: {} for system in systems}
    grounds = [
        Ground(
            one,
            topics[one.key.topic],
            material.gold,
            material.topics.attributes,
            settings,
            judged,
            settings,
            material.topics.sources,
        )
        for one in material.finished
        if measures and one.key.system in found
    ]
    quick = [one for one in measures if one.declaration.columns is not None and one.settings == settings]
    cells: list[dict[str, Cell]] = [{} for _ in grounds]
    for column in joint_columns(grounds, quick) if quick else ():
        for at, value in zip(column.at.tolist(), column.value.tolist(), strict=True):
            cells[at][column.measure] = value, 1.0
    asked = AskedMeasures(tuple(measures), judged)
    names = {one.base_name: one.declaration.pooled for one in measures}
    for ground, cell in zip(grounds, cells, strict=True):
        figures = asked.figures(ground, cell)
        cell.update((one.measure, one.cell(pooled=names.get(one.measure, False))) for one in figures)
        key = ground.conversation.key
        for name in (name for name in names if name in cell):
            found[key.system].setdefault((name, None), {})[key.topic, key.trial] = cell[name]
    asked.refuse_unsettled()
    return found, (*cautions(measures), *asked.notes(), *_missing_input_notes(measures, material))


def _outlined_values(
    systems: Sequence[str], material: Material, outlines: Outlines, measures: Sequence[Measure], settings: Settings
) -> dict[str, Values]:
    """Return the values that were computed while the words of these conversations were there. Raises ValueError if
    there are none of a measure, or of other settings."""
    measured = material.measured
    if measured is None or measured.outlines is not outlines or measured.of_values != settings.of_values:
        raise ValueError("the values of these conversations were not computed with these settings")
    found: dict[str, Values] = {}
    for system in systems:
        columns = [one for _, one in measured.columns.get(system, ())]
        own = Columns(system, (), columns, [one.measure for one in columns], lambda _: ())
        trials = [(key.topic, key.trial) for key in outlines.of_system(system).keys]
        cells = {one.base_name: _outlined_cells(one, own, trials, material, settings) for one in measures}
        values = found[system] = Values()
        for place, trial in enumerate(trials):
            for name, column in cells.items():
                if (cell := column[place]) is not None:
                    values.setdefault((name, None), {})[trial] = cell
    return found


def _outlined_cells(
    measure: Measure, columns: Columns, trials: Sequence[Trial], material: Material, settings: Settings
) -> list[Cell | None]:
    """Return the cell of each trial, or None if its topic cannot have the measure."""
    of, gold = measure.declaration, material.gold
    name = of.column(measure) if of.column is not None and measure.settings == settings else measure.base_name
    at, known = columns.cells(name, pooled=of.pooled)
    found: list[Cell | None] = [None] * len(trials)
    for place, (above, below) in zip(at.tolist(), known.tolist(), strict=True):
        found[place] = above, below
    undefined = Figure(name, math.nan, 0).cell(pooled=of.pooled)
    unscorable, applies = set(), set()
    for topic in material.topics.topics:
        if "gold" in of.needs and why_unscorable(topic, gold):
            unscorable.add(topic.id)
        if ("gold" in of.needs and gold is None) or of.applies(measure, topic):
            applies.add(topic.id)
    for place, (topic_id, _) in enumerate(trials):
        if topic_id not in applies:
            found[place] = None
        elif found[place] is None:
            if topic_id not in unscorable:
                raise ValueError(
                    f"{measure.base_name} was not computed before the words of these conversations were dropped"
                )
            found[place] = undefined
    return found


def _missing_input_notes(measures: Sequence[Measure], material: Material) -> Iterator[str]:
    lacking = [one.base_name for one in measures if "gold" in one.declaration.needs] if material.gold is None else []
    if lacking:
        has = "has" if len(lacking) == 1 else "have"
        yield f"{', '.join(dict.fromkeys(lacking))} {has} no value: the run has no gold table."
