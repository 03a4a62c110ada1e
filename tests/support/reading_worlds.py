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


def audits(world: World, count: int, rng: np.random.Generator) -> Iterator[Audit]:
    """So many audits of one world. All their conversations are drawn at a time, turn by turn."""
    each = world.conversations
    turns = rng.integers(world.turns[0], world.turns[1] + 1, count * each)
    faulty, first = rng.random(len(turns)) < world.faulty, rng.integers(turns)
    misread = np.zeros((len(turns), world.turns[1]), dtype=bool)
    misread[faulty, first[faulty]] = True
    for turn in range(1, world.turns[1]):
        later = faulty & (turn > first)
        stays = np.where(misread[:, turn - 1], world.stays, 0.05)
        misread[:, turn] |= later & (rng.random(len(turns)) < stays)
    answered = np.arange(world.turns[1]) < turns[:, None]
    misread &= answered
    silent = rng.random(misread.shape) < np.where(misread, world.silent_if_wrong, world.silent)
    noticed = rng.random(misread.shape) >= world.missed
    compared = answered & ~silent
    differ = misread & noticed & (rng.random((len(turns), 1)) >= world.blind) & compared
    told = np.stack([one.sum(axis=1) for one in (compared & ~differ, differ, answered & silent)], axis=1).tolist()
    wrong = [one.sum(axis=1).reshape(count, each).sum(axis=1).tolist() for one in (misread, misread & compared)]
    for at in range(count):
        own = [WitnessCounts(*counts) for counts in told[at * each : (at + 1) * each]]
        yield Audit(own, wrong[0][at], wrong[1][at])
