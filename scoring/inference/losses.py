"""Bounds of a difference for the worst and the best outcomes that lost attempts could have had.

A figure is over the conversations that exist. If infrastructure loses answers of one system that would have failed (a
server that breaks while it searches in vain), the system seems better: a system that lost half of its failures was
called better than an equal system in 75% of studies of 45 topics × 5 trials. Lost answers cannot be observed, so the
difference is bounded instead: one side's lost trials are set to the low end of the measure and the other side's to the
high end, in both ways (J. L. Horowitz and C. F. Manski, JASA 95 (2000), 77-84).

If the sides lost equal and small shares, bounds add little and make the difference look uncertain. So bounds are given
only if the shares differ, by Fisher's exact test at a generous level, or if more than 1% of all attempts are lost,
since equal shares may hide losses of different kinds of answers. With 4% of one side's attempts lost, all of them
failures, and 4% of the other's, all of them successes, equal systems were called different in 19% of 200 studies of 200
topics × 5 trials; with 1%, in 3%. If a side's losses depend on its answers, bounds are given whatever the share, and no
side is the winner.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from scoring.inference.aligned import Cell, Trial
from scoring.statistics.stratified import compare_within

# Shares of lost attempts count as different up to this p: missing a difference costs more than seeing a false one.
_DOUBT = 0.2
# The share of attempts that two sides may lose if the shares are alike: a difference may be wrong by about as much.
_FEW = 0.01

# Added to the method of an interval that covers all possible values of lost attempts.
WITHIN = "within the bounds of what was lost"

# The end of its bounds at which a figure is; None for the figure as recorded.
End = Literal["low", "high"] | None


@dataclass(frozen=True, slots=True)
class LostTrials:
    """The attempts that a system lost.

    - `low`, `high`: the lowest and the highest cell that each incomplete trial could have had.
    - `valued`: the incomplete trials that still have a value, computed from the turns that remain.
    - `depends`: True if no winner may be named. `why` lists the reasons, a clause each.
    - `others`: the systems in comparison with which `depends` holds; empty if it holds for all systems.
    - `beside_others`: the losses in comparison with all other systems.
    """

    low: Mapping[Trial, Cell]
    high: Mapping[Trial, Cell]
    valued: Collection[Trial] = ()
    depends: bool = False
    why: tuple[str, ...] = ("whether trials were lost depended on what the system had answered",)
    others: Collection[str] = ()
    beside_others: "LostTrials | None" = None

    def losses_in_comparison(self, system: str) -> "LostTrials":
        return self if self.beside_others is None or system in self.others else self.beside_others

    def count_among(self, topics: Collection[str]) -> int:
        return sum(topic in topics for topic, _ in self.low)


def join_losses(losses: Sequence[LostTrials]) -> LostTrials:
    """Return the losses of one system in several sets of trials, no trial of which is in two sets."""
    depending = [one for one in losses if one.depends]
    in_all = any(not one.others for one in depending)
    return LostTrials(
        {trial: cell for one in losses for trial, cell in one.low.items()},
        {trial: cell for one in losses for trial, cell in one.high.items()},
        [trial for one in losses for trial in one.valued],
        bool(depending),
        tuple(dict.fromkeys(why for one in depending or losses for why in one.why)),
        frozenset() if in_all else frozenset(name for one in depending for name in one.others),
        None if in_all or not depending else join_losses([one.beside_others or one for one in losses]),
    )


def losses_matter(lost: tuple[int, int], kept: tuple[int, int]) -> bool:
    """Return True if two systems lost different shares of their lost and kept attempts, or a large share together."""
    cases = sum(lost) + sum(kept)
    if not sum(lost) or not cases:
        return False
    return sum(lost) > _FEW * cases or compare_within(lost[0], lost[0] + kept[0], sum(lost), cases).p <= _DOUBT


def fill_losses(cells: Mapping[Trial, Cell], lost: LostTrials, *, high: bool) -> dict[Trial, Cell]:
    return {**cells, **(lost.high if high else lost.low)}


@dataclass(frozen=True, slots=True)
class SideWithLosses:
    """The cells of one side of a comparison, and its lost attempts."""

    cells: Mapping[Trial, Cell]
    lost: LostTrials = LostTrials({}, {})

    def cells_at(self, end: End, *, against: bool = False) -> Mapping[Trial, Cell]:
        """Return the cells at an end of the figure. `against` is True if the figure subtracts this side."""
        return self.cells if end is None else fill_losses(self.cells, self.lost, high=(end == "high") != against)

    @property
    def counts(self) -> tuple[int, int]:
        return len(self.lost.low), sum(
            cell[0] == cell[0] for trial, cell in self.cells.items() if trial not in self.lost.low
        )


def paired_gains(first: Mapping[Trial, Cell], second: Mapping[Trial, Cell]) -> dict[Trial, Cell]:
    """Return the first side minus the second, for each trial with a value on both sides."""
    return {
        trial: (first[trial][0] / first[trial][1] - second[trial][0] / second[trial][1], 1.0)
        for trial in first
        if trial in second and first[trial][1] > 0 and second[trial][1] > 0
    }


@dataclass(frozen=True, slots=True)
class Gain:
    """One side minus another, trial by trial. Without a second side, the gain is the first side itself."""

    first: SideWithLosses
    second: SideWithLosses | None = None

    def cells_at(self, end: End, *, against: bool = False) -> Mapping[Trial, Cell]:
        """Return the cells at an end. At the high end, the first side's losses are high and the second side's low."""
        own = self.first.cells_at(end, against=against)
        return own if self.second is None else paired_gains(own, self.second.cells_at(end, against=not against))

    @property
    def sides(self) -> tuple[SideWithLosses, ...]:
        return (self.first,) if self.second is None else (self.first, self.second)


def reasons_withheld(sides: Iterable[LostTrials]) -> str:
    """Return all reasons why no winner may be named among the sides; "" if there is none."""
    return ", and ".join(dict.fromkeys(why for one in sides if one.depends and one.low for why in one.why))


def needs_bounds(sides: Sequence[SideWithLosses]) -> bool:
    """Return True if a figure needs bounds: losses depend on answers, differ between sides, or are many."""
    counts = [one.counts for one in sides]
    lost, kept = (sum(count[at] for count in counts) for at in range(2))
    return (
        bool(reasons_withheld(one.lost for one in sides))
        or losses_matter((lost, 0), (kept, 0))
        or any(losses_matter((a[0], b[0]), (a[1], b[1])) for a, b in combinations(counts, 2))
    )
