"""Compare the users of two systems in each rate, and find the turn from which a trial is then in doubt.

Events (a fault, a refused sample, a user that leaves) are compared as in `scoring.inference.turn_events`. The wording
of turns is compared in one test of three values (`scoring.inference.turn_events`): words kept, words added, and number
of words. No list of faults can include every fault of future models, but any text that a model says instead or in
addition changes one of these values. Each pair of systems has one family of tests (Holm).
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from harvest.studies.validity.worded_turns import WordedTurn
from recordings.conversations.conversation import TrialKey
from scoring.inference.turn_events import EventTable, TurnCase, TurnValues, compare_events, compare_values, event_table
from scoring.statistics.exchange import holm_correction
from simulators.llm.faults import FAULTS, OWN_WORDS
from simulators.llm.prompting import FREE
from topics.identity import generator

KEPT = "words kept"
ADDED = "words added"
LENGTH = "words in a turn"
LEFT = "left"
REFUSED = "samples refused"
ORDERS = "answers with orders"
# Rate of false alarms about differing rates for each pair of systems (Holm).
ALPHA = 0.05

# Values of a turn without a fault, all in one test.
WORDING: Mapping[str, Callable[[WordedTurn], float]] = {
    KEPT: lambda turn: turn.kept,
    ADDED: lambda turn: turn.added,
    LENGTH: lambda turn: turn.length,
}

_WORDED = "wording"
_ROUNDING = 1e-9  # rounding: sums in another order must compare as equal on every machine

# A topic, and `WordedTurn.place`.
Stratum = tuple[str, str]


def differing_rates(
    first: Sequence[WordedTurn], second: Sequence[WordedTurn], clusters: Mapping[str, str], *names: str
) -> Iterator[tuple[str, float]]:
    """Yield the rates in which the users of two systems differ, with p corrected over all rates. At most one rate
    of `WORDING` is included. `names` are the names of the systems."""
    rng = [generator(0, "user card", *names, rate) for rate in (*FAULTS, REFUSED, ORDERS, LEFT, KEPT)]
    settled = faultless_strata((*first, *second))
    tests: dict[str, float] = {}
    for rate, own in zip((*FAULTS, REFUSED, ORDERS, LEFT), rng):
        tables = fault_table(first, rate, settled), fault_table(second, rate, settled)
        if any(events for table in tables for strata in table.values() for events, _ in strata.values()):
            tests[rate] = compare_events(*tables, own, clusters=clusters).p
    worded = compare_values(_values(first), _values(second), rng[-1], clusters=clusters)
    tests[_WORDED] = min(worded.values(), default=math.nan)
    for rate, p in zip(tests, holm_correction(list(tests.values())), strict=True):
        if p <= ALPHA:
            # Of those found alone, name the most informative; the number of words is the least.
            family = p / tests[rate]
            yield (
                next(name for name in WORDING if worded[name] * family <= ALPHA + _ROUNDING)
                if rate == _WORDED
                else rate,
                p,
            )


def _values(turns: Sequence[WordedTurn]) -> Iterator[TurnValues]:
    for turn in turns:
        if not turn.fault:
            yield TurnValues(turn.key.topic, turn.place, {name: of(turn) for name, of in WORDING.items()})


def faultless_strata(turns: Sequence[WordedTurn]) -> frozenset[Stratum]:
    """Return the strata in which every turn without a fault has exactly the policy's words. In these strata, turns
    that the model failed to word cannot be distinguished from other turns."""
    same: dict[Stratum, bool] = {}
    for turn in turns:
        if not turn.fault:
            where = turn.key.topic, turn.place
            same[where] = same.get(where, True) and turn.as_meant
    return frozenset(where for where, all_same in same.items() if all_same)


def fault_table(turns: Sequence[WordedTurn], rate: str, settled: Collection[Stratum] = ()) -> EventTable:
    """Count the first occurrence of an event in each conversation. For `settled`, see `faultless_strata`."""
    return event_table(
        TurnCase(
            turn.key.topic,
            turn.key,
            f"{turn.number} {turn.heard}{turn.label or '-'}" if rate == LEFT else turn.place,
            _has_event(turn, rate, settled),
        )
        for turn in turns
    )


def _has_event(turn: WordedTurn, rate: str, settled: Collection[Stratum]) -> bool | None:
    match rate:
        case "samples refused":
            return None if turn.refused is None else any(turn.refused.values())
        case "answers with orders":
            return turn.orders
        case "left":
            return turn.left
    return turn.fault == rate and not (rate == OWN_WORDS and (turn.key.topic, turn.place) in settled)


def first_suspect_turns(
    turns: Sequence[WordedTurn], other_turns: Sequence[WordedTurn], rate: str
) -> Mapping[TrialKey, int]:
    """Return, by trial, the first turn at which the other system's user might have spoken differently: the turn
    with the differing words or, if the user left, the turn after the last."""
    settled = faultless_strata((*turns, *other_turns))
    voices = {turn.model for turn in (*turns, *other_turns)}
    found: dict[TrialKey, int] = {}
    for turn in turns:
        if rate == LEFT:
            doubtful = bool(turn.left)
        elif rate in WORDING and turn.act == FREE:
            # Before any answer, one free model says the same to all systems.
            doubtful = not turn.fault and (bool(turn.heard) or len(voices) > 1)
        elif rate in WORDING:
            doubtful = not turn.fault and not turn.as_meant
        else:
            doubtful = bool(_has_event(turn, rate, settled))
        if doubtful:
            # A user that left got the answer of its last turn; only what would have followed is lost.
            found.setdefault(turn.key, turn.number + (rate == LEFT))
    return found
