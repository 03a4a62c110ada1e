"""docs/calibration.md, written by simulation.

python -m tests.support.calibration_page                              100 replications a cell, printed
python -m tests.support.calibration_page --replications 500 --write   writes the page (`make calibration`)
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence

import numpy as np

from tests.support.calibration import PROCESSES, Cell, table
from tests.support.calibration_worlds import SIZES, WORLDS
from tests.support.checkout import DOCS
from tests.support.torture.page import with_part_of

PAGE = DOCS / "calibration.md"
LEAST = 0.93
"""What every cell is to reach."""


def _sizes(found: Sequence[Cell]) -> list[tuple[int, int]]:
    return list(dict.fromkeys(cell.size for cell in found))


def _counted(found: Sequence[Cell]) -> str:
    here = _sizes(found)
    missing = [f"{topics}×{trials}" for topics, trials in SIZES if (topics, trials) not in here]
    if missing:
        return f"This page holds for the sizes in its tables. Not counted yet: {', '.join(missing)}."
    return (
        "1×60 is one topic with 60 independent trials: the truth is then that of the topic, and the\n"
        "trials are the units."
    )


def _coverage(cell: Cell) -> float:
    return cell.coverage if cell.printed else 1.0


def page(found: Sequence[Cell], replications: int) -> str:
    """docs/calibration.md."""
    printed = [cell for cell in found if cell.printed]
    least = min(printed, key=_coverage)
    error = math.sqrt(0.95 * 0.05 / replications)
    at_least = math.sqrt(LEAST * (1 - LEAST) / replications)
    worlds = "\n".join(f"| {world.name} | {world.said} |" for world in WORLDS)
    cell = f"{least.kind}, {least.world}, {least.size[0]}×{least.size[1]}"
    return f"""# How often the intervals cover the true value

A 95% interval should cover the true value 95 times in 100. Whether it does can be counted where the true value is
known: in simulated worlds. This page reports the coverage of the kinds of intervals that tables of conversations and
trees print, and is written by

```
make calibration
```

({replications} replications per cell, so a coverage of .95 is known to within a standard error of {error:.3f}, one of
{LEAST:.2f} to within {at_least:.3f}; two processes). The intervals are the program's own, of a nominal 95%;
[measures.md](measures.md#intervals) describes them.

There are three parts. The first takes five worlds, and every kind of figure at six sizes: [the result](#result) and, at
the end, [all cells](#all-cells). The second looks for trouble: [hostile worlds](#hostile-worlds), in which the
intervals and verdicts of every study of Harvest are tried. The third is about [sources](#sources-of-answers).

**Worlds.** They differ in how topics differ. Each topic has a quality (how often its first answer is useful) and a
level (its mean R); trials of a topic are independent given these. A conversation takes two turns, breaks
down after one useless answer in five, and recovers with probability .1 + .6·quality.

| world | topics |
|---|---|
{worlds}

**Sizes.** Topics × trials. {_counted(found)}

**Cells.** The coverage: the share of intervals that cover the true value. In brackets, if it is not all: in how many of
the replications there was an interval. `none`: there is no interval at this size, and the note of the figure says why.
Only intervals that were printed are counted; how many were not is part of the result.

## Result

Of {len(printed)} cells with intervals, all cover at least {least.coverage:.3f} ({cell}), and the median is
{np.median([one.coverage for one in printed]):.3f}. By kind:

{_lines(_summary(found))}

Cells in which not all replications print an interval are of figures that need not exist (no first turn failed, or
no trial took the branch), and of quantiles and CVaR where nearly all draws agree ({_agreed(found)}).

## All cells

{_lines(written(found))}
"""


def _lines(lines: Iterator[str]) -> str:
    return "\n".join(lines)


def _summary(found: Sequence[Cell]) -> Iterator[str]:
    yield "| figure | cells | least | median | printed |"
    yield "|---|---|---|---|---|"
    for kind in dict.fromkeys(cell.kind for cell in found):
        own = [cell for cell in found if cell.kind == kind]
        there = [cell for cell in own if cell.printed]
        covers = [cell.coverage for cell in there]
        if not there:
            yield f"| {kind} | none of {len(own)} | | | |"
            continue
        share = sum(cell.printed for cell in there) / sum(cell.replications for cell in there)
        least, middle = min(covers), np.median(covers)
        yield f"| {kind} | {len(there)} of {len(own)} | {least:.3f} | {middle:.3f} | {100 * share:.0f}% |"


def _agreed(found: Sequence[Cell]) -> str:
    tails = [cell for cell in found if cell.kind[0] in "QC" and 0 < cell.printed < cell.replications]
    return (
        f"at least {100 * min(cell.printed / cell.replications for cell in tails):.0f}% print one" if tails else "none"
    )


def written(found: Sequence[Cell]) -> Iterator[str]:
    """The table as Markdown: a line for each kind and size, a column for each world."""
    by = {(cell.kind, cell.size, cell.world): cell for cell in found}
    yield f"| figure | topics × trials | {' | '.join(world.name for world in WORLDS)} |"
    yield "|---|---|" + "---|" * len(WORLDS)
    for kind in dict.fromkeys(cell.kind for cell in found):
        for place, size in enumerate(_sizes(found)):
            row = [by[kind, size, world.name].shown for world in WORLDS]
            yield f"| {kind if place == 0 else ''} | {size[0]}×{size[1]} | {' | '.join(row)} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--replications", type=int, default=100)
    options.add_argument("--processes", type=int, default=PROCESSES)
    options.add_argument("--sizes", nargs="*", default=[f"{topics}x{trials}" for topics, trials in SIZES])
    options.add_argument("--write", action="store_true", help=f"into {PAGE.name}")
    asked = options.parse_args()
    found = table(
        asked.replications,
        asked.processes,
        [size for size in SIZES if f"{size[0]}x{size[1]}" in asked.sizes],
    )
    if asked.write:
        there = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_part_of(there, page(found, asked.replications)), encoding="utf-8")
    else:
        print("\n".join(written(found)))
    for cell in (one for one in found if one.printed and one.coverage < LEAST):
        print(f"below {LEAST}: {cell.kind}, {cell.world}, {cell.size[0]}×{cell.size[1]}: {cell.shown}")


if __name__ == "__main__":
    main()
