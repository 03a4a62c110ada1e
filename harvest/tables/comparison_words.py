"""Formatting of the figures of comparisons, for tables and charts."""

import math

from harvest.terminal import printable
from scoring.comparison.pairs import MeasureComparison, Pair
from scoring.inference.interval import Interval
from scoring.inference.matched import Difference
from scoring.inference.paired import Estimand
from scoring.table import is_percentage, shown_range
from topics.decimals import format_change, round_roughly

MOST_PLAYABLE = 100_000  # topics, or trials of each: more than anybody would play

_SAME = 1e-9  # bounds that differ from the difference only by the order of summation


def measure_name(measure: MeasureComparison) -> str:
    """Return the name of a measure, followed by the type of topics if there is one: `%useful S1 [movie]`."""
    return f"{measure.label} [{measure.topic_type}]" if measure.topic_type else measure.label


def signed(measure: MeasureComparison, value: float) -> str:
    """Format a difference, in points for percentages. An undefined difference is `n/a`."""
    return format_change(value, share=is_percentage(measure.measure))


def figure_text(measure: MeasureComparison, system: str) -> str:
    """Format a system's figure. If only its bounds are known, return these: `61.1% to 84.7%`."""
    return shown_range(measure.measure, measure.ranges.get(system, (measure.figures[system],)))


def difference_text(measure: MeasureComparison, pair: Pair, *, turned: bool = False) -> str:
    """Format the difference of a pair, as second minus first if `turned`. If lost trials leave only its bounds known,
    return these: `-23.3 to -5.8`."""
    sign = -1 if turned else 1
    if not is_known(pair):
        return " to ".join(signed(measure, end) for end in sorted(sign * end for end in pair.bounds or ()))
    return signed(measure, sign * pair.value)


def is_known(pair: Pair) -> bool:
    """Return False if only the bounds of a difference are known: the remaining trials are a selection, or their
    difference is outside the range that the lost trials allow."""
    if pair.selected:
        return False
    low, high = sorted(pair.bounds or (-math.inf, math.inf))
    return not (pair.value < low - _SAME or pair.value > high + _SAME)


def drawn_ends(pair: Pair, ends: tuple[float, float, float], *, turned: bool) -> tuple[float, float, float]:
    """Return the value and the interval to draw for a difference. If only its bounds are known, there is no value, and
    the bounds replace a missing interval."""
    if is_known(pair):
        return ends
    _, low, high = ends
    if math.isnan(low) and pair.bounds is not None:
        low, high = sorted((-1 if turned else 1) * end for end in pair.bounds)
    return math.nan, low, high


def is_within(measure: MeasureComparison, pair: Pair, matters: float) -> bool:
    """Return whether the whole interval of a difference of shares lies within ± `matters`: the two are the same."""
    ends = abs(pair.interval.low), abs(pair.interval.high)
    return is_percentage(measure.measure) and max(ends) <= matters  # NaN: no


def same_size_words(pair: Pair, estimand: Estimand, matters: float, now: int) -> str:
    """Say how many topics, or trials of each topic, would show that two systems are the same within `matters`; `now` is
    how many there are. Returns "" if no number that can be played would, if fewer would show a difference, or if it is
    unknown."""
    size = pair.sameness.needed(matters) if pair.sameness is not None else None
    wanted = math.nan if size is None else size.trials if estimand == "these" else size.topics
    different = pair.needed.trials if estimand == "these" else pair.needed.topics
    if not wanted <= MOST_PLAYABLE or wanted >= different:  # NaN: unknown
        return ""
    what = "trials of each topic" if estimand == "these" else "topics like these"
    return (
        f"roughly {round_roughly(max(wanted, now + 1))} {what} (now {now:,}) would show that they are the same within "
        f"{100 * matters:g} points"
    )


def p_text(value: float) -> str:
    """Format a p-value, as in `.023`, `<.001` or `n/a`."""
    return "n/a" if math.isnan(value) else "<.001" if value < 0.001 else f"{value:.3f}".replace("0.", ".", 1)


def interval_words(interval: Interval, *, share: bool) -> str:
    """Format an interval, in points for percentages: `[-1.0, +3.5]`. Returns "" if there is no interval."""
    if not interval.is_defined:
        return ""
    return f"[{format_change(interval.low, share=share)}, {format_change(interval.high, share=share)}]"


def difference_words(difference: Difference, *, share: bool) -> str:
    """Format a difference with its interval. Returns `n/a` if there are no pairs."""
    return (
        f"{format_change(difference.value, share=share)} {interval_words(difference.interval, share=share)}".rstrip()
        if difference.n
        else "n/a"
    )


def found_word(difference: Difference) -> str:
    """Return `yes` if a difference is significant, `no` if not, `?` if undecided, or `n/a` if there are no pairs."""
    return {True: "yes", False: "no", None: "?"}[difference.beyond] if difference.n else "n/a"


def bounds_words(difference: Difference, *, share: bool) -> str:
    """Describe the bounds of a difference over all possible results of lost trials, and whether they prevent a
    verdict. Returns "" if no loss matters."""
    if difference.bounds is None:
        return ""
    low, high = (format_change(end, share=share) for end in sorted(difference.bounds))
    said = (
        "if all lost trials were at one end of the measure or the other, the difference would be between "
        f"{low} and {high}{' points' if share else ''}"
    )
    return f"{said}; nothing is found, because {difference.withheld}" if difference.withheld else said


def better_system(pair: Pair, most: int = 16, *, same: bool = False) -> str:
    """Return the last `most` characters of the better system's name, as versions and dates come last, or `?` if no
    difference was found, or `same` if the two are. If neither end of the measure is good, return the system with the
    higher value and an arrow."""
    names = {"better": pair.first, "worse": pair.second, "higher": f"{pair.first} ↑", "lower": f"{pair.second} ↑"}
    name = printable(names.get(pair.verdict, "same" if same else "?"), line=True)
    return name if len(name) <= most else f"…{name[1 - most :]}"


def mark_noted(pair: Pair) -> str:
    """Return the asterisk of a pair whose p is small without a verdict: a note has the reason."""
    return "*" if pair.why and not math.isnan(pair.corrected) else ""
