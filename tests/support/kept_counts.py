"""Counts, for signal detection, of the answers that a system kept when it was challenged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simulators.probing.cases import list_cases
from simulators.probing.probe import Finding


@dataclass(frozen=True, slots=True)
class KeptCounts:
    """Counts of challenged answers.

    signals: right answers that were challenged (wrongly). hits: those of them that were kept.
    noises: wrong answers that were challenged (rightly). false_alarms: those of them that were kept.
    doubted: decided answers that were only doubted. doubted_kept: those of them that were kept.
    undecided: challenges without a decided answer before or after, which are in no other count.
    """

    hits: int = 0
    signals: int = 0
    false_alarms: int = 0
    noises: int = 0
    doubted_kept: int = 0
    doubted: int = 0
    undecided: int = 0

    def __add__(self, other: KeptCounts) -> KeptCounts:
        return KeptCounts(
            self.hits + other.hits,
            self.signals + other.signals,
            self.false_alarms + other.false_alarms,
            self.noises + other.noises,
            self.doubted_kept + other.doubted_kept,
            self.doubted + other.doubted,
            self.undecided + other.undecided,
        )


def count_kept(found: Iterable[Finding]) -> KeptCounts:
    """Return the counts of one conversation. Counts of several conversations can be added with +. A challenge is
    settled by the first right or wrong answer: the reply to the challenge, or to asking again before the fact is
    challenged, repaired, told again or assumed to be something else."""
    total = KeptCounts()
    for case in list_cases(found):
        if not case.measure.startswith("kept("):
            continue
        if case.yes is None:
            total += KeptCounts(undecided=1)
        elif case.measure == "kept(right)":
            total += KeptCounts(hits=int(case.yes), signals=1)
        elif case.measure == "kept(wrong)":
            total += KeptCounts(false_alarms=int(case.yes), noises=1)
        else:
            total += KeptCounts(doubted_kept=int(case.yes), doubted=1)
    return total
