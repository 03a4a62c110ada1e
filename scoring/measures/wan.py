"""WAN(Criterion): the weighted mean score of the nuggets of a conversation by one criterion."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.measure import Declaration, Measure, Parameter, TermContext, refuse_arguments, refuse_parameters
from scoring.notation import Term, number_text, parse
from scoring.swan.schema import PLACELESS, Criterion, Schema
from scoring.swan.scorers import CORRECTED, SCORERS, UNCHECKED
from scoring.swan.weighting import Weighting, parse_weighting
from topics.errors import InputError

if TYPE_CHECKING:
    from scoring.material import Material


FIRST_NUGGET = "first_nugget"


def criterion_of(measure: Measure, schema: Schema) -> str:
    """Return the name of the measure's criterion in the schema."""
    return schema[str(measure.base.arguments[0])].name


def weighted_schema(schema: Schema, term: Term) -> Schema:
    """Return the schema with the weighting and the form of turn-level scores of a SWAN or WAN. Criteria of dialogues
    and sets keep their weighting."""
    if term.get("weights") is not None:
        weighting = _weighting(term)
        criteria = (one if one.level in PLACELESS else replace(one, weighting=weighting) for one in schema)
        schema = replace(schema, criteria=tuple(criteria))
    if term.get("turn_scores") is not None:
        criteria = (replace(one, first_nugget=_has_turn_scores(one)) for one in schema)
        schema = replace(schema, criteria=tuple(criteria))
    return schema


def _has_turn_scores(criterion: Criterion) -> bool:
    return criterion.level == "turn" and criterion.speaker == "system" and not criterion.values


def read_weighted_term(declaration: Declaration, term: Term, context: TermContext) -> tuple[Measure, ...]:
    """Return the measure with its weighting in canonical form. Raises InputError for an invalid weighting or an
    unknown form of turn-level scores."""
    parameters = dict(term.parameters)
    if "weights" in parameters:
        parameters["weights"] = parse(str(_weighting(term)))
    form = term.get("turn_scores")
    if form is not None and str(form) != FIRST_NUGGET:
        raise InputError(
            f"{term}: {form} is not a form of turn-level scores",
            allowed=f"turn_scores={FIRST_NUGGET}, or nothing for one item per turn",
        )
    term = Term(term.name, term.arguments, tuple(parameters.items()))
    return (Measure(term, term, context.settings, declaration),)


def drop_scorers(term: Term, own: int) -> Term:
    """Return the term without the scorers that follow the first `own` arguments in printed measures."""
    if all(str(value) in (*SCORERS.values(), CORRECTED, UNCHECKED) for value in term.arguments[own:]):
        return Term(term.name, term.arguments[:own], term.parameters)
    return term


def _weighting(term: Term) -> Weighting:
    weights = term.get("weights")
    try:
        return parse_weighting(str(weights) if isinstance(weights, Term) else repr(weights))
    except ValueError as fault:
        raise InputError(f"{term}: {fault}") from None


def read_wan(declaration: Declaration, term: Term, context: TermContext, *, sets: bool = False) -> tuple[Measure, ...]:
    """Return the measure that a term names, also for a criterion of sets if `sets`. Raises InputError."""
    refuse_parameters(term, [one.name for one in declaration.parameters])
    term, schema = drop_scorers(term, 1), context.schema
    refuse_arguments(declaration, term)
    inside = term.arguments[0]
    name = number_text(inside) if isinstance(inside, float) else str(inside)
    try:
        criterion = schema[name]
    except InputError as fault:
        known = ", ".join(one.written_name for one in schema)
        raise InputError(f"{term}: {fault.what}", allowed=known) from None
    if criterion.level == "set" and not sets:
        raise InputError(
            f"{term}: {criterion.name} has only one score for all conversations of a topic",
            allowed=", ".join(one.written_name for one in schema if one.level != "set"),
            advice=f"ask `harvest score` for pooled({term if declaration is WAN else Term(WAN.name, (inside,))})",
        )
    if criterion.values:
        own = criterion.written_name
        raise InputError(f"{term}: {own} has values, not scores", advice=f"write share_of({own})")
    if term.get("turn_scores") is not None and not _has_turn_scores(criterion):
        raise InputError(
            f"{term}: {criterion.written_name} does not score system turns",
            allowed=", ".join(one.written_name for one in schema if _has_turn_scores(one)),
            advice=f"leave out turn_scores={FIRST_NUGGET}",
        )
    term = Term(term.name, (Term(criterion.written_name),), term.parameters)
    return read_weighted_term(declaration, term, context)


def _score(material: "Material", measure: Measure) -> Figure:
    assessment, schema = material.assessment, weighted_schema(material.judged().schema, measure.base)
    criterion = criterion_of(measure, schema)
    if schema[criterion].level == "set":
        return Figure(measure.name, math.nan, 0, note="scored once for all conversations of a topic")
    one = assessment.wans(schema)[criterion]
    by = ", ".join(map(str, assessment.sources[criterion]))
    note = f"scored by {by}" if by else "; ".join(("it was not scored", *schema[criterion].reasons_without_score))
    return Figure(measure.name, one.value, one.n, note=note)


def _item_weighting(measure: Measure, schema: Schema) -> Weighting | None:
    criterion = weighted_schema(schema, measure.base)[criterion_of(measure, schema)]
    return None if criterion.first_nugget else criterion.weighting


WEIGHTS = Parameter(
    "weights", "weight of a nugget by its position: uniform, linear(L=1250), last_turn, anchored, effort"
)
TURN_SCORES = Parameter(
    "turn_scores", f"{FIRST_NUGGET}: the score of a turn is that of its first nugget, and its other nuggets score 0"
)

WAN = Declaration(
    name="WAN",
    sentence="The weighted mean score of the nuggets of a conversation by one criterion.",
    of="conversation",
    formula="Σ NW(n)·S(n) / Σ NW(n) over the nuggets that the criterion scores",
    source="[SWAN] Eq. 2, its denominator over the nuggets of the criterion",
    undefined="the criterion scores nothing",
    example="WAN(Correctness, weights=uniform)",
    n="scored nuggets or turns",
    needs=("judgments",),
    parameters=(WEIGHTS, TURN_SCORES),
    written=("WAN(Correctness)",),
    arguments=(1, 1),
    legend="one criterion",
    score=_score,
    read=read_wan,
    criterion=criterion_of,
    weighting=_item_weighting,
)
