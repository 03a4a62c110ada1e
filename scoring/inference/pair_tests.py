"""The tests of all pairs of systems in one measure."""

import math
from copy import deepcopy
from itertools import combinations

import numpy as np

from scoring.inference.aligned import Aligned
from scoring.inference.differences import guarded_ps
from scoring.inference.paired import Estimand, PairedTest
from scoring.inference.ratio_differences import ratio_ps
from scoring.inference.sides import compare_sides
from scoring.settings import Guard
from scoring.statistics.exchange import count_exchange_draws

# Of at most this many pairs all tests are made at once. Of more, those that are asked for.
MOST_AT_ONCE = 15


class PairTests:
    """The tests of the pairs of columns at `places`.

    No pair is decided without all others, so `outside` and, unless sides are exchanged, `p` are computed for all pairs
    from the start. The rest of a test is computed on demand, with the same random numbers as if all tests were computed
    in order.
    """

    def __init__(
        self,
        aligned: Aligned,
        rng: np.random.Generator,
        *,
        estimand: Estimand,
        level: float,
        reach: float,
        guard: Guard,
    ) -> None:
        self.places = list(combinations(range(len(aligned.systems)), 2))
        self._aligned, self._estimand, self._guard = aligned, estimand, guard
        self._level, self._reach = level, reach
        self._made: dict[int, PairedTest] = {}
        self._start, self._drawn = rng, np.zeros(len(self.places), dtype=np.int64)
        many = len(self.places) > MOST_AT_ONCE and len(aligned.topics)
        if many and estimand == "like-these" and aligned.clusters is None and not aligned.sessions.any():
            if aligned.pooled:
                self.p = ratio_ps(aligned.above, aligned.below, self.places).tolist()
                self.outside = [*self.p]
                return
            # Only this generator can skip numbers, and none of its numbers is left from a draw of integers.
            if guard == "unseen" and isinstance(rng.bit_generator, np.random.PCG64):
                values, (first, second) = aligned.values, np.array(self.places).T
                each = values[:, first] - values[:, second]
                self.p, self.outside = [math.nan] * len(self.places), guarded_ps(each, reach=reach).tolist()
                draws = count_exchange_draws(each)
                self._start, self._drawn = deepcopy(rng), np.cumsum(draws) - draws
                rng.bit_generator.advance(int(draws.sum()))
                return
        self._made = {at: self.compare(aligned, place, rng) for at, place in enumerate(self.places)}
        self.p = [one.p for one in self._made.values()]
        self.outside = [one.outside for one in self._made.values()]

    def compare(self, aligned: Aligned, place: tuple[int, int], rng: np.random.Generator) -> PairedTest:
        """Return the test of two columns of any values."""
        return compare_sides(
            aligned, *place, rng, estimand=self._estimand, level=self._level, reach=self._reach, guard=self._guard
        )

    def test(self, at: int) -> PairedTest:
        if at not in self._made:
            rng = deepcopy(self._start)
            if isinstance(rng.bit_generator, np.random.PCG64):
                rng.bit_generator.advance(int(self._drawn[at]))
            self._made[at] = self.compare(self._aligned, self.places[at], rng)
        return self._made[at]

    def replace(self, at: int, test: PairedTest) -> None:
        self._made[at] = test
        self.p[at], self.outside[at] = test.p, test.outside
