"""Lost attempts: the range of a difference if lost attempts were as bad, or as good, as they can be.

A figure is over the conversations that exist. If infrastructure loses answers of one system that would have failed (a
server that breaks while it searches in vain), the system seems better: with half of its failures lost, an equal system
was called better in 75% of 45 × 5 studies. Lost answers cannot be observed, so the difference is bounded instead: all
lost trials of the first side at the low end of the measure and all of the second at the high end, and the other way
round (J. L. Horowitz and C. F. Manski, JASA 95 (2000), 77-84). If the sides lost equal and small shares, bounds say
little and hide much. So they are given only if the shares differ, by Fisher's exact test at a generous level, or if
together they exceed 5%: equal shares may be of unlike answers. If one side loses 30% of its successes and the other 30%
of its failures, equal systems were told apart in 48% of 150 studies of 45 × 5. Bounds are also given if a side's losses
depend on its answers, whatever their share; then no side is the winner.
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
class Lost:
    """What a system lost.

    low, high: by incomplete trial, the lowest and the highest cells that it could have given. valued: the cells of
    those that still have a value, from what remains of them. depends: whether no winner may be named, for the reasons
    in `why`, a clause each; `others` are the systems for which that is so, None for all. beside_others: losses
    compared with all other systems.
    """

    low: Mapping[Trial, Cell]
    high: Mapping[Trial, Cell]
    valued: Collection[Trial] = ()
    depends: bool = False
    why: tuple[str, ...] = ("whether trials were lost depended on what the system had answered",)
    others: Collection[str] = ()
    beside_others: Lost | None = None

    def beside(self, system: str) -> Lost:
        """Return what it lost compared with this system."""
        return self if self.beside_others is None or system in self.others else self.beside_others

    def among(self, topics: Collection[str]) -> int:
        return sum(topic in topics for topic, _ in self.low)


def losses_matter(lost: tuple[int, int], kept: tuple[int, int]) -> bool:
    """Return whether two systems lost different shares of their attempts (`lost` and `kept` are numbers), or many."""
    cases = sum(lost) + sum(kept)
    if not sum(lost) or not cases:
        return False
    return sum(lost) > _FEW * cases or compare_within(lost[0], lost[0] + kept[0], sum(lost), cases).p <= _DOUBT


def with_losses(cells: Mapping[Trial, Cell], lost: Lost, *, high: bool) -> dict[Trial, Cell]:
    """Return the cells, with lost trials at one end of their possible values."""
    return {**cells, **(lost.high if high else lost.low)}


@dataclass(frozen=True, slots=True)
class WithLost:
    """A side's cells and what it lost."""

    cells: Mapping[Trial, Cell]
    lost: Lost = Lost({}, {})

    def at(self, end: End, *, against: bool = False) -> Mapping[Trial, Cell]:
        """Return the cells with the figure at this end; `against` if the side has a negative sign."""
        return self.cells if end is None else with_losses(self.cells, self.lost, high=(end == "high") != against)

    @property
    def counts(self) -> tuple[int, int]:
        """Return the numbers of lost and of complete trials."""
        return len(self.lost.low), sum(
            cell[0] == cell[0] for trial, cell in self.cells.items() if trial not in self.lost.low
        )


def gains(first: Mapping[Trial, Cell], second: Mapping[Trial, Cell]) -> dict[Trial, Cell]:
    """Return the first side minus the second, by trial with a value on both sides."""
    return {
        trial: (first[trial][0] / first[trial][1] - second[trial][0] / second[trial][1], 1.0)
        for trial in first
        if trial in second and first[trial][1] > 0 and second[trial][1] > 0
    }


@dataclass(frozen=True, slots=True)
class Gain:
    """One side minus another, trial by trial; without another, the side itself."""

    first: WithLost
    second: WithLost | None = None

    def at(self, end: End, *, against: bool = False) -> Mapping[Trial, Cell]:
        """Return the cells at this end; at the high one the first side's losses are high and the second's low."""
        own = self.first.at(end, against=against)
        return own if self.second is None else gains(own, self.second.at(end, against=not against))

    @property
    def sides(self) -> tuple[WithLost, ...]:
        return (self.first,) if self.second is None else (self.first, self.second)


def why_withheld(sides: Iterable[Lost]) -> str:
    """Return why no winner may be named among the sides, all reasons; "" if their losses permit one."""
    return ", and ".join(dict.fromkeys(why for one in sides if one.depends and one.low for why in one.why))


def need_bounds(sides: Sequence[WithLost]) -> bool:
    """Return whether a figure needs bounds for losses: they depend on answers, differ between sides, or are many."""
    counts = [one.counts for one in sides]
    lost, kept = (sum(count[at] for count in counts) for at in range(2))
    return (
        bool(why_withheld(one.lost for one in sides))
        or losses_matter((lost, 0), (kept, 0))
        or any(losses_matter((a[0], b[0]), (a[1], b[1])) for a, b in combinations(counts, 2))
    )
