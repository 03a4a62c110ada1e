"""as_list(X): a measure of ranked lists, for the entities of a conversation in the order in which it names them.

One rule for position turns a conversation into a list: an entity's rank is its place among the positions WC(n) of all
first links. So R and GF of the conversation, and ERR, iRBU, GF and GFR of its list, are about the same entities in the
same order. A repeated link has no rank, because it earns nothing in a conversation either ([GFRC] §5).

    list           GF = Σ decay_k · DistrSim(D_k)              D_k: mean membership of the first k entities
    conversation   GF_cum = mean of DistrSim(D_t) over turns   D_t: the same of the relevant entities up to turn t

With over=relevant, D_t is D_k at the last relevant entity of turn t. Both then average the same similarities: the list
weights them by the users who stop there, and the conversation weights the ends of turns equally.

Gains are 2^grade - 1, as in `harvest metrics gfr`, and gmax is that of the highest grade that has a gain in the
settings.

Source: [GFRC] §7 asks how GFR and GFRC are related, and note 5 compares GFR with GF_cum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scoring.divergences import DIVERGENCES
from scoring.figure import Figure
from scoring.measure import (
    Declaration,
    Measure,
    Parameter,
    TermContext,
    refuse_arguments,
    refuse_parameters,
    require_number,
)
from scoring.measures.err import ERR, err
from scoring.measures.gfr import LIST_FAIRNESS, LIST_SUMMARY, gfr, list_fairness
from scoring.measures.irbu import IRBU, PERSISTENCE, irbu
from scoring.notation import Term, Value
from scoring.nuggets import Nugget
from topics.arrays import Floats
from topics.errors import InputError

if TYPE_CHECKING:
    from scoring.material import Material
    from topics.attributes import AttributeSet
    from topics.topic import Topic

_ALL, _RELEVANT = "all", "relevant"
_ORDINAL = ("RNOD", "NMD")
_EMPTY = "the conversation names no entity, so its list is empty"


def ranked_entities(nuggets: Sequence[Nugget], *, relevant: bool = False) -> tuple[Nugget, ...]:
    """Return the first nugget of each entity, from rank 1 on. `nuggets` are all nuggets of one conversation, in reading
    order. Ranks follow their positions; nuggets at one position keep the reading order. With `relevant`, entities
    without a gain are left out of the list."""
    first = [one for one in nuggets if not one.duplicate and (one.relevant or not relevant)]
    return tuple(sorted(first, key=lambda one: one.position))


def _gains(listed: Sequence[Nugget], material: Material) -> tuple[Floats, float]:
    """Return the (K,) gains of a list, and gmax."""
    gains = [2.0**one.grade - 1 if one.relevant and one.grade else 0.0 for one in listed]
    highest = max((grade for grade, gain in material.settings.gains.items() if gain > 0), default=0)
    return np.array(gains), max(1.0, 2.0**highest - 1)


def _memberships(listed: Sequence[Nugget], attribute: AttributeSet, material: Material) -> tuple[Floats, list[bool]]:
    """Return the (K, C) memberships, uniform if unknown, and whether each entity's membership is unknown."""
    size = len(attribute.groups)
    known = material.gold.of(material.topic.id) if material.gold is not None else {}
    found = [known[one.entity].groups.get(attribute.name) if one.entity in known else None for one in listed]
    rows = [(1 / size,) * size if row is None else row for row in found]
    return np.array(rows, dtype=np.float64).reshape(-1, size), [row is None for row in found]


def _score(material: Material, measure: Measure) -> Figure:
    inside = measure.base.arguments[0]
    assert isinstance(inside, Term)
    listed = ranked_entities(material.nuggets, relevant=str(measure.base.get("over")) == _RELEVANT)
    gains, highest = _gains(listed, material)
    unknown: set[int] = set()

    def utility(term: Term) -> float:
        if term.name == ERR.name:
            return float(err(gains, highest))
        persistence = term.get("p")
        return float(
            irbu(gains, highest, persistence=require_number(PERSISTENCE if persistence is None else persistence))
        )

    def fairness(attribute: AttributeSet, ordinal: Value | None) -> float:
        rows, missing = _memberships(listed, attribute, material)
        unknown.update(place for place, one in enumerate(missing) if one)
        by = str(ordinal or material.settings.ordinal) if attribute.scale == "ordinal" else "JSD"
        return float(list_fairness(gains, rows, attribute.gold, highest, DIVERGENCES[by]))

    if inside.name == LIST_FAIRNESS.name:
        value = fairness(material.attributes[str(inside.arguments[0])], inside.get("by"))
    elif inside.name == LIST_SUMMARY.name:
        served = inside.arguments[0]
        assert isinstance(served, Term)
        weights = [1.0, *(material.settings.weights.get(one.name, 1.0) for one in material.sets)]
        value = gfr(utility(served), [fairness(one, inside.get("ordinal")) for one in material.sets], weights)
    else:
        value = utility(inside)
    unjudged = sum(one.unjudged for one in listed)
    note = "" if listed else _EMPTY
    return Figure(measure.name, value, len(listed), unjudged=unjudged, unknown=len(unknown), note=note)


