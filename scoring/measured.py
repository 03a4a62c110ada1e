"""The figures of conversations that come one after the other, so that nobody has to hold the words of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from recordings.conversations.conversation import Conversation
from recordings.conversations.outlines import Outlines
from scoring.columns import Column, Joined
from scoring.conversations import Ranked, default_columns
from scoring.material import Judged, Material
from scoring.settings import Settings
from topics.arrays import Counts
from topics.gold import GoldTable
from topics.topic import TopicSet


@dataclass(frozen=True, slots=True)
class Measured:
    """The default figures of finished conversations, of which only outlines are left. `columns` are by system; in them,
    conversations are numbered in the order of the system's outlines. `unjudged` is the number of links to entities that
    the gold table does not judge. `gold` and `settings` are what the figures rest on."""

    outlines: Outlines
    columns: Mapping[str, Sequence[Ranked]]
    unjudged: int
    gold: GoldTable | None
    settings: Settings


class Measuring:
    """Measures batches of conversations, in any order."""

    def __init__(self, topics: TopicSet, gold: GoldTable | None, settings: Settings) -> None:
        self._topics = {topic.id: topic for topic in topics.topics}
        self._set, self._gold, self._settings = topics, gold, settings
        self._parts: dict[str, dict[str, list[tuple[int, Column]]]] = {}  # by system and measure, with places
        self._unjudged = 0

    def add(self, conversations: Sequence[Conversation], numbers: Sequence[int]) -> None:
        """Measure valid conversations on topics of the set, each of which has a number."""
        numbered = sorted(zip(numbers, conversations, strict=True), key=lambda one: one[1].key)
        for system, several in groupby(numbered, key=lambda one: one[1].key.system):
            places, own = zip(*several, strict=True)
            grounds = [
                Material(
                    one,
                    self._topics[one.key.topic],
                    self._gold,
                    self._set.attributes,
                    self._settings,
                    _refuse_judgments,
                    self._settings,
                    self._set.sources,
                )
                for one in own
            ]
            at = np.array(places, dtype=np.int64)
            shared: dict[int, Counts] = {}  # columns of one topic type have the same numbers
            for (_, _, place), column in default_columns(grounds):
                there = shared.setdefault(id(column.at), at[column.at])
                parts = self._parts.setdefault(system, {}).setdefault(column.measure, [])
                parts.append((place, replace(column, at=there).with_constants()))
            if self._gold is not None:
                self._unjudged += sum(one.unjudged for one in grounds)

    def measured(self, outlines: Outlines, order: Counts) -> Measured:
        """Return the figures of `outlines`. `order` (n,) has the number of each of them."""
        columns: dict[str, list[Ranked]] = {}
        for name, of in self._parts.items():
            own = np.flatnonzero(outlines.system == outlines.systems.index(name))
            ranks = np.full(int(order.max()) + 1, -1, dtype=np.int64)
            ranks[order[own]] = np.arange(len(own))
            joined = Joined()
            for measure in list(of):
                parts = of.pop(measure)
                first = min((int(ranks[column.at].min()), 0, place) for place, column in parts)
                column = joined.column([one for _, one in parts])
                there = joined.derived(column.at, ranks.take)
                columns.setdefault(name, []).append((first, replace(column, at=there)))
        self._parts = {}
        return Measured(outlines, columns, self._unjudged, self._gold, self._settings)


def _refuse_judgments() -> Judged:
    raise ValueError("figures that every run has need no judgments")
