"""What playing a lost trial again may have chosen: where attempts were lost, and how far that can move the figures.

Whether an attempt is valid may not depend on what the system answered. It does where a state of the protocol that only
some answers lead to cannot be said: each trial is then played again until it gets by without that state. So a trial
whose first attempt with an answer was lost counts with that attempt here, with the answers it had got, and what was
lost is taken for useless or for useful. Interrupted attempts are not lost in this sense, because stopping a run does
not depend on the answers.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harvest.studies.scorecard import Material
from protocols.answer import Answer
from protocols.labels import NOT_USEFUL
from protocols.labels import USEFUL as USEFUL_LABEL
from protocols.route import Route
from recordings.conversation import Conversation, Outcome, SystemTurn, TrialKey, Turn
from scoring.forms.worst import RATE
from scoring.library import declared
from scoring.measures.usefulness import MEAN_USEFUL, RECOVERY, USEFUL
from scoring.notation import Term, parse
from scoring.scores import score
from scoring.settings import Settings
from scoring.statistics.association import fisher_exact
from scoring.table import ScoreRow, ScoreTable
from topics.counting import pluralize
from topics.identity import generator

__all__ = ["Bound", "Selection", "concentrations", "first_lost", "lost_in", "selection"]

ALPHA = 0.01
"""For each system: how seldom it may be said that losses concentrate where they do not."""
_SHARES = (USEFUL.name, MEAN_USEFUL.name, RECOVERY.name)

Rescored = Callable[[Material, Sequence[Term]], ScoreTable]
"""Scores other conversations as those of the table were scored, by the measures given."""


@dataclass(frozen=True, slots=True)
class Concentration:
    """Attempts of a system that were lost in one state. lost, came: trials that were lost there, of those that came
    there; lost_elsewhere, came_elsewhere: the same of all other states together. reasons: with how many trials each.
    after: the labels of the answers before, with how many trials each. p: Fisher's exact test, one-sided.
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

    @property
    def sentence(self) -> str:
        reasons = ", ".join(f"{reason} x {count}" for reason, count in Counter(self.reasons).most_common())
        after = ", ".join(f"{labels} x {count}" for labels, count in Counter(self.after).most_common(5))
        return (
            f"{self.system}: {self.lost} of {pluralize(self.came, 'trial')} that reached the state {self.state!r} of "
            f"the protocol were lost there ({reasons}; after the labels {after}), elsewhere {self.lost_elsewhere} of "
            f"{self.came_elsewhere} (p = {self.p:.1g}). Whether a trial was valid depended on what the system had "
            "answered, so playing it again selected among its answers: use the bounds, and remove the cause"
        )


@dataclass(frozen=True, slots=True)
class Bound:
    """A share of a system over everything, as scored and with the first attempts. useless, useful: what was lost is
    taken for that; of `P(M, below=…)` and `breakdown`, the trial is taken for such a case, or not. turn: of %useful.
    """

    system: str
    measure: str
    turn: int | None
    value: float
    useless: float
    useful: float


@dataclass(frozen=True, slots=True)
class Selection:
    """lost: by system, trials whose first attempt with an answer was lost. trials: by system, all that were tried."""

    lost: Mapping[str, int]
    trials: Mapping[str, int]
    concentrations: tuple[Concentration, ...] = ()
    bounds: tuple[Bound, ...] = ()

    def as_json(self) -> dict[str, object] | None:
        """What `harvest-scores/1` holds as `selection`; None where nothing was lost after an answer."""
        if not (self.lost or self.concentrations):
            return None
        return {
            "lost_after_an_answer": dict(self.lost),
            "concentrations": [
                {name: _plain(getattr(one, name)) for name in Concentration.__slots__} for one in self.concentrations
            ],
            "bounds": [{name: _plain(getattr(one, name)) for name in Bound.__slots__} for one in self.bounds],
        }


