"""A test of whether failures follow failures: P(fails next | failed) compared with P(fails next | was useful).

A system that fails on hard topics fails twice on them without one failure leading to the next. So trials are compared
within each topic and step only: if the last label does not matter, the next labels of trials of the same topic at the
same turn can be permuted among them. This is the exact conditional test of `scoring.statistics.stratified` with (topic,
step) as stratum. The steps of one topic share their labels, but the product of hypergeometric distributions is still
valid: given a turn's labels, each way to deal the next turn's labels is equally likely, whatever came before.

Only turns that were asked and answered count. A breakdown is the protocol's decision on the answer before it, and would
count that failure twice. The test finds association within conversations, whatever its cause: it cannot distinguish a
failure that leads to the next from conversations that are worse than others of their topic throughout.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from protocols.labels import NOT_USEFUL, USEFUL
from scoring.inference.design import INDEPENDENT, Design
from scoring.measures.usefulness import Share, share
from scoring.statistics.stratified import StratifiedTest, compare_within
from scoring.stochastic.chain import STATES


@dataclass(frozen=True, slots=True)
class Persistence:
    """P(fails next) after a failure and after a useful answer, over topics, and the test of their difference.

    The test's `middle` is the p-value for "failures follow failures within conversations".
    """

    after_x: Share
    after_o: Share
    test: StratifiedTest


def persistence(
    labels: npt.ArrayLike, topics: Sequence[str], *, level: float = 0.95, design: Design = INDEPENDENT
) -> Persistence:
    """Compare the two shares, and test their difference.

    labels: (topics, trials, turns) codes as for `scoring.stochastic.chain.chain`.
    topics: the names of the topics.
    design: the design for the intervals of the two shares.

    Trials of one topic must be independent. Conversations of a continued session are, as long as it has each topic
    once. The test is NaN with n = 0 if no topic has both kinds of trials.
    """
    grid = np.asarray(labels)
    if grid.ndim != 3 or len(grid) != len(topics):
        raise ValueError(f"labels must be ({len(topics)} topics, trials, turns), not {grid.shape}")
    answered = [STATES.index(USEFUL), STATES.index(NOT_USEFUL)]
    before, after = grid[:, :, :-1], grid[:, :, 1:]
    asked = np.isin(before, answered) & np.isin(after, answered)
    failed, fails = asked & (before == STATES.index(NOT_USEFUL)), asked & (after == STATES.index(NOT_USEFUL))

    def counted(cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        return np.asarray(cells.sum(axis=1), dtype=np.int64).ravel()

    test = compare_within(counted(failed & fails), counted(failed), counted(fails), counted(asked))
    return Persistence(
        _share(fails & failed, failed, topics, level, design),
        _share(fails & ~failed, asked & ~failed, topics, level, design),
        test,
    )


def _share(
    above: npt.NDArray[np.bool_], below: npt.NDArray[np.bool_], topics: Sequence[str], level: float, design: Design
) -> Share:
    top, bottom = above.sum(axis=2).astype(np.float64), below.sum(axis=2).astype(np.float64)
    unit = "trial" if len(topics) == 1 else "topic"
    if len(topics) == 1:  # within one topic the trials are the units
        top, bottom = top.T, bottom.T
    names = [str(number) for number in range(len(top))] if unit == "trial" else topics
    lost = np.zeros(top.shape, dtype=bool)
    return share(names, top, bottom, lost, level=level, pooled=True, unit=unit, design=design)
