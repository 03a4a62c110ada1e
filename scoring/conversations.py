"""The figures of one conversation: R, GF of each attribute set by each method, GFR(C), and what they are made of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recordings.conversation import Conversation
from scoring.measures.fairness import GroupFairness, combined, divergence_names, group_fairness, summary
from scoring.measures.relevance import position_weight, relevance
from scoring.notation import number_text
from scoring.nuggets import Nugget, find_nuggets
from scoring.settings import Settings
from scoring.table import ScoreRow
from scoring.words import passages
from topics.attributes import AttributeSet
from topics.gold import GoldTable
from topics.topic import Topic

__all__ = ["Figure", "figures", "rows"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of one conversation. value: NaN where undefined. n, worst, best: see `scoring.table.ScoreRow`."""

    measure: str
    value: float
    n: int
    turn: int | None = None
    nugget: Nugget | None = None
    unjudged: int = 0
    unknown: int = 0
    note: str = ""
    worst: float = math.nan
    best: float = math.nan

    @property
    def whole(self) -> bool:
        """Whether it is of the whole conversation, and so can be averaged over conversations."""
        return self.turn is None


def figures(
    conversation: Conversation,
    topic: Topic,
    gold: GoldTable,
    attributes: Mapping[str, AttributeSet],
    settings: Settings,
) -> tuple[Figure, ...]:
    """All figures of one conversation, those of the whole first, then by turn, then `pw` of every nugget.

    Undefined (NaN with n = 0) where the topic has no entry in the gold table or names no kind of URL: then nothing
    is known of what a good answer holds. A conversation without relevant nuggets on a judged topic has R = 0, GF = 0.
    """
    sets = [attributes[name] for name in topic.type.attributes]
    nuggets = find_nuggets(conversation, topic, gold, attributes, settings)
    unjudged = sum(nugget.unjudged for nugget in nuggets)
    reason = _unscorable(topic, gold)
    if reason:
        whole = _undefined(sets, settings, unjudged, reason)
        return (*whole, *_weights(nuggets, settings))
    turns = {passage.turn: passage.first_position for passage in passages(conversation) if passage.speaker == "system"}
    earning = [nugget for nugget in nuggets if nugget.relevant]
    repeated = sum(nugget.duplicate for nugget in nuggets)
    score = relevance(nuggets, settings.patience)
    found = [
        Figure("R", score, len(earning), unjudged=unjudged, note=f"{repeated} repeated" if repeated else ""),
    ]
    by_turn: list[Figure] = []
    for name, cumulative in (("GF", False), ("GF_cum", True)):
        first: dict[str, GroupFairness] = {}
        counted = 0
        for attribute in sets:
            unknown = sum(attribute.name in nugget.unknown for nugget in earning)
            for place, fairness in enumerate(
                group_fairness(nuggets, turns, attribute, settings, cumulative=cumulative)
            ):
                label = _label(attribute.name, fairness.divergence, place)
                counted = len(fairness.turns)
                one = Figure(
                    f"{name}({label})",
                    fairness.value,
                    counted,
                    unjudged=unjudged,
                    unknown=unknown,
                    worst=fairness.worst,
                    best=fairness.best,
                )
                found += [one] if cumulative or place else [one, _where_relevant(one, earning)]
                if place == 0:
                    first[attribute.name] = fairness
                similar = "DistrSim_cum" if cumulative else "DistrSim"
                by_turn.extend(
                    Figure(f"{similar}({label})", turn.similarity, turn.nuggets, turn.turn) for turn in fairness.turns
                )
        value, worst, best = (
            combined({of: getattr(one, side) for of, one in first.items()}, settings.weights)
            for side in ("value", "worst", "best")
        )
        unknown = sum(bool(nugget.unknown) for nugget in earning)
        note = "" if sets else "the topic's type has no attribute sets"
        overall = Figure(name, value, counted, unjudged=unjudged, unknown=unknown, note=note, worst=worst, best=best)
        found += [overall] if cumulative else [overall, _where_relevant(overall, earning)]
        value, worst, best = (summary(score, one, settings.alpha) for one in (value, worst, best))
        name = _summary_name(name, settings)
        found.append(replace(overall, measure=name, value=value, worst=worst, best=best, note=""))
    return (*found, *by_turn, *_weights(nuggets, settings))


def rows(conversation: Conversation, topic: Topic, figures: tuple[Figure, ...]) -> Iterator[ScoreRow]:
    """The figures of one conversation as rows."""
    key = conversation.key
    for figure in figures:
        nugget = figure.nugget
        yield ScoreRow(
            measure=figure.measure,
            system=key.system,
            topic=key.topic,
            topic_type=topic.type.name,
            trial=key.trial,
            value=figure.value,
            n=figure.n,
            turn=figure.turn,
            entity=None if nugget is None else nugget.entity,
            unjudged=figure.unjudged,
            unknown=figure.unknown,
            position=None if nugget is None else nugget.position,
            grade=None if nugget is None else nugget.grade,
            gain=None if nugget is None else nugget.gain,
            worst=figure.worst,
            best=figure.best,
            note=figure.note,
        )


def _where_relevant(fairness: Figure, relevant: Sequence[Nugget]) -> Figure:
    """GF_rel: the same where any nugget is relevant; undefined where nothing is, so that nothing was fair or unfair."""
    found = replace(fairness, measure=fairness.measure.replace("GF", "GF_rel", 1))
    return found if relevant else replace(found, value=math.nan, n=0, worst=math.nan, best=math.nan)


def _unscorable(topic: Topic, gold: GoldTable) -> str:
    if topic.type.url is None:
        return "the topic's type names no kind of URL"
    if not gold.entries(topic.id):
        return "the gold table has no entry for this topic"
    return ""


def _label(attribute: str, divergence: str, place: int) -> str:
    return attribute if place == 0 else f"{attribute}, by={divergence}"


def _summary_name(name: str, settings: Settings) -> str:
    return f"{name.replace('GF', 'GFR')}(alpha={number_text(settings.alpha)})"


def _undefined(sets: list[AttributeSet], settings: Settings, unjudged: int, reason: str) -> list[Figure]:
    names = ["R"]
    for name in ("GF", "GF_rel", "GF_cum"):
        for attribute in sets:
            names += [
                f"{name}({_label(attribute.name, divergence, place)})"
                for place, divergence in enumerate(divergence_names(attribute, settings))
                if name != "GF_rel" or place == 0
            ]
        names += [name] if name == "GF_rel" else [name, _summary_name(name, settings)]
    return [Figure(name, math.nan, 0, unjudged=unjudged, note=reason) for name in names]


def _weights(nuggets: tuple[Nugget, ...], settings: Settings) -> Iterator[Figure]:
    if not nuggets:
        return
    for nugget, weight in zip(
        nuggets, position_weight([nugget.position for nugget in nuggets], settings.patience), strict=True
    ):
        remarks = (
            (nugget.duplicate, "repeated"),
            (nugget.unjudged, "unjudged"),
            (not nugget.in_text, "outside the text, placed at the last word of the turn"),
        )
        yield Figure(
            "pw",
            float(weight),
            1,
            turn=nugget.turn,
            nugget=nugget,
            unjudged=int(nugget.unjudged),
            unknown=len(nugget.unknown),
            note="; ".join(note for applies, note in remarks if applies),
        )
