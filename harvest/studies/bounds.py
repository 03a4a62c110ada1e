"""The thresholds of an audit beside its figures: whether a figure can keep them, what they need, and whether it did."""

from __future__ import annotations

from collections.abc import Sequence

from harvest.audits.audit import Audit
from harvest.audits.threshold import Threshold
from scoring.catalogue import understand
from scoring.measure import Measure
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import Term, parse
from scoring.scores import SHIPPED
from scoring.settings import Settings
from scoring.statistics.tails import trials_needed
from scoring.swan.schema import Schema, load_schema
from scoring.table import ScoreRow, ScoreTable, is_percentage
from topics.document import Loc
from topics.errors import InputError
from topics.topic import TopicSet

__all__ = ["check_bounds", "measures_needed", "missed_bounds"]


def check_bounds(audit: Audit) -> None:
    """Raises InputError, with its place, for a bound that no figure of the audit could ever meet or miss."""
    if not audit.thresholds:
        return
    schema = load_schema(SHIPPED)
    for i, threshold in enumerate(audit.thresholds):
        _check(threshold, audit, schema, ("thresholds", i))


def _check(threshold: Threshold, audit: Audit, schema: Schema, loc: Loc) -> None:
    document, topics, systems = audit.document, audit.topics, [system.name for system in audit.played]
    if (threshold.at_least is None) == (threshold.at_most is None):
        raise document.error(loc, "a threshold has exactly one bound", allowed="at_least, at_most")
    try:
        measures = understand(parse(threshold.measure), Settings(), topics, schema)
    except InputError as fault:
        raise document.error(
            (*loc, "measure"), f"measure: {fault.what}", allowed=fault.allowed, advice=fault.advice
        ) from None
    _check_turn(threshold, audit, measures[0], loc)
    if audit.gold is None and any("gold" in measure.declaration.needs for measure in measures):
        raise document.error(
            (*loc, "measure"),
            f"{threshold.measure} needs a gold table and the audit has none, so the threshold can never be checked",
            advice=f"add gold: NAME to the audit, or choose a measure that needs none, such as {USEFUL.name}",
        )
    for measure in measures:
        needed = trials_needed(measure.number) if measure.within else 0
        fewest = audit.trial_range[0]
        if fewest < needed:
            # Refused now: once the trials are played, the run could not be scored.
            raise document.error(
                (*loc, "measure"),
                f"{threshold.measure} needs {needed} trials of each topic, and the audit plays {fewest}",
                allowed=f"at least {needed} trials (10 divided by {measure.number:g})",
                advice=f"play {needed} trials, or leave out within=topics: then all topics and trials count together",
            )
    least, most = min(one.range[0] for one in measures), max(one.range[1] for one in measures)
    for key in ("at_least", "at_most"):
        bound = getattr(threshold, key)
        if bound is not None and not least <= bound <= most:
            raise document.error(
                (*loc, key),
                f"{bound:g} is not a value of {threshold.measure}",
                allowed=f"{least:g} to {most:g}" + (" (for 80%, write 0.8)" if is_percentage(measures[0].name) else ""),
            )
    if threshold.system is not None and threshold.system not in systems:
        raise document.error((*loc, "system"), f"no system is called {threshold.system!r}", allowed=", ".join(systems))
    types = list(dict.fromkeys(topic.type.name for topic in topics.topics))
    if threshold.topic_type is not None and threshold.topic_type not in types:
        raise document.error(
            (*loc, "topic_type"), f"no topic is of type {threshold.topic_type!r}", allowed=", ".join(types)
        )


def _check_turn(threshold: Threshold, audit: Audit, measure: Measure, loc: Loc) -> None:
    """`%useful S1` and `%useful` with `turn: 1` say the same."""
    document, turn = audit.document, _turn(threshold, measure)
    if measure.declaration is not USEFUL:
        if turn is not None:
            raise document.error(
                (*loc, "turn"), f"{threshold.measure} does not apply to a single turn", advice="remove it"
            )
        return
    if turn is None:
        raise document.error(loc, f"{USEFUL.name} is of a turn", advice=f"add turn: 1, or bound {MEAN_USEFUL.name}")
    if measure.turn is not None and threshold.turn not in (None, measure.turn):
        raise document.error(
            (*loc, "turn"), f"{threshold.measure} names another turn than {threshold.turn}", advice="remove it"
        )
    most = max(audit.protocol.most_turns(topic) for topic in audit.topics.topics)
    if turn > most:
        where = (*loc, "measure") if threshold.turn is None else (*loc, "turn")
        raise document.error(where, f"the protocol has no turn {turn}", allowed=f"1 to {most}" if most > 1 else "1")


def _turn(threshold: Threshold, measure: Measure) -> int | None:
    return measure.turn if threshold.turn is None else threshold.turn


def measures_needed(thresholds: Sequence[Threshold]) -> list[Term]:
    """The measures that must be computed to know. %useful is computed of all turns, or of none."""
    terms = [parse(threshold.measure) for threshold in thresholds]
    return [Term(USEFUL.name) if term.name == USEFUL.name else term for term in terms]


def missed_bounds(
    thresholds: Sequence[Threshold], table: ScoreTable, topics: TopicSet, schema: Schema | None = None
) -> list[str]:
    """A sentence for each bound that is not kept; a figure that is undefined or absent keeps no bound.

    schema: by which SWAN was taken, the shipped one by default.
    """
    misses = []
    for bound in thresholds:
        # The table names a measure in full: of `CVaR(R)` it holds `CVaR(R, beta=0.25)`.
        asked = parse(bound.measure)
        schema = schema or load_schema(SHIPPED)
        made = understand(asked, Settings(), topics, schema)
        full = next(one for one in made if one.term.name == asked.name)
        turn = _turn(bound, full)
        rows = [
            row
            for row in table.rows
            if row.measure == (full.base.name if full.turn else full.name)
            and (bound.system is None or row.system == bound.system)
            and (row.topic_type, row.turn) == (bound.topic_type, turn)
            and row.topic is None
            and row.trial is None
        ]
        name = bound.measure + (f" of turn {bound.turn}" if bound.turn else "")
        if not rows:
            misses.append(f"{name}: this figure does not exist")
        for row in rows:
            if bound.at_least is not None and not row.value >= bound.at_least:
                wanted = f"at least {_shown(bound.at_least, row)}"
            elif bound.at_most is not None and not row.value <= bound.at_most:
                wanted = f"at most {_shown(bound.at_most, row)}"
            else:
                continue
            misses.append(f"{name}, {row.system}: {row.shown(row.value)}, wanted {wanted}")
    return misses


def _shown(bound: float, row: ScoreRow) -> str:
    """A bound as the tables show values of its measure, with all the digits that were given."""
    return f"{100 * bound:g}%" if is_percentage(row.measure) else f"{bound:g}"
