"""In which order the topics of a trial are played.

    as-written   as the topic set has them
    shuffled     in an order drawn for each trial
    latin        by the rows of a Williams square: over as many trials as topics (twice as many, if their number is odd)
                 each topic has each place equally often, and follows each other topic equally often

The order is the same for all systems and groups, so that what is compared was played at the same place. It is drawn
from the audit's seed and the number of the trial alone: a run that is resumed, or played on another machine, has the
same order.

Source: E. J. Williams, "Experimental designs balanced for the estimation of residual effects of treatments", Australian
Journal of Scientific Research A 2 (1949), 149-168.
"""

from collections.abc import Sequence
from typing import TypeVar

from harvest.audits.audit_file import Order
from topics.identity import generator

_T = TypeVar("_T")
_PURPOSE = "order of topics"


def order_topics(topics: Sequence[_T], order: Order, *, trial: int, seed: int) -> tuple[_T, ...]:
    """All of `topics`, in the order of one trial. trial: from 1."""
    match order:
        case "as-written":
            return tuple(topics)
        case "shuffled":
            return _drawn(topics, seed, trial)
        case "latin":
            labels = _drawn(topics, seed, "topics")
            rows = len(labels) if len(labels) % 2 == 0 else 2 * len(labels)
            row = _drawn(range(rows), seed, "rows")[(trial - 1) % rows] if rows else 0
            return tuple(labels[place] for place in _williams_row(row, len(labels)))


def _drawn(values: Sequence[_T], seed: int, *names: str | int) -> tuple[_T, ...]:
    places = generator(seed, _PURPOSE, *names).permutation(len(values))
    return tuple(values[place] for place in places)


def _williams_row(row: int, n: int) -> list[int]:
    """Row `row` of the square of n treatments: 0, 1, n-1, 2, n-2, …, each moved on by `row`. The rows from n on, of odd
    n, are those before them backwards."""
    first = [(place + 1) // 2 if place % 2 else n - place // 2 for place in range(n)]
    moved = [(one + row) % n for one in first]
    return moved[::-1] if row >= n else moved
