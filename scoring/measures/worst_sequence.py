"""worst_sequence(Criterion, turns=k): the lowest mean score of any k system turns in a row.

Some faults, such as microaggressions, cannot be seen in one turn, so a sequence of turns must be looked at ([SWAN]
§4.15). A mean over the conversation hides a bad stretch in a long conversation; the worst sequence finds it.
"""

import math
from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.measure import Declaration, Measure, Parameter, TermContext, apply_parameters, require_number
from scoring.measures.wan import criterion_of, read_wan
from scoring.notation import Term, Value
from scoring.swan.schema import PLACELESS
from topics.counting import pluralize
from topics.errors import InputError

if TYPE_CHECKING:
    from scoring.material import Material

_TURNS = 3  # turns of a sequence, unless the measure names another number


def _count_turns(value: Value) -> float:
    number = require_number(value)
    if not number.is_integer() or number < 1:
        raise InputError(f"{number:g} is not a number of turns", allowed="a whole number from 1")
    return number


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    (measure,) = read_wan(declaration, term, asking)
    apply_parameters(declaration, measure.term, asking.settings)
    criterion = asking.schema[criterion_of(measure, asking.schema)]
    if criterion.level in PLACELESS or criterion.speaker != "system":
        raise InputError(
            f"{term}: {criterion.name} does not score the system's turns one by one",
            allowed=", ".join(
                one.written_name
                for one in asking.schema
                if one.level not in PLACELESS and one.speaker == "system" and not one.values
            ),
        )
    return (measure,)


def _score(material: "Material", measure: Measure) -> Figure:
    criterion, length = criterion_of(measure, material.judged().schema), int(measure.number_of("turns"))
    scored = material.assessment.scored[criterion]
    answered = [turn.number for turn in material.conversation.turns if turn.reply is not None]
    worst, where = math.nan, ""
    for first in range(max(1, len(answered) - length + 1)):
        turns = answered[first : first + length]
        own = [one for one in scored if one.item.turn in turns]
        whole = math.fsum(one.share for one in own)
        if whole <= 0:
            continue
        value = math.fsum(one.share * one.value for one in own) / whole
        if not value >= worst:  # also true of the first, since NaN is not comparable
            places = f"turns {turns[0]} to {turns[-1]}" if len(turns) > 1 else f"turn {turns[0]}"
            count = len({one.item.turn for one in own})
            worst, where = value, f"lowest in system {places}, {count} of {pluralize(len(turns), 'turn')} scored"
    return Figure(measure.name, worst, len(scored), note=where or "it was not scored")


WORST_SEQUENCE = Declaration(
    name="worst_sequence",
    sentence="How good the worst stretch of a conversation is, where a fault shows in several turns together.",
    of="conversation",
    formula="the lowest mean score over any k system turns in a row (all of them, if there are fewer)",
    source="our own, for [SWAN] §4.15",
    undefined="the criterion scores nothing",
    example="worst_sequence(Harmlessness, turns=3)",
    n="scored nuggets or turns",
    needs=("judgments",),
    parameters=(Parameter("turns", "system turns of a sequence", default=_TURNS, value=_count_turns),),
    written=("worst_sequence(Criterion)",),
    arguments=(1, 1),
    legend="worst stretch by one criterion",
    score=_score,
    read=_read_term,
    criterion=criterion_of,
)
