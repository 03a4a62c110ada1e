"""Fairness measures of a conversation: DistrSim of a turn, GF by attribute set and overall, and the summary GFR(C).

All measures except GF_rel have a cumulative form. All are computed together because they share expensive steps
(`scoring.fairness`). [GFRC] Eq. 4, 5, 9, 10.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from scoring.columns import Column, Conversations
from scoring.fairness import GroupFairness, combine, divergence_names, group_fairness, summary
from scoring.figure import Figure
from scoring.measure import Declaration, Measure, Parameter, TermContext, read_plain_term, require_number
from scoring.measures.fairness_columns import FairnessColumns, combine_columns, fairness_columns, has_equal_turns
from scoring.measures.relevance import LIMITS, RELEVANCE, relevance, relevances
from scoring.notation import Term, Value, number_text
from scoring.nuggets import Nugget
from scoring.settings import Settings
from topics.attributes import AttributeSet
from topics.errors import InputError

if TYPE_CHECKING:
    from scoring.material import Material


def attribute_of(term: Term) -> str:
    """Return the attribute set of a GF, or "" for GF over all sets."""
    return str(term.arguments[0]) if term.arguments else ""


def set_fairness(material: Material, attribute: AttributeSet, *, cumulative: bool = False) -> tuple[GroupFairness, ...]:
    """Return GF of one attribute set with the distributions of its turns, for each divergence. The conversation must
    be scorable. The result is computed only once."""

    def make() -> tuple[GroupFairness, ...]:
        turns = {one.turn: one.first_position for one in material.passages if one.speaker == "system"}
        nuggets, settings = material.relevant, material.settings
        return group_fairness(nuggets, turns, attribute, settings, material.patience, cumulative=cumulative)

    return material.once((GroupFairness, attribute.name, cumulative), make)


def named_set(term: Term, context: TermContext) -> AttributeSet:
    """Return the attribute set that is the term's first argument. Raises InputError for an unknown set."""
    name, known = attribute_of(term), context.topics.attributes
    if name not in known:
        raise InputError(f"{term}: there is no attribute set {name!r}", allowed=", ".join(known) or "none")
    return known[name]


def _parse_divergence(value: Value) -> str:
    return "RNOD" if str(value) == "JSD" else str(value)  # nominal sets have one divergence only


def _read_term(declaration: Declaration, term: Term, asking: TermContext) -> tuple[Measure, ...]:
    found = read_plain_term(declaration, term, asking)
    name, by = attribute_of(term), term.get("by")
    if not name:
        if str(by) == "JSD":
            raise InputError(f"{term}: `by` cannot be JSD, because JSD is not for ordinal sets", allowed="RNOD, NMD")
        return found
    attribute = named_set(term, asking)
    if attribute.scale == "nominal" and by is not None and str(by) != "JSD":
        raise InputError(f"{term}: `by` must be JSD, because the groups of {name} have no order", allowed="by=JSD")
    if attribute.scale == "ordinal" and str(by) == "JSD":
        raise InputError(f"{term}: `by` cannot be JSD, because the groups of {name} have an order", allowed="RNOD, NMD")
    return found


