"""The label chain of a system: its transitions, and whether failures follow failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from recordings.conversation import Conversation
from scoring.catalogue import Measure
from scoring.forms.part import form_row, parts
from scoring.measures.usefulness import Share, labels
from scoring.statistics.bootstrap import no_interval
from scoring.stochastic.chain import ABSENT, chain, codes
from scoring.stochastic.persistence import persistence
from scoring.summaries import SystemScores
from scoring.table import ScoreRow

__all__ = ["chain_rows"]


def chain_rows(measure: Measure, scores: SystemScores, conversations: Sequence[Conversation]) -> Iterator[ScoreRow]:
    """Transitions of the label chain, and whether failures follow failures."""
    cells = _labels(scores, conversations)
    for part in parts(scores.topics, each=True):
        rows = list(part.rows)
        names, here, lost = [scores.topics[row].id for row in rows], cells[rows], scores.invalid[rows]
        topics = None if part.topic is not None else len(rows)
        if measure.form == "persistence":
            found = persistence(here, names, level=scores.settings.level)
            after_x, after_o = found.after_x, found.after_o
            test = (
                f"association within conversations, given topic and turn: p={found.test.middle:.3g}; conversations "
                "that are worse throughout show it too"
                if found.test.n
                else "association within conversations: no topic has both kinds of trials to compare"
            )
            sides = f"{_shown(after_x)} after x (n={after_x.n}), {_shown(after_o)} after o (n={after_o.n})"
            note = f"fails next: {sides}; {test}"
            value, n = after_x.value - after_o.value, after_x.n + after_o.n
            yield form_row(scores, part, measure.name, value, n, no_interval(), topics=topics, note=note)
            continue
        (edge,) = chain(here, names, invalid=lost, level=scores.settings.level, only=measure.transition)
        share = edge.share
        yield form_row(
            scores,
            part,
            measure.name,
            share.value,
            share.n,
            share.interval,
            topics=topics,
            invalid=int(lost.sum()),
            worst=share.worst,
            best=share.best,
        )


def _shown(share: Share) -> str:
    return f"{share.value:.3f}" if share.n else "n/a"


def _labels(scores: SystemScores, conversations: Sequence[Conversation]) -> npt.NDArray[np.int8]:
    """(topics, trials, turns) codes of the labels; a turn the protocol cannot take on a topic has none."""
    most = max(scores.turns[topic.id] for topic in scores.topics)
    cells = np.full((len(scores.topics), len(scores.trials), max(most, 1)), ABSENT, dtype=np.int8)
    rows = {topic.id: row for row, topic in enumerate(scores.topics)}
    columns = {trial: column for column, trial in enumerate(scores.trials)}
    for one in conversations:
        turns = scores.turns[one.key.topic]
        cells[rows[one.key.topic], columns[one.key.trial], :turns] = codes([labels(one, turns)])[0]
    return cells
