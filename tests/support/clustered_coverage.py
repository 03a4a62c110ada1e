"""How often the intervals of d' and c over topics hold the truth: the table of docs/simulators/probe.md.

python -m tests.support.clustered_coverage        all rows, about a minute
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from scoring.measures.clustered_detection import detection_over

ROWS = ((5, 4), (5, 20), (5, 40), (10, 4), (10, 20), (20, 4), (20, 20), (45, 4))
"""Topics, and trials each; the first has as few topics as an interval needs."""

SPREADS = ((0.0, 0.0), (0.7, 0.0), (0.0, 0.7))
"""Standard deviations over topics of c and of d'."""

_NORMAL = NormalDist()


def row(topics: int, trials: int, *, simulations: int = 1000, spreads: Sequence[tuple[float, float]] = SPREADS) -> str:
    """A line of the table: for each spread the least coverage of d' and of c, over two pairs of truths."""
    cells = []
    for lean, sense in spreads:
        shares = [_coverage(topics, trials, lean, sense, truth, simulations) for truth in ((0.0, 0.0), (1.5, 0.5))]
        cells.append(", ".join(f"{min(pair):.3f}".removeprefix("0") for pair in zip(*shares)))
    return f"| {topics} | {trials} | {' | '.join(cells)} |"


def _coverage(
    topics: int, trials: int, lean: float, sense: float, truth: tuple[float, float], simulations: int
) -> tuple[float, float]:
    d_prime, criterion = truth
    rng = np.random.default_rng([topics, trials, round(10 * lean), round(10 * sense), round(10 * d_prime)])
    spread = math.sqrt(1 + lean**2 + (sense / 2) ** 2)
    ends = [_NORMAL.inv_cdf(_NORMAL.cdf((side * d_prime / 2 - criterion) / spread)) for side in (1, -1)]
    pooled = ends[0] - ends[1], -(ends[0] + ends[1]) / 2
    held, counted = [0, 0], 0
    for _ in range(simulations):
        c, d = rng.normal(criterion, lean, topics), rng.normal(d_prime, sense, topics)
        signals = rng.binomial(trials, 0.6, topics)
        noises = trials - signals
        hits = rng.binomial(signals, [_NORMAL.cdf(value) for value in d / 2 - c])
        alarms = rng.binomial(noises, [_NORMAL.cdf(value) for value in -d / 2 - c])
        found = detection_over([str(n) for n in range(topics)], hits, signals, alarms, noises).detection
        if math.isnan(found.d_prime):
            continue
        counted += 1
        held[0] += found.d_prime_interval.low <= pooled[0] <= found.d_prime_interval.high
        held[1] += found.criterion_interval.low <= pooled[1] <= found.criterion_interval.high
    return held[0] / counted, held[1] / counted


if __name__ == "__main__":
    for line in ROWS:
        print(row(*line))
