"""%useful, ave%useful and %recovery ([GFRC] §5), from the o/x/- grid.

    %useful of turn t   turns with `o` / topics asked; a `-` (the conversation broke down before) is in the denominator
    ave%useful          mean over conversations of the share of useful turns; a `-` counts as a turn
    %recovery           conversations with `x` in turn 1 and `o` in turn 2 / conversations with `x` in turn 1

These are figures of one trial. Over several trials, %useful and ave%useful are means over topics of each topic's mean
over its conversations, and %recovery is one ratio of sums over topics and trials. If every conversation has the same
number of turns, as in [GFRC], ave%useful is the mean of %useful over the turns.

A turn is `-` if the conversation ended badly (a breakdown, an end by the system) and would otherwise certainly have
had this turn: `recordings.conversations.endings` counts such turns. A turn is `·` if no question was asked and no
turn is missing; such a turn is in neither numerator nor denominator, as if the protocol had ended before it.

All are shares in [0, 1], shown as percentages, and NaN with n = 0 if nothing was observed. A trial that failed for
reasons of infrastructure is invalid: it is in neither numerator nor denominator, but is counted next to the value.
`Share.worst` and `Share.best` are the values if every invalid trial had been useless, or useful.

Trials of one topic are not independent, so topics are the units. They are weighted at random, together with part of
an unseen topic (`scoring.inference.unseen_topic`).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from protocols.labels import MISSING, NOT_USEFUL
from protocols.labels import USEFUL as USEFUL_LABEL
from recordings.conversations.conversation import Conversation
from recordings.conversations.endings import is_bad_ending, missing_turns
from scoring.columns import Answers, Tally, present_means
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import INDEPENDENT, Design, combine_intervals, too_few_sessions_reason
from scoring.inference.interval import METHOD, Interval, no_interval, too_few_reason
from scoring.inference.proportions import FEW, clopper_pearson_ends
from scoring.inference.these_topics import these_interval
from scoring.inference.unseen_topic import answer_ends, share_ends
from scoring.measure import Declaration, Parameter
from topics.arrays import Floats

# A reply nobody classified, for example of an imported conversation: neither useful nor useless.
UNLABELLED = "?"

# A turn that was not asked, and need not have been.
NOT_ASKED = "·"


@dataclass(frozen=True, slots=True)
class Share:
    """A share in [0, 1] with its interval. The share is NaN for n = 0.

    `n` is the number of answers in the denominator, from `topics` topics. `units` is the number of independent units
    of the interval. If both topics and sessions are units, it is the smaller number. `worst` and `best` are the
    values if all invalid trials were useless or useful (for %recovery: `x` then not `o`, or `x` then `o`).
    """

    value: float
    n: int
    topics: int
    interval: Interval
    worst: float
    best: float
    units: int = 0


def labels(conversation: Conversation, turns: int) -> tuple[str, ...]:
    """Return (turns,) labels: `o`, `x`, `-` (prevented by a bad end), `·` (not asked), or `?` (another label or
    none).

    A last user turn without an answer is `-` if the conversation ended badly, and `·` otherwise.
    """
    unanswered = MISSING if is_bad_ending(conversation.outcome) else NOT_ASKED
    row = [
        unanswered if turn.reply is None else turn.label if turn.label in (USEFUL_LABEL, NOT_USEFUL) else UNLABELLED
        for turn in conversation.turns
    ]
    row += [MISSING] * missing_turns(conversation)
    return (*row[:turns], *(NOT_ASKED for _ in range(turns - len(row))))


def useful_cells(row: Sequence[str]) -> tuple[float, ...]:
    """Convert (turns,) labels to numbers: `o` to 1.0, `?` and `·` to NaN, and all others to 0.0."""
    return tuple(
        1.0 if label == USEFUL_LABEL else math.nan if label in (UNLABELLED, NOT_ASKED) else 0.0 for label in row
    )


def useful_share(row: Sequence[str]) -> tuple[float, int]:
    """Return ave%useful of one conversation, in [0, 1], and the number of turns that count. Returns (NaN, 0) without
    any."""
    cells = [cell for cell in useful_cells(row) if not math.isnan(cell)]
    return (math.fsum(cells) / len(cells) if cells else math.nan), len(cells)


def recovery_cells(row: Sequence[str]) -> tuple[float, float]:
    """Return (recovered, failed first) of one conversation, each 0.0 or 1.0, or both NaN if a label is missing.

    Any first label but `o` is a failure. A conversation that breaks down after a failure has not recovered. After a
    failure, both numbers are NaN if recovery was impossible: no second turn was asked, or the protocol has only one
    turn.
    """
    first, second = useful_cells((*row[:2], NOT_ASKED, NOT_ASKED)[:2])
    if math.isnan(first) or (first == 0 and math.isnan(second)):
        return math.nan, math.nan
    return (0.0, 0.0) if first else (second, 1.0)


def shares(
    above: npt.ArrayLike, below: npt.ArrayLike, invalid: npt.ArrayLike, whole: npt.ArrayLike, *, pooled: bool
) -> list[Share]:
    """Return the shares of many parts, without intervals. The arguments are as in `share`, with the parts as first
    axis."""
    top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    seen = ~(np.isnan(top) | np.isnan(bottom))
    top, bottom = np.where(seen, top, 0.0), np.where(seen, bottom, 0.0)
    gone = np.asarray(invalid, dtype=bool) & ~seen
    answers = np.reshape(whole, (-1, 1, 1))
    filled = np.where(gone, answers, bottom)
    columns = (
        _share_values(top, bottom, pooled),
        np.rint(bottom.reshape(len(bottom), -1).sum(axis=1)).astype(np.int64).tolist(),
        (bottom.sum(axis=2) > 0).sum(axis=1).tolist(),
        _share_values(top, filled, pooled),
        _share_values(np.where(gone, answers, top), filled, pooled),
    )
    return [
        Share(value, n, topics, no_interval(), worst, best, topics)
        for value, n, topics, worst, best in zip(*columns, strict=True)
    ]


def share(
    topics: Sequence[str],
    above: npt.ArrayLike,
    below: npt.ArrayLike,
    invalid: npt.ArrayLike,
    *,
    level: float,
    pooled: bool,
    whole: float = 1.0,
    resampler: Resampler | None = None,
    unit: str = "topic",
    design: Design = INDEPENDENT,
) -> Share:
    """Return a share over topics and trials, with its interval and its bounds.

    `topics` (topics,) are names. `above` (topics, trials) are useful answers, and `below` (topics, trials) all
    answers, NaN without a valid trial or label. `invalid` (topics, trials) marks trials that never became valid; each
    lost `whole` answers. If `pooled`, compute the ratio of the sums (%recovery); otherwise average each trial's share
    over the trials of a topic, and then over topics (%useful, ave%useful), so that neither a topic with fewer valid
    trials nor a conversation with fewer turns weighs less. With a `resampler`, for independent topics only, the
    bootstrap replaces random weights with an unseen topic. `unit` is "trial" if the rows are trials of one topic.
    `design` describes how topics and trials depend on each other.
    """
    top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    (found,) = shares(top[None], bottom[None], np.asarray(invalid)[None], whole, pooled=pooled)
    return add_interval(
        found, topics, top, bottom, level=level, pooled=pooled, resampler=resampler, unit=unit, design=design
    )


def add_interval(
    share: Share,
    topics: Sequence[str],
    above: Floats,
    below: Floats,
    *,
    level: float,
    pooled: bool,
    resampler: Resampler | None = None,
    unit: str = "topic",
    design: Design = INDEPENDENT,
) -> Share:
    """Add the interval to a share computed by `shares`. The other arguments are as in `share`."""
    seen = ~(np.isnan(above) | np.isnan(below))
    top, bottom = np.where(seen, above, 0.0), np.where(seen, below, 0.0)
    interval, units = no_interval("no value"), share.units
    if share.n and unit == "topic" and not design.has_independent_topics(topics):
        interval, units = _dependent_interval(design, topics, top, bottom, seen, share.value, pooled, level)
    elif share.n and unit == "trial" and design.inflation > 1:
        cells = _ratio_cells(top.T, bottom.T, seen.T, pooled)
        interval = these_interval(*cells, level=level, inflation=design.inflation)
    elif share.n:
        if resampler is not None and top.shape[1] > 1:
            nothing = np.where(seen, 0.0, np.nan)
            with np.errstate(invalid="ignore", divide="ignore"):
                each = np.where(bottom > 0, top / bottom, np.nan)[:, :, None]
            sides = top + nothing, bottom + nothing
            interval = resampler.ratio(topics, *sides) if pooled else resampler.means(topics, each)[0]
        if math.isnan(interval.low):
            # That of `scoring.inference.unseen_topic`, or the exact one for fewer than `FEW` answers, one a topic. Only
            # topics with a denominator count: with the others, coverage falls to .85 if 6 of 45 topics fail.
            sums = _sum_by_topic(top, bottom, pooled)
            interval = _unit_interval(*sums, share.value, float(bottom.sum()), pooled, level, unit)
    return replace(share, interval=interval, units=units)


def _dependent_interval(
    design: Design,
    topics: Sequence[str],
    top: Floats,
    bottom: Floats,
    seen: npt.NDArray[np.bool_],
    value: float,
    pooled: bool,
    level: float,
) -> tuple[Interval, int]:
    above, below = _ratio_cells(top, bottom, seen, pooled)
    if design.is_about_these_topics and not design.continued:
        units = int((bottom > 0).sum())
        return these_interval(above, below, level=level, inflation=design.inflation), units
    kept = ~np.isnan(below)
    above, below = np.where(kept, above, 0.0), np.where(kept, below, 0.0)
    of_topics, clusters = no_interval("no value"), 0
    if not design.is_about_these_topics:
        _, of = design.rows(topics)
        upper, lower = (np.bincount(of, weights=side.sum(axis=1)).astype(np.float64) for side in (above, below))
        clusters = int((lower > 0).sum())
        if clusters == 1 and int((below.sum(axis=1) > 0).sum()) > 1:
            return no_interval(too_few_reason(1, "cluster")), clusters
        of_topics = _unit_interval(upper, lower, value, float(bottom.sum()), pooled, level, design.unit(topics))
        if not design.continued:
            return of_topics, clusters
    played = seen.any(axis=0)
    why = too_few_sessions_reason(int(played.sum()))
    if why:
        return no_interval(why), int(played.sum())
    upper, lower = above.sum(axis=0)[played], below.sum(axis=0)[played]
    sessions = int((lower > 0).sum())
    of_sessions = _unit_interval(upper, lower, value, float(bottom.sum()), pooled, level, "session")
    if design.is_about_these_topics:
        return of_sessions, sessions
    return combine_intervals(value, of_topics, of_sessions, bottom=0.0, top=1.0), min(clusters, sessions)


def _ratio_cells(top: Floats, bottom: Floats, seen: npt.NDArray[np.bool_], pooled: bool) -> tuple[Floats, Floats]:
    """Return (topics, trials) numerators and denominators whose sums give the share. Trials without data are NaN. If
    pooled, both are numbers of answers. Otherwise each trial weighs 1 over the number of trials of its topic."""
    if pooled:
        return np.where(seen, top, np.nan), np.where(seen, bottom, np.nan)
    there = bottom > 0
    weights = 1 / np.maximum(there.sum(axis=1, keepdims=True), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(there, top / bottom * weights, np.nan), np.where(there, weights, np.nan)


def _share_values(top: Floats, bottom: Floats, pooled: bool) -> list[float]:
    above, below = _sum_by_topic(top, bottom, pooled)
    if pooled:
        above, below = above.sum(axis=-1), below.sum(axis=-1)
    ratios: Floats = np.divide(above, below, out=np.full(above.shape, math.nan), where=below > 0)
    found = ratios if pooled else present_means(ratios)
    # All undefined shares are `math.nan` itself: two rows with another NaN each would not compare equal.
    return [math.nan if math.isnan(one) else one for one in found.tolist()]


def _sum_by_topic(top: Floats, bottom: Floats, pooled: bool) -> tuple[Floats, Floats]:
    """Return the (..., topics) numerators and denominators: of answers if pooled, and of the shares of trials
    otherwise."""
    if pooled:
        return top.sum(axis=-1), bottom.sum(axis=-1)
    there = bottom > 0
    each = np.divide(top, bottom, out=np.zeros_like(top), where=there)
    return each.sum(axis=-1), there.sum(axis=-1).astype(float)


def _unit_interval(
    above: Floats, below: Floats, value: float, answers: float, pooled: bool, level: float, unit: str
) -> Interval:
    seen = below > 0
    if answers == seen.sum():
        useful = float(np.round(above.sum(), 9))
        if answers < FEW:
            return Interval(*_exact_ends(useful, answers, level), "Clopper-Pearson, exact", "nothing")
        return Interval(*answer_ends(useful, answers, level), f"{METHOD} {unit}", f"{unit}s")
    above, below = above[seen], below[seen]
    # Clusters of several topics, and sessions without all topics, weigh as much as the topics they contain.
    unequal = unit in ("cluster", "session") and bool(np.ptp(below) > _ROUNDING * below.max())
    pooled = pooled or unequal
    parts, weights = (above, below) if pooled else (above / below, np.ones(len(below)))
    # Sorted, because the order of topics has no effect and the cache then finds the same parts more often.
    order = np.lexsort((parts, weights))
    low, high = _drawn_ends(parts[order].tobytes(), weights[order].tobytes(), level, pooled)
    said = f"effective n = {_effective_answers(parts, weights, value, answers):.1f}"
    return Interval(low, high, f"{METHOD} {unit}", f"{unit}s", said)


_ROUNDING = 1e-9  # rounding error of equal weights


@lru_cache(maxsize=2**12)
def _drawn_ends(parts: bytes, weights: bytes, level: float, pooled: bool) -> tuple[float, float]:
    above, below = (np.frombuffer(side)[:, None] for side in (parts, weights))
    lows, highs = share_ends(above, below, level, pooled=pooled)
    return float(lows[0]), float(highs[0])


@lru_cache
def _exact_ends(useful: float, answers: float, level: float) -> tuple[float, float]:
    low, high = clopper_pearson_ends(useful, answers, level)  # cached: slow, by inversion, and the counts recur
    return float(low), float(high)


def _effective_answers(parts: Floats, weights: Floats, value: float, answers: float) -> float:
    """Return the number of independent answers with the same variance: p(1-p)/Var, with Var from the spread of
    topics. The number lies between the number of topics and the number of answers. If all answers are equal, it is
    the number of topics."""
    units = len(parts)
    if units == 1 or not 0 < value < 1:
        return float(units)
    leverage = (parts - value * weights) / weights.sum()
    variance = float(np.square(leverage).sum()) * units / (units - 1)
    return min(max(value * (1 - value) / variance, float(units)), answers) if variance > 0 else answers


# How many topics (within one topic: trials) with a failed first turn an interval of %recovery needs.
FEWEST_FAILED = 4


def _tally_turns(answers: Answers) -> Iterator[Tally]:
    for turn in range(answers.useful.shape[2]):
        here, there = answers.useful[:, :, turn], answers.turns > turn
        below = np.where(np.isnan(here), np.nan, 1.0)
        yield Tally(USEFUL.name, turn + 1, here, below, answers.invalid & there[:, None], np.ones(len(there)), there)


def _tally_conversations(answers: Answers) -> Iterator[Tally]:
    seen = ~np.isnan(answers.useful)
    above, below = np.where(seen, answers.useful, 0.0).sum(axis=2), seen.sum(axis=2).astype(np.float64)
    below = np.where(below > 0, below, np.nan)
    there = np.ones(len(answers.turns), dtype=bool)
    yield Tally(MEAN_USEFUL.name, None, above, below, answers.invalid, answers.turns.astype(np.float64), there)


def _tally_failures(answers: Answers) -> Iterator[Tally]:
    lost, topics = answers.invalid & (answers.turns > 1)[:, None], len(answers.turns)
    sides, every = (answers.recovered, answers.failed, lost), np.ones(topics, dtype=bool)
    fewest = FEWEST_FAILED, "a first turn that failed"
    yield Tally(RECOVERY.name, None, *sides, np.ones(topics), every, pooled=True, fewest=fewest)


_of_labels = partial(
    Declaration,
    of="trials",
    source="[GFRC] §5",
    needs=("labels",),
    percentage=True,
    shown="always",
)
USEFUL = _of_labels(
    name="%useful",
    sentence="How often the answer of a turn is useful.",
    formula="of one trial: turns with o / topics asked, including turns that a bad end prevented; over trials: mean "
    "over topics of the share of their conversations with o there, of those that were asked it",
    undefined="no answer of the turn has a label",
    example="%useful S1",
    n="answers",
    parameters=(Parameter("turn", "number of a system turn, written S1; without it, one row per turn"),),
    tallies=_tally_turns,
)
MEAN_USEFUL = _of_labels(
    name="ave%useful",
    sentence="The share of a conversation's turns that get a useful answer.",
    formula="mean over conversations of the share of their turns that are o; over trials: mean over topics of it",
    undefined="no answer has a label",
    example="ave%useful",
    n="answers",
    tallies=_tally_conversations,
)
RECOVERY = _of_labels(
    name="%recovery",
    sentence="How often the second answer is useful if the first was not.",
    formula="conversations with x in turn 1 and o in turn 2 / those with x in turn 1 that have a turn 2; over trials: "
    "one ratio of sums over topics and trials",
    undefined="no first turn failed, or conversations have one turn by design",
    example="%recovery",
    n="first turns that failed",
    legend="one ratio of sums over topics and trials",
    counts="sums",
    tallies=_tally_failures,
)
