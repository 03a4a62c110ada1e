"""The label chain of a system: its transitions, and whether failures follow failures."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from protocols.labels import NOT_USEFUL, USEFUL
from scoring.inference.dependence import MISSING, Dependence, dependence
from scoring.inference.interval import no_interval
from scoring.measure import Declaration, Measure, TermContext, read_plain_term
from scoring.measures.usefulness import Share, labels
from scoring.notation import Term
from scoring.pool import Pool, Reading, parts
from scoring.stochastic.chain import ABSENT, STATES, TRANSITIONS, chain, label_codes, persistence
from topics.decimals import decimal
from topics.errors import InputError
from topics.identity import generator

# The notation for `-` in a measure: the conversation has ended.
_END = "end"


def _transition_ends(term: Term) -> tuple[str, ...]:
    return tuple("-" if str(value) == _END else str(value) for value in term.arguments)


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    found = read_plain_term(declaration, term, asking)
    if _transition_ends(term) not in TRANSITIONS:
        known = ", ".join(f"({source}, {_END if target == '-' else target})" for source, target in TRANSITIONS)
        raise InputError(f"{term} is not a transition", allowed=known)
    return found


def _transition_readings(measure: Measure, pool: Pool) -> Iterator[Reading]:
    scores = pool.scores
    cells = _label_codes(pool)
    for part in parts(scores.topics, each=True):
        rows = list(part.rows)
        names, here, lost = [scores.topics[row].id for row in rows], cells[rows], scores.invalid[rows]
        level, ends = scores.settings.level, _transition_ends(measure.base)
        (edge,) = chain(here, names, invalid=lost, level=level, only=ends, design=scores.design)
        share = edge.share
        yield Reading(
            part,
            share.value,
            share.n,
            share.interval,
            None if part.topic is not None else len(rows),
            invalid=int(lost.sum()),
            worst=share.worst,
            best=share.best,
        )


def _persistence_readings(measure: Measure, pool: Pool) -> Iterator[Reading]:
    scores = pool.scores
    cells = _label_codes(pool)
    for part in parts(scores.topics, each=True):
        rows = list(part.rows)
        names, level = [scores.topics[row].id for row in rows], scores.settings.level
        found = persistence(cells[rows], names, level=level, design=scores.design)
        after_x, after_o = found.after_x, found.after_o
        test = (
            f"association within conversations, given topic and turn: p={found.test.middle:.3g}; conversations "
            "that are worse throughout show it too"
            if found.test.n
            else "association within conversations: no topic has both kinds of trials to compare"
        )
        sides = f"{_share_text(after_x)} after x (n={after_x.n}), {_share_text(after_o)} after o (n={after_o.n})"
        yield Reading(
            part,
            after_x.value - after_o.value,
            after_x.n + after_o.n,
            no_interval(),
            None if part.topic is not None else len(rows),
            f"fails next: {sides}; {test}",
        )


def _excess_readings(measure: Measure, pool: Pool) -> Iterator[Reading]:
    scores = pool.scores
    grid = _label_codes(pool)
    cells = np.where(grid == STATES.index(NOT_USEFUL), 1, np.where(grid == STATES.index(USEFUL), 0, MISSING))
    known: dict[tuple[int, ...], Dependence] = {}  # with one topic type, its part equals that of all topics
    for part in parts(scores.topics):
        rows = list(part.rows)
        here = cells[rows].reshape(-1, cells.shape[2])
        groups = np.repeat(np.arange(len(rows)), cells.shape[1])
        kept = (here != MISSING).any(axis=1)
        if tuple(rows) not in known:
            rng = generator(pool.seed, "excess", measure.name, scores.system, part.topic_type or "")
            known[tuple(rows)] = dependence(here[kept], groups[kept], rng)
        found = known[tuple(rows)]
        shares = f"fails next: {found.after_one:.3f} after x, {found.after_zero:.3f} after o"
        low, high = found.chance
        note = (
            f"{shares}; by conversations and turns alone they differ by {decimal(found.expected, 3, signed=True)} "
            f"(95%: {decimal(low, 3, signed=True)} to {decimal(high, 3, signed=True)}); p={found.p:.3g}"
            if found.draws and not np.isnan(found.p)
            else "no topic has several conversations of three turns or more that differ"
        )
        yield Reading(part, found.excess, 0 if np.isnan(found.p) else found.n, no_interval(), len(rows), note)


def _share_text(share: Share) -> str:
    return f"{share.value:.3f}" if share.n else "n/a"


def _label_codes(pool: Pool) -> npt.NDArray[np.int8]:
    """Return the codes of the labels, (topics, trials, turns), with ABSENT for turns that the protocol cannot reach."""
    scores = pool.scores
    most = max(scores.turns[topic.id] for topic in scores.topics)
    cells = np.full((len(scores.topics), len(scores.trials), max(most, 1)), ABSENT, dtype=np.int8)
    rows = {topic.id: row for row, topic in enumerate(scores.topics)}
    columns = {trial: column for column, trial in enumerate(scores.trials)}
    for one in pool.conversations:
        turns = scores.turns[one.key.topic]
        cells[rows[one.key.topic], columns[one.key.trial], :turns] = label_codes([labels(one, turns)])[0]
    return cells


TRANSITION = Declaration(
    name="transition",
    sentence="How often one kind of answer follows another, or the conversation ends badly after it.",
    of="trials",
    formula="turns with the second label / turns asked after the first; to the end: missing / asked or missing",
    source="our own; %useful S1 is transition(start, o)",
    undefined="no turn followed the first",
    example="transition(x, o)",
    n="turns",
    needs=("labels",),
    good=lambda term, inner: "high" if str(term.arguments[-1]) == USEFUL else "low",
    written=("transition(x, o)", "transition(x, end)"),
    arguments=(2, 2),
    read=_read_term,
    rows=_transition_readings,
)
PERSISTENCE = Declaration(
    name="persistence",
    sentence="How much more often a failure follows a failure than a useful answer.",
    of="trials",
    formula="share that fails next after x - share that fails next after o, of the turns that were asked",
    source="our own; its note tests the association within conversations, given topic and turn",
    undefined="no turn was asked after an x, or after an o",
    example="persistence",
    n="turns",
    needs=("labels",),
    range=(-1.0, 1.0),
    good="neither",
    legend="from -1 to 1, above 0 where failures follow failures",
    rows=_persistence_readings,
)
EXCESS = Declaration(
    name="excess",
    sentence="How much of persistence is left once bad conversations and bad turns are allowed for.",
    of="trials",
    formula="share that fails next after x - after o, minus its mean over tables with the same totals of x",
    source="our own, after Ponocny, Psychometrika 66 (2001); its note gives the exact p",
    undefined="no topic has several conversations of three turns or more that differ",
    example="excess",
    n="turns",
    needs=("labels",),
    range=(-1.0, 1.0),
    good="neither",
    legend="from -1 to 1, above 0 where failures breed failures",
    rows=_excess_readings,
)