@dataclass(frozen=True, slots=True)
class _Family:
    """Measures that are computed together. With `cumulative`, a turn includes the relevant entities of earlier
    turns."""

    cumulative: bool
    fairness: str
    summary: str
    similarity: str
    where_relevant: str = ""

    @property
    def hooks(self) -> dict[str, Any]:
        return {"score": self.score, "family": self.figures, "columns": self.columns, "column": self.column}

    def column(self, measure: Measure) -> str:
        if measure.declaration.name == self.summary:
            return self._summary_name(measure.settings)
        return str(Term(measure.base.name, measure.base.arguments)) if measure.base.parameters else measure.base_name

    def score(self, material: Material, measure: Measure) -> Figure:
        return self._figures_by_name(material)[self.column(measure)]

    def figures(self, material: Material) -> Sequence[Figure]:
        found = [*self._figures_by_name(material).values()]
        if not material.unscorable:
            for label, fairness in self._fairness_by_label(material):
                name = f"{self.similarity}({label})"
                found += [Figure(name, turn.similarity, turn.nuggets, turn.turn) for turn in fairness.turns]
        return found

    def columns(self, many: Conversations) -> Sequence[Column] | None:
        """Return the columns of `_figures`, or None under settings that require scoring conversations one by one."""
        settings, earning = many.grounds[0].settings, many.counts > 0
        if not has_equal_turns(settings):
            return None
        found: list[Column] = []
        first: dict[str, FairnessColumns] = {}

        def add(label: str, one: FairnessColumns, unknown: npt.NDArray[np.int64], *, rel: bool) -> None:
            found.append(many.column(f"{self.fairness}{label}", one.value, one.worst, one.best, unknown))
            if rel and self.where_relevant:  # see `_of_relevant`
                value, worst, best = (np.where(earning, end, math.nan) for end in (one.value, one.worst, one.best))
                found.append(many.column(f"{self.where_relevant}{label}", value, worst, best, unknown))

        for attribute in many.grounds[0].sets:
            unknown = np.bincount(many.of[many.has_unknown_group(attribute.name)], minlength=len(many))
            made = fairness_columns(many, attribute, settings, cumulative=self.cumulative)
            first[attribute.name] = made[0]
            for place, one in enumerate(made):
                add(f"({_set_label(attribute.name, one.divergence, place)})", one, unknown, rel=place == 0)
        value, worst, best = (
            combine_columns({name: getattr(one, end) for name, one in first.items()}, settings.weights, len(many))
            for end in ("value", "worst", "best")
        )
        some = np.zeros(len(many.of), dtype=bool)
        for attribute in many.grounds[0].sets:
            some |= many.has_unknown_group(attribute.name)
        unknown = np.bincount(many.of[some], minlength=len(many))
        add("", FairnessColumns("", value, worst, best), unknown, rel=True)
        score = relevances(many)
        value, worst, best = (settings.alpha * score + (1 - settings.alpha) * end for end in (value, worst, best))
        found.append(many.column(self._summary_name(settings), value, worst, best, unknown))
        return found

    def _figures_by_name(self, material: Material) -> Mapping[str, Figure]:
        return material.once((Figure, self.fairness), lambda: {one.measure: one for one in self._figures(material)})

    def _fairness_by_label(self, material: Material) -> Sequence[tuple[str, GroupFairness]]:
        return [
            (_set_label(one.attribute, one.divergence, place), one)
            for attribute in material.sets
            for place, one in enumerate(set_fairness(material, attribute, cumulative=self.cumulative))
        ]

    def _figures(self, material: Material) -> Iterator[Figure]:
        settings, unjudged, sets = material.settings, material.unjudged, material.sets
        if material.unscorable:
            yield from self._undefined_figures(material)
            return
        earning = material.relevant
        first: dict[str, GroupFairness] = {}
        counted = 0
        for label, fairness in self._fairness_by_label(material):
            counted = len(fairness.turns)
            unknown = sum(fairness.attribute in nugget.unknown for nugget in earning)
            name, worst, best = f"{self.fairness}({label})", fairness.worst, fairness.best
            one = Figure(name, fairness.value, counted, None, None, unjudged, unknown, "", worst, best)
            yield one
            if fairness.attribute not in first:
                first[fairness.attribute] = fairness
                yield from self._of_relevant(one, f"({label})", earning)
        value, worst, best = _combine_sets(first, settings)
        unknown = sum(bool(nugget.unknown) for nugget in earning)
        note = "" if sets else "the topic's type has no attribute sets"
        overall = Figure(self.fairness, value, counted, None, None, unjudged, unknown, note, worst, best)
        yield overall
        yield from self._of_relevant(overall, "", earning)
        score = material.once(RELEVANCE, lambda: relevance(material.nuggets, material.patience))
        value, worst, best = (summary(score, one, settings.alpha) for one in (value, worst, best))
        yield Figure(self._summary_name(settings), value, counted, None, None, unjudged, unknown, "", worst, best)

    def _undefined_figures(self, material: Material) -> Iterator[Figure]:
        sets, settings = material.sets, material.settings
        names = [
            f"{self.fairness}({_set_label(attribute.name, divergence, place)})"
            for attribute in sets
            for place, divergence in enumerate(divergence_names(attribute, settings))
        ]
        names += [self.fairness, self._summary_name(settings)]
        if self.where_relevant:
            names += [*(f"{self.where_relevant}({attribute.name})" for attribute in sets), self.where_relevant]
        unjudged, reason = material.unjudged, material.unscorable
        yield from (Figure(name, math.nan, 0, unjudged=unjudged, note=reason) for name in names)

    def _of_relevant(self, fairness: Figure, label: str, relevant: Sequence[Nugget]) -> Iterator[Figure]:
        if self.where_relevant:
            one = replace(fairness, measure=f"{self.where_relevant}{label}")
            yield one if relevant else replace(one, value=math.nan, n=0, worst=math.nan, best=math.nan)

    def _summary_name(self, settings: Settings) -> str:
        return f"{self.summary}(alpha={number_text(settings.alpha)})"


def _combine_sets(sets: Mapping[str, GroupFairness], settings: Settings) -> tuple[float, float, float]:
    value = combine({name: one.value for name, one in sets.items()}, settings.weights)
    if all(one.worst == one.value == one.best for one in sets.values()):
        return value, value, value
    worst = combine({name: one.worst for name, one in sets.items()}, settings.weights)
    return value, worst, combine({name: one.best for name, one in sets.items()}, settings.weights)


