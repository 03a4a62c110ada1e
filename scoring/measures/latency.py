"""TTFT and latency: how long a user waits until an answer begins, and until it is whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from scoring.measure import Declaration, Figure, Measure

if TYPE_CHECKING:
    from recordings.conversation import SystemTurn
    from scoring.material import Material

__all__ = ["LATENCY", "TTFT"]


def _mean(material: Material, measure: Measure, seconds: Callable[[SystemTurn], float | None]) -> Figure:
    """The mean over the turns that were answered and whose times are known."""
    replies = (turn.reply for turn in material.conversation.turns)
    known = [waited for reply in replies if reply is not None and (waited := seconds(reply)) is not None]
    return Figure(measure.name, math.fsum(known) / len(known) if known else math.nan, len(known))


TTFT = Declaration(
    name="TTFT",
    sentence="How many seconds pass from a user turn until its answer begins.",
    of="conversation",
    formula="mean over answered turns of the seconds from sending to the first piece of the answer",
    source="time to first token, as servers of language models report it; on a page, to the first words shown",
    undefined="no turn was answered, or the recording has no times",
    example="TTFT",
    n="turns with a time",
    range=(0.0, math.inf),
    good="low",
    has_top=False,
    score=lambda material, measure: _mean(material, measure, lambda reply: reply.first_seconds),
)
LATENCY = Declaration(
    name="latency",
    sentence="How many seconds pass from a user turn until its answer is whole.",
    of="conversation",
    formula="mean over answered turns of the seconds from sending to the last piece of the answer",
    source="response time, as in load tests",
    undefined="no turn was answered, or the recording has no times",
    example="latency",
    n="turns with a time",
    range=(0.0, math.inf),
    good="low",
    has_top=False,
    score=lambda material, measure: _mean(material, measure, lambda reply: reply.seconds),
)
