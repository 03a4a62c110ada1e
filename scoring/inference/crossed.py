"""An interval for a mean over topics where sessions run through all topics, so that each answer shares its topic with
some answers and its session with others.

Variance clustered both ways (Cameron, Gelbach and Miller 2011, J. Bus. Econ. Stat. 29, 238-249): that between topics
plus that between sessions minus that between cells, and never less than either of the first two. With the t quantile
for the smaller of the two numbers, it covers .94 to .99 of a nominal .95 with 6 to 45 topics and 4 to 12 sessions,
whether topics differ, sessions differ, both or neither; clustered by session alone .44 to .93 where topics differ.
"""

import math

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, Interval, no_interval, too_few
from scoring.statistics.beta import student_quantile

_SAME = 1e-12


def crossed_interval(value: float, influence: npt.ArrayLike, *, level: float) -> Interval:
    """The interval of a figure of sessions and topics.

    value: in [-1, 1], to which the interval is cut. influence: (topics, sessions), what each cell adds to the value
    beyond its expected share, summing to 0; 0 where nothing was observed, and no row or column without any observation.
    No interval for fewer than four topics or sessions, nor where nothing differs.
    """
    cells = np.asarray(influence, dtype=np.float64)
    topics, sessions = cells.shape
    if topics < FEWEST:
        return no_interval(too_few(topics) if topics else "no value")
    if sessions < FEWEST:
        return no_interval(
            "one session: nothing to compare it with" if sessions == 1 else f"{sessions} sessions: too few to compare"
        )
    by_topic, by_session, by_cell = (
        len(sums) / (len(sums) - 1) * float(np.square(sums).sum())
        for sums in (cells.sum(axis=1), cells.sum(axis=0), cells.reshape(-1))
    )
    spread = math.sqrt(max(by_topic + by_session - by_cell, by_topic, by_session))
    if spread <= _SAME:
        return no_interval("every session and topic has the same value")
    reach = student_quantile(0.5 + level / 2, min(topics, sessions) - 1) * spread
    return Interval(max(-1.0, value - reach), min(1.0, value + reach), "t, clustered both ways", "nothing")
