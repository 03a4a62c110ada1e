"""Numbers as written by pages and people: `1.3M`, `898K`, `1,234`, `12.5 thousand`, `1 300 000`, `under 100`.

A text is read as one or more ranges: `under 100` is a range, and `1.234` can be read in two ways. The caller accepts
the text if all readings lead to the same result.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from topics.late_pattern import lazy_pattern


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `low` to `high`; None is no limit. If `below`, `high` itself is excluded."""

    low: Fraction | None
    high: Fraction | None
    below: bool = False


_SPACES = lazy_pattern(r"[\s\u00a0\u2007\u2009\u202f]+")
_SCALES = {"": 1, "k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "b": 10**9, "billion": 10**9}
_NUMBER = lazy_pattern(r"([-+−]?)([0-9][0-9.,' ]{0,40})([a-z]*)")
_GROUPED = tuple(lazy_pattern(rf"[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+") for mark in (",", r"\.", "'", " "))
_LAKHS = lazy_pattern(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}")
_BELOW = lazy_pattern(r"(?:<|under|below|less than|fewer than) ?(.+)")
_UP_TO = lazy_pattern(r"(?:<=|≤|up to|at most|no more than) ?(.+)")
_FROM = lazy_pattern(r"(?:>=|≥|at least|from|no less than) ?(.+)")
_ABOVE = lazy_pattern(r"(?:>|over|above|more than) ?(.+)")
_OR_MORE = lazy_pattern(r"(.+?) ?(?:\+|or more|and more|and up|and above)")
_BETWEEN = lazy_pattern(r"(?:between )?(.+?) ?(?:-|–|—| to | and ) ?(.+)")


def read_quantity(text: str) -> tuple[Range, ...]:
    """Return all possible readings of `text`. A reading is normally one range of one number. A comma, a space or an
    apostrophe before three digits separates thousands; a point before a K or an M is a decimal point. `1.234`, `12,5`
    and `1,234K` are ambiguous. Raises ValueError if the text is not a quantity."""
    plain = _SPACES.sub(" ", text.strip()).lower()
    if len(plain) > 100:
        raise ValueError("the text is too long for a number")
    for pattern, kind in ((_UP_TO, "to"), (_FROM, "from"), (_BELOW, "below"), (_ABOVE, "from"), (_OR_MORE, "from")):
        bound = pattern.fullmatch(plain)
        if bound:
            values = _possible_numbers(bound[1], text)
            if kind == "from":
                return tuple(Range(value, None) for value in values)
            return tuple(Range(None, value, below=kind == "below") for value in values)
    try:
        return tuple(Range(value, value) for value in _possible_numbers(plain, text))
    except ValueError:
        between = _BETWEEN.fullmatch(plain)
        if between is None:
            raise
    lows, highs = _possible_numbers(between[1], text), _possible_numbers(between[2], text)
    ranges = tuple(Range(low, high) for low in lows for high in highs if low <= high)
    if not ranges:
        raise ValueError(f"{text!r} is a range, but does not begin with the smaller number")
    return ranges


def _possible_numbers(text: str, whole: str) -> tuple[Fraction, ...]:
    found = _NUMBER.fullmatch(text.strip())
    scale = _SCALES.get(found[3]) if found else None
    if found is None or scale is None:
        raise ValueError(f"{whole!r} is not a number (like 1.3M, 898K, 1,234 or 43)")
    factor = -scale if found[1] in ("-", "−") else scale
    digits = found[2].strip()
    numbers = _possible_digits(digits, scaled=scale > 1)
    if not numbers:
        raise ValueError(f"{whole!r}: the digits of {digits!r} are not grouped correctly")
    return tuple(number * factor for number in numbers)


def _possible_digits(digits: str, *, scaled: bool) -> tuple[Fraction, ...]:
    if digits.isdigit():
        return (Fraction(digits),)
    grouped = [Fraction(re.sub(r"\D", "", digits))] if any(g.fullmatch(digits) for g in (*_GROUPED, _LAKHS)) else []
    mark = "," if "," in digits else "."
    decimal = [Fraction(digits.replace(mark, "."))] if re.fullmatch(rf"[0-9]+{re.escape(mark)}[0-9]+", digits) else []
    if grouped and decimal:  # 1,234 is grouped and 1.234K is not; 1,234K and 1.234 can be either
        return (*grouped, *decimal) if scaled == (mark == ",") else tuple(decimal if scaled else grouped)
    if decimal and mark == "," and not scaled:
        return (*decimal, Fraction(digits.replace(",", "")))
    if not grouped and not decimal:  # 1,234.5 and 1.234,5
        for thousands, point in ((",", "."), (".", ","), (" ", "."), (" ", ","), ("'", ".")):
            head, found, tail = digits.rpartition(point)
            if found and tail.isdigit() and re.fullmatch(rf"[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+", head):
                return (Fraction(f"{re.sub(r'[^0-9]', '', head)}.{tail}"),)
    return tuple(grouped or decimal)
