"""The contribution of each valid conversation to a measure, for comparisons of systems and of groups.

A contribution is a cell, a pair of numerator and denominator.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

from harvest.studies.scores.scorecard import Judges, Material
from scoring.asked import AskedMeasures, cautions
from scoring.conversations import joint_columns
from scoring.inference.aligned import Cell, Trial
from scoring.library import declared, list_forms, measures, single_measures
from scoring.material import Judged
from scoring.material import Material as Ground
from scoring.measure import Declaration, Measure
from scoring.measures import usefulness
from scoring.notation import Term
from scoring.settings import Settings
from scoring.table import ScoreTable
from topics.errors import InputError

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
    found: Values = {}
    for one in material.finished:
        if one.key.system != system:
            continue
        trial = (one.key.topic, one.key.trial)
        given = material.labels[one.key][: material.turns[one.key.system, one.key.topic]]
        for turn, cell in enumerate(usefulness.useful_cells(given), 1):
            found.setdefault((usefulness.USEFUL.name, turn), {})[trial] = (cell, 1.0)
        value, over = usefulness.useful_share(given)
        found.setdefault((usefulness.MEAN_USEFUL.name, None), {})[trial] = (value, float(over > 0))
        found.setdefault((usefulness.RECOVERY.name, None), {})[trial] = usefulness.recovery_cells(given)
    return found


def refuse_turn(asked: object, turn: int | None, last: int) -> None:
    """Raise InputError for a turn after `last`, the last turn that a conversation can have."""
    if turn is not None and turn > last:
        raise InputError(f"{asked}: no conversation can have that many turns", allowed=f"S1 to S{last}")


def refuse_pooled(asked: object, measure: Measure, why: str, shares: Collection[Declaration] = SHARES) -> None:
    """Raise InputError for a measure that is not in `shares` and has no value for a single conversation. `why` is a
    clause that ends the message."""
    if measure.form is not None or (measure.declaration.of != "conversation" and measure.declaration not in shares):
        raise InputError(
            f"{asked} is computed over many conversations at once, so {why}",
            allowed=list_forms((*shares, *single_measures())),
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
    """Return a system's cells of measures of single conversations, taken from a table of scores."""
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

    @cache
    def judged() -> Judged:
        return (judges or Judges()).judged(material.layers)

    topics = {topic.id: topic for topic in material.topics.topics}
    found: dict[str, Values] = {system: {} for system in systems}
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


def _missing_input_notes(measures: Sequence[Measure], material: Material) -> Iterator[str]:
    lacking = [one.base_name for one in measures if "gold" in one.declaration.needs] if material.gold is None else []
    if lacking:
        has = "has" if len(lacking) == 1 else "have"
        yield f"{', '.join(dict.fromkeys(lacking))} {has} no value: the run has no gold table."
