"""Rows of what is taken over many conversations of a system: the worst case, and the pooled readings.

They are given for every topic type and for everything; the pooled readings also for every topic. Where a reading is
taken topic by topic, topics weigh the same, as in every mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recordings.conversation import Conversation
from scoring.asked import Asked
from scoring.catalogue import CHAINS
from scoring.forms.chains import chain_rows
from scoring.forms.readings import fairness_rows, swan_rows
from scoring.forms.worst import rate_rows, tail_rows
from scoring.statistics.bootstrap import Resampler
from scoring.summaries import SystemScores
from scoring.table import ScoreRow

__all__ = ["form_rows"]


def form_rows(
    asked: Asked,
    scores: SystemScores,
    conversations: Sequence[Conversation],
    resampler: Resampler,
    seed: int,
) -> Iterator[ScoreRow]:
    """Rows of one system. conversations: its valid ones. seed: of the tails' bootstrap; the order of measures changes
    nothing. Raises InputError where a worst case within topics is asked of a run that was to have too few trials.
    """
    for measure in asked.measures:
        if measure.form in ("Q", "CVaR", "min"):
            yield from tail_rows(measure, scores, seed, asked.planned)
        elif measure.form in CHAINS:
            yield from chain_rows(measure, scores, conversations)
        elif measure.form == "P":
            yield from rate_rows(measure, scores, asked.settings.level)
        elif measure.form and measure.attribute:
            yield from fairness_rows(measure, asked, scores, conversations, resampler)
        elif measure.form:
            yield from swan_rows(measure, asked, scores, resampler)