def _set_label(attribute: str, divergence: str, place: int) -> str:
    return attribute if place == 0 else f"{attribute}, by={divergence}"


_INDEPENDENT = _Family(False, "GF", "GFR", "DistrSim", "GF_rel")
_CUMULATIVE = _Family(True, "GF_cum", "GFR_cum", "DistrSim_cum")

_TURNS = "turns that hold a relevant nugget"
_UNKNOWN = "nothing is known of the topic's entities"

_fairness = partial(
    Declaration,
    of="conversation",
    n=_TURNS,
    needs=("gold",),
    parameters=(
        Parameter("by", "divergence of ordinal sets: RNOD or NMD", setting="ordinal", value=_parse_divergence),
        Parameter("irrelevant", "turns without relevant entities: ignore or uniform", setting="irrelevant"),
        Parameter("turn_weight", "weight of a turn: one or largest-pw", setting="turn_weight"),
    ),
    arguments=(0, 1),
    applies=lambda measure, topic: attribute_of(measure.base) in ("", *topic.type.attributes),
    read=_read_term,
)
_summary = partial(
    Declaration,
    of="conversation",
    source="[GFRC] Eq. 5",
    undefined="as GF",
    n=_TURNS,
    needs=("gold",),
    parameters=(Parameter("alpha", "weight of R", setting="alpha", value=require_number), *LIMITS),
)
_similarity = partial(Declaration, of="turn", undefined="no row without a relevant nugget", needs=("gold",))

FAIRNESS = _fairness(
    name="GF",
    sentence="How close the groups of the relevant entities in each turn are to the gold shares.",
    formula="mean of DistrSim over the turns with a relevant nugget; GF: mean over the M sets",
    source="[GFRC] Eq. 9 (whose 1/m is read as 1/M), 10",
    undefined=f"{_UNKNOWN}, or its type has no sets; 0 without a relevant nugget",
    shown="always",
    example="GF(RATINGS, by=NMD)",
    legend="group fairness",
    aside=lambda term: term.get("by") is not None,
    aside_words="by=NMD",
    written=("GF", "GF(SET)"),
    **_INDEPENDENT.hooks,
)
CUMULATIVE_FAIRNESS = _fairness(
    name="GF_cum",
    sentence="GF in which each turn counts with all relevant entities up to it.",
    formula="as GF, with the mean membership of all relevant nuggets up to the turn",
    source="[GFRC] Eq. 10, cumulative",
    undefined="as GF",
    shown="all",
    aside_words="GF_cum",
    example="GF_cum(RATINGS)",
    written=("GF_cum", "GF_cum(SET)"),
    **_CUMULATIVE.hooks,
)
FAIRNESS_WHERE_RELEVANT = _fairness(
    name="GF_rel",
    sentence="GF over conversations with a relevant entity: it distinguishes unfair from empty-handed.",
    formula="GF where any nugget is relevant",
    source="our own, from [GFRC] Eq. 10",
    undefined=f"{_UNKNOWN}, or without a relevant nugget",
    shown="always",
    legend="where anything was relevant",
    aside=lambda term: bool(term.arguments),
    aside_words="GF_rel by set",
    example="GF_rel(RATINGS)",
    written=("GF_rel", "GF_rel(SET)"),
    **_INDEPENDENT.hooks,
)
SUMMARY = _summary(
    name=_INDEPENDENT.summary,
    sentence="A summary of relevance and group fairness; read it together with R and each GF.",
    formula="α·R + (1 - α)·GF",
    shown="always",
    example="GFR(alpha=0.5, L=1250)",
    **_INDEPENDENT.hooks,
)
CUMULATIVE_SUMMARY = _summary(
    name=_CUMULATIVE.summary,
    sentence="GFR with GF_cum instead of GF.",
    formula="α·R + (1 - α)·GF_cum",
    shown="all",
    example="GFR_cum(alpha=0.5)",
    aside_words="GF_cum",
    **_CUMULATIVE.hooks,
)
SIMILARITY = _similarity(
    name=_INDEPENDENT.similarity,
    sentence="How close the groups of the relevant entities in one turn are to the gold shares.",
    formula="1 - divergence(achieved, gold)",
    source="[GFRC] Eq. 10",
    n="relevant nuggets",
    shown="always",
    example="DistrSim(RATINGS)",
    family=_INDEPENDENT.figures,
)
CUMULATIVE_SIMILARITY = _similarity(
    name=_CUMULATIVE.similarity,
    sentence="DistrSim of all relevant entities so far.",
    formula="1 - divergence(achieved so far, gold)",
    source="[GFRC] Eq. 10, cumulative",
    n="relevant nuggets so far",
    shown="all",
    example="DistrSim_cum(RATINGS)",
    family=_CUMULATIVE.figures,
)
