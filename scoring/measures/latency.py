"""TTFT and latency: the time from a user's message to the beginning, and to the end, of the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recordings.files.times import unix_seconds
from scoring.figure import Figure
from scoring.inference.interval import FEWEST_WITHOUT_END
from scoring.measure import Declaration, Measure

if TYPE_CHECKING:
    from recordings.conversations.conversation import Conversation, SystemTurn
    from scoring.material import Material

_MIDDLE_QUANTILES = (0.05, 0.95)  # quantiles of the turns: the beginning and the end of a run are left out


def _mean_figure(material: Material, measure: Measure, seconds: Callable[[SystemTurn], float | None]) -> Figure:
    replies = (turn.reply for turn in material.conversation.turns)
    known = [waited for reply in replies if reply is not None and (waited := seconds(reply)) is not None]
    return Figure(measure.name, math.fsum(known) / len(known) if known else math.nan, len(known))


def load_notes(conversations: Iterable[Conversation]) -> Iterator[str]:
    """Yield a note for each system that answered several turns at once, since load slows answers."""
    times: dict[str, list[tuple[float, float]]] = {}
    for one in conversations:
        for turn in one.turns:
            if turn.reply is not None and turn.reply.seconds is not None and turn.reply.asked_at:
                began = unix_seconds(turn.reply.asked_at)
                times.setdefault(one.key.system, []).append((began, began + turn.reply.seconds))
    for system, spans in sorted(times.items()):
        begins, ends = np.sort(np.array(spans), axis=0).T
        under_way = np.searchsorted(begins, begins, side="right") - np.searchsorted(ends, begins, side="right")
        low, high = (int(np.quantile(under_way, share, method="nearest")) for share in _MIDDLE_QUANTILES)
        if high > 1:
            many = str(high) if low == high else f"{low} to {high}"
            yield f"{system}: {many} turns under way at a time, for 90% of them; how long one takes depends on that."


_of_seconds = partial(
    Declaration,
    of="conversation",
    undefined="no turn was answered, or the recording has no times",
    n="turns with a time",
    range=(0.0, math.inf),
    good="low",
    has_top=False,
    fewest_topics=FEWEST_WITHOUT_END,
    called=("fastest", "slowest"),
    notes=load_notes,
)
TTFT = _of_seconds(
    name="TTFT",
    sentence="How many seconds pass from a user turn until its answer begins.",
    formula="mean over answered turns of the seconds from sending to the first piece of the answer",
    source="time to first token, as servers of language models report it; on a page, to the first words shown",
    example="TTFT",
    score=lambda material, measure: _mean_figure(material, measure, lambda reply: reply.first_seconds),
)
LATENCY = _of_seconds(
    name="latency",
    sentence="How many seconds pass from a user turn until its answer is whole.",
    formula="mean over answered turns of the seconds from sending to the last piece of the answer",
    source="response time, as in load tests",
    example="latency",
    score=lambda material, measure: _mean_figure(material, measure, lambda reply: reply.seconds),
)
