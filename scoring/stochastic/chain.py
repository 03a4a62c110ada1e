"""The label-level Markov chain of a system: how often a useful answer follows a useless one, and so on.

States: `start`, `o` (a useful answer), `x` (an answer that is not useful), `-` (the conversation ended badly, before a
turn that it would still have had). Each transition is a share over topics and trials:

    a → o, a → x    turns that got this label / turns that were asked after `a` and answered
    a → -           conversations that ended badly after `a` / these conversations plus the turns asked after `a`

A turn that was not asked (`·`) counts in neither part of the ratio, because neither the last turn of a protocol nor its
early completion says anything about the system. So two probabilities are separate, whether an answer follows and which
label it gets:

    %useful 1   = P(start → o)
    %recovery   = (1 - P(x → -))·P(x → o), both of step 2, if the first turn always took place

Topics are the units, and a transition is a ratio of sums over topics. Intervals are computed as for %recovery
(`scoring.measures.usefulness.share`). A reply without a label counts in no transition.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from protocols.labels import MISSING, NOT_USEFUL, USEFUL
from scoring.inference.bootstrap import Resampler
from scoring.inference.design import INDEPENDENT, Design
from scoring.measures.usefulness import NOT_ASKED, UNLABELLED, Share, share
from scoring.statistics.stratified import StratifiedTest, compare_within

Labels = npt.NDArray[np.int8]
# By code: 0 to 4, as in a row of `scoring.measures.usefulness.labels`.
STATES = (USEFUL, NOT_USEFUL, MISSING, UNLABELLED, NOT_ASKED)
# The code of the turns of a trial that was not played or never became valid. It enters no figure.
ABSENT = -1
# All transitions, in the order in which they are printed.
TRANSITIONS = (
    ("start", USEFUL),
    ("start", NOT_USEFUL),
    ("start", MISSING),
    (USEFUL, USEFUL),
    (USEFUL, NOT_USEFUL),
    (USEFUL, MISSING),
    (NOT_USEFUL, USEFUL),
    (NOT_USEFUL, NOT_USEFUL),
    (NOT_USEFUL, MISSING),
)
_CODES = {state: code for code, state in enumerate(STATES)}
_ANSWERED = (_CODES[USEFUL], _CODES[NOT_USEFUL])
# The denominator of a transition, by target.
_AMONG = {USEFUL: _ANSWERED, NOT_USEFUL: _ANSWERED, MISSING: (*_ANSWERED, _CODES[MISSING])}


@dataclass(frozen=True, slots=True)
class Transition:
    """The probability `share` of a transition source → target at turn `step`.

    Turns start at 1. `step` is None for all turns together.
    """

    source: str
    target: str
    step: int | None
    share: Share


def label_codes(rows: Iterable[Sequence[str]]) -> Labels:
    """Return the (conversations, turns) label codes of rows such as `(NOT_USEFUL, USEFUL)` or `"xo"`.

    Rows have equal lengths. Raises ValueError for labels that `scoring.measures.usefulness.labels` never returns.
    """
    listed = [[_CODES.get(label, -2) for label in row] for row in rows]
    found = np.array(listed, dtype=np.int8).reshape(len(listed), -1)
    if np.any(found == -2):
        raise ValueError(f"labels must be {', '.join(STATES)}")
    return found


def chain(
    labels: npt.ArrayLike,
    topics: Sequence[str],
    *,
    invalid: npt.ArrayLike | None = None,
    level: float = 0.95,
    step: int | None = None,
    only: tuple[str, ...] | None = None,
    resampler: Resampler | None = None,
    design: Design = INDEPENDENT,
) -> tuple[Transition, ...]:
    """Estimate every transition of `TRANSITIONS`, with its interval.

    `labels` are (topics, trials, turns) codes, `ABSENT` for a missing trial. `invalid` (topics, trials) is True for
    trials that never became valid, which count in the bounds `worst` and `best`. `step` limits the result to
    transitions to this turn, and `only`, a source and a target, to a single transition. `design` states how topics and
    trials depend on each other. If there is one topic, the trials are the units. Without a turn after its source, a
    transition is NaN with n = 0.
    """
    grid = _grid(labels, topics)
    turns = grid.shape[2]
    lost = np.zeros(grid.shape[:2], dtype=bool) if invalid is None else np.asarray(invalid, dtype=bool)
    if step is not None and not 1 <= step <= turns:
        raise ValueError(f"there is no step {step}: turns go from 1 to {turns}")
    asked = range(1, turns + 1) if step is None else (step,)
    played = (grid != ABSENT).any(axis=2)
    found = []
    for source, target in TRANSITIONS:
        if only not in (None, (source, target)):
            continue
        counted = [at for at in asked if (at == 1) == (source == "start")]
        above, below = np.zeros(grid.shape[:2]), np.zeros(grid.shape[:2])
        for at in counted:
            here = grid[:, :, at - 1]
            known = _has_left(grid, at, source) & np.isin(here, _AMONG[target])
            below += known
            above += known & (here == _CODES[target])
        above[~played] = below[~played] = np.nan
        one = len(topics) == 1
        parts = (above.T, below.T, lost.T) if one else (above, below, lost)
        names = [str(trial) for trial in range(1, grid.shape[1] + 1)] if one else topics
        value = share(
            names,
            *parts,
            level=level,
            pooled=True,
            whole=float(len(counted)),
            resampler=None if one else resampler,
            unit="trial" if one else "topic",
            design=design,
        )
        found.append(Transition(source, target, step, value))
    return tuple(found)


def count_transitions(labels: npt.ArrayLike, topics: Sequence[str]) -> npt.NDArray[np.int64]:
    """Count how often each of `TRANSITIONS` was taken, as (topics, turns, 9), by the turn of the target."""
    grid = _grid(labels, topics)
    counts = np.zeros((len(topics), grid.shape[2], len(TRANSITIONS)), dtype=np.int64)
    for at in range(1, grid.shape[2] + 1):
        for place, (source, target) in enumerate(TRANSITIONS):
            if (at == 1) == (source == "start"):
                taken = _has_left(grid, at, source) & (grid[:, :, at - 1] == _CODES[target])
                counts[:, at - 1, place] = taken.sum(axis=1)
    return counts


def _grid(labels: npt.ArrayLike, topics: Sequence[str]) -> Labels:
    grid = np.asarray(labels)
    if grid.ndim != 3 or len(grid) != len(topics) or not grid.shape[2]:
        raise ValueError(f"labels must be ({len(topics)} topics, trials, turns), not {grid.shape}")
    if not np.issubdtype(grid.dtype, np.integer) or grid.min(initial=0) < ABSENT or grid.max(initial=0) >= len(STATES):
        raise ValueError("labels must be codes as returned by `label_codes`")
    return grid.astype(np.int8, copy=False)


def _has_left(grid: Labels, step: int, source: str) -> npt.NDArray[np.bool_]:
    if step == 1:
        return np.asarray(grid[:, :, 0] != ABSENT)
    return np.asarray(grid[:, :, step - 2] == _CODES[source])


@dataclass(frozen=True, slots=True)
class Persistence:
    """The probability of a failure after a failure and after a useful answer, and the test of their difference.

    The test's `middle` is the p-value for "failures follow failures within conversations".
    """

    after_x: Share
    after_o: Share
    test: StratifiedTest


def persistence(
    labels: npt.ArrayLike, topics: Sequence[str], *, level: float = 0.95, design: Design = INDEPENDENT
) -> Persistence:
    """Compare P(fails next | failed) with P(fails next | was useful), and test whether failures follow failures.

    A system that fails on hard topics fails twice on them without one failure leading to the next. So trials are
    compared within each topic and step only: if the last label does not matter, the next labels of trials of the same
    topic at the same turn can be permuted among them. This is the exact conditional test of
    `scoring.statistics.stratified` with (topic, step) as stratum. The steps of one topic share their labels, but the
    product of hypergeometric distributions is still valid: given a turn's labels, each way to deal the next turn's
    labels is equally likely, whatever came before.

    Only turns that were asked and answered count. A breakdown is the protocol's reaction to a failure that is already
    counted. The test finds association within conversations, whatever its cause: failures may lead to further failures,
    or some conversations may be worse than the rest of their topic throughout.

    `labels` are (topics, trials, turns) codes as for `chain`, and `topics` are names. `design` is the design of the
    intervals of the two shares. Trials of one topic must be independent, which also holds for continued sessions that
    ask each topic once. The test is NaN with n = 0 if no topic has both kinds of trials.
    """
    grid = np.asarray(labels)
    if grid.ndim != 3 or len(grid) != len(topics):
        raise ValueError(f"labels must be ({len(topics)} topics, trials, turns), not {grid.shape}")
    answered = [STATES.index(USEFUL), STATES.index(NOT_USEFUL)]
    before, after = grid[:, :, :-1], grid[:, :, 1:]
    asked = np.isin(before, answered) & np.isin(after, answered)
    failed, fails = asked & (before == STATES.index(NOT_USEFUL)), asked & (after == STATES.index(NOT_USEFUL))

    def count_values(cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        return np.asarray(cells.sum(axis=1), dtype=np.int64).ravel()

    test = compare_within(count_values(failed & fails), count_values(failed), count_values(fails), count_values(asked))
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
