"""The difference between two systems whose sessions go through all topics, so that answers of a session are dependent.

A session that goes badly is bad on every topic. Topics and trials then look like many independent observations but are
few: if 5 sessions with 45 topics have rates that spread by 10 points, a t test over topics distinguishes equal systems
in 26% of studies instead of 5%. So whole sessions are the units, and the variance of the difference is

    these topics        the variance between sessions
    topics like these   the variance between topics, plus the variance between sessions minus the variance of single
                        answers, which the variance between topics already includes

as in two-way clustering (Cameron, Gelbach and Miller 2011, J. Bus. Econ. Stat. 29, 238-249). The degrees of freedom of
t follow from the smaller of the numbers of topics and sessions, which is conservative if there are few.
"""

import math

import numpy as np
import numpy.typing as npt

from scoring.inference.interval import FEWEST, Interval, no_interval, too_few_reason
from scoring.inference.needed import NeededSize, needed
from scoring.inference.paired import Estimand, PairedTest
from scoring.statistics.beta import student_quantile, student_tails
from topics.arrays import Floats

_SAME = 1e-12  # values that differ only by the order of summation must compare as equal
_METHODS: dict[Estimand, str] = {"like-these": "t, clustered by topic and session", "these": "t, clustered by session"}


def session_variance(influence: npt.ArrayLike) -> float:
    """Return the variance of a figure over other sessions; NaN for fewer than two sessions.

    `influence` (topics, sessions) is each answer's effect on the figure, 0 if missing. Effects in a topic sum to 0.
    """
    sums = np.asarray(influence, dtype=np.float64).sum(axis=0)
    return len(sums) / (len(sums) - 1) * float(np.square(sums).sum()) if len(sums) > 1 else math.nan


def compare_sessions(
    differences: npt.ArrayLike,
    noise: npt.ArrayLike,
    shared: npt.ArrayLike,
    sessions: npt.ArrayLike,
    *,
    estimand: Estimand,
    level: float,
    reach: float = math.inf,
    clusters: npt.ArrayLike | None = None,
) -> PairedTest:
    """Compare as `scoring.inference.paired` does, with sessions through all topics on one side or both.

    `differences` is (T,). `noise` (T, 2) is the variance of each side's value over other trials of the topic, NaN with
    fewer than two trials. `shared` (2,) is the `session_variance` of each side's figure, and `sessions` (2,) the number
    of sessions, 0 for a side with a fresh session for each conversation. `reach` is the largest possible difference.
    `clusters` are (T,) cluster numbers; None if all topics are independent.

    There is no interval and no p if a side has one to three sessions, if a topic has a single trial on either side, or,
    for topics like these, on fewer than four topics.
    """
    each, own = np.asarray(differences, dtype=np.float64), np.asarray(noise, dtype=np.float64)
    whole, counts = np.asarray(shared, dtype=np.float64), np.asarray(sessions, dtype=np.int64)
    if not len(each) or np.isnan(each).any():
        return PairedTest(math.nan, no_interval("no value"), math.nan)
    value, goes_on = float(each.mean()) + 0.0, counts > 0
    fewest = int(counts[goes_on].min())
    groups = np.arange(len(each)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    units = int(groups.max()) + 1
    why = _refusal_reason(len(each), units, fewest, own, estimand)
    if why:
        return PairedTest(value, no_interval(why), math.nan)
    single = own.sum(axis=0) / len(each) ** 2
    between = float(whole[goes_on].sum())
    if estimand == "these":
        variance, degrees = between + float(single[~goes_on].sum()), fewest - 1
    else:
        added = float(np.maximum(0.0, whole - single)[goes_on].sum())
        rest = np.bincount(groups, each - value)
        over_topics = units / (units - 1) * float(np.square(rest).sum()) / len(each) ** 2
        variance, degrees = max(over_topics + added, between), min(fewest, units) - 1
    if variance <= _SAME**2:
        return PairedTest(value, no_interval("every session has the same value"), math.nan)
    error = math.sqrt(variance)
    half = student_quantile(0.5 + level / 2, degrees) * error
    p = student_tails(value / error, degrees)
    interval = Interval(
        max(-reach, value - half),
        min(reach, value + half),
        _METHODS[estimand],
        "nothing",
        assumes="sessions are independent of each other",
    )
    return PairedTest(value, interval, p, p, 0.0)


def _refusal_reason(topics: int, units: int, sessions: int, noise: Floats, estimand: Estimand) -> str:
    if estimand == "like-these" and units < FEWEST:
        return too_few_reason(units, "topic" if units == topics else "cluster")
    if sessions < FEWEST:
        return (
            "one session: nothing to compare it with" if sessions == 1 else f"{sessions} sessions: too few to compare"
        )
    single = int(np.isnan(noise).any(axis=1).sum())
    if single:
        few = f"{single} of {topics} topics have" if topics > 1 else "the topic has"
        return f"{few} one trial only, so sessions cannot be seen to differ"
    return ""


def needed_sessions(
    differences: npt.ArrayLike,
    noise: npt.ArrayLike,
    shared: npt.ArrayLike,
    sessions: npt.ArrayLike,
    trials: npt.ArrayLike,
    *,
    alpha: float,
    estimand: Estimand,
) -> NeededSize:
    """Estimate how many sessions would detect the observed difference for these topics; returned as `trials`.

    For topics like these there is no answer: more topics do not reduce the variance of sessions, and more sessions do
    not reduce the variance of topics. `differences`, `noise`, `shared` and `sessions` are as in `compare_sessions`;
    `trials` is (T, 2).
    """
    each, own = np.asarray(differences, dtype=np.float64), np.asarray(noise, dtype=np.float64)
    if estimand == "like-these" or np.isnan(own).any():
        return NeededSize(math.nan, math.nan)
    goes_on = np.asarray(sessions) > 0
    # As if the variance between sessions were the noise of topics, which `needed` adds up and divides by T².
    spread = np.where(goes_on, np.asarray(shared, dtype=np.float64) * len(each), own.sum(axis=0) / max(1, len(each)))
    return needed(each, np.tile(spread, (len(each), 1)), trials, alpha=alpha, estimand=estimand)
