"""SWAN of a conversation: the weighted mean of its WANs over the criteria of a schema."""

from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.measure import Declaration, Measure, TermContext, refuse_arguments, refuse_parameters
from scoring.measures.wan import TURN_SCORES, WEIGHTS, drop_scorers, read_weighted_term, weighted_schema
from scoring.notation import Term
from scoring.swan.wan import Swan

if TYPE_CHECKING:
    from scoring.material import Material


def conversation_swan(material: "Material", measure: Measure) -> Swan:
    """Return the SWAN of a conversation under the weighting of the measure, with the criteria that SWAN covers."""
    schema = weighted_schema(material.judged().schema, measure.base)
    return material.once((SWAN, measure.base), lambda: material.assessment.swan(schema))


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    refuse_parameters(term, [one.name for one in declaration.parameters])
    term = drop_scorers(term, 0)
    refuse_arguments(declaration, term)
    return read_weighted_term(declaration, term, asking)


def _score(material: "Material", measure: Measure) -> Figure:
    found, sources = conversation_swan(material, measure), material.assessment.sources
    said = "; ".join(f"{criterion} by {', '.join(map(str, sources[criterion]))}" for criterion in found.covered)
    return Figure(measure.name, found.value, found.n, note=said or "no criterion is scored")


SWAN = Declaration(
    name="SWAN",
    sentence="How good the nuggets of a conversation are, over all criteria together.",
    of="conversation",
    formula="Σ CW(c)·WAN(c) / Σ CW(c) over the criteria c that are defined",
    source="[SWAN] Eq. 1",
    undefined="no criterion is scored",
    example="SWAN(weights=linear(L=1250))",
    n="scored nuggets and turns",
    needs=("judgments",),
    parameters=(WEIGHTS, TURN_SCORES),
    legend="mean of criteria",
    score=_score,
    read=_read_term,
    swan=conversation_swan,
)
