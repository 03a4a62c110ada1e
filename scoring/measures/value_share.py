"""share_of(Criterion, VALUE): the share of a conversation's turns, nuggets or dialogues that were given a value.

If several people judged one item, all votes have equal weights, so the shares of all values are the mean of the
annotators' distributions, such as DialEval's nugget types; `--judgments` can select another rule.
"""

import math
from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.measure import Declaration, Measure, TermContext, refuse_arguments, refuse_parameters
from scoring.measures.wan import criterion_of
from scoring.notation import Term, number_text
from topics.errors import InputError

if TYPE_CHECKING:
    from scoring.material import Material


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    refuse_parameters(term, ())
    refuse_arguments(declaration, term)
    inside, schema = term.arguments[0], asking.schema
    known = [one.written_name for one in schema if one.values]
    try:
        criterion = schema[number_text(inside) if isinstance(inside, float) else str(inside)]
    except InputError as fault:
        raise InputError(f"{term}: {fault.what}", allowed=", ".join(known) or None) from None
    if not criterion.values:
        raise InputError(
            f"{term}: the criterion must have values, but {criterion.name} has scores",
            allowed=", ".join(known) or f"no criterion of the schema {schema.name!r}",
            advice=f"write WAN({criterion.written_name}), or choose another --schema",
        )
    names = criterion.value_names
    if len(term.arguments) > 1:
        chosen = criterion.value_of(str(term.arguments[1]))
        if chosen is None:
            raise InputError(f"{term}: {criterion.name} does not have this value", allowed=", ".join(names))
        names = (chosen,)
    of = Term(criterion.written_name)
    terms = [Term(declaration.name, (of, Term(name))) for name in names]
    return tuple(Measure(one, one, asking.settings, declaration) for one in terms)


def _score(material: "Material", measure: Measure) -> Figure:
    criterion, value = criterion_of(measure, material.judged().schema), str(measure.base.arguments[1])
    judged = material.assessment.valued.get(criterion, ())
    whole = math.fsum(one.share for one in judged)
    share = math.fsum(one.share * dict(one.shares).get(value, 0.0) for one in judged)
    by = sorted({str(source) for one in judged for source, _ in one.votes})
    note = f"judged by {', '.join(by)}" if by else "it was not judged"
    return Figure(measure.name, share / whole if judged else math.nan, len(judged), note=note)


SHARE = Declaration(
    name="share_of",
    sentence="The share of the turns, nuggets or dialogues that judges give one value, such as a type of nugget.",
    of="conversation",
    formula="mean over what was judged of the share of its judges who gave the value",
    source="[STC3] §3.2.4, its distributions over types",
    undefined="the criterion's values were given to nothing",
    example="share_of(Helpdesk_nugget, HNUG)",
    n="judged turns, nuggets or dialogues",
    needs=("judgments",),
    good="neither",
    written=("share_of(Criterion, VALUE)",),
    arguments=(1, 2),
    legend="share of a value",
    score=_score,
    read=_read_term,
    criterion=criterion_of,
    of_values=True,
)