def selection(material: Material, table: ScoreTable, rescored: Rescored) -> Selection:
    """What the lost attempts of `material` come to; empty where none was lost after an answer. Bounds are given of the
    shares in `table`, and of no other figure."""
    lost = first_lost(material.conversations)
    tried = {one.key for one in material.conversations if one.outcome is not None}
    return Selection(
        lost=Counter(key.system for key in lost),
        trials=Counter(key.system for key in tried),
        concentrations=concentrations(material.conversations),
        bounds=tuple(_bounds(material, lost, table, rescored)) if lost else (),
    )


def first_lost(conversations: Iterable[Conversation]) -> dict[TrialKey, Conversation]:
    """Of each trial whose first attempt with an answer was lost, that attempt. The attempts of a trial are in order."""
    first: dict[TrialKey, Conversation] = {}
    for one in conversations:
        if one.outcome is not None and (one.valid or one.exchanges):
            first.setdefault(one.key, one)
    return {key: one for key, one in first.items() if not one.valid}


def lost_in(conversation: Conversation) -> str:
    """The state whose turn an invalid attempt was lost in; "" where no turn had begun."""
    if not conversation.turns:
        return ""
    last = conversation.turns[-1]
    following = last.route.target if last.route is not None else ""
    if last.reply is None or not following or following.startswith("stop:"):
        return last.state
    return following  # whose words never came about


def concentrations(conversations: Sequence[Conversation], *, alpha: float = ALPHA) -> tuple[Concentration, ...]:
    """The states in which attempts are lost more than elsewhere, of those that only some answers lead to.

    Counted are trials, each once in every state, as it first came there after an answer: tries that fail alike are no
    further evidence, and neither are those of a single topic, if there are several. Looked at are states that some
    finished conversation got by without. alpha: for each system, shared by its states.
    """
    systems: dict[str, list[Conversation]] = defaultdict(list)
    for one in conversations:
        if one.outcome is not None:
            systems[one.key.system].append(one)
    found = (one for system, own in systems.items() for one in _concentrated(system, own, alpha))
    return tuple(sorted(found, key=lambda one: one.p))


def _concentrated(system: str, conversations: Sequence[Conversation], alpha: float) -> Iterator[Concentration]:
    if all(one.valid for one in conversations):
        return  # nothing was lost anywhere
    came: dict[tuple[str, TrialKey], Conversation | None] = {}  # the attempt that was lost there, if it was
    for one in conversations:
        for place, ended in _places(one):
            came.setdefault((place, one.key), one if ended else None)
    finished = [{place for place, _ in _places(one)} for one in conversations if one.valid]
    places = sorted({place for place, _ in came if place})
    tested = [
        place
        for place in places
        if any(one is not None for (where, _), one in came.items() if where == place)
        and not (finished and all(place in passed for passed in finished))
    ]
    topics = {key.topic for _, key in came}
    for place in tested:
        here = [one for (where, _), one in came.items() if where == place]
        there = [one for (where, _), one in came.items() if where != place]
        lost = [one for one in here if one is not None]
        elsewhere = sum(one is not None for one in there)
        p = fisher_exact(len(lost), len(here) - len(lost), elsewhere, len(there) - elsewhere)
        if p <= alpha / len(tested) and (len(topics) == 1 or len({one.key.topic for one in lost}) > 1):
            yield Concentration(
                system,
                place,
                len(lost),
                len(here),
                elsewhere,
                len(there),
                Counter(one.outcome.why for one in lost if one.outcome is not None),
                Counter("".join(turn.label or "?" for turn in one.turns if turn.reply is not None) for one in lost),
                p,
            )


def _places(conversation: Conversation) -> Iterator[tuple[str, bool]]:
    """Where the attempt came to, and whether it was lost there. "" stands for the opening turn, which no answer
    precedes."""
    places = [turn.state if turn.number > 1 else "" for turn in conversation.turns]
    if conversation.valid:
        yield from ((place, False) for place in places)
        return
    where = lost_in(conversation)
    if places and where == conversation.turns[-1].state:
        where = places.pop()
    yield from ((place, False) for place in places)
    yield where, True


