"""How the figures of a comparison are written, in tables and in pictures."""

import math

from harvest.terminal import printable
from scoring.comparison.result import MeasureComparison, Pair
from scoring.inference.interval import Interval
from scoring.inference.matched import Difference
from scoring.table import is_percentage
from topics.decimals import change


def measure_name(measure: MeasureComparison) -> str:
    """`%useful S1`, with the type of topics where it is of one: `%useful S1 [movie]`."""
    return f"{measure.label} [{measure.topic_type}]" if measure.topic_type else measure.label


def signed(measure: MeasureComparison, value: float) -> str:
    """A difference, of percentages in points; `n/a` where there is none."""
    return change(value, share=is_percentage(measure.measure))


def p_text(value: float) -> str:
    """`.023`, `<.001`, `n/a`."""
    return "n/a" if math.isnan(value) else "<.001" if value < 0.001 else f"{value:.3f}".replace("0.", ".", 1)


def interval_words(interval: Interval, *, share: bool) -> str:
    """`[-1.0, +3.5]`, of percentages in points; "" if there is none."""
    if not interval.printed:
        return ""
    return f"[{change(interval.low, share=share)}, {change(interval.high, share=share)}]"


def difference_words(one: Difference, *, share: bool) -> str:
    """A difference with its interval; `n/a` without a pair."""
    return f"{change(one.value, share=share)} {interval_words(one.interval, share=share)}".rstrip() if one.n else "n/a"


def found_word(one: Difference) -> str:
    """Whether a difference is more than chance: `yes`, `no`, `?` if that cannot be said, `n/a` without a pair."""
    return {True: "yes", False: "no", None: "?"}[one.beyond] if one.n else "n/a"


def bounds_words(one: Difference, *, share: bool) -> str:
    """Between which differences one lies by what was lost, and whether that leaves no verdict; "" where losses do not
    matter."""
    if one.bounds is None:
        return ""
    low, high = (change(end, share=share) for end in sorted(one.bounds))
    said = (
        "with all that was lost at one end of the measure or the other, the difference is between "
        f"{low} and {high}{' points' if share else ''}"
    )
    return f"{said}; nothing is found, because {one.withheld}" if one.withheld else said


def better_system(pair: Pair, most: int = 16) -> str:
    """The one that is better, or higher where neither end of the measure is good; `?` where that cannot be told. most:
    characters."""
    names = {"better": pair.first, "worse": pair.second, "higher": f"{pair.first} ↑", "lower": f"{pair.second} ↑"}
    return printable(names[pair.verdict], line=True)[:most] if pair.verdict in names else "?"
