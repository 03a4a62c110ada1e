"""UCH: U-measure of a helpdesk dialogue, from the nugget types that people assign to its turns.

    UCH = (1 - alpha)·UC + alpha·UH
    UC  = Σ over the customer's turns of g·max(0, 1 - (WC - 1)/L),   UH likewise of the helpdesk's turns

g is the expected gain of a turn: the shares of its judges for each type, times the gain of the type. CNaN and HNaN
gain 0, the goal nuggets CNUG* and HNUG* gain `goal`, and the other types 1. WC is the position of the turn's last word
in the dialogue, in which both sides count, as in R and U-measure. A dialogue with several annotators thus has the mean
of their U. N is 1, so UCH grows with the number of nuggets.

[STC3] §2.4 only says that the UCH of Zeng et al. adapts U-measure to dialogues of two sides. Gains, alpha and L are
choices of this module, so compare values of UCH that were computed here, with the same parameters.

Sources: [STC3] §2.4; Zeng, Luo, Shang, Li and Sakai, EVIA 2017, who propose UCH; Sakai and Dou, SIGIR 2013 (U-measure).
"""

import math
from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.measure import Declaration, Measure, Parameter, TermContext, read_plain_term, require_number
from scoring.measures.nugget_detection import CUSTOMER_TYPES, HELPDESK_TYPES
from scoring.measures.relevance import LIMITS, character_note
from scoring.measures.u_measure import u_measure
from scoring.notation import Term, Value
from topics.counting import pluralize
from topics.errors import InputError

if TYPE_CHECKING:
    from scoring.material import Material

# The criterion of each side, as in the schema dialeval-nuggets, and its values.
_SIDES = {"customer": ("Customer nugget", CUSTOMER_TYPES), "helpdesk": ("Helpdesk nugget", HELPDESK_TYPES)}


def _alpha(value: Value) -> float:
    alpha = require_number(value)
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha cannot be {alpha:g}", allowed="a number from 0 to 1")
    return alpha


def _goal(value: Value) -> float:
    goal = require_number(value)
    if goal < 0:
        raise InputError(f"goal cannot be {goal:g}", allowed="a number from 0")
    return goal


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    found = read_plain_term(declaration, term, asking)
    sides = [str(argument) for argument in term.arguments]
    if any(side not in _SIDES for side in sides):
        raise InputError(f"{term}: there is no side {sides[0]!r}", allowed=", ".join(_SIDES))
    if sides and term.get("alpha") is not None:
        raise InputError(f"{term}: alpha weighs two sides", allowed=f"UCH({sides[0]}) without alpha, or UCH with it")
    for name, types in (_SIDES[side] for side in sides or _SIDES):
        own = next((one for one in asking.schema if one.name == name), None)
        if own is None or set(own.value_names) != set(types):
            raise InputError(
                f"{term}: the schema {asking.schema.name!r} has no criterion {name!r} with the values of DialEval",
                allowed=", ".join(types),
                advice="choose --schema dialeval-nuggets",
            )
    return found


def _score(material: "Material", measure: Measure) -> Figure:
    given = material.assessment
    sides = [str(argument) for argument in measure.base.arguments] or list(_SIDES)
    values: dict[str, float] = {}
    judged = turns = 0
    for side in sides:
        name, types = _SIDES[side]
        gains = {one: measure.number_of("goal") if one.endswith("*") else 1.0 for one in types[:-1]}
        rated = given.valued.get(name, ())
        judged, turns = judged + len(rated), turns + len(given.items.get(name, ()))
        worth = [one.share * math.fsum(share * gains.get(value, 0.0) for value, share in one.shares) for one in rated]
        known = bool(rated) or not given.items.get(name, ())
        read_before = [one.item.position - 1 for one in rated]
        values[side] = u_measure(worth, read_before, material.patience) if known else math.nan
    alpha = measure.number_of("alpha")
    value = values[sides[0]] if len(sides) == 1 else (1 - alpha) * values["customer"] + alpha * values["helpdesk"]
    missing = "" if judged == turns else f"{judged} of {pluralize(turns, 'turn')} judged, the others count 0"
    note = "; ".join(filter(None, (missing if judged else "it was not judged", character_note(material))))
    return Figure(measure.name, value if judged else math.nan, judged, note=note)


UCH = Declaration(
    name="UCH",
    sentence="How many useful turns a helpdesk dialogue has on both sides, each discounted by the words read before.",
    of="conversation",
    formula="(1 - alpha)·UC + alpha·UH; of a side: Σ g·max(0, 1 - (WC - 1)/L) over its turns, g: 1 for a nugget",
    source="[STC3] §2.4, after Sakai and Dou, SIGIR 2013",
    undefined="the nugget types of a side that speaks were not judged",
    example="UCH(alpha=0.8, goal=2)",
    n="judged turns",
    needs=("judgments",),
    parameters=(
        Parameter("alpha", "weight of the helpdesk's side", default=0.5, value=_alpha),
        Parameter("goal", "gain of a goal nugget, where another nugget has 1", default=1.0, value=_goal),
        *LIMITS,
    ),
    written=("UCH", "UCH(customer)", "UCH(helpdesk)"),
    arguments=(0, 1),
    range=(0.0, math.inf),
    has_top=False,
    score=_score,
    read=_read_term,
    of_values=True,
)
