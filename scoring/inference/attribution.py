"""Attribution of a difference between two audits to its causes, in parts that add up to the difference.

A topic's value in an audit is the mean over its trials, computed in four ways:

    recorded   as it was recorded
    decided    with labels decided again by the audit's own rules, in today's code
    read       decided, and with answers extracted again from the stored pages by today's code
    crossed    read, but decided by the other audit's rules

With old and new evidence e and f, and old and new rules r and s, the difference over the topics in both audits is

    [recorded - decided] + [decided - read]  of the new audit, minus the old audit's         rules, reading
    v(f, s) - v(e, r), both as read by today's code                                         evidence, rules

The last line is split by the Shapley value of two players, the mean over both orders of the two changes:

    evidence  ½[v(f, s) - v(e, s)] + ½[v(f, r) - v(e, r)]
    rules     ½[v(e, s) - v(e, r)] + ½[v(f, s) - v(f, r)]

Evidence is attributed to the system, unless users changed too. Then the system gets only the part of a topic's
difference found in conversations whose users said the same in both audits, and the users get the rest. If users never
said the same, the users get the whole difference. Topics that only one audit has, or that are worded differently, are a
separate cause: their contribution to the mean of each audit.

Sources: L. S. Shapley, A value for n-person games (1953); for conversations with the same words, E. M. Kitagawa, JASA
50 (1955), 1168-1194.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scoring.inference.differences import as_interval, guarded_differences
from scoring.inference.interval import Interval, no_interval
from topics.arrays import Floats

SOURCES = ("system", "users", "rules", "reading", "topics")

_ROUNDING = 1e-12  # rounding of a sum, and no difference

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrialValues:
    """One trial's value in all four ways, NaN if undefined, and the user's words up to the turn with the value."""

    recorded: float
    decided: float
    read: float
    crossed: float
    words: Words = ()


# The trials of an audit, by topic.
Side = Mapping[str, Sequence[TrialValues]]


@dataclass(frozen=True, slots=True)
class Attribution:
    """A difference between two audits, split by cause.

    - `before`, `after`: the figures as recorded, over all topics of each audit.
    - `shares`: the contribution of each cause to the difference; NaN if no topic is in both audits.
    - `intervals`: the interval of each share, for topics like the topics in both audits. The cause `topics` has no
      interval, because it concerns topics that are in one audit only.
    - `topics`: the number of topics in both audits with a value in all four ways.
    - `alone`: the numbers of topics only in the old audit, and only in the new audit.
    - `unmatched`: the number of topics in both audits in which changed users never said the same words.
    """

    before: float
    after: float
    shares: Mapping[str, float]
    intervals: Mapping[str, Interval]
    topics: int
    alone: tuple[int, int]
    unmatched: int

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def largest_source(self) -> str:
        """The cause with the largest absolute share; "" if there is none."""
        known = {source: abs(share) for source, share in self.shares.items() if share and not math.isnan(share)}
        return max(known, key=lambda source: known[source]) if known else ""


def attribute(
    before: Side, after: Side, *, same_topics: Sequence[str], other_users: bool, level: float, reach: float
) -> Attribution:
    """Split the difference between two audits by cause. The `level` of the intervals is in (0, 1).

    `same_topics` are the topics worded alike in both audits. `other_users` is True if the simulated user was changed.
    `reach` is the largest possible difference of a topic, infinite if values never come near the end of the range.
    """
    ways = ("recorded", "decided", "read", "crossed")
    old, new = (
        {topic: tuple(_mean([getattr(one, way) for one in trials]) for way in ways) for topic, trials in side.items()}
        for side in (before, after)
    )
    common = [topic for topic in same_topics if _is_complete(old.get(topic)) and _is_complete(new.get(topic))]
    tried = [[topic for topic, own in side.items() if not math.isnan(own[0])] for side in (old, new)]
    figures = [_mean([side[topic][0] for topic in own]) for side, own in zip((old, new), tried, strict=True)]
    alone = (len(set(tried[0]) - set(common)), len(set(tried[1]) - set(common)))
    if not common:
        none = dict.fromkeys(SOURCES, math.nan)
        why = no_interval("no topic is in both audits with a value")
        return Attribution(figures[0], figures[1], none, dict.fromkeys(SOURCES, why), 0, alone, 0)
    e, f = (np.array([side[topic] for topic in common]) for side in (old, new))  # (topics, 4) each
    evidence = ((f[:, 2] - e[:, 3]) + (f[:, 3] - e[:, 2])) / 2
    matched = [_matched_mean(before[topic], after[topic]) for topic in common] if other_users else evidence.tolist()
    system = np.array([0.0 if math.isnan(one) else one for one in matched])
    rules = ((e[:, 3] - e[:, 2]) + (f[:, 2] - f[:, 3])) / 2 + (f[:, 0] - f[:, 1]) - (e[:, 0] - e[:, 1])
    each = {
        "system": system,
        "users": evidence - system,
        "rules": rules,
        "reading": (f[:, 1] - f[:, 2]) - (e[:, 1] - e[:, 2]),
    }
    each = {source: _drop_rounding(own, (e, f)) for source, own in each.items()}
    shares = {source: float(own.mean()) for source, own in each.items()}
    apart = (figures[1] - float(f[:, 0].mean())) - (figures[0] - float(e[:, 0].mean()))
    shares["topics"] = float(_drop_rounding(np.array(apart), (e, f)))
    intervals = {source: _interval(own, level, reach) for source, own in each.items()}
    intervals["topics"] = no_interval("what these topics add")
    unmatched = sum(math.isnan(one) for one in matched)
    return Attribution(figures[0], figures[1], shares, intervals, len(common), alone, unmatched)


def _drop_rounding(own: Floats, of: tuple[Floats, Floats]) -> Floats:
    """Set rounding errors to 0, so that a share of 1e-16 is not named as a cause. `of` are the subtracted values."""
    scale = max(1.0, *(float(np.abs(side).max()) for side in of))
    return np.where(np.abs(own) <= _ROUNDING * scale, 0.0, own)


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _is_complete(means: tuple[float, ...] | None) -> bool:
    return means is not None and not any(map(math.isnan, means))


def _matched_mean(before: Sequence[TrialValues], after: Sequence[TrialValues]) -> float:
    old, new = (_group_by_words(trials) for trials in (before, after))
    both = [words for words in old if words in new]
    if not both:
        return math.nan
    whole = [sum(map(len, side.values())) for side in (old, new)]
    weights = np.array([len(old[words]) / whole[0] + len(new[words]) / whole[1] for words in both])
    apart = np.array([_mean(new[words]) - _mean(old[words]) for words in both])
    return float((weights * apart).sum() / weights.sum())


def _group_by_words(trials: Sequence[TrialValues]) -> dict[Words, list[float]]:
    found: dict[Words, list[float]] = {}
    for trial in trials:
        value = _mean([trial.read, trial.crossed])
        if not math.isnan(value):
            found.setdefault(trial.words, []).append(value)
    return found


def _interval(own: Floats, level: float, reach: float) -> Interval:
    """Return the interval of a share, as of any difference for topics like these: a change may concern a kind of topic
    that was not asked."""
    if not own.any():
        return no_interval("nothing")
    # Two causes that cancel each other can each have more than the whole range.
    reach = max(reach, float(np.abs(own).max()))
    found = guarded_differences(own[:, None], np.ones((len(own), 1)), level=level, reach=reach)
    return as_interval(found, 0, reach=reach, units=len(own))
