"""Once it fails, does it go on failing? P(fails next | failed) beside P(fails next | was useful), with a test.

A system that fails on hard topics fails twice on them without one failure leading to the next. So trials are compared
within each topic and step only: among trials of the same topic at the same turn, if the last label does not matter, the
next ones could as well be dealt out anew. That is the exact conditional test of `scoring.statistics.stratified` with
(topic, step) as stratum. The steps of one topic share their labels, and still the product of hypergeometric laws holds:
given a turn's labels, each way of dealing out the next turn's is equally likely, whatever came before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.measures.usefulness import Share, share
from scoring.statistics.stratified import StratifiedTest, compare_within
from scoring.stochastic.chain import STATES

__all__ = ["Ended", "Persistence", "persistence"]

Ended = Literal["fails", "left out"]


@dataclass(frozen=True, slots=True)
class Persistence:
    """after_x, after_o: P(fails next), each a share over topics with its interval. test: of their difference within
    topic and step; `more` is the p-value for "it goes on failing". ended: what a conversation that ended counts as.
    """

    after_x: Share
    after_o: Share
    test: StratifiedTest
    ended: Ended


def persistence(
    labels: npt.ArrayLike, topics: Sequence[str], *, level: float = 0.95, ended: Ended = "fails"
) -> Persistence:
    """labels: (topics, trials, turns) codes as for `scoring.stochastic.chain.chain`. topics: names.

    ended: a conversation that broke down after a turn failed the next one, as in %recovery, or is left out of that
    step. One whose next turn was not asked is left out either way.
    Trials of one topic must be independent: conversations of one session that goes on through the topics are, as long
    as each topic stands once in it. NaN with n = 0 where no topic has both kinds of trials.
    """
    grid = np.asarray(labels)
    if grid.ndim != 3 or len(grid) != len(topics):
        raise ValueError(f"labels must be ({len(topics)} topics, trials, turns), not {grid.shape}")
    useful, useless, gone = (STATES.index(state) for state in ("o", "x", "-"))
    before, after = grid[:, :, :-1], grid[:, :, 1:]
    open_ = ((before == useful) | (before == useless)) & np.isin(after, (useful, useless, gone))
    if ended == "left out":
        open_ &= after != gone
    failed, fails = open_ & (before == useless), open_ & (after != useful)

    def counted(cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        return np.asarray(cells.sum(axis=1), dtype=np.int64).ravel()

    test = compare_within(counted(failed & fails), counted(failed), counted(fails), counted(open_))
    return Persistence(
        _share(fails & failed, failed, topics, level),
        _share(fails & ~failed, open_ & ~failed, topics, level),
        test,
        ended,
    )


def _share(above: npt.NDArray[np.bool_], below: npt.NDArray[np.bool_], topics: Sequence[str], level: float) -> Share:
    top, bottom = above.sum(axis=2).astype(np.float64), below.sum(axis=2).astype(np.float64)
    if len(topics) == 1:  # within one topic the trials are the units
        top, bottom = top.T, bottom.T
    names = [str(number) for number in range(len(top))]
    return share(names, top, bottom, np.zeros(top.shape, dtype=bool), level=level, pooled=True)
