"""Test whether losses depend on the state of the protocol, or on the label or length of the preceding answer.

An attempt is lost if it is invalid after an answer, or if a failure of its user cut it short. If losses depend on
the system's answers, the remaining trials are a selection, and no figure of the system can be trusted.

States are compared with each other. A state that leads to itself gives no evidence, so labels and lengths are
compared, too. For a label or length, the test compares how often attempts are lost after answers of this kind and
after all other answers, among answers after which the attempt was to continue. Only the first attempt of a trial
counts. Answers are compared within topic and turn, because topics and late turns may lose more after any answer.
Lengths are also compared within labels. Topics with many answers of a label are compared with topics with few such
answers, because a system may always answer a topic in the same way.

A baseline stores how often attempts were lost, by topic, turn and preceding label (`loss_table`), so that a change
of losses in a later audit is not mistaken for a change of the system.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from protocols.labels import NOT_USEFUL, USEFUL
from recordings.conversations.conversation import Conversation, TrialKey
from recordings.conversations.endings import is_lost, loss_remedy
from recordings.conversations.outlines import Outlines
from scoring.inference.turn_events import EventTable, TurnCase, compare_events, event_table
from scoring.statistics.stratified import compare_within, fisher_exact
from topics.counting import pluralize
from topics.decimals import decimal
from topics.identity import generator


@dataclass(frozen=True, slots=True)
class AlikeTrials:
    """Trials of one topic whose attempts took the same course. `attempts` are those of the first of them that ended, in
    order, and `number` counts the trials. `known_lengths` are as in `lengths`, if attempts are without their words."""

    attempts: tuple[Conversation, ...]
    number: int = 1
    known_lengths: npt.NDArray[np.int32] | None = None

    @property
    def first(self) -> Conversation | None:
        """The first attempt with an answer."""
        return next((one for one in self.attempts if one.valid or one.exchanges), None)

    @property
    def lengths(self) -> npt.NDArray[np.int32]:
        """The characters of each answer of the first attempt with an answer, (trials, answers)."""
        if self.known_lengths is not None:
            return self.known_lengths
        turns = self.first.turns if self.first is not None else ()
        answers = [len(turn.reply.answer.text) for turn in turns if turn.reply is not None]
        return np.array([answers], dtype=np.int32)


def alike_trials(conversations: Iterable[Conversation]) -> list[AlikeTrials]:
    """Return the kinds of trials with an attempt that ended, in order of their first one. Attempts of a trial must be
    in order. Trials with several attempts or a lost one are each a kind of their own, and so are all that have their
    words."""
    if isinstance(conversations, Outlines):
        return _of_outlines(conversations)
    found: dict[TrialKey, list[Conversation]] = {}
    for one in conversations:
        if one.outcome is not None:
            found.setdefault(one.key, []).append(one)
    return [AlikeTrials(tuple(own)) for own in found.values()]


def _of_outlines(whole: Outlines) -> list[AlikeTrials]:
    ended = whole.select(whole.rows_of(lambda one: one.outcome is not None))
    lost = ended.rows_of(lambda one: one.outcome is not None and is_lost(one))
    trial = ended.trial_numbers
    apart = np.bincount(trial, minlength=1) > 1
    apart[trial[lost]] = True
    rows = np.flatnonzero(~apart[trial])
    alone = ended.select(rows)
    first, counts, kind = alone.groups
    alike = np.split(np.argsort(kind, kind="stable"), np.cumsum(counts)[:-1]) if len(first) else []
    found = [
        (int(rows[at]), AlikeTrials((alone[at],), len(own), alone.reply_lengths(own)))
        for at, own in zip(first.tolist(), alike, strict=True)
    ]
    others = np.flatnonzero(apart[trial])
    ends = np.flatnonzero(np.diff(trial[others])) + 1
    for several in np.split(others, ends) if len(others) else []:
        attempts = tuple(ended[at] for at in several.tolist())
        answered = (at for at, one in zip(several.tolist(), attempts, strict=True) if one.valid or one.exchanges)
        told = next(answered, None)
        lengths = np.zeros((1, 0), dtype=np.int32) if told is None else ended.reply_lengths(np.array([told]))
        found.append((int(several[0]), AlikeTrials(attempts, 1, lengths)))
    return [one for _, one in sorted(found, key=lambda one: one[0])]


# Rate of false alarms about concentrated losses for each system: half for states, a quarter for labels or lengths.
ALPHA = 0.01

# Rate of false alarms about changed losses for each look at a watched system.
_EACH_LOOK = 0.01


@dataclass(frozen=True, slots=True)
class Concentration:
    """Attempts of a system that were lost in one state, or after answers of one label or length.

    The condition is one of `state`, `label` and `length`; the other two are "". A length is a clause such as `of
    more than 120 characters`. For a state, `came` is the number of trials that reached the state, and `lost` the
    number of trials lost there. For a label or length, `came` and `lost` count answers of first attempts that were
    to continue. `came_elsewhere` and `lost_elsewhere` are these numbers for all other states, labels or lengths
    together. `reasons` counts lost trials by reason, and `after` by the labels of their answers. `p` is one-sided;
    for a label, it is twice the smaller of the p within topics and the p between topics.
    """

    system: str
    state: str
    lost: int
    came: int
    lost_elsewhere: int
    came_elsewhere: int
    reasons: Mapping[str, int]
    after: Mapping[str, int]
    p: float
    label: str = ""
    length: str = ""

    @property
    def sentence(self) -> str:
        reasons = ", ".join(f"{reason} x {count}" for reason, count in Counter(self.reasons).most_common())
        after = ", ".join(f"{labels} x {count}" for labels, count in Counter(self.after).most_common(5))
        if self.state:
            trials = pluralize(self.came, "trial")
            where = f"{trials} that reached the state {self.state!r} of the protocol were lost there"
        else:
            kind = f"labelled {self.label}" if self.label else self.length
            where = f"{pluralize(self.came, 'answer')} {kind} were the last before the trial was lost"
        remedy = loss_remedy(self.reasons)
        return (
            f"{self.system}: {self.lost} of {where} ({reasons}; after the labels {after}), elsewhere "
            f"{self.lost_elsewhere} of {self.came_elsewhere} (p = {self.p:.1g}). Whether a trial was whole depended on "
            f"what the system had answered, so what is left is a choice among its answers: use the bounds; {remedy}"
        )


def first_lost(conversations: Iterable[Conversation]) -> dict[TrialKey, Conversation]:
    """Return each trial's first attempt with an answer, if it was lost. A trial's attempts must be in order."""
    firsts = (one.first for one in alike_trials(conversations))
    return {one.key: one for one in firsts if one is not None and is_lost(one)}


def lost_state(conversation: Conversation) -> str:
    """Return the state in which an attempt was lost, or "" if no turn had begun."""
    if not conversation.turns:
        return ""
    return _next_state(conversation) or conversation.turns[-1].state


def _next_state(conversation: Conversation) -> str:
    """Return the state of the turn that would have followed the last answer, or "" if the last turn got no answer."""
    last = conversation.turns[-1]
    following = last.route.target if last.route is not None else ""
    return "" if last.reply is None or following.startswith("stop:") else following


def concentrations(conversations: Sequence[Conversation], *, alpha: float = ALPHA) -> tuple[Concentration, ...]:
    """Return the states, labels and lengths of answers with which attempts are lost more often. For states, each trial
    counts once in each state, when it first reaches the state after an answer. Repeated failures add no evidence.
    Failures in a single topic are no evidence, unless the run has no other topic. Only states that some finished
    conversation avoided are tested. `alpha` is shared by all tests of a system."""
    systems: dict[str, list[AlikeTrials]] = defaultdict(list)
    for one in alike_trials(conversations):
        systems[one.attempts[0].key.system].append(one)
    found = [
        concentration
        for system, own in systems.items()
        if any(is_lost(attempt) for one in own for attempt in one.attempts)
        for concentration in (*_by_state(system, own, alpha / 2), *_by_answer(system, own, alpha / 4))
    ]
    return tuple(sorted(found, key=lambda one: one.p))


def _by_state(system: str, trials: Sequence[AlikeTrials], alpha: float) -> Iterator[Concentration]:
    came: Counter[str] = Counter()
    lost: dict[str, list[Conversation]] = defaultdict(list)  # the attempts that were lost there
    finished: set[frozenset[str]] = set()
    opening: set[str] = set()  # reached without an answer
    topics: set[str] = set()
    for one in trials:
        reached: dict[str, Conversation | None] = {}
        for attempt in one.attempts:
            places = list(_reached_states(attempt))
            for place, ended in places:
                reached.setdefault(place, attempt if ended else None)
            if not is_lost(attempt):
                finished.add(frozenset(place for place, _ in places))
            opening.update(turn.state for turn in attempt.turns[:1])
        for place, ending in reached.items():
            came[place] += one.number
            topics.add(one.attempts[0].key.topic)
            if ending is not None:
                lost[place].append(ending)
    tested = [
        place
        for place in sorted(filter(None, came))
        if place not in opening and place in lost and any(place not in passed for passed in finished)
    ]
    every = sum(map(len, lost.values()))
    for place in tested:
        own, here, there = lost[place], came[place], came.total() - came[place]
        elsewhere = every - len(own)
        p = fisher_exact(len(own), here - len(own), elsewhere, there - elsewhere)
        if p <= alpha / len(tested) and (len(topics) == 1 or len({one.key.topic for one in own}) > 1):
            yield Concentration(system, place, len(own), here, elsewhere, there, *_count_lost(own), p)


def _reached_states(conversation: Conversation) -> Iterator[tuple[str, bool]]:
    """Yield each state that an attempt reached ("" for the opening turn), and whether the attempt was lost there."""
    places = [turn.state if turn.number > 1 else "" for turn in conversation.turns]
    if not is_lost(conversation):
        yield from ((place, False) for place in places)
        return
    where = _next_state(conversation) if places else ""
    if places and not where:
        where = places.pop()
    yield from ((place, False) for place in places)
    yield where, True


@dataclass(frozen=True, slots=True)
class _Step:
    """Answers of alike trials after which attempts were to continue. `lengths` (trials,) are their characters. If the
    attempt was lost there, `lost` is the attempt."""

    topic: str
    turn: int
    label: str
    lengths: npt.NDArray[np.int32]
    lost: Conversation | None


def _steps(trials: Iterable[AlikeTrials]) -> Iterator[_Step]:
    for of in trials:
        one, lengths = of.first, of.lengths
        answered = [turn for turn in one.turns if turn.reply is not None] if one is not None else []
        for place, turn in enumerate(answered):
            assert one is not None
            last = turn is answered[-1]
            closed = turn.route is not None and turn.route.target.startswith("stop:")
            if last and (closed or not is_lost(one)):
                continue  # nothing was to follow
            yield _Step(one.key.topic, turn.number, turn.label or "", lengths[:, place], one if last else None)


def loss_table(conversations: Iterable[Conversation]) -> EventTable:
    """Count first attempts lost after answers that were to continue, by topic and by turn number and label."""
    steps = (one for one in _steps(alike_trials(conversations)) for _ in one.lengths)
    return event_table(
        TurnCase(one.topic, place, f"{one.turn} {one.label}".rstrip(), one.lost is not None)
        for place, one in enumerate(steps)
    )


def changed_losses(system: str, before: EventTable, now: EventTable) -> str:
    """Return a sentence if a system's losses became more or less frequent, or "" if not or if a table is empty."""
    if not before or not now:
        return ""
    found = compare_events(now, before, generator(0, "losses", "baseline", system))
    if not found.p <= _EACH_LOOK:
        return ""
    more = "more" if found.difference > 0 else "less"
    return (
        f"trials are lost {more} often than those of the baseline by {decimal(100 * abs(found.difference), 0)} points "
        f"of answers, within topic, turn and label (p = {found.p:.1g}, {found.n[0]} and {found.n[1]} answers), so a "
        "difference may be that of what was lost: remove the cause, or bless runs that lose as much"
    )


