"""The figures of a scored run in long form, one value per row, so that any table tool can read them."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, Literal

from recordings.files.json_text import json_number
from scoring.columns import Columns
from scoring.library import declared
from scoring.notation import Term, parse
from scoring.settings import Settings
from topics.counting import pluralize
from topics.decimals import decimal
from topics.html_table import html_table

FORMAT = "harvest-scores/1"


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One value with its context. A key that does not apply is None (NaN for numbers that may be undefined).

    - `measure`: the name as written, for example `R`, `GF(RATINGS, by=NMD)`, `%useful`, `DistrSim(ORIGIN)`, `pw`.
    - `system`, `topic`, `topic_type`, `trial`, `turn`, `entity`: what the value belongs to; None means all.
    - `value`: NaN if undefined; `%…` measures are shares in [0, 1].
    - `n`: the number of things the value is computed from: relevant nuggets for R, turns that count for GF, answers
      in the denominator for `%…` measures, conversations for means.
    - `topics`: the number of topics, for figures over several.
    - `low`, `high`, `level`: the interval and its confidence, NaN if there is no interval.
    - `interval`, `resampled`: the method of the interval, and the resampled units: `topics`, `topics+trials` or
      `nothing`.
    - `invalid`: the number of trials that failed for reasons of infrastructure. Other fields do not include these
      trials.
    - `worst`, `best`: for `%…` measures, the value if all invalid trials had been useless, or useful; for GF and GFR,
      the lowest and the highest value possible, whatever groups the entities of unknown group belong to.
    - `unjudged`: the number of entities that are not in the gold table, which count as nonrelevant.
    - `unknown`: the number of relevant nuggets of unknown group, which count as uniform.
    - `position`, `grade`, `gain`: properties of one nugget.
    - `note`: a remark for readers.
    - `scorers`: for SWAN and WAN, the kinds of sources that scored, for example `people, rules`.
    """

    measure: str
    system: str
    topic: str | None
    topic_type: str | None
    trial: int | None
    value: float
    n: int
    turn: int | None = None
    entity: str | None = None
    topics: int | None = None
    low: float = math.nan
    high: float = math.nan
    level: float | None = None
    interval: str | None = None
    resampled: str | None = None
    invalid: int = 0
    worst: float = math.nan
    best: float = math.nan
    unjudged: int = 0
    unknown: int = 0
    position: int | None = None
    grade: int | None = None
    gain: float | None = None
    note: str = ""
    scorers: str | None = None

    def shown(self, value: float) -> str:
        """The value as printed in tables, see `shown_value`."""
        return shown_value(self.measure, value)

    @property
    def label(self) -> str:
        """The measure as printed in tables, with turn or scorers: `%useful S1`, `WAN(Sufficiency, people, rules)`."""
        if self.scorers:
            return str(_add_scorers(parse(self.measure), self.scorers))
        return f"{self.measure} S{self.turn}" if self.turn else self.measure

    def as_json(self) -> dict[str, object]:
        """Return a JSON value with every key. NaN becomes null, and floats have 12 decimals."""
        value: dict[str, object] = dict(zip(_NAMES, _values(self), strict=True))
        for name in _FLOATS:
            number = getattr(self, name)
            value[name] = None if number is None else json_number(number)
        return value


def shown_value(measure: str, value: float) -> str:
    """Format a value for tables: percent for %-measures, four decimals otherwise, `n/a` if undefined."""
    if math.isnan(value):
        return "n/a"
    return f"{decimal(100 * value, 1)}%" if is_percentage(measure) else decimal(value, 4)


def shown_range(measure: str, ends: Iterable[float]) -> str:
    """Format the least and the greatest value that are possible: `61.1% to 84.7%`, or one value if both are equal."""
    return " to ".join(dict.fromkeys(shown_value(measure, end) for end in ends))


def is_percentage(measure: str) -> bool:
    """Return True if tables print values of the measure as percentages."""
    found = declared(measure)
    return found is not None and found.percentage


def has_top(measure: str) -> bool:
    """Return True if a topic's score can reach the end of the measure's range."""
    found = declared(measure)
    return found is None or found.has_top


def fewest_topics(measure: str) -> int:
    """Return the fewest topics on which the measure's mean has an interval for topics like these."""
    found = declared(measure)
    return found.fewest_topics if found is not None else 0


def _add_scorers(term: Term, scorers: str) -> Term:
    found = declared(term.name)
    if found is not None and "judgments" not in found.needs and term.arguments and isinstance(term.arguments[0], Term):
        return replace(term, arguments=(_add_scorers(term.arguments[0], scorers), *term.arguments[1:]))
    return replace(term, arguments=(*term.arguments, *(Term(name) for name in scorers.split(", "))))


def _select_rows(late: "DeferredRows", names: Collection[str], bounded: bool) -> Iterator[ScoreRow]:
    return (row for row in (late.rows if bounded else late.values) if _has_name(row, names))


def _has_name(row: ScoreRow, names: Collection[str]) -> bool:
    return row.measure in names or row.label in names


