"""The fairness measures of a conversation: GF of each attribute set and of all, by both methods, GFR(C), DistrSim.

They are made together, because they share what is costly (`scoring.fairness`). [GFRC] Eq. 4, 5, 9, 10.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scoring.columns import Column, Conversations
from scoring.fairness import GroupFairness, combine, divergence_names, group_fairness, summary
from scoring.figure import Figure
from scoring.measure import Asking, Declaration, Measure, Parameter, a_number
from scoring.measures.fairness_columns import FairnessColumns, combined, fairness_columns, taken_alike
from scoring.measures.relevance import LIMITS, RELEVANCE, relevance, relevances
from scoring.notation import Term, Value, number_text
from scoring.nuggets import Nugget
from scoring.settings import Settings
from scoring.understanding import plainly
from topics.errors import InputError
from topics.topic import Topic

if TYPE_CHECKING:
    from scoring.material import Material


def attribute_of(term: Term) -> str:
    """The attribute set that a GF is of; "" for that of all sets."""
    return str(term.arguments[0]) if term.arguments else ""


def _divergence(value: Value) -> str:
    return "RNOD" if str(value) == "JSD" else str(value)  # nominal sets have no choice


def _read(declaration: Declaration, term: Term, asking: Asking) -> tuple[Measure, ...]:
    found = plainly(declaration, term, asking)
    name, by = attribute_of(term), term.get("by")
    if not name:
        if str(by) == "JSD":
            raise InputError(f"{term}: by is the divergence of ordinal sets", allowed="RNOD, NMD")
        return found
    known = asking.topics.attributes
    attribute = known.get(name)
    if attribute is None:
        raise InputError(f"{term}: there is no attribute set {name!r}", allowed=", ".join(known) or "none")
    if attribute.scale == "nominal" and by is not None and str(by) != "JSD":
        raise InputError(f"{term}: the groups of {name} have no order", allowed="by=JSD")
    if attribute.scale == "ordinal" and str(by) == "JSD":
        raise InputError(f"{term}: the groups of {name} have an order, which JSD does not see", allowed="RNOD, NMD")
    return found


def _applies(measure: Measure, topic: Topic) -> bool:
    name = attribute_of(measure.base)
    return not name or name in topic.type.attributes


def _score(material: Material, measure: Measure) -> Figure:
    """One of the figures that are made together."""
    cumulative = measure.declaration in (CUMULATIVE_FAIRNESS, CUMULATIVE_SUMMARY)
    of, summed = (CUMULATIVE_FAIRNESS, CUMULATIVE_SUMMARY) if cumulative else (FAIRNESS, SUMMARY)
    return _whole(material, of, summed)[_made_as(measure)]


def _made_as(measure: Measure) -> str:
    """The name of its figure among those that are made together."""
    declaration = measure.declaration
    if declaration in (SUMMARY, CUMULATIVE_SUMMARY):
        return _summary_name(declaration, measure.settings)
    return str(Term(declaration.name, measure.base.arguments)) if measure.base.parameters else measure.base_name


def _independent(material: Material) -> Sequence[Figure]:
    return [*_whole(material, FAIRNESS, SUMMARY).values(), *_by_turn(material, FAIRNESS, SIMILARITY)]


def _cumulative(material: Material) -> Sequence[Figure]:
    whole = _whole(material, CUMULATIVE_FAIRNESS, CUMULATIVE_SUMMARY)
    return [*whole.values(), *_by_turn(material, CUMULATIVE_FAIRNESS, CUMULATIVE_SIMILARITY)]


def _whole(material: Material, of: Declaration, summed: Declaration) -> Mapping[str, Figure]:
    """By name, the figures of the whole conversation."""
    return material.once((Figure, of.name), lambda: {one.measure: one for one in _figures(material, of, summed)})


def _made(material: Material, of: Declaration) -> Sequence[tuple[str, GroupFairness]]:
    """Of each set by each of its divergences, with what it is called."""
    cumulative = of is CUMULATIVE_FAIRNESS

    def make() -> Sequence[tuple[str, GroupFairness]]:
        turns = {one.turn: one.first_position for one in material.passages if one.speaker == "system"}
        nuggets, settings = material.relevant, material.settings
        sets = [
            group_fairness(nuggets, turns, one, settings, material.patience, cumulative=cumulative)
            for one in material.sets
        ]
        return [(_label(one.attribute, one.divergence, place), one) for made in sets for place, one in enumerate(made)]

    return material.once((GroupFairness, cumulative), make)


def _by_turn(material: Material, of: Declaration, similar: Declaration) -> Iterator[Figure]:
    """DistrSim of each turn."""
    if material.unscorable:
        return
    for label, fairness in _made(material, of):
        name = f"{similar.name}({label})"
        yield from (Figure(name, turn.similarity, turn.nuggets, turn.turn) for turn in fairness.turns)


def _figures(material: Material, of: Declaration, summed: Declaration) -> Iterator[Figure]:
    """GF of each set, of all sets, and its summary with R."""
    settings, unjudged, sets = material.settings, material.unjudged, material.sets
    if material.unscorable:
        yield from _undefined_figures(material, of, summed)
        return
    earning = material.relevant
    first: dict[str, GroupFairness] = {}
    counted = 0
    for label, fairness in _made(material, of):
        counted = len(fairness.turns)
        unknown = sum(fairness.attribute in nugget.unknown for nugget in earning)
        name, worst, best = f"{of.name}({label})", fairness.worst, fairness.best
        one = Figure(name, fairness.value, counted, None, None, unjudged, unknown, "", worst, best)
        yield one
        if fairness.attribute not in first:
            first[fairness.attribute] = fairness
            if of is FAIRNESS:
                yield _where_relevant(one, f"({label})", earning)
    value, worst, best = _combine_sets(first, settings)
    unknown = sum(bool(nugget.unknown) for nugget in earning)
    note = "" if sets else "the topic's type has no attribute sets"
    overall = Figure(of.name, value, counted, None, None, unjudged, unknown, note, worst, best)
    yield overall
    if of is FAIRNESS:
        yield _where_relevant(overall, "", earning)
    score = material.once(RELEVANCE, lambda: relevance(material.nuggets, material.patience))
    value, worst, best = (summary(score, one, settings.alpha) for one in (value, worst, best))
    yield Figure(_summary_name(summed, settings), value, counted, None, None, unjudged, unknown, "", worst, best)


def _independent_columns(many: Conversations) -> Sequence[Column] | None:
    return _columns(many, FAIRNESS, SUMMARY)


def _cumulative_columns(many: Conversations) -> Sequence[Column] | None:
    return _columns(many, CUMULATIVE_FAIRNESS, CUMULATIVE_SUMMARY)


def _columns(many: Conversations, of: Declaration, summed: Declaration) -> Sequence[Column] | None:
    """What `_figures` gives of each conversation."""
    settings, earning = many.grounds[0].settings, many.counts > 0
    if not taken_alike(settings):
        return None
    found: list[Column] = []
    first: dict[str, FairnessColumns] = {}

    def add(label: str, one: FairnessColumns, unknown: npt.NDArray[np.int64], *, rel: bool) -> None:
        found.append(many.column(f"{of.name}{label}", one.value, one.worst, one.best, unknown))
        if rel and of is FAIRNESS:  # see `_where_relevant`
            value, worst, best = (np.where(earning, end, math.nan) for end in (one.value, one.worst, one.best))
            found.append(many.column(f"{FAIRNESS_WHERE_RELEVANT.name}{label}", value, worst, best, unknown))

    for attribute in many.grounds[0].sets:
        unknown = np.bincount(many.of[many.unknown(attribute.name)], minlength=len(many))
        made = fairness_columns(many, attribute, settings, cumulative=of is CUMULATIVE_FAIRNESS)
        first[attribute.name] = made[0]
        for place, one in enumerate(made):
            add(f"({_label(attribute.name, one.divergence, place)})", one, unknown, rel=place == 0)
    value, worst, best = (
        combined({name: getattr(one, end) for name, one in first.items()}, settings.weights, len(many))
        for end in ("value", "worst", "best")
    )
    some = np.zeros(len(many.of), dtype=bool)
    for attribute in many.grounds[0].sets:
        some |= many.unknown(attribute.name)
    unknown = np.bincount(many.of[some], minlength=len(many))
    add("", FairnessColumns("", value, worst, best), unknown, rel=True)
    score = relevances(many)
    value, worst, best = (settings.alpha * score + (1 - settings.alpha) * end for end in (value, worst, best))
    found.append(many.column(_summary_name(summed, settings), value, worst, best, unknown))
    return found


def _combine_sets(sets: Mapping[str, GroupFairness], settings: Settings) -> tuple[float, float, float]:
    """(value, worst, best) of all sets; the bounds are looked at only where a group is unknown."""
    value = combine({name: one.value for name, one in sets.items()}, settings.weights)
    if all(one.worst == one.value == one.best for one in sets.values()):
        return value, value, value
    worst = combine({name: one.worst for name, one in sets.items()}, settings.weights)
    return value, worst, combine({name: one.best for name, one in sets.items()}, settings.weights)


def _undefined_figures(material: Material, of: Declaration, summed: Declaration) -> Iterator[Figure]:
    sets, settings = material.sets, material.settings
    names = [
        f"{of.name}({_label(attribute.name, divergence, place)})"
        for attribute in sets
        for place, divergence in enumerate(divergence_names(attribute, settings))
    ]
    names += [of.name, _summary_name(summed, settings)]
    if of is FAIRNESS:
        where = FAIRNESS_WHERE_RELEVANT.name
        names += [*(f"{where}({attribute.name})" for attribute in sets), where]
    unjudged, reason = material.unjudged, material.unscorable
    yield from (Figure(name, math.nan, 0, unjudged=unjudged, note=reason) for name in names)


def _where_relevant(fairness: Figure, label: str, relevant: Sequence[Nugget]) -> Figure:
    """The same where any nugget is relevant; undefined where nothing is, so that nothing was fair or unfair."""
    name, one = f"{FAIRNESS_WHERE_RELEVANT.name}{label}", fairness
    value, n, worst, best = (one.value, one.n, one.worst, one.best) if relevant else (math.nan, 0, math.nan, math.nan)
    return Figure(name, value, n, unjudged=one.unjudged, unknown=one.unknown, note=one.note, worst=worst, best=best)


def _label(attribute: str, divergence: str, place: int) -> str:
    return attribute if place == 0 else f"{attribute}, by={divergence}"


def _summary_name(declaration: Declaration, settings: Settings) -> str:
    return f"{declaration.name}(alpha={number_text(settings.alpha)})"


def _by_other(term: Term) -> bool:
    return term.get("by") is not None


def _of_one_set(term: Term) -> bool:
    return bool(term.arguments)


_PARAMETERS = (
    Parameter("by", "divergence of ordinal sets: RNOD or NMD", setting="ordinal", value=_divergence),
    Parameter("irrelevant", "turns without relevant entities: ignore or uniform", setting="irrelevant"),
    Parameter("turn_weight", "weight of a turn: one or largest-pw", setting="turn_weight"),
)
_SUMMARY_PARAMETERS = (Parameter("alpha", "weight of R", setting="alpha", value=a_number), *LIMITS)
_TURNS = "turns that hold a relevant nugget"
_UNKNOWN = "nothing is known of the topic's entities"

FAIRNESS = Declaration(
    name="GF",
    sentence="How close the groups of the relevant entities in each turn are to the gold shares.",
    of="conversation",
    formula="mean of DistrSim over the turns with a relevant nugget; GF: mean over the M sets",
    source="[GFRC] Eq. 9 (whose 1/m is read as 1/M), 10",
    undefined=f"{_UNKNOWN}, or its type has no sets; 0 without a relevant nugget",
    example="GF(RATINGS, by=NMD)",
    n=_TURNS,
    needs=("gold",),
    parameters=_PARAMETERS,
    written=("GF", "GF(SET)"),
    arguments=(0, 1),
    legend="group fairness",
    shown="always",
    aside=_by_other,
    aside_words="by=NMD",
    score=_score,
    applies=_applies,
    family=_independent,
    columns=_independent_columns,
    column=_made_as,
    read=_read,
)
CUMULATIVE_FAIRNESS = Declaration(
    name="GF_cum",
    sentence="GF in which each turn counts with all relevant entities up to it.",
    of="conversation",
    formula="as GF, with the mean membership of all relevant nuggets up to the turn",
    source="[GFRC] Eq. 10, cumulative",
    undefined="as GF",
    example="GF_cum(RATINGS)",
    n=_TURNS,
    needs=("gold",),
    parameters=_PARAMETERS,
    written=("GF_cum", "GF_cum(SET)"),
    arguments=(0, 1),
    shown="all",
    aside_words="GF_cum",
    score=_score,
    applies=_applies,
    family=_cumulative,
    columns=_cumulative_columns,
    column=_made_as,
    read=_read,
)
FAIRNESS_WHERE_RELEVANT = Declaration(
    name="GF_rel",
    sentence="GF over conversations with a relevant entity: it distinguishes unfair from empty-handed.",
    of="conversation",
    formula="GF where any nugget is relevant",
    source="our own, from [GFRC] Eq. 10",
    undefined=f"{_UNKNOWN}, or without a relevant nugget",
    example="GF_rel(RATINGS)",
    n=_TURNS,
    needs=("gold",),
    parameters=_PARAMETERS,
    written=("GF_rel", "GF_rel(SET)"),
    arguments=(0, 1),
    legend="where anything was relevant",
    shown="always",
    aside=_of_one_set,
    aside_words="GF_rel by set",
    score=_score,
    applies=_applies,
    family=_independent,
    columns=_independent_columns,
    column=_made_as,
    read=_read,
)
SUMMARY = Declaration(
    name="GFR",
    sentence="A summary of relevance and group fairness; read it together with R and each GF.",
    of="conversation",
    formula="α·R + (1 - α)·GF",
    source="[GFRC] Eq. 5",
    undefined="as GF",
    example="GFR(alpha=0.5, L=1250)",
    n=_TURNS,
    needs=("gold",),
    parameters=_SUMMARY_PARAMETERS,
    shown="always",
    score=_score,
    family=_independent,
    columns=_independent_columns,
    column=_made_as,
)
CUMULATIVE_SUMMARY = Declaration(
    name="GFR_cum",
    sentence="GFR with GF_cum instead of GF.",
    of="conversation",
    formula="α·R + (1 - α)·GF_cum",
    source="[GFRC] Eq. 5",
    undefined="as GF",
    example="GFR_cum(alpha=0.5)",
    n=_TURNS,
    needs=("gold",),
    parameters=_SUMMARY_PARAMETERS,
    shown="all",
    aside_words="GF_cum",
    score=_score,
    family=_cumulative,
    columns=_cumulative_columns,
    column=_made_as,
)
SIMILARITY = Declaration(
    name="DistrSim",
    sentence="How close the groups of the relevant entities in one turn are to the gold shares.",
    of="turn",
    formula="1 - divergence(achieved, gold)",
    source="[GFRC] Eq. 10",
    undefined="no row without a relevant nugget",
    example="DistrSim(RATINGS)",
    n="relevant nuggets",
    needs=("gold",),
    shown="always",
    family=_independent,
)
CUMULATIVE_SIMILARITY = Declaration(
    name="DistrSim_cum",
    sentence="DistrSim of all relevant entities so far.",
    of="turn",
    formula="1 - divergence(achieved so far, gold)",
    source="[GFRC] Eq. 10, cumulative",
    undefined="no row without a relevant nugget",
    example="DistrSim_cum(RATINGS)",
    n="relevant nuggets so far",
    needs=("gold",),
    shown="all",
    family=_cumulative,
)
