"""Printed lines with the thresholds of an audit and their figures."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from harvest.studies.scores.bounds import CheckedBound
from harvest.tables.figures import shown_with_interval
from harvest.terminal import printable
from scoring.table import is_percentage

_STYLES = {"missed": "bold red", "not measured": "bold red", "cannot tell": "yellow", "kept": "dim"}


def bound_lines(found: Sequence[CheckedBound]) -> Iterator[Text]:
    """Yield a line for each threshold. Lines that need attention come first."""
    for verdict, style in _STYLES.items():
        for one in found:
            if one.verdict == verdict:
                yield Text(printable(f"threshold {verdict}: {bound_words(one)}", line=True), style=style)


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
