"""Lost attempts: bounds of a difference if lost attempts were as bad, or as good, as they can be.

A figure is over the conversations that exist. If infrastructure loses answers of one system that would have failed (a
server that breaks while it searches in vain), the system seems better: with half of its failures lost, an equal system
was called better in 75% of 45 × 5 studies. Lost answers cannot be observed, so the difference is bounded instead: all
lost trials of the first side are set to the low end of the measure and all of the second to the high end, and the other
way round (J. L. Horowitz and C. F. Manski, JASA 95 (2000), 77-84).

If the sides lost equal and small shares, bounds add little and make the difference look uncertain. So they are given
only if the shares differ, by Fisher's exact test at a generous level, or if together they exceed 5%, since equal shares
may be of unlike answers. If one side loses 30% of its successes and the other 30% of its failures, equal systems were
called different in 48% of 150 studies of 45 × 5. Bounds are also given if a side's losses depend on its answers,
whatever their share; then no side is the winner.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from scoring.inference.aligned import Cell, Trial
from scoring.statistics.stratified import compare_within

# p at most which shares of lost attempts are treated as different: to miss a difference costs more than to see one.
_DOUBT = 0.2
# Share of attempts that two sides may lose together, if alike: about as much as a difference may then be wrong by.
_FEW = 0.05

# Added to the method of an interval that covers all possible values of lost attempts.
WITHIN = "within the bounds of what was lost"

# At which end of its bounds a figure is; None as it was recorded.
End = Literal["low", "high"] | None


@dataclass(frozen=True, slots=True)
class LostTrials:
    """The attempts that a system lost.

    low, high: the lowest and the highest cell that each incomplete trial could have had.
    valued: the incomplete trials that still have a value, computed from what remains of them.
    depends: True if no winner may be named, for the reasons in `why`, a clause each.
    others: the systems in comparison with which `depends` holds; empty if it holds for all of them.
    beside_others: the losses in comparison with all other systems.
    """

    low: Mapping[Trial, Cell]
    high: Mapping[Trial, Cell]
    valued: Collection[Trial] = ()
    depends: bool = False
    why: tuple[str, ...] = ("whether trials were lost depended on what the system had answered",)
    others: Collection[str] = ()
    beside_others: LostTrials | None = None

    def losses_in_comparison(self, system: str) -> LostTrials:
        """Return the losses to assume in a comparison with this system."""
        return self if self.beside_others is None or system in self.others else self.beside_others

    def count_among(self, topics: Collection[str]) -> int:
        return sum(topic in topics for topic, _ in self.low)


def losses_matter(lost: tuple[int, int], kept: tuple[int, int]) -> bool:
    """Return True if two systems lost different shares of their attempts, or a large share together.

    `lost` and `kept` are numbers of attempts, one for each system.
    """
    cases = sum(lost) + sum(kept)
    if not sum(lost) or not cases:
        return False
    return sum(lost) > _FEW * cases or compare_within(lost[0], lost[0] + kept[0], sum(lost), cases).p <= _DOUBT


def fill_losses(cells: Mapping[Trial, Cell], lost: LostTrials, *, high: bool) -> dict[Trial, Cell]:
    """Return the cells, with lost trials at the high or low end of their possible values."""
    return {**cells, **(lost.high if high else lost.low)}


@dataclass(frozen=True, slots=True)
class SideWithLosses:
    """The cells of one side of a comparison, and its lost attempts."""

    cells: Mapping[Trial, Cell]
    lost: LostTrials = LostTrials({}, {})

    def cells_at(self, end: End, *, against: bool = False) -> Mapping[Trial, Cell]:
        """Return the cells with the figure at this end; `against` if the side has a negative sign in it."""
        return self.cells if end is None else fill_losses(self.cells, self.lost, high=(end == "high") != against)

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of lost and of complete trials."""
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
    """One side minus another, trial by trial. Without a second side, it is the first side itself."""

    first: SideWithLosses
    second: SideWithLosses | None = None

    def cells_at(self, end: End, *, against: bool = False) -> Mapping[Trial, Cell]:
        """Return the cells at this end. At the high end, the first side's losses are high and the second's are low."""
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
