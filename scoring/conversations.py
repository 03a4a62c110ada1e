"""The figures of one conversation: R, GF of each attribute set by each method, GFR(C), and what they are made of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recordings.conversation import Conversation
from scoring.measures.fairness import combined, divergence_names, group_fairness, summary
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
    """One measure of one conversation. value: NaN where undefined. n: see `scoring.table.ScoreRow`."""

    measure: str
    value: float
    n: int
    turn: int | None = None
    nugget: Nugget | None = None
    unjudged: int = 0
    unknown: int = 0
    note: str = ""

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
        first: dict[str, float] = {}
        counted = 0
        for attribute in sets:
            unknown = sum(attribute.name in nugget.unknown for nugget in earning)
            for place, fairness in enumerate(
                group_fairness(nuggets, turns, attribute, settings, cumulative=cumulative)
            ):
                label = _label(attribute.name, fairness.divergence, place)
                counted = len(fairness.turns)
                found.append(Figure(f"{name}({label})", fairness.value, counted, unjudged=unjudged, unknown=unknown))
                if place == 0:
                    first[attribute.name] = fairness.value
                similar = "DistrSim_cum" if cumulative else "DistrSim"
                by_turn.extend(
                    Figure(f"{similar}({label})", turn.similarity, turn.nuggets, turn.turn) for turn in fairness.turns
                )
        value = combined(first, settings.weights)
        note = "" if sets else "the topic's type has no attribute sets"
        found.append(Figure(name, value, counted, unjudged=unjudged, note=note))
        found.append(
            Figure(_summary_name(name, settings), summary(score, value, settings.alpha), counted, unjudged=unjudged)
        )
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
            note=figure.note,
        )


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
    for name in ("GF", "GF_cum"):
        for attribute in sets:
            names += [
                f"{name}({_label(attribute.name, divergence, place)})"
                for place, divergence in enumerate(divergence_names(attribute, settings))
            ]
        names += [name, _summary_name(name, settings)]
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
