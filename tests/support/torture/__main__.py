"""Try intervals and verdicts in worlds with known truths.

`python -m tests.support.torture --replications 500 --worlds heavy rare --estimands difference` prints a line for every
cell, what is flagged, and why intervals were withheld."""

import argparse
import itertools
import multiprocessing
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support.torture import classical, compared, judging, saved, scored, table, tailed, varying, watching
from tests.support.torture.catalogue import chosen
from tests.support.torture.cells import Cell, Engine, Size, counted
from tests.support.torture.world import WORLDS

MODULES = (classical, compared, scored, varying, tailed, judging, watching)
ENGINES: dict[str, Engine] = {engine.name: engine for module in MODULES for engine in module.ENGINES}
"""All engines by name."""

Task = tuple[str, str, Size, int, int, bool]


def tasks(
    worlds: list[str], estimands: list[str], sizes: list[str], replications: int, seed: int, whole: bool = True
) -> Iterator[Task]:
    """The cells that are chosen by words in their names; sizes as `15x5` or `15x5x2`."""
    for engine, world in itertools.product(ENGINES.values(), chosen(worlds)):
        if estimands and not any(word.lower() in engine.name.lower() for word in estimands):
            continue
        for size in engine.sizes:
            shown = "x".join(str(number) for number in size)
            if engine.tries(world, size) and (not sizes or shown in sizes or shown.rpartition("x")[0] in sizes):
                yield engine.name, world.name, size, replications, seed, whole


def play(task: Task) -> Cell:
    """The cell of one task."""
    engine, world, size, replications, seed, whole = task
    return counted(ENGINES[engine], WORLDS[world], size, replications, seed, whole=whole)


def played(given: Iterable[Task], processes: int) -> Iterator[Cell]:
    """The cells of all tasks, in their order."""
    if processes == 1:
        yield from map(play, given)
        return
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield from pool.imap(play, given)


def main(arguments: list[str] | None = None) -> int:
    """Print the cells. Returns 1 if one is flagged that the data could show."""
    parser = argparse.ArgumentParser(prog="tests.support.torture", description=__doc__)
    parser.add_argument("--replications", type=int, default=300)
    parser.add_argument(
        "--worlds", nargs="*", default=[], help="words of names, groups or kinds of worlds; default all"
    )
    parser.add_argument("--estimands", nargs="*", default=[], help="words of names of engines; default all")
    parser.add_argument("--sizes", nargs="*", default=[], help="15x5 (any number of systems) or 15x5x2; default all")
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--processes", type=int, choices=(1, 2), default=2)
    parser.add_argument("--flagged", action="store_true", help="print only cells that are flagged, and the summary")
    parser.add_argument(
        "--looks", action="store_true", help="count a cell that is far from being flagged after 60 or 150 no further"
    )
    parser.add_argument("--own", action="store_true", help="without the intervals of textbooks")
    parser.add_argument(
        "--save",
        type=Path,
        help="add those cells to this file that neither it nor an earlier count has, for `tests.support.torture.page`",
    )
    parser.add_argument("--again", action="store_true", help="count what an earlier count has, too")
    given = parser.parse_args(arguments)
    cells, textbook = [], {engine.name for engine in classical.ENGINES} if given.own else set()
    earlier = None if given.again else saved.PACKED
    done = {(one.engine, one.world, one.size) for one in saved.kept(given.save, earlier)} if given.save else set()
    left = (
        task
        for task in tasks(given.worlds, given.estimands, given.sizes, given.replications, given.seed, not given.looks)
        if task[0] not in textbook and task[:3] not in done
    )
    for cell in played(left, given.processes):
        cells.append(cell)
        if given.save:
            saved.add(given.save, cell)
        if not given.flagged or cell.too_low or cell.too_wrong:
            print(table.line(cell), flush=True)
    print("\n".join(["", *table.summary(cells), "", *table.refusals(cells)]))
    return int(any((cell.too_low or cell.too_wrong) and not cell.hidden for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
