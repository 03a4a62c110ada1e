"""Formatting of the figures of comparisons, for tables and charts."""

import math

from harvest.terminal import printable
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.inference.interval import Interval
from scoring.inference.matched import Difference
from scoring.table import is_percentage
from topics.decimals import change


def measure_name(measure: MeasureComparison) -> str:
    """Return `%useful S1`, or `%useful S1 [movie]` for a type of topics."""
    return f"{measure.label} [{measure.topic_type}]" if measure.topic_type else measure.label


def signed(measure: MeasureComparison, value: float) -> str:
    """Format a difference, in points for percentages; `n/a` if undefined."""
    return change(value, share=is_percentage(measure.measure))


def p_text(value: float) -> str:
    """Format a p-value: `.023`, `<.001`, `n/a`."""
    return "n/a" if math.isnan(value) else "<.001" if value < 0.001 else f"{value:.3f}".replace("0.", ".", 1)


def interval_words(interval: Interval, *, share: bool) -> str:
    """Format an interval, in points for percentages: `[-1.0, +3.5]`; "" if there is none."""
    if not interval.printed:
        return ""
    return f"[{change(interval.low, share=share)}, {change(interval.high, share=share)}]"


def difference_words(one: Difference, *, share: bool) -> str:
    """Format a difference with its interval; `n/a` without a pair."""
    return f"{change(one.value, share=share)} {interval_words(one.interval, share=share)}".rstrip() if one.n else "n/a"


def found_word(one: Difference) -> str:
    """Return `yes` for a significant difference, `no`, `?` if undecided, or `n/a` without a pair."""
    return {True: "yes", False: "no", None: "?"}[one.beyond] if one.n else "n/a"


def bounds_words(one: Difference, *, share: bool) -> str:
    """Return the bounds of a difference with lost trials, and whether they prevent a verdict; "" if no loss matters."""
    if one.bounds is None:
        return ""
    low, high = (change(end, share=share) for end in sorted(one.bounds))
    said = (
        "if all lost trials were at one end of the measure or the other, the difference would be between "
        f"{low} and {high}{' points' if share else ''}"
    )
    return f"{said}; nothing is found, because {one.withheld}" if one.withheld else said


def better_system(pair: Pair, most: int = 16) -> str:
    """Return the better system (the higher one, if neither end of the measure is good), or `?`. most: characters."""
    names = {"better": pair.first, "worse": pair.second, "higher": f"{pair.first} ↑", "lower": f"{pair.second} ↑"}
    return printable(names[pair.verdict], line=True)[:most] if pair.verdict in names else "?"
