"""Several systems at once: randomised Tukey HSD, closed testing, effect sizes."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from tests.support.oracles.means import mean

Matrix = Sequence[Sequence[float]]
"""Topics × systems, one mean a cell."""
Blocks = tuple[tuple[int, ...], ...]


def column_means(matrix: Matrix) -> list[float]:
    """The mean of every system."""
    return [mean(column) for column in zip(*matrix)]


def randomised_tukey(matrix: Matrix) -> dict[tuple[int, int], float]:
    """The p of every pair by the randomised Tukey HSD test (Carterette, ACM TOIS 30(1), 2012, Algorithm 1; Sakai,
    *Laboratory Experiments in Information Retrieval*, 2018, ch. 4): each topic's row is permuted, and a pair's p is
    the share of draws whose largest difference of means is as large as the pair's. Here all (systems!)^topics draws."""
    rows = [list(itertools.permutations(row)) for row in matrix]
    seen = column_means(matrix)
    ranges = []
    for draw in itertools.product(*rows):
        means = column_means(draw)
        ranges.append(max(means) - min(means))
    return {
        (i, j): sum(one >= abs(seen[i] - seen[j]) - 1e-12 for one in ranges) / len(ranges)
        for i, j in itertools.combinations(range(len(seen)), 2)
    }


def partitions(members: tuple[int, ...]) -> Iterator[Blocks]:
    """All ways to divide the members into blocks."""
    if not members:
        yield ()
        return
    first, others = members[0], members[1:]
    for size in range(len(others) + 1):
        for beside in itertools.combinations(others, size):
            left = tuple(member for member in others if member not in beside)
            for rest in partitions(left):
                yield ((first, *beside), *rest)


def closed(systems: int, local: Callable[[Blocks], float]) -> dict[tuple[int, int], float]:
    """Adjusted p of all pairs by closed testing (Marcus, Peritz & Gabriel, Biometrika 63, 1976): a pair's p is the
    largest of all intersections that hold it. Intersections of equalities are partitions of the systems into blocks
    that are alike; local: the p of such a partition, which is given its blocks of two or more."""
    adjusted = dict.fromkeys(itertools.combinations(range(systems), 2), 0.0)
    for blocks in partitions(tuple(range(systems))):
        together = tuple(block for block in blocks if len(block) > 1)
        if not together:
            continue
        p = local(together)
        for block in together:
            for pair in itertools.combinations(block, 2):
                adjusted[pair] = max(adjusted[pair], p)
    return adjusted


def closed_tukey(matrix: Matrix, weighted: Callable[[Blocks], Sequence[float]]) -> dict[tuple[int, int], float]:
    """Closed testing in which a block is tested by the range of its own systems over all permutations of their rows,
    and the blocks of one partition by weighted Bonferroni: min over blocks of p / weight. weighted: the blocks'
    weights, which sum to 1."""

    def of_range(block: tuple[int, ...]) -> float:
        return min(randomised_tukey([[row[system] for system in block] for row in matrix]).values())

    def local(blocks: Blocks) -> float:
        return min(1.0, min(of_range(block) / weight for block, weight in zip(blocks, weighted(blocks))))

    return closed(len(matrix[0]), local)


def residual_variance(matrix: Matrix) -> float:
    """V_E2: the residual mean square of a two-way analysis of variance without replication (Sakai, *Laboratory
    Experiments in Information Retrieval*, 2018, ch. 3)."""
    topics, systems = len(matrix), len(matrix[0])
    rows, columns = [mean(row) for row in matrix], column_means(matrix)
    grand = mean(rows)
    squares = math.fsum(
        (matrix[t][s] - rows[t] - columns[s] + grand) ** 2 for t in range(topics) for s in range(systems)
    )
    return squares / ((topics - 1) * (systems - 1))


def effect_size(matrix: Matrix, one: int, other: int) -> float:
    """Sakai's ES_E2 (SIGIR Forum 48(1), 2014; the book of 2018, ch. 5): the difference of two means over √V_E2. It
    depends on all systems of the matrix."""
    means = column_means(matrix)
    return (means[one] - means[other]) / math.sqrt(residual_variance(matrix))


def holm(ps: Sequence[float]) -> list[float]:
    """Adjusted p (Holm, Scand. J. Statist. 6, 1979)."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, (len(ps) - rank) * ps[i])
        adjusted[i] = min(1.0, largest)
    return adjusted
