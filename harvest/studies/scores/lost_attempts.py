"""What a system lost in a measure: trials that are not whole, and what they could have given.

A trial whose user is found to have said something else than with another system is treated as lost from there on.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace

from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import SHARES, Key, Values
from protocols.answer import Answer
from protocols.labels import NOT_USEFUL
from protocols.labels import USEFUL as USEFUL_LABEL
from protocols.route import Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, Turn
from recordings.conversations.endings import is_cut_short
from scoring.inference.aligned import Cell, Trial
from scoring.inference.interval import Interval, no_interval
from scoring.inference.losses import Lost, with_losses
from scoring.inference.matched import Difference
from scoring.measure import Measure
from scoring.measures.usefulness import NOT_ASKED, RECOVERY, USEFUL, labels, recovery_cells, useful_cells, useful_share

Cells = Mapping[Trial, Cell]


def lost_attempts(
    key: Key, measure: Measure, system: str, values: Mapping[str, Values], material: Material, topics: Sequence[str]
) -> Lost:
    """Of the system in one measure, over `topics`: trials without a valid attempt, and trials that a failure of the
    user cut short before the value was known. Where losses depend on what the system answered, also the trials whose
    first attempt was lost, with that attempt in place of the one that was played again. Where its users differ from
    those of another system, also the trials with such a turn, up to there.

    Of a share, the answers that there were are known, and the others could have been useless or useful; of %recovery
    it could have failed first and then have recovered, or not. A trial could have given any value of another measure;
    if the measure has no end near its values, any from the smallest to the largest that a conversation of any of the
    systems (those of `values`) has.
    """
    depends = any(one.system == system for one in material.concentrations)
    gone: dict[Trial, Conversation | None] = {
        (one.topic, one.trial): None for one in material.invalid if one.system == system
    }
    for (of, topic, number), one in ((astuple(name), one) for name, one in material.first_lost.items()):
        if of == system and (depends or is_cut_short(one.outcome) or (topic, number) in gone):
            gone[topic, number] = one
    lost = _bounded(key, measure, system, values, material, topics, gone, depends=depends)
    suspect = material.user_card.suspect.get(system, {})
    if not suspect or depends:
        return lost
    for one in material.finished:
        first = suspect.get(one.key, 0)
        if first and first <= len(one.turns):
            before = gone.get((one.key.topic, one.key.trial)) or one
            gone[one.key.topic, one.key.trial] = replace(one, turns=min(before.turns, one.turns[: first - 1], key=len))
    unlike = _bounded(key, measure, system, values, material, topics, gone, depends=True)
    others = {one.other for one in material.user_card.withholding if one.system == system}
    return replace(unlike, why="users said something else to one system", others=others, beside_others=lost)


def _bounded(
    key: Key,
    measure: Measure,
    system: str,
    values: Mapping[str, Values],
    material: Material,
    topics: Sequence[str],
    gone: Mapping[Trial, Conversation | None],
    *,
    depends: bool,
) -> Lost:
    """What the trials that are gone could have given. gone: with what is known of each."""
    asked = {topic for own in values.values() for topic, _ in own.get(key, {})}.intersection(topics)
    of_share = measure.declaration in SHARES
    ends = (0.0, 1.0) if of_share else _ends(key, measure, values)
    known = values[system].get(key, {}) if system in values else {}
    low: dict[Trial, Cell] = {}
    high: dict[Trial, Cell] = {}
    for trial, attempt in gone.items():
        if trial[0] not in asked:  # others are not asked for this turn
            continue
        if of_share and attempt is not None:
            turns = material.turns[system, trial[0]]
            worst = _cell(key, measure, filled(attempt, turns, NOT_USEFUL), turns)
            fill = NOT_USEFUL + USEFUL_LABEL if measure.declaration is RECOVERY else USEFUL_LABEL
            best = _cell(key, measure, filled(attempt, turns, fill), turns)
        else:
            worst, best = (ends[0], 1.0), (ends[1], 1.0)
        if worst != best or known.get(trial) != worst:
            low[trial], high[trial] = worst, best
    valued = frozenset(trial for trial in known.keys() & low.keys() if known[trial][0] == known[trial][0])
    return Lost(low, high, valued, depends)


def within_bounds(
    between: Callable[[Cells, Cells], Difference], sides: tuple[Cells, Cells], lost: tuple[Lost, Lost]
) -> Difference:
    """`between` the sides. Where what one of them lost depends on what it had answered, its interval is that within the
    bounds of what was lost, and it has no p: neither side may be found to be better."""
    found = between(*sides)
    if not any(one.depends and one.low for one in lost):
        return found
    ends = [
        between(
            *(
                with_losses(cells, own, high=high == first)
                for cells, own, first in zip(sides, lost, (True, False), strict=True)
            )
        )
        for high in (True, False)
    ]
    interval = no_interval(next(one.why for one in lost if one.depends and one.low))
    if all(one.interval.printed for one in ends):
        method = f"{ends[0].interval.method}, within the bounds of what was lost"
        low, high = (pick(getattr(one.interval, end) for one in ends) for pick, end in ((min, "low"), (max, "high")))
        interval = Interval(low, high, method, ends[0].interval.resampled, assumes=ends[0].interval.assumes)
    return replace(found, interval=interval, p=math.nan, outside=math.nan)


def _ends(key: Key, measure: Measure, values: Mapping[str, Values]) -> tuple[float, float]:
    low, high = measure.declaration.range
    if measure.declaration.has_top:
        return low, high
    cells = (cell for own in values.values() for cell in own.get(key, {}).values())
    seen = [above / below for above, below in cells if below > 0 and above == above]
    return (min(seen), max(seen)) if seen else (low, low)


def _cell(key: Key, measure: Measure, conversation: Conversation, turns: int) -> Cell:
    """What a conversation gives to a share, as `harvest.studies.scores.trial_values` has it."""
    row = labels(conversation, turns)
    if measure.declaration is USEFUL:
        return useful_cells((*row, *[NOT_ASKED] * (key[1] or 0)))[(key[1] or 1) - 1], 1.0
    if measure.declaration is RECOVERY:
        return recovery_cells(row)
    value, over = useful_share(row)
    return value, float(over > 0)


def filled(conversation: Conversation, turns: int, fill: str) -> Conversation:
    """The lost attempt with a label for each of its turns, as if nothing of it had been lost. turns: that its protocol
    can take. fill: the labels of what was lost, by turn; the last one of all that follow."""
    known = [turn for turn in conversation.turns if turn.reply is not None]
    made = [turn if turn.label else replace(turn, route=_route(turn.number, turn.state, fill)) for turn in known]
    for number in range(len(known) + 1, turns + 1):
        made.append(Turn(number, "", "", SystemTurn(Answer("")), _route(number, "", fill)))
    return replace(conversation, turns=tuple(made), outcome=Outcome("completed"))


def _route(turn: int, state: str, fill: str) -> Route:
    return Route(turn, state, fill[min(turn, len(fill)) - 1], "", "", (), "")
