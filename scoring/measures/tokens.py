"""tokens_in, tokens_out and cost: how many tokens a conversation takes, and how much they cost.

The system reports the counts. If a turn has no count, the figure is undefined, because the sum over the other turns
would be too small.
"""

import math
from functools import partial
from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.inference.interval import FEWEST_WITHOUT_END
from scoring.measure import Declaration, Measure

if TYPE_CHECKING:
    from scoring.material import Material

_PROMPT_TOKENS, _COMPLETION_TOKENS = "prompt", "completion"
# The number of tokens that a price refers to.
_TOKENS_PER_PRICE = 1_000_000


def _sum_tokens(material: "Material", kind: str) -> tuple[float, int]:
    counts = [turn.reply.tokens.get(kind) for turn in material.conversation.turns if turn.reply is not None]
    known = [count for count in counts if count is not None]
    return (float(sum(known)), len(known)) if known and len(known) == len(counts) else (math.nan, 0)


def _score_cost(material: "Material", measure: Measure) -> Figure:
    system = material.conversation.key.system
    to_read, to_write = material.settings.input_prices.get(system), material.settings.output_prices.get(system)
    if to_read is None or to_write is None:
        return Figure(measure.name, math.nan, 0, note=f"no price is given for {system}")
    (read, n), (written, counted) = _sum_tokens(material, _PROMPT_TOKENS), _sum_tokens(material, _COMPLETION_TOKENS)
    return Figure(measure.name, (read * to_read + written * to_write) / _TOKENS_PER_PRICE, min(n, counted))


_of_tokens = partial(
    Declaration,
    of="conversation",
    n="turns with a count",
    range=(0.0, math.inf),
    good="low",
    has_top=False,
    fewest_topics=FEWEST_WITHOUT_END,
)
TOKENS_IN = _of_tokens(
    name="tokens_in",
    sentence="How many tokens a conversation gives a system to read, with the history that is sent again each turn.",
    formula="sum over answered turns of the prompt tokens that the system reports",
    source="`usage` of OpenAI-compatible servers",
    undefined="the system reports no count for one of the turns",
    example="tokens_in",
    called=("shortest", "longest"),
    score=lambda material, measure: Figure(measure.name, *_sum_tokens(material, _PROMPT_TOKENS)),
)
TOKENS_OUT = _of_tokens(
    name="tokens_out",
    sentence="How many tokens a system writes in a conversation.",
    formula="sum over answered turns of the completion tokens that the system reports",
    source="`usage` of OpenAI-compatible servers",
    undefined="the system reports no count for one of the turns",
    example="tokens_out",
    called=("shortest", "longest"),
    score=lambda material, measure: Figure(measure.name, *_sum_tokens(material, _COMPLETION_TOKENS)),
)
COST = _of_tokens(
    name="cost",
    sentence="What the tokens of a conversation cost, in the currency of the prices.",
    formula="(tokens_in · input price + tokens_out · output price) / 1,000,000",
    source="price lists of language models, which are per million tokens",
    undefined="the system reports no count for one of the turns, or the scoring settings have no price for it",
    example="cost",
    called=("cheapest", "dearest"),
    score=_score_cost,
)