_NAMES = tuple(entry.name for entry in fields(ScoreRow))
_FLOATS = tuple(entry.name for entry in fields(ScoreRow) if "float" in str(entry.type))
_values = attrgetter(*_NAMES)


# Rows that are not over all topics (of a type) and all trials: of one conversation, turn or nugget; of one topic over
# its trials; of one trial over its topics.
Single = Literal["conversation", "topic", "trial"]


@dataclass(frozen=True)  # without slots, so that the rows are cached
class DeferredRows:
    """Rows that are made on first use. `make` adds intervals if its argument is True."""

    of: Single
    make: Callable[[bool], Iterable[ScoreRow]]

    @cached_property
    def rows(self) -> tuple[ScoreRow, ...]:
        """The rows with intervals."""
        return tuple(self.make(True))

    def stream(self) -> Iterable[ScoreRow]:
        """Return the rows with intervals without keeping them."""
        return vars(self).get("rows") or self.make(True)

    @cached_property
    def values(self) -> tuple[ScoreRow, ...]:
        """Return the rows without intervals, which take most of the time, and without notes about intervals."""
        return self.rows if self.of == "conversation" else tuple(self.make(False))


@dataclass(frozen=True, repr=False)  # without slots, so that derived values are cached
class ScoreTable:
    """All rows of one scoring run, in order: by system, and within a system conversations, topics, trials, types and
    all.

    `parts` has the rows over all trials and all topics (or all topics of a type), and functions that make the other
    rows. The other rows are most of a table, and tables for people contain few of them. `notes` are sentences about
    missing or omitted data. `coverage` are the notes about the criteria in the figures, to be shown above the
    figures. `each` has the figures of single conversations as columns, by system. `systems` are the systems in the
    order of the audit, in which people are shown them.
    """

    parts: Sequence[ScoreRow | DeferredRows]
    settings: Settings = field(default_factory=Settings)
    notes: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()
    each: Sequence[Columns] = ()
    systems: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> tuple[ScoreRow, ...]:
        """All rows."""
        return tuple(row for one in self.parts for row in ((one,) if isinstance(one, ScoreRow) else one.rows))

    def stream(self) -> Iterator[ScoreRow]:
        """Yield all rows without keeping them: a table has about thirty for each conversation."""
        for one in self.parts:
            yield from (one,) if isinstance(one, ScoreRow) else one.stream()

    @cached_property
    def joint(self) -> tuple[ScoreRow, ...]:
        """The rows over all trials and over all topics, or all topics of a type. No other row is made."""
        return tuple(one for one in self.parts if isinstance(one, ScoreRow))

    def single(self, of: Single) -> Iterator[ScoreRow]:
        """Yield the rows of single conversations, topics or trials, without intervals. No other row is made."""
        return (row for one in self.parts if isinstance(one, DeferredRows) and one.of == of for row in one.values)

    def __repr__(self) -> str:
        systems = dict.fromkeys(row.system for row in self._whole)
        return f"<ScoreTable of {', '.join(systems)}: {pluralize(len(self._whole), 'figure')} over all topics>"

    def _repr_html_(self) -> str:
        return html_table(
            f"{repr(self)[1:-1]}. Each has its interval and its n; rows has the figures of topics, trials and turns.",
            ("measure", "system", "value", "low", "high", "n", "note"),
            (
                (row.label, row.system, *map(row.shown, (row.value, row.low, row.high)), str(row.n), row.note)
                for row in self._whole
            ),
        )

    @property
    def _whole(self) -> list[ScoreRow]:
        rows = (row for row in self.joint if row.topic_type is None)
        order = {name: number for number, name in enumerate(self.systems)}
        return sorted(rows, key=lambda row: order.get(row.system, len(order)))

    def as_json(self) -> dict[str, object]:
        """Return the `harvest-scores/1` document: format, settings, notes, rows. Equal scores give equal documents."""
        return {**self.head_json(), "rows": [row.as_json() for row in self.rows]}

    def head_json(self) -> dict[str, object]:
        """Return the document of `as_json` without its rows."""
        return {"format": FORMAT, "settings": self.settings.as_json(), "notes": list(self.notes)}

    def only(self, names: Collection[str]) -> "ScoreTable":
        """Return the table with the rows of some measures: `%useful` for all turns, `%useful S1` for a single turn."""
        kept = frozenset(names)
        return replace(
            self,
            parts=tuple(
                DeferredRows(one.of, partial(_select_rows, one, kept)) if isinstance(one, DeferredRows) else one
                for one in self.parts
                if isinstance(one, DeferredRows) or _has_name(one, kept)
            ),
            each=[one.select_measures(kept) for one in self.each],
        )

    def select(self, **wanted: Any) -> Iterator[ScoreRow]:
        """Yield the rows with these field values: `select(measure="R", system="B1", trial=None)`."""
        for name in wanted:
            if name not in _NAMES:
                raise TypeError(f"a score row has no {name!r}; it has {', '.join(_NAMES)}")
        return (row for row in self.rows if all(getattr(row, name) == value for name, value in wanted.items()))
