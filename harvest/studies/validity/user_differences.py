"""By which rates the users of two systems differ, and from which turn on a trial is then in doubt.

What happens or does not (a fault, a refused sample, a user that leaves) is compared as `scoring.inference.turn_events`
has it. How turns are worded is compared by one test of three values (`scoring.inference.turn_values`): the words kept,
the words added and the number of words. No table of words knows in which way the next model goes astray; whatever it
says instead or besides changes one of them. So every pair of systems has one family of tests (Holm).
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from harvest.studies.validity.worded_turns import WordedTurn
from recordings.conversations.conversation import TrialKey
from scoring.inference.turn_events import EventTable, TurnCase, compare_events, event_table
from scoring.inference.turn_values import TurnValues, compare_values
from scoring.statistics.exchange import holm
from simulators.llm.faults import FAULTS, OWN_WORDS
from simulators.llm.prompting import FREE
from topics.identity import generator

KEPT = "words kept"
ADDED = "words added"
LENGTH = "words in a turn"
LEFT = "left"
REFUSED = "samples refused"
ORDERS = "answers with orders"
# For each pair of systems: how seldom any rate may be said to differ where none does (Holm).
ALPHA = 0.05

# Values of a turn without a fault, which one test asks for.
WORDING: Mapping[str, Callable[[WordedTurn], float]] = {
    KEPT: lambda turn: turn.kept,
    ADDED: lambda turn: turn.added,
    LENGTH: lambda turn: turn.length,
}

_WORDED = "wording"
_SAME = 1e-9  # rounding: what is equal but for the order of sums must rank as equal on every machine

# A topic, and `WordedTurn.place`.
Stratum = tuple[str, str]


def differing_rates(
    one: Sequence[WordedTurn], two: Sequence[WordedTurn], clusters: Mapping[str, str], *names: str
) -> Iterator[tuple[str, float]]:
    """The rates by which the users of two systems differ, each with its p over all of them; of `WORDING` one. names: of
    the systems."""
    rng = [generator(0, "user card", *names, rate) for rate in (*FAULTS, REFUSED, ORDERS, LEFT, KEPT)]
    settled = as_meant((*one, *two))
    tests: dict[str, float] = {}
    for rate, own in zip((*FAULTS, REFUSED, ORDERS, LEFT), rng):
        tables = fault_table(one, rate, settled), fault_table(two, rate, settled)
        if any(events for table in tables for strata in table.values() for events, _ in strata.values()):
            tests[rate] = compare_events(*tables, own, clusters=clusters).p
    worded = compare_values(_values(one), _values(two), rng[-1], clusters=clusters)
    tests[_WORDED] = min(worded.values(), default=math.nan)
    for rate, p in zip(tests, holm(list(tests.values())), strict=True):
        if p <= ALPHA:
            # Of the three, the one that says most of those that would be found alone: the number of words says least.
            family = p / tests[rate]
            yield (
                next(name for name in WORDING if worded[name] * family <= ALPHA + _SAME) if rate == _WORDED else rate,
                p,
            )


def _values(turns: Sequence[WordedTurn]) -> Iterator[TurnValues]:
    for turn in turns:
        if not turn.fault:
            yield TurnValues(turn.key.topic, turn.place, {name: of(turn) for name, of in WORDING.items()})


def as_meant(turns: Sequence[WordedTurn]) -> frozenset[Stratum]:
    """Where every turn without a fault is in the policy's words, so that one that no sample worded is as all others."""
    same: dict[Stratum, bool] = {}
    for turn in turns:
        if not turn.fault:
            where = turn.key.topic, turn.place
            same[where] = same.get(where, True) and turn.as_meant
    return frozenset(where for where, all_same in same.items() if all_same)


def fault_table(turns: Sequence[WordedTurn], rate: str, settled: Collection[Stratum] = ()) -> EventTable:
    """How often it first happened in a conversation. settled: as `as_meant` has it."""
    return event_table(
        TurnCase(
            turn.key.topic,
            turn.key,
            f"{turn.number} {turn.heard}{turn.label or '-'}" if rate == LEFT else turn.place,
            _event_in(turn, rate, settled),
        )
        for turn in turns
    )


def _event_in(turn: WordedTurn, rate: str, settled: Collection[Stratum]) -> bool | None:
    match rate:
        case "samples refused":
            return None if turn.refused is None else any(turn.refused.values())
        case "answers with orders":
            return turn.orders
        case "left":
            return turn.left
    return turn.fault == rate and not (rate == OWN_WORDS and (turn.key.topic, turn.place) in settled)


def first_suspect(turns: Sequence[WordedTurn], others: Sequence[WordedTurn], rate: str) -> Mapping[TrialKey, int]:
    """By trial of a system whose users differ in the rate from those of another, the number of the first turn at
    which another user might have said something else: where the words differ, or after the last one if the user left.
    """
    settled = as_meant((*turns, *others))
    voices = {turn.model for turn in (*turns, *others)}
    found: dict[TrialKey, int] = {}
    for turn in turns:
        if rate == LEFT:
            doubtful = bool(turn.left)
        elif rate in WORDING and turn.act == FREE:
            # What a free model says before any answer is the same for all systems, if it is one model.
            doubtful = not turn.fault and (bool(turn.heard) or len(voices) > 1)
        elif rate in WORDING:
            doubtful = not turn.fault and not turn.as_meant
        else:
            doubtful = bool(_event_in(turn, rate, settled))
        if doubtful:
            # A user that left has heard the answer of its last turn: only what would have followed is lost.
            found.setdefault(turn.key, turn.number + (rate == LEFT))
    return found
