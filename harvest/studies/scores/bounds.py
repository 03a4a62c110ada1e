"""Validate the thresholds of an audit, and check scores against them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from harvest.audits.scoring_section import Threshold
from harvest.studies.scores.lost_bounds import LostBounds
from harvest.studies.scores.trial_values import SHARES
from recordings.files.json_text import Json
from scoring.forms.worst import tail_kind
from scoring.inference.tails import tail_share, trials_needed
from scoring.library import read_term
from scoring.measure import Measure
from scoring.measures.usefulness import MEAN_USEFUL, USEFUL
from scoring.notation import Term, parse
from scoring.scores import SHIPPED
from scoring.settings import Estimand, Settings
from scoring.swan.schema import Schema, load_schema
from scoring.table import ScoreRow, ScoreTable, is_percentage
from topics.errors import InputError
from topics.topic import TopicSet
from topics.yaml_values import Loc

if TYPE_CHECKING:  # would import drivers and simulators, which recordings do not need
    from harvest.audits.audit import Audit


def check_bounds(audit: Audit) -> None:
    """Raise InputError, with a place in the audit, for a threshold that could never be checked."""
    if not audit.thresholds:
        return
    schema = load_schema(SHIPPED)
    for i, threshold in enumerate(audit.thresholds):
        _check_threshold(threshold, audit, schema, ("thresholds", i))


def _check_threshold(threshold: Threshold, audit: Audit, schema: Schema, loc: Loc) -> None:
    document, topics, systems = audit.document, audit.topics, [system.name for system in audit.played]
    if (threshold.at_least is None) == (threshold.at_most is None):
        raise document.error(loc, "a threshold needs exactly one bound", allowed="at_least, at_most")
    try:
        measures = read_term(parse(threshold.measure), Settings(), topics, schema)
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
        kind, beta = tail_kind(measure), measure.number
        needed = trials_needed(beta, kind) if measure.within else 0
        fewest = audit.trial_range[0]
        if fewest < needed:
            # Refused early: with these trials, the run could not be scored.
            raise document.error(
                (*loc, "measure"),
                f"{threshold.measure} needs {needed:g} trials of each topic, and the audit plays {fewest}",
                allowed=f"at least {needed:g} trials (10 divided by {tail_share(kind, beta):g})",
                advice=f"play {needed:g} trials, or leave out within=topics: then all topics and trials count together",
            )
    least, most = min(one.range[0] for one in measures), max(one.range[1] for one in measures)
    for key in ("at_least", "at_most"):
        bound = getattr(threshold, key)
        if bound is not None and not least <= bound <= most:
            raise document.error(
                (*loc, key),
                f"{bound:g} is outside the range of {threshold.measure}",
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
    document, turn = audit.document, _turn_of(threshold, measure)
    if measure.declaration is not USEFUL:
        if turn is not None:
            raise document.error(
                (*loc, "turn"), f"{threshold.measure} does not apply to a single turn", advice="remove `turn`"
            )
        return
    if turn is None:
        raise document.error(loc, f"{USEFUL.name} needs a turn", advice=f"add turn: 1, or bound {MEAN_USEFUL.name}")
    if measure.turn is not None and threshold.turn not in (None, measure.turn):
        raise document.error(
            (*loc, "turn"),
            f"{threshold.measure} has another turn than `turn`, {threshold.turn}",
            advice="remove `turn`",
        )
    most = max(audit.protocol.most_turns(topic) for topic in audit.topics.topics)
    if turn > most:
        where = (*loc, "measure") if threshold.turn is None else (*loc, "turn")
        raise document.error(where, f"the protocol has no turn {turn}", allowed=f"1 to {most}" if most > 1 else "1")


def _turn_of(threshold: Threshold, measure: Measure) -> int | None:
    return measure.turn if threshold.turn is None else threshold.turn


def measures_needed(thresholds: Sequence[Threshold]) -> list[Term]:
    """Return the measures that these thresholds need. %useful is computed for all turns or for none."""
    terms = [parse(threshold.measure) for threshold in thresholds]
    return [Term(USEFUL.name) if term.name == USEFUL.name else term for term in terms]


def share_terms(terms: Sequence[Term]) -> list[Term]:
    """Return the terms that are shares over conversations. The effect of losses is computed only for shares."""
    return list(dict.fromkeys(Term(term.name) for term in terms if term.name in {one.name for one in SHARES}))


Verdict = Literal["kept", "missed", "cannot tell", "not measured"]


@dataclass(frozen=True, slots=True)
class CheckedBound:
    """A threshold checked against one figure. `row` is the figure, or None if there is no such figure. `verdict` is
    `kept` if the whole interval meets the bound, `missed` if no part of it does, and otherwise `cannot tell`. If
    the figure is undefined or has no interval, `verdict` is `not measured`, and `why` has the reason."""

    bound: Threshold
    row: ScoreRow | None
    verdict: Verdict
    why: str = ""

    @property
    def name(self) -> str:
        return self.bound.measure + (f" of turn {self.bound.turn}" if self.bound.turn else "")

    def as_json(self) -> dict[str, Json]:
        """Return the JSON object for `--json`, with null for undefined numbers."""
        row = self.row
        numbers = {key: getattr(row, key, math.nan) for key in ("value", "low", "high")}
        return {
            **self.bound.model_dump(exclude_none=True),
            "system": row.system if row else self.bound.system,
            **{key: value if math.isfinite(value) else None for key, value in numbers.items()},
            "n": row.n if row else 0,
            "verdict": self.verdict,
            "why": self.why,
        }


def checked_bounds(
    thresholds: Sequence[Threshold],
    table: ScoreTable,
    topics: TopicSet,
    schema: Schema | None = None,
    *,
    speaking_of: Callable[[Estimand], ScoreTable] | None = None,
    lost: Callable[[ScoreRow, Estimand], LostBounds] | None = None,
) -> tuple[CheckedBound, ...]:
    """Check every threshold against the figures to which it applies.

    `schema` is the schema of SWAN, by default the shipped schema. `speaking_of` returns a table with intervals for
    another estimand; it is called at most once for each estimand that a threshold asks for. `lost` returns the
    range of a figure if lost trials are counted, and this range must also meet the bound. If `lost` is None,
    nothing was lost.
    """
    found: list[CheckedBound] = []
    tables = {table.settings.estimand: table}
    for bound in thresholds:
        # The table has full names: `CVaR(R)` is `CVaR(R, beta=0.25)` there.
        asked = parse(bound.measure)
        schema = schema or load_schema(SHIPPED)
        made = read_term(asked, Settings(), topics, schema)
        full = next(one for one in made if one.term.name == asked.name)
        turn = _turn_of(bound, full)
        wanted = bound.estimand or table.settings.estimand
        if wanted not in tables:
            if speaking_of is None:
                raise ValueError(f"a bound asks for {wanted}, but there is no function for its intervals")
            tables[wanted] = speaking_of(wanted)
        there = [
            row
            for row in tables[wanted].joint
            if row.measure == (full.base.name if full.turn else full.name) and row.topic is None and row.trial is None
        ]
        rows = [
            row
            for row in there
            if (bound.system is None or row.system == bound.system)
            and (row.topic_type, row.turn) == (bound.topic_type, turn)
        ]
        if not rows:
            found.append(CheckedBound(bound, None, "not measured", _missing_words(bound, turn, there)))
        found += [
            _check_losses(bound, row, full.range, LostBounds("") if lost is None else lost(row, wanted)) for row in rows
        ]
    return tuple(found)


def _missing_words(bound: Threshold, turn: int | None, there: Sequence[ScoreRow]) -> str:
    """Say which part of a bound names no figure, and what could be named. `there` are the figures of its measure."""
    missing = "this figure does not exist"
    for name, wanted in (("system", bound.system), ("turn", turn), ("topic_type", bound.topic_type)):
        known = dict.fromkeys(getattr(row, name) for row in there)
        if there and wanted not in known and not (name == "system" and wanted is None):
            named = [str(one) for one in known if one is not None]
            return f"{missing}; {name}: {', '.join(named)}" if named else f"{missing}; leave out {name}"
    return missing


def _check_losses(bound: Threshold, row: ScoreRow, reach: tuple[float, float], lost: LostBounds) -> CheckedBound:
    found = _check_figure(bound, row, reach)
    if not lost.why or found.verdict == "not measured" or found.why:
        return found
    ends = [_check_figure(bound, one, reach) for one in lost.rows]
    if lost.rows and all(one.verdict == found.verdict for one in ends):
        return found
    values = sorted(one.value for one in lost.rows)
    between = f"; with all of it {row.shown(values[0])} to {row.shown(values[-1])}" if values else ""
    return CheckedBound(bound, row, "cannot tell", f"{lost.why}{between}")


def _check_figure(bound: Threshold, row: ScoreRow, reach: tuple[float, float]) -> CheckedBound:
    if math.isnan(row.value):
        return CheckedBound(bound, row, "not measured", row.note or "it is undefined")
    least, most = reach
    # For an upper bound, compare with signs reversed.
    sign, limit, free = (1, bound.at_least, least) if bound.at_least is not None else (-1, bound.at_most, most)
    assert limit is not None
    if sign * limit <= sign * free:
        return CheckedBound(bound, row, "kept", "no value of this measure lies beyond")
    if bound.judge == "estimate":
        return CheckedBound(bound, row, "kept" if sign * row.value >= sign * limit else "missed")
    if math.isnan(row.low):
        return CheckedBound(
            bound, row, "not measured", "it has no interval; `judge: estimate` bounds the figure itself"
        )
    near, far = (row.low, row.high) if sign > 0 else (row.high, row.low)
    if sign * near >= sign * limit:
        return CheckedBound(bound, row, "kept")
    return CheckedBound(bound, row, "missed" if sign * far < sign * limit else "cannot tell")


def exit_code(found: Sequence[CheckedBound], *, strict: bool) -> int:
    """Return the exit code: 1 if a bound was missed, and 3 if a figure was not measured or, with `strict`, is
    undecided. Otherwise, returns 0."""
    verdicts = {one.verdict for one in found}
    if "missed" in verdicts:
        return 1
    return 3 if "not measured" in verdicts or (strict and "cannot tell" in verdicts) else 0