def _bounds(
    material: Material, lost: Mapping[TrialKey, Conversation], table: ScoreTable, rescored: Rescored
) -> Iterator[Bound]:
    """The shares in the table of every system that lost a trial after an answer."""
    systems = {key.system for key in lost}
    rows = [row for row in _overall(table) if row.system in systems]
    shares = [row for row in rows if row.measure in _SHARES]
    if shares:
        settings = Settings(replications=100)  # its intervals are not looked at
        useless, useful, recovering = (
            _shares(material, _filled(material, lost, fill), settings)
            for fill in (NOT_USEFUL, USEFUL_LABEL, NOT_USEFUL + USEFUL_LABEL)
        )
        for row in shares:
            key = (row.system, row.measure, row.turn)
            best = recovering if row.measure == RECOVERY.name else useful
            yield Bound(*key, row.value, useless.get(key, math.nan), best.get(key, math.nan))
    rates = [(row, _rate(row.measure)) for row in rows if _rate(row.measure) and not math.isnan(row.value)]
    if rates:
        # What a whole conversation would have been is not known: its trial counts as one that was never valid.
        without = tuple(one for one in material.conversations if not (one.valid and one.key in lost))
        terms = [parse(name) for name in dict.fromkeys(name for _, name in rates)]
        filled = _overall(rescored(replace(material, conversations=without), terms))
        found = {(row.system, row.measure): row for row in filled}
        for row, name in rates:
            one = found[row.system, name]
            yield Bound(row.system, row.measure, None, row.value, one.worst, one.best)


def _rate(measure: str) -> str:
    """How often something happens, as a measure; "" for a measure that is no such share."""
    found = declared(measure)
    if found is None or not found.event:
        return ""
    return measure if found is RATE else str(Term(RATE.name, (parse(measure),)))


def _overall(table: ScoreTable) -> list[ScoreRow]:
    return [row for row in table.joint if (row.topic, row.topic_type, row.trial) == (None, None, None)]


def _shares(
    material: Material, conversations: Collection[Conversation], settings: Settings
) -> dict[tuple[str, str, int | None], float]:
    table = score(
        conversations, material.topics, None, settings, generator(0, "bounds of what was lost"), turns=material.turns
    )
    return {(row.system, row.measure, row.turn): row.value for row in _overall(table) if row.measure in _SHARES}


def _filled(material: Material, lost: Mapping[TrialKey, Conversation], fill: str) -> tuple[Conversation, ...]:
    """The finished trials, those that were lost first with that attempt, and those that were never answered whole.

    fill: the labels of what was lost, the last one of all that follow.
    """
    first = {one.key: one for one in material.finished}
    invalid = material.invalid  # once: it is made of all conversations
    nothing = {one.key: replace(one, turns=()) for one in material.conversations if one.key in invalid}
    return tuple(
        _answered(one, material.turns[key.system, key.topic], fill) for key, one in {**nothing, **first, **lost}.items()
    )


def _answered(conversation: Conversation, turns: int, fill: str) -> Conversation:
    """The conversation with a label for each of its turns, as if nothing of it had been lost."""
    if conversation.valid:
        return conversation
    known = [turn for turn in conversation.turns if turn.reply is not None]
    made = [turn if turn.label else replace(turn, route=_route(turn.number, turn.state, fill)) for turn in known]
    for number in range(len(known) + 1, turns + 1):
        made.append(Turn(number, "", "", SystemTurn(Answer("")), _route(number, "", fill)))
    return replace(conversation, turns=tuple(made), outcome=Outcome("completed"))


def _route(turn: int, state: str, fill: str) -> Route:
    return Route(turn, state, fill[min(turn, len(fill)) - 1], "", "", (), "")


def _plain(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return dict(value) if isinstance(value, Mapping) else value
