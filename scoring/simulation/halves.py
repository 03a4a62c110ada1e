"""The noise floor of real users: the distance between two random halves of the real users.

A simulated user need not be closer to real users than real users are to each other. How close real users are depends on
their number, so there is no fixed limit: the dialogues are split into halves many times, and the distance between real
and simulated dialogues is also measured on halves. For a fair comparison, half as many simulated dialogues as there are
real dialogues are drawn and compared with a half:

    floor       D(half, other half)
    matched     D(half, as many simulated dialogues, drawn without replacement)

Both distances have the sampling noise of two groups of that size. If there are fewer simulated dialogues, the groups of
real dialogues are cut to their number. Groups are filled user by user on either side, so that the dialogues of one
user, which are alike, are in one group. A verdict counts users: a few users with many dialogues are still few.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recordings.acts.dialogue import Dialogue

Distance = Callable[[Sequence[Dialogue], Sequence[Dialogue]], float]
# Cuts groups to what can be compared of all of them.
View = Callable[[Sequence[Sequence[Dialogue]]], Sequence[Sequence[Dialogue]]]

# Users that a group must have for a verdict. With fewer the halves are of a handful of users, who differ so seldom in
# so few ways that others like them lie beyond too often: docs/simulators/validation.md.
FEWEST = 10


@dataclass(frozen=True, slots=True)
class Spread:
    """A distance over `n` random splits: the median, the middle 95% and the range; NaN for n = 0."""

    median: float
    low: float
    high: float
    least: float
    most: float
    n: int

    @classmethod
    def from_values(cls, values: Sequence[float]) -> "Spread":
        known = np.array([value for value in values if not math.isnan(value)])
        if not known.size:
            return cls(math.nan, math.nan, math.nan, math.nan, math.nan, 0)
        least, low, median, high, most = (float(q) for q in np.quantile(known, [0, 0.025, 0.5, 0.975, 1]))
        return cls(median, low, high, least, most, known.size)


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The noise floor of a distance.

    `floor` is the distance between two groups of real dialogues, and `matched` the distance between a group of real
    dialogues and as many simulated dialogues. `size` is the median number of dialogues in a group, and `users` the
    median number of users in the group with the fewest users.

    The verdict is `within` if the median of `matched` is at most the upper end of the middle 95% of `floor`, else
    `beyond`. It is `undecided` if `matched` or `floor` has no value, or if a group has fewer than FEWEST users: the
    floor would then describe those few users, not people in general.
    """

    floor: Spread
    matched: Spread
    size: int
    users: int

    @property
    def verdict(self) -> str:
        if not self.floor.n or not self.matched.n or self.users < FEWEST:
            return "undecided"
        return "within" if self.matched.median <= self.floor.high else "beyond"


def unmeasured_floor(floor: NoiseFloor) -> NoiseFloor:
    """Return a copy of the floor for a measure without any value in these groups."""
    return NoiseFloor(Spread.from_values(()), Spread.from_values(()), floor.size, floor.users)


def random_halves(
    dialogues: Sequence[Dialogue], rng: np.random.Generator, *, size: int | None = None
) -> tuple[list[Dialogue], list[Dialogue]]:
    """Return two groups without a common user, cut to `size`, which is half of all dialogues by default. Raises
    ValueError for too few dialogues or users."""
    first, second = _fill_groups(dialogues, rng, size)
    half = min(len(first), len(second)) if size is None else size
    if half < 1 or min(len(first), len(second)) < half:
        users = len(_by_unit(dialogues))
        raise ValueError(f"{len(dialogues)} dialogues of {users} users cannot be split into two halves of {half}")
    return _cut_group(first, half, rng), _cut_group(second, half, rng)


def _fill_groups(
    dialogues: Sequence[Dialogue], rng: np.random.Generator, size: int | None
) -> tuple[list[Dialogue], list[Dialogue]]:
    by_unit = _by_unit(dialogues)
    units = sorted(by_unit)
    first: list[Dialogue] = []
    second: list[Dialogue] = []
    for place in rng.permutation(len(units)):
        # The smaller side is filled next, so that a person with many dialogues tilts nothing for long.
        (first if len(first) <= len(second) else second).extend(by_unit[units[place]])
        if size is not None and min(len(first), len(second)) >= size:
            break
    return first, second


def noise_floor(
    real: Sequence[Dialogue],
    simulated: Sequence[Dialogue],
    distances: Mapping[str, Distance],
    rng: np.random.Generator,
    *,
    splits: int = 200,
    views: Mapping[str, View] | None = None,
) -> dict[str, NoiseFloor]:
    """Return the floor and the matched distance of each measure. Raises ValueError for fewer than two real users.

    Measures in `views` use only a part of each dialogue: the view cuts the three groups of a split to a common part.
    """
    views = views or {}
    floors: dict[str, list[float]] = {name: [] for name in distances}
    matched: dict[str, list[float]] = {name: [] for name in distances}
    size = len(simulated) if 2 * len(simulated) < len(real) else None
    sizes, users = [], []
    for _ in range(splits):
        halves = _fill_groups(real, rng, size)
        # One person may have so many dialogues that the others do not fill a group of `size`.
        common = min(len(halves[0]), len(halves[1]), size or len(real))
        if not common:
            raise ValueError(f"a split needs two users, but all {len(real)} dialogues are of one user")
        first, second = (_cut_group(part, common, rng) for part in halves)
        others = _draw_group(simulated, min(len(first), len(simulated)), rng)
        groups = (first, second, others)
        sizes.append(len(others))
        users.append(min(len({one.unit for one in group}) for group in groups))
        seen = {view: view(groups) for view in set(views.values())}
        for name, distance in distances.items():
            half, other, drawn = seen[views[name]] if name in views else groups
            floors[name].append(distance(half, other))
            matched[name].append(distance(half, drawn))
    middle, fewest = int(np.median(sizes)), int(np.median(users))
    return {
        name: NoiseFloor(Spread.from_values(floors[name]), Spread.from_values(matched[name]), middle, fewest)
        for name in distances
    }


def _by_unit(dialogues: Sequence[Dialogue]) -> dict[str, list[Dialogue]]:
    found: dict[str, list[Dialogue]] = {}
    for one in dialogues:
        found.setdefault(one.unit, []).append(one)
    return found


def _draw_group(dialogues: Sequence[Dialogue], size: int, rng: np.random.Generator) -> list[Dialogue]:
    users = list(_by_unit(dialogues).values())
    found: list[Dialogue] = []
    for place in rng.permutation(len(users)):
        if len(found) >= size:
            break
        found.extend(users[place])
    return _cut_group(found, size, rng)


def _cut_group(dialogues: Sequence[Dialogue], size: int, rng: np.random.Generator) -> list[Dialogue]:
    return [dialogues[i] for i in rng.permutation(len(dialogues))[:size]]