def _applies(measure: Measure, topic: Topic) -> bool:
    inside = measure.base.arguments[0]
    assert isinstance(inside, Term)
    sets = topic.type.attributes
    if inside.name == LIST_FAIRNESS.name:
        return str(inside.arguments[0]) in sets
    return bool(sets) or inside.name != LIST_SUMMARY.name


def _inner_terms(attributes: Sequence[str]) -> Iterator[Term]:
    """Yield the measures that `as_list` alone stands for."""
    utilities = (Term(ERR.name), Term(IRBU.name))
    yield from utilities
    yield from (Term(LIST_SUMMARY.name, (one,)) for one in utilities)
    yield from (Term(LIST_FAIRNESS.name, (Term(name),)) for name in attributes)


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    refuse_parameters(term, [one.name for one in declaration.parameters])
    refuse_arguments(declaration, term)
    over = term.get("over")
    if over is not None and str(over) not in (_ALL, _RELEVANT):
        raise InputError(f"{term}: over cannot be {over}", allowed=f"{_ALL}, {_RELEVANT}")
    used = dict.fromkeys(name for topic in asking.topics.topics for name in topic.type.attributes)
    inside = term.arguments or tuple(_inner_terms(tuple(used)))
    for one in inside:
        _check_inner(term, one, asking)
    made = [Term(declaration.name, (one,), term.parameters) for one in inside]
    return tuple(Measure(one, one, asking.settings, declaration) for one in made)


def _check_inner(term: Term, inside: Value, asking: TermContext) -> None:
    """Raise InputError if `inside` is not a measure of ranked lists, or not written as one."""
    known = {one.name: one for one in (ERR, IRBU, LIST_SUMMARY, LIST_FAIRNESS)}
    declaration = known.get(inside.name) if isinstance(inside, Term) else None
    if not isinstance(inside, Term) or declaration is None:
        raise InputError(f"{term}: {inside} is not a measure of ranked lists", allowed=", ".join(known))
    refuse_parameters(inside, [one.name for one in declaration.parameters])
    refuse_arguments(declaration, inside)
    if declaration is IRBU:
        persistence = inside.get("p")
        if persistence is not None and not (isinstance(persistence, float) and 0 < persistence <= 1):
            raise InputError(f"{term}: p cannot be {persistence}", allowed="a number above 0, at most 1")
    elif declaration is LIST_SUMMARY:
        served = inside.arguments[0]
        if not isinstance(served, Term) or served.name not in (ERR.name, IRBU.name):
            raise InputError(f"{term}: {served} is not a utility", allowed=f"{ERR.name}, {IRBU.name}")
        _check_inner(term, served, asking)
        _check_divergence(term, inside.get("ordinal"), _ORDINAL)
    elif declaration is LIST_FAIRNESS:
        sets = asking.topics.attributes
        attribute = sets.get(str(inside.arguments[0]))
        if attribute is None:
            what = f"{term}: there is no attribute set {str(inside.arguments[0])!r}"
            raise InputError(what, allowed=", ".join(sets) or "none")
        _check_divergence(term, inside.get("by"), _ORDINAL if attribute.scale == "ordinal" else ("JSD",))


def _check_divergence(term: Term, given: Value | None, allowed: Sequence[str]) -> None:
    if given is not None and str(given) not in allowed:
        raise InputError(f"{term}: the divergence cannot be {given}", allowed=", ".join(allowed))


AS_LIST = Declaration(
    name="as_list",
    sentence="A measure of ranked lists, for the entities of a conversation in the order of their first links.",
    of="conversation",
    formula="X of the list in which rank k has the entity with the k-th smallest WC of its first link",
    source="[GFRC] §7 and note 5, Eq. 1",
    undefined="nothing is known of the topic's entities; 0 for an empty list",
    example="as_list(GFR(ERR))",
    n="entities in the list",
    needs=("gold",),
    parameters=(Parameter("over", "entities in the list: all, or the relevant ones alone [all]"),),
    written=("as_list", "as_list(ERR)", "as_list(iRBU)", "as_list(GF(SET))"),
    arguments=(0, 1),
    legend="as a ranked list",
    applies=_applies,
    score=_score,
    read=_read_term,
)
