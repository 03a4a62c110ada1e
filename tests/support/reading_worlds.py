"""Audits in which answers are misread and a second witness sees most of it: worlds that are hard on a bound.

Written before the bound. Few conversations and many; faults that, once there, stay to the end of a conversation; faults
that the witness never sees in a conversation, and single ones that it misses; answers that it cannot compare, more
often where they are misread.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scoring.inference.reading_error import WitnessCounts


@dataclass(frozen=True, slots=True)
class World:
    """faulty: the probability that a conversation has faults. stays: that a fault stays for the next turn. blind: that
    the witness sees none of a conversation's faults; missed: that it misses one of the others. silent, silent_if_wrong:
    that an answer cannot be compared."""

    conversations: int
    turns: tuple[int, int]
    faulty: float
    stays: float
    blind: float
    missed: float
    silent: float
    silent_if_wrong: float


@dataclass(frozen=True, slots=True)
class Audit:
    """wrong, compared_wrong: answers that were misread, of all and of those that could be compared."""

    told: list[WitnessCounts]
    wrong: int
    compared_wrong: int


def worlds() -> Iterator[World]:
    for conversations, turns in ((2, (20, 40)), (5, (2, 30)), (12, (1, 6)), (40, (3, 3)), (150, (1, 8))):
        for faulty in (0.0, 0.02, 0.1, 0.4, 1.0):
            for stays in (0.0, 0.9):
                for blind, missed in ((0.0, 0.01), (0.05, 0.05), (0.09, 0.01)):
                    yield World(conversations, turns, faulty, stays, blind, missed, 0.03, 0.3)


def audit(world: World, rng: np.random.Generator) -> Audit:
    told, wrong, compared_wrong = [], 0, 0
    for _ in range(world.conversations):
        turns = int(rng.integers(world.turns[0], world.turns[1] + 1))
        misread = np.zeros(turns, dtype=bool)
        if rng.random() < world.faulty:
            at = int(rng.integers(turns))
            misread[at] = True
            for turn in range(at + 1, turns):
                misread[turn] = rng.random() < (world.stays if misread[turn - 1] else 0.05)
        silent = rng.random(turns) < np.where(misread, world.silent_if_wrong, world.silent)
        seen = misread & (rng.random(turns) >= world.missed) & (rng.random() >= world.blind)
        compared = ~silent
        differ = int((seen & compared).sum())
        told.append(WitnessCounts(int(compared.sum()) - differ, differ, int(silent.sum())))
        wrong += int(misread.sum())
        compared_wrong += int((misread & compared).sum())
    return Audit(told, wrong, compared_wrong)
