"""Printed lines with the thresholds of an audit and their figures."""

import math
from collections.abc import Iterator, Sequence

from rich.text import Text

from harvest.studies.scores.bounds import CheckedBound
from harvest.tables.figures import shown_with_interval
from harvest.terminal import printable
from scoring.table import is_percentage
from topics.decimals import percent

_STYLES = {"missed": "bold red", "not measured": "bold red", "cannot tell": "yellow", "kept": "dim"}


def bound_lines(found: Sequence[CheckedBound]) -> Iterator[Text]:
    """Yield a line for each threshold. Lines that need attention come first."""
    for verdict, style in _STYLES.items():
        for one in found:
            if one.verdict == verdict:
                yield Text(printable(f"threshold {verdict}: {bound_words(one)}", line=True), style=style)


def noticed_words(one: CheckedBound) -> str:
    """Say about how far beyond its bound a share must be for the check to fail, or return "" if nothing is known.

    The check fails once the whole interval is beyond the bound, so this is half an interval as wide as it would be
    there: a share's interval is wider near one half.
    """
    bound, row = one.bound, one.row
    limit = bound.at_most if bound.at_least is None else bound.at_least
    if row is None or limit is None or bound.judge == "estimate" or not is_percentage(bound.measure.partition(" ")[0]):
        return ""
    half, spread = (row.high - row.low) / 2, row.value * (1 - row.value)
    if not half > 0 or not spread > 0 or not 0 < limit < 1:
        return ""
    far = half * math.sqrt(limit * (1 - limit) / spread)
    noticed = max(0.0, limit - far) if bound.at_most is None else min(1.0, limit + far)
    side = "below" if bound.at_most is None else "above"
    return f"{bound_words(one)}: with so many trials the check fails {side} about {percent(noticed)}"


def bound_words(one: CheckedBound) -> str:
    """Return a threshold with its figure, such as `%useful S1, A: 70.0% [49.9, 84.5], wanted at least 60%`."""
    bound, row = one.bound, one.row
    limit, words = (bound.at_least, "at least") if bound.at_least is not None else (bound.at_most, "at most")
    assert limit is not None
    wanted = (
        f"wanted {words} {100 * limit:g}%"
        if is_percentage(bound.measure.partition(" ")[0])
        else f"wanted {words} {limit:g}"
    )
    why = f" ({one.why})" if one.why else ""
    if row is None:
        return f"{one.name}: {wanted}{why}"
    shown = row.shown(row.value) if bound.judge == "estimate" else shown_with_interval(row)
    if bound.estimand == "these" and bound.judge != "estimate":
        shown += " for these topics"
    return f"{one.name}, {row.system}: {shown}, {wanted}{why}"
