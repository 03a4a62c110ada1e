"""Two systems in several arms of users: the difference in each arm, and whether it depends on the user.

    apart[a] = A - B in arm a                       interactions[a] = apart[a] - apart[control]

Every arm asks the same topics, and a trial draws the same random numbers in all arms, so both are differences over
matched trials (`scoring.inference.matched`).

*The ranking depends on the user* if A is better in one arm and B in another: the qualitative interaction of M. Gail, R.
Simon (Biometrics 41 (1985), 361-372). Their statistic assumes independent arms, but here all arms have the same topics.
So each system is tested in the arm that favours it most. If no arm truly prefers B while one surely prefers A, only the
other arms can falsely seem to prefer B. So each side needs a two-sided p of at most the smaller of alpha and
2·alpha/(arms - 1), divided by the number of pairs of systems (Bonferroni), and an interval without 0 at the same level.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scoring.inference.aligned import Cell, Trial
from scoring.inference.losses import Gain, LostTrials, SideWithLosses
from scoring.inference.matched import Difference, difference, within_bounds
from scoring.inference.paired import Estimand

Cells = Mapping[Trial, Cell]

_SAME = 1e-12  # values that differ only by rounding must rank as equal on every machine
_NOTHING = LostTrials({}, {}), LostTrials({}, {})


@dataclass(frozen=True, slots=True)
class ByUser:
    """Two systems compared in each arm, the control first.

    Differences are as in `scoring.inference.matched`, uncorrected.

    - `first`, `second`: the systems A and B.
    - `apart`: A - B in each arm, for topics like these.
    - `these`: A - B in each arm, for these topics.
    - `interactions`: the interaction of each arm but the control, for topics like these. Empty if the figures are
      ratios of sums over all conversations, whose difference is not a mean over trials.
    """

    first: str
    second: str
    apart: Mapping[str, Difference]
    these: Mapping[str, Difference]
    interactions: Mapping[str, Difference] = field(default_factory=dict)

    @property
    def control(self) -> str:
        return next(iter(self.apart))

    def arms_by_winner(
        self, estimand: Estimand, alpha: float, pairs: int = 1
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the arms in which the first system is higher, and the arms in which the second is higher.

        Both lists begin with the most extreme arm, and both are empty unless both kinds of arms are found. `alpha` is
        the probability of a false finding over `pairs` pairs of systems.
        """
        each = self.apart if estimand == "like-these" else self.these
        most = min(alpha, 2 * alpha / max(1, len(each) - 1)) / pairs + _SAME
        sides = ([arm for arm, one in each.items() if one.value * sign > 0 and _p(one) <= most] for sign in (1, -1))
        first, second = (tuple(sorted(arms, key=lambda arm: -abs(each[arm].value))) for arms in sides)
        return (first, second) if first and second else ((), ())

    def higher_system(self, alpha: float) -> str:
        """The system that is higher in every arm, for topics like these; "" if there is none."""
        each = self.apart.values()
        if any(_p(one) > alpha + _SAME for one in each):  # all tests must agree, so each may use the whole alpha
            return ""
        signs = {one.value > 0 for one in each}
        return "" if len(signs) != 1 else self.first if signs == {True} else self.second


def _p(one: Difference) -> float:
    return max(one.p, one.outside) if not math.isnan(one.p + one.outside) else 1.0


def by_user(
    first: str,
    second: str,
    topics: Sequence[str],
    cells: Mapping[str, tuple[Cells, Cells]],
    rng: np.random.Generator,
    *,
    level: float,
    reach: float = 1.0,
    pooled: bool = False,
    continued: bool = False,
    clusters: Mapping[str, str] | None = None,
    invalid: Mapping[str, int] | None = None,
    lost: Mapping[str, tuple[LostTrials, LostTrials]] | None = None,
) -> ByUser:
    """Compare two systems in each arm.

    `cells` are the cells of the first and of the second system, by arm, with the control first. `invalid` counts, by
    arm, the trials that have no valid attempt with one of the systems. `lost` are the lost attempts of both systems, by
    arm, which bound the result; None if nothing was lost. All other arguments are as for
    `scoring.inference.matched.difference`.
    """
    gone = invalid or {}
    played = {
        arm: Gain(*(SideWithLosses(own, its) for own, its in zip(both, lost[arm] if lost else _NOTHING, strict=True)))
        for arm, both in cells.items()
    }

    def compare_cells(base: Cells, other: Cells, arms: Sequence[str], span: float, estimand: Estimand) -> Difference:
        return difference(
            topics,
            base,
            other,
            rng,
            level=level,
            reach=span,
            pooled=pooled,
            continued=continued,
            clusters=clusters,
            invalid=sum(gone.get(arm, 0) for arm in arms),
            estimand=estimand,
        )

    def difference_in_arm(arm: str, estimand: Estimand) -> Difference:
        one, two = played[arm].sides
        return within_bounds(
            lambda end: compare_cells(two.cells_at(end, against=True), one.cells_at(end), [arm], reach, estimand),
            (one, two),
        )

    def change_in_arm(arm: str) -> Difference:
        one, base = played[arm], played[control]
        return within_bounds(
            lambda end: compare_cells(
                base.cells_at(end, against=True), one.cells_at(end), [control, arm], 2 * reach, "like-these"
            ),
            (*one.sides, *base.sides),
        )

    control = next(iter(cells))
    like = {arm: difference_in_arm(arm, "like-these") for arm in cells}
    these = {arm: difference_in_arm(arm, "these") for arm in cells}
    if pooled:
        return ByUser(first, second, like, these)
    return ByUser(first, second, like, these, {arm: change_in_arm(arm) for arm in cells if arm != control})
