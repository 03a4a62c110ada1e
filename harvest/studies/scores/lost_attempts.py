"""Incomplete trials of a system, and the values of a measure that such trials could have had.

A trial whose user spoke differently to another system counts as lost from the first differing turn on.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace

from harvest.studies.scores.scorecard import Material
from harvest.studies.scores.trial_values import SHARES, Key, Values
from protocols.answer import Answer
from protocols.labels import NOT_USEFUL
from protocols.labels import USEFUL as USEFUL_LABEL
from protocols.route import Route
from recordings.conversations.conversation import Conversation, Outcome, SystemTurn, Turn
from recordings.conversations.endings import cut_words, is_cut_short, loss_remedy
from scoring.inference.aligned import Cell, Trial
from scoring.inference.losses import LostTrials, losses_matter
from scoring.measure import Measure
from scoring.measures.usefulness import NOT_ASKED, RECOVERY, USEFUL, labels, recovery_cells, useful_cells, useful_share
from topics.counting import pluralize

# Why no winner is named if users who should have said the same did not.
UNLIKE_USERS = "users said something else to one system"


def lost_attempts(
    key: Key, measure: Measure, system: str, values: Mapping[str, Values], material: Material, topics: Sequence[str]
) -> LostTrials:
    """Return a system's losses in one measure over `topics`.

    Losses are the trials without a valid attempt, and the trials that a failure of the user cut short before the
    value was known. If losses depend on the system's answers, a trial whose first attempt was lost counts with this
    attempt instead of the repeated attempt. If the system's users differ from the users of another system, a trial
    with a differing turn counts up to that turn.

    For a share of useful turns, the recorded answers are known, and each missing answer could have been useless or
    useful. For %recovery, a trial could have failed first, and could then have recovered or not. For any other
    measure, a trial could have had any value in the measure's range. If the range is unbounded, the trial could
    have had any value between the extremes over all conversations of the systems in `values`.
    """
    depends = any(one.system == system for one in material.concentrations)
    gone: dict[Trial, tuple[Conversation, ...]] = {
        (one.topic, one.trial): () for one in material.invalid if one.system == system
    }
    for (of, topic, number), one in ((astuple(name), one) for name, one in material.first_lost.items()):
        if of == system and (depends or is_cut_short(one.outcome) or (topic, number) in gone):
            gone[topic, number] = (one,)
    lost = _bound_lost(key, measure, system, values, material, topics, gone, depends=depends)
    suspect = material.user_card.suspect.get(system, {})
    if not suspect:
        return lost
    for one in material.finished:
        first = suspect.get(one.key, 0)
        if first and first <= len(one.turns) + 1:  # one more than there are if the user left
            trial = one.key.topic, one.key.trial
            gone[trial] = (*gone.get(trial, ()), replace(one, turns=one.turns[: first - 1]))
    unlike = _bound_lost(key, measure, system, values, material, topics, gone, depends=True)
    return replace(
        unlike,
        why=(*lost.why, UNLIKE_USERS) if depends and lost.low else (UNLIKE_USERS,),
        others={one.other for one in material.user_card.withholding_differences if one.system == system},
        beside_others=lost,
    )


def loss_words(system: str, material: Material) -> str:
    """Return a clause about a system's losses, such as `12 of 45 conversations were cut short by a failure of the
    user (no-words x 12)`, or "" without losses."""
    finished = sum(one.key.system == system for one in material.finished)
    invalid = sum(key.system == system for key in material.invalid)
    cut = material.cut_short.get(system, Counter[str]())
    reasons = ", ".join(f"{reason} x {count}" for reason, count in cut.most_common())
    parts = [
        f"{cut.total()} of {pluralize(finished, 'conversation')} were {cut_words(cut)} ({reasons})" if cut else "",
        f"{invalid} of {pluralize(finished + invalid, 'trial')} had no valid attempt" if invalid else "",
    ]
    return " and ".join(filter(None, parts))


def many_lost(system: str, material: Material) -> bool:
    """Return true if so many trials of a system are incomplete that a figure could change."""
    cut = material.cut_short.get(system, Counter[str]()).total()
    invalid = sum(key.system == system for key in material.invalid)
    whole = sum(one.key.system == system for one in material.finished) - cut
    return losses_matter((cut + invalid, 0), (whole, 0))


def loss_notes(systems: Iterable[str], material: Material) -> Iterator[str]:
    """Yield a sentence about each system with losses, for figures that are bounded because of these losses."""
    for system in systems:
        if said := loss_words(system, material):
            yield (
                f"{system}: {said}. Intervals and verdicts that this can move hold all that could have followed: "
                f"{loss_remedy(loss_reasons([system], material))}."
            )


def loss_reasons(systems: Collection[str], material: Material) -> set[str]:
    """Return the reasons for which trials of `systems` were lost."""
    cut = {reason for system in systems for reason in material.cut_short.get(system, ())}
    return cut | {"invalid" for key in material.invalid if key.system in systems}


def _bound_lost(
    key: Key,
    measure: Measure,
    system: str,
    values: Mapping[str, Values],
    material: Material,
    topics: Sequence[str],
    gone: Mapping[Trial, tuple[Conversation, ...]],
    *,
    depends: bool,
) -> LostTrials:
    """Return the lowest and highest values that lost trials could have had. `gone` maps each lost trial to the
    conversations with which the trial could have begun."""
    if not gone:  # as in most runs: to look through the values of all systems took longer than a comparison
        return LostTrials({}, {}, frozenset(), depends)
    asked = {topic for own in values.values() for topic, _ in own.get(key, {})}.intersection(topics)
    of_share = measure.declaration in SHARES
    ends = (0.0, 1.0) if of_share else _lowest_and_highest(key, measure, values)
    known = values[system].get(key, {}) if system in values else {}
    # In a ratio of sums, a lost trial may have had as much below as any other.
    most = max((below for _, below in known.values()), default=1.0) if measure.declaration.pooled else 1.0
    low: dict[Trial, Cell] = {}
    high: dict[Trial, Cell] = {}
    for trial, attempts in gone.items():
        if trial[0] not in asked:  # other conversations do not have this turn
            continue
        if of_share and attempts:
            turns = material.turns[system, trial[0]]
            fill = NOT_USEFUL + USEFUL_LABEL if measure.declaration is RECOVERY else USEFUL_LABEL
            worst = min(
                (_cell(key, measure, fill_labels(one, turns, NOT_USEFUL), turns) for one in attempts), key=_share_in
            )
            best = max((_cell(key, measure, fill_labels(one, turns, fill), turns) for one in attempts), key=_share_in)
        else:
            worst, best = (ends[0] * most, most), (ends[1] * most, most)
        if worst != best or known.get(trial) != worst:
            low[trial], high[trial] = worst, best
    valued = frozenset(trial for trial in known.keys() & low.keys() if known[trial][0] == known[trial][0])
    return LostTrials(low, high, valued, depends)


def _lowest_and_highest(key: Key, measure: Measure, values: Mapping[str, Values]) -> tuple[float, float]:
    low, high = measure.declaration.range
    if measure.declaration.has_top:
        return low, high
    cells = (cell for own in values.values() for cell in own.get(key, {}).values())
    seen = [above / below for above, below in cells if below > 0 and above == above]
    return (min(seen), max(seen)) if seen else (low, low)


def _cell(key: Key, measure: Measure, conversation: Conversation, turns: int) -> Cell:
    row = labels(conversation, turns)
    if measure.declaration is USEFUL:
        return useful_cells((*row, *[NOT_ASKED] * (key[1] or 0)))[(key[1] or 1) - 1], 1.0
    if measure.declaration is RECOVERY:
        return recovery_cells(row)
    value, over = useful_share(row)
    return value, float(over > 0)


def _share_in(cell: Cell) -> float:
    """Return a sort key that places an empty cell between a failure and a success."""
    return cell[0] - cell[1] / 2


def fill_labels(conversation: Conversation, turns: int, fill: str) -> Conversation:
    """Return a lost attempt with labels for all `turns`. Missing labels come from `fill`, whose last label repeats."""
    known = [turn for turn in conversation.turns if turn.reply is not None]
    made = [turn if turn.label else replace(turn, route=_filled_route(turn.number, turn.state, fill)) for turn in known]
    for number in range(len(known) + 1, turns + 1):
        made.append(Turn(number, "", "", SystemTurn(Answer("")), _filled_route(number, "", fill)))
    return replace(conversation, turns=tuple(made), outcome=Outcome("completed"))


def _filled_route(turn: int, state: str, fill: str) -> Route:
    return Route(turn, state, fill[min(turn, len(fill)) - 1], "", "", (), "")
