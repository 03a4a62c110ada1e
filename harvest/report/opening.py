"""The bars at the top of a report: values with their intervals, or a difference on an axis around zero."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harvest.report.compared_finding import compared_measure, difference_words, highest_first, is_reversed
from harvest.report.finding import MOST_SYSTEMS
from harvest.report.watch_finding import most_serious
from harvest.studies.compare.comparison import Comparison
from harvest.studies.watch.watched import Watched
from harvest.studies.watch.words import shift_words, value_text
from harvest.tables.figures import shown_with_interval
from scoring.table import ScoreRow, is_percentage

_MOST_TYPES = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of the picture.

    The row has four positions, each a fraction of the track from 0 to 1, or NaN: `value`, the ends `low` and `high`
    of its interval, and the line of no difference, `zero`. Differences matter only beyond the distance `band` from
    that line. `said` is the figure in words. `level` is 1 for a part of the row above, else 0.
    """

    label: str
    said: str
    value: float
    low: float = math.nan
    high: float = math.nan
    zero: float = math.nan
    band: float = math.nan
    level: int = 0

    def as_block(self) -> dict[str, Any]:
        """Return the row as a block, with positions rounded to visible precision and None for NaN."""
        places = {name: getattr(self, name) for name in ("value", "low", "high", "zero", "band")}
        shown = {name: None if math.isnan(place) else round(place, 4) for name, place in places.items()}
        return {"label": self.label, "said": self.said, "level": self.level, **shown}


def bars_of_scores(rows: Sequence[ScoreRow], measure: str, systems: Sequence[str]) -> Iterator[Bar]:
    """Yield a bar for each of the first `MOST_SYSTEMS` systems. A single system also has a bar for each topic type."""
    of = [row for row in rows if (row.measure, row.turn, row.topic, row.trial, row.entity) == (measure, *[None] * 4)]
    whole = [row for name in systems for row in of if row.system == name and row.topic_type is None][:MOST_SYSTEMS]
    types = [row for row in of if row.topic_type is not None and row.system in systems] if len(systems) == 1 else []
    shown = [*whole, *(types[:_MOST_TYPES] if len(types) > 1 else ())]
    end = _track_end([row.value if math.isnan(row.high) else row.high for row in shown], measure)
    for row in shown:
        places = (row.value / end, row.low / end, row.high / end)
        yield Bar(
            row.topic_type or row.system, shown_with_interval(row), *places, level=int(row.topic_type is not None)
        )


def drawing_order(found: Comparison | str, systems: Sequence[str]) -> list[str]:
    """Return the systems in the order in which they are drawn. If there are too many systems to draw, the best
    systems come first, as in the finding; otherwise the order of the runs is kept."""
    one = compared_measure(found) if isinstance(found, Comparison) else None
    if one is None or len(systems) <= MOST_SYSTEMS:
        return list(systems)
    order = highest_first(one)
    return sorted(systems, key=lambda name: order.index(name) if name in order else len(order))


def undrawn_note(found: Comparison | str, systems: int) -> str:
    """Return a sentence about systems that are not drawn, or "" if all systems are drawn."""
    if systems <= MOST_SYSTEMS:
        return ""
    which = "the first" if isinstance(found, str) else "those named below,"
    return f"Drawn are {which} {MOST_SYSTEMS} of {systems} systems; all are under “Figures”."


def _track_end(values: Sequence[float], measure: str) -> float:
    known = [value for value in values if not math.isnan(value)]
    most = max(known, default=1.0)
    return 1.0 if is_percentage(measure) or most <= 0 else 1.1 * most


def bars_of_comparison(found: Comparison, matters: float) -> Iterator[Bar]:
    """Yield a bar for the difference between two systems, around zero. Yields nothing if more systems are compared."""
    one = compared_measure(found)
    if one is None or len(found.systems) != 2 or not one.pairs:
        return
    pair = one.pairs[0]
    turned = is_reversed(found, pair)
    sign, order = (-1, (pair.second, pair.first)) if turned else (1, (pair.first, pair.second))
    low, high = sorted((sign * pair.interval.low, sign * pair.interval.high))
    band = matters if is_percentage(one.measure) else math.nan
    said = difference_words(one, pair, turned=turned)
    yield _difference_bar(" − ".join(order), said, sign * pair.value, low, high, band)


def _difference_bar(label: str, said: str, value: float, low: float, high: float, band: float) -> Bar:
    known = [abs(each) for each in (value, low, high, band) if not math.isnan(each)]
    reach = 2.2 * max(known, default=1.0) or 1.0

    def place(each: float) -> float:
        return 0.5 + each / reach

    return Bar(label, said, place(value), place(low), place(high), 0.5, band / reach)


def bars_of_watch(found: Watched) -> Iterator[Bar]:
    """Yield bars for the values at the baseline and now, and for their difference. Yields nothing if no value could
    be measured."""
    if not found.systems:
        return
    system, one = most_serious(found)
    if one is None or not system.is_measured:
        return
    end = _track_end([one.value, one.before], one.name.partition(" ")[0])
    yield Bar("baseline", value_text(one.before, one.name), one.before / end)
    yield Bar("now", value_text(one.value, one.name), one.value / end)
    between = one.difference
    yield _difference_bar("change", shift_words(one), between.value, *between.printed_ends, found.smallest_effect)
