"""Cells as lines and as flags."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from tests.support.torture.cells import Cell


def figure(value: float, digits: int = 3) -> str:
    """A number without its leading zero; a dash if there is none."""
    if math.isnan(value):
        return "–"
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def line(cell: Cell) -> str:
    """One cell in one line."""
    topics, trials, systems = cell.size
    size = f"{topics}×{trials}" + (f", {systems} systems" if systems > 1 else "")
    parts = [cell.engine, cell.world, size]
    if cell.printed:
        parts.append(f"coverage {figure(cell.coverage)} ± {figure(cell.coverage_error)}")
        parts.append(f"printed {cell.share_printed:.0%}")
    else:
        parts.append("none printed")
    if cell.widths:
        parts.append(f"width {figure(cell.width, 2)}")
    if cell.judged:
        parts.append(
            f"wrong {figure(cell.error)} ± {figure(cell.error_error)}, decided {figure(cell.decided / cell.judged)}"
        )
    if cell.warned:
        parts.append(f"warned {cell.warned / cell.printed:.0%}")
    flags = [name for name, given in (("COVERAGE", cell.too_low), ("WRONG", cell.too_wrong)) if given]
    if flags:
        parts.append(" ".join(flags) + (f" (hidden: {cell.hidden})" if cell.hidden else ""))
    return " · ".join(parts)


def refusals(cells: Iterable[Cell]) -> list[str]:
    """The reasons for which intervals were withheld, by engine, with counts of figures, the most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    for cell in cells:
        for reason, times in cell.reasons.items():
            counts[cell.engine, reason] += times
    return [f"{engine} · {times} × {reason}" for (engine, reason), times in counts.most_common()]


def summary(cells: Sequence[Cell]) -> list[str]:
    """One line for every engine and group of worlds: least and median coverage, most errors, how many are flagged."""
    groups: dict[tuple[str, str, bool], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.engine, cell.group, cell.hidden is not None), []).append(cell)
    lines = []
    for (engine, group, hidden), own in groups.items():
        printed = sorted(cell.coverage for cell in own if cell.printed)
        errors = [cell.error for cell in own if cell.judged]
        least = (
            f"coverage from {figure(printed[0])}, median {figure(printed[len(printed) // 2])}" if printed else "none"
        )
        wrong = f", wrong to {figure(max(errors))}" if errors else ""
        flagged = sum(cell.too_low or cell.too_wrong for cell in own)
        named = f"{engine} · {group}{' (hidden)' if hidden else ''}"
        lines.append(f"{named} · {len(printed)} of {len(own)} cells: {least}{wrong}; flagged {flagged}")
    return lines
