"""The figures of conversations that arrive one at a time, so that the words of all of them are never in memory
together."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any

import numpy as np

from recordings.conversations.conversation import Conversation
from recordings.conversations.outlines import Outlines
from recordings.files.json_text import Json
from scoring.asked import AskedMeasures, asked_columns
from scoring.columns import Column, Joined, is_constant
from scoring.conversations import Ranked, default_columns
from scoring.material import Judged, Material
from scoring.measure import Measure
from scoring.settings import Settings
from topics.arrays import Counts
from topics.gold import GoldTable
from topics.topic import TopicSet


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of finished conversations whose words are no longer in memory: the default figures, and the figures
    of the measures in `asked`, which are not default measures. `columns` are by system; in them, conversations are
    numbered in the order of the system's outlines. `unjudged` is the number of links to entities that the gold table
    does not judge. The figures rest on a gold table if they are `judged`, and on the settings that `of_values`
    describes."""

    outlines: Outlines
    columns: Mapping[str, Sequence[Ranked]]
    unjudged: int
    judged: bool
    of_values: str
    asked: Set[str] = frozenset()

    def has(self, measure: Measure) -> bool:
        """Return True if these figures include those of a measure, or if labels alone decide it."""
        name = measure.base_name
        if measure.declaration.of != "conversation" or name in self.asked:
            return True
        return any(column.measure == name for own in self.columns.values() for _, column in own)

    def only(self, names: Set[str]) -> "Measured":
        """Return the default figures, and the other figures with the given names."""
        other = self.asked - names
        kept = {system: [one for one in own if one[1].measure not in other] for system, own in self.columns.items()}
        return replace(self, columns=kept, asked=self.asked & names) if other else self


class Measuring:
    """Measures batches of conversations, in any order, by the default measures and the `wanted` measures."""

    def __init__(
        self, topics: TopicSet, gold: GoldTable | None, settings: Settings, wanted: Sequence[Measure] = ()
    ) -> None:
        self._topics = {topic.id: topic for topic in topics.topics}
        self._places = {topic: place for place, topic in enumerate(self._topics)}
        self._set, self._gold, self._settings = topics, gold, settings
        self._asked = AskedMeasures(wanted, _refuse_judgments)
        self._default: set[str] = set()
        # By system and measure: columns, and their places among a conversation's figures.
        self._parts: dict[str, dict[str, list[tuple[tuple[int, int], Column]]]] = {}
        self._unjudged = 0

    def add(self, conversations: Sequence[Conversation], numbers: Sequence[int]) -> None:
        """Measure valid conversations on topics of the set, each of which has a number."""
        # In the order of the run: the first conversation of a column says where its measure is printed.
        places = self._places
        numbered = sorted(
            zip(numbers, conversations, strict=True),
            key=lambda one: (one[1].key.system, places[one[1].key.topic], one[1].key.trial),
        )
        if not numbered:
            return
        own_numbers, own = zip(*numbered, strict=True)
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
        at = np.array(own_numbers, dtype=np.int64)
        # All systems at once, as most rows of shares recur in all of them; then each system's part of every column.
        columns = [(place, column, column.at) for (_, *place), column in default_columns(grounds)]
        start = 0
        for system, several in groupby(own, key=lambda one: one.key.system):
            end = start + len(list(several))
            parts = self._parts.setdefault(system, {})
            spans: dict[int, tuple[slice, Counts]] = {}  # columns of one topic type have the same numbers
            default = set()
            for place, column, there in columns:
                if id(there) not in spans:
                    span = slice(*np.searchsorted(there, [start, end]).tolist())
                    spans[id(there)] = span, at[there[span]]
                span, named = spans[id(there)]
                if len(named):
                    default.add(column.measure)
                    part = replace(_part(column, span), at=named).with_constants()
                    parts.setdefault(column.measure, []).append(((place[0], place[1]), part))
            self._default |= default
            figures = [self._asked.figures(ground, default) for ground in grounds[start:end]]
            for (_, *place), column in asked_columns(figures):
                part = replace(column, at=at[start + column.at]).with_constants()
                parts.setdefault(column.measure, []).append(((place[0], place[1]), part))
            start = end
        if self._gold is not None:
            self._unjudged += sum(one.unjudged for one in grounds)

    def measured(self, outlines: Outlines, order: Counts) -> Measured:
        """Return the figures of `outlines`. `order` (n,) gives the index of each of them."""
        columns: dict[str, list[Ranked]] = {}
        for name, of in self._parts.items():
            own = np.flatnonzero(outlines.system == outlines.systems.index(name))
            ranks = np.full(int(order.max()) + 1, -1, dtype=np.int64)
            ranks[order[own]] = np.arange(len(own))
            joined = Joined()
            for measure in list(of):
                parts = of.pop(measure)
                first = min((int(ranks[column.at].min()), *place) for place, column in parts)
                column = joined.column([one for _, one in parts])
                there = joined.derived(column.at, ranks.take)
                columns.setdefault(name, []).append((first, replace(column, at=there)))
        self._parts = {}
        asked = {one.base_name for one in self._asked.measures if one.declaration.of == "conversation"}
        judged, of_values = self._gold is not None, self._settings.of_values
        return Measured(outlines, columns, self._unjudged, judged, of_values, asked - self._default)


_FIELDS = tuple(field.name for field in fields(Column) if field.name != "measure")


def _part(column: Column, span: slice) -> Column:
    arrays: list[Any] = [getattr(column, name) for name in _FIELDS]
    parts: list[Any] = [None if one is None else one[span] for one in arrays]
    return Column(column.measure, *parts)


def measured_arrays(measured: Measured) -> tuple[dict[str, Json], dict[str, Any]]:
    """Return figures as JSON and as the arrays that it names. An array that several columns share is there
    once, and of one that is constant a single number."""
    arrays: dict[str, Any] = {}
    names: dict[int, str] = {}

    def name(array: Any) -> Json:
        if array is None:
            return None
        if id(array) not in names:
            names[id(array)] = f"figures {len(names)}"
            arrays[names[id(array)]] = array[:1].copy() if is_constant(array) else array
        return names[id(array)]

    columns: dict[str, Json] = {
        system: [[*first, one.measure, *[name(getattr(one, field)) for field in _FIELDS]] for first, one in own]
        for system, own in measured.columns.items()
    }
    told = {
        "unjudged": measured.unjudged,
        "judged": measured.judged,
        "of_values": measured.of_values,
        "asked": sorted(measured.asked),
    }
    return {"columns": columns, **told}, arrays


def read_measured(value: Mapping[str, Any], arrays: Mapping[str, Any], outlines: Outlines) -> Measured:
    """Return the figures that `measured_arrays` described. Raises ValueError, TypeError or LookupError for anything
    else."""
    known: dict[tuple[str, int], Any] = {}

    def array(name: str | None, size: int) -> Any:
        if name is None:
            return None
        if (name, size) not in known:
            own = arrays[name]
            known[name, size] = own if len(own) == size and size > 1 else np.broadcast_to(own[0], (size,))
            if len(own) not in (1, size):
                raise ValueError("these figures do not belong together")
        return known[name, size]

    columns: dict[str, list[Ranked]] = {}
    for system, own in value["columns"].items():
        for at, kind, place, measure, *named in own:
            size = len(arrays[named[0]])
            column = Column(measure, *(array(name, size) for name in named))
            columns.setdefault(system, []).append(((at, kind, place), column))
    asked = frozenset(value["asked"])
    return Measured(outlines, columns, value["unjudged"], value["judged"], value["of_values"], asked)


def _refuse_judgments() -> Judged:
    raise ValueError("figures that every run has need no judgments")
