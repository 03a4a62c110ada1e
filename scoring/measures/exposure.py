"""GF of exposure: how close the groups of cited sources come to their target shares.

It is GF itself (`scoring.fairness`), with the sources of an answer as its relevant nuggets and a column of the table of
sources as the attribute set. A source of unknown group counts as uniform, and the bounds are over all groups that it
may have. A source counts again in each answer that shows it. With `weights=position`, each span that a source supports
has the weight pw of its last word ([GFRC] Eq. 6), so that unread text gives no exposure.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from scoring.fairness import divergence_names, group_fairness
from scoring.figure import Figure
from scoring.measure import Declaration, Measure, Parameter, TermContext, read_plain_term
from scoring.measures.sources import read_column
from scoring.notation import Term, Value
from scoring.nuggets import Nugget, position_weight
from topics.attributes import AttributeSet, uniform_shares
from topics.errors import InputError

if TYPE_CHECKING:
    from scoring.material import Material

_WEIGHTS = ("equal", "position")


def _check_weights(value: Value) -> str:
    if str(value) not in _WEIGHTS:
        raise InputError(f"{value} is not allowed", allowed=", ".join(_WEIGHTS))
    return str(value)


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    found = read_plain_term(declaration, term, asking)
    table = asking.topics.sources
    column = read_column(term, table)
    attribute = table.attribute(column)
    if attribute is None:
        raise InputError(f"{term}: all rows have the same {column}", allowed="a column with two groups or more")
    by = term.get("by")
    if by is not None and str(by) not in divergence_names(attribute, asking.settings):
        allowed = ", ".join(divergence_names(attribute, asking.settings))
        raise InputError(f"{term}: `by` does not fit {column}, a set that is {attribute.scale}", allowed=allowed)
    whole = Term(term.name, (Term(column),), term.parameters)
    return tuple(replace(one, term=whole, base=whole) for one in found)


def _exposed(material: "Material", attribute: AttributeSet, *, by_position: bool) -> Iterator[Nugget]:
    name = attribute.name
    even = MappingProxyType({name: uniform_shares(len(attribute.groups))})
    for source in material.cited:
        group = source.groups.get(name, "")
        memberships = MappingProxyType({name: attribute.membership(group)}) if group else even
        places = source.positions if by_position else source.positions[:1]
        for position in places:
            yield Nugget(
                source.turn, -1, -1, position, source.name, source.url, None, 1.0, False,
                memberships=memberships, unknown=() if group else (name,),
            )  # fmt: skip


def _score(material: "Material", measure: Measure) -> Figure:
    (column,) = measure.base.arguments
    attribute = material.sources.attribute(str(column.name if isinstance(column, Term) else column))
    assert attribute is not None, "the term was read with this table"
    by_position = str(measure.base.get("weights")) == "position"
    nuggets = tuple(_exposed(material, attribute, by_position=by_position))
    turns = {one.turn: one.first_position for one in material.passages if one.speaker == "system"}
    of = group_fairness(
        nuggets,
        turns,
        attribute,
        replace(material.settings, irrelevant="ignore"),
        material.patience,
        cumulative=measure.declaration is CUMULATIVE_EXPOSURE,
        weigh=partial(_weight, patience=material.patience) if by_position else None,
    )
    by = str(measure.base.get("by") or of[0].divergence)
    found = next(one for one in of if one.divergence == by)
    if not found.turns:
        return Figure(measure.name, math.nan, 0, note="no answer shows a source")
    unknown = sum(not source.groups.get(attribute.name) for source in material.cited)
    return Figure(measure.name, found.value, len(found.turns), unknown=unknown, worst=found.worst, best=found.best)


def _weight(nugget: Nugget, *, patience: int) -> float:
    return float(position_weight([nugget.position], patience)[0])


_exposure = partial(
    Declaration,
    of="conversation",
    source="[GFRC] Eq. 10, over sources; docs/sources.md",
    undefined="no answer shows a source",
    n="answers that show a source",
    parameters=(
        Parameter("by", "divergence of ordinal sets: RNOD or NMD"),
        Parameter(
            "weights",
            "of sources: equal, or position, by where the words that they support stand",
            value=_check_weights,
        ),
        Parameter("turn_weight", "weight of a turn: one or largest-pw", setting="turn_weight"),
    ),
    arguments=(1, 1),
    read=_read_term,
    score=_score,
)
EXPOSURE = _exposure(
    name="GF_sources",
    sentence="How close the groups of the sources that answers show come to the shares that they should have.",
    formula="mean over answers with a source of DistrSim(groups of its sources, target of the column)",
    example="GF_sources(kind)",
    written=("GF_sources(COLUMN)", "GF_sources(COLUMN, weights=position)"),
)
CUMULATIVE_EXPOSURE = _exposure(
    name="GF_sources_cum",
    sentence="As GF_sources, with the sources of all answers so far.",
    formula="mean over answers with a source of DistrSim(groups of all sources so far, target of the column)",
    example="GF_sources_cum(kind)",
    written=("GF_sources_cum(COLUMN)", "GF_sources_cum(COLUMN, weights=position)"),
)
