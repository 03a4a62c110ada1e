"""breakdown: whether the protocol gave up on a conversation."""

from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.measure import Declaration, Measure

if TYPE_CHECKING:
    from scoring.material import Material

# The kind of outcome of a conversation that the protocol gave up.
_GIVEN_UP = "breakdown"


def _score(material: "Material", measure: Measure) -> Figure:
    outcome = material.conversation.outcome
    return Figure(measure.name, float(outcome is not None and outcome.kind == _GIVEN_UP), 1)


BREAKDOWN = Declaration(
    name="breakdown",
    sentence="Whether the protocol gave up the conversation: 1 if it did, 0 if not.",
    of="conversation",
    formula="1 where the conversation ended as a breakdown, else 0",
    source="[GFRC] §5",
    undefined="never",
    example="breakdown",
    n="1",
    good="low",
    event=True,
    score=_score,
)