def _by_answer(system: str, trials: Sequence[AlikeTrials], alpha: float) -> Iterator[Concentration]:
    steps = list(_steps(trials))
    if not any(one.lost for one in steps):
        return
    labelled = [one for one in steps if one.label in (USEFUL, NOT_USEFUL)]
    middle = int(np.median(np.concatenate([one.lengths for one in steps])))
    characters = pluralize(middle, "character")
    kinds: tuple[tuple[str, str, Sequence[_Step], Callable[[_Step], int]], ...] = (
        (USEFUL, "", labelled, lambda one: len(one.lengths) * (one.label == USEFUL)),
        (NOT_USEFUL, "", labelled, lambda one: len(one.lengths) * (one.label == NOT_USEFUL)),
        ("", f"of more than {characters}", steps, lambda one: int((one.lengths > middle).sum())),
        ("", f"of at most {characters}", steps, lambda one: int((one.lengths <= middle).sum())),
    )
    for label, length, own, how_many in kinds:
        counts, p = _compare_steps(own, how_many, by_label=bool(label))
        if p <= alpha / 2:
            lost = [one.lost for one in own if one.lost is not None and how_many(one)]
            yield Concentration(system, "", *counts, *_count_lost(lost), p, label, length)


def _compare_steps(
    steps: Sequence[_Step], how_many: Callable[[_Step], int], *, by_label: bool
) -> tuple[tuple[int, int, int, int], float]:
    """Return four counts and p. The counts are the lost answers and all answers of one kind, and the lost answers
    and all answers of all other kinds. Unless `by_label`, answers are compared within labels, which often differ
    in length."""
    strata: dict[tuple[str, int, str], list[int]] = defaultdict(lambda: [0] * 4)
    topics: dict[str, list[int]] = defaultdict(lambda: [0] * 4)
    for one in steps:
        meant, every, lost = how_many(one), len(one.lengths), one.lost is not None
        for at, counted in enumerate((meant * lost, meant, every * lost, every)):
            strata[one.topic, one.turn, "" if by_label else one.label][at] += counted
            topics[one.topic][at] += counted
    hits, meant_steps, losses, whole = (sum(of[at] for of in topics.values()) for at in range(4))
    counts = hits, meant_steps, losses - hits, whole - meant_steps
    if not (hits and 0 < meant_steps < whole):
        return counts, 1.0
    within = compare_within(*zip(*strata.values(), strict=True)).more
    within = within if within == within else 1.0
    if not by_label:
        return counts, within
    # Topics by whether they have more such answers than average, and lose more often.
    table = Counter(
        (own[1] / own[3] > meant_steps / whole, own[2] / own[3] > losses / whole) for own in topics.values()
    )
    between = fisher_exact(table[True, True], table[True, False], table[False, True], table[False, False])
    return counts, min(1.0, 2 * min(within, between))


def _count_lost(lost: Iterable[Conversation]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    reasons: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for one in lost:
        assert one.outcome is not None
        reasons[one.outcome.why] += 1
        after["".join(turn.label or "?" for turn in one.turns if turn.reply is not None)] += 1
    return reasons, after
