"""Main effects and interactions of factors that were played in every combination of their levels.

For a set of factors S, each at one of its levels other than the first:

    effect = Σ_{T ⊆ S} (-1)^(|S| - |T|) · m(T)

m(T) is the mean figure, over all levels of the other factors, with the factors in T at these levels and the rest of S
at their first level. One factor gives its main effect: how far the level lies above the first, on average over the
other factors. Two give their interaction: how much larger the effect of one factor is at the given level of the other.

All combinations ask the same topics, and a trial draws the same numbers in all of them, so effects are differences over
matched trials, with topics as units (`scoring.inference.matched`). A trial counts if it has a value in all combinations
of the effect. Source of the contrasts: F. Yates, The Design and Analysis of Factorial Experiments (1937).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np

from scoring.inference.aligned import Cell, Trial
from scoring.inference.losses import End, Gain, WithLost
from scoring.inference.matched import Difference, difference, within_bounds

# By factor: its levels, the first one is the reference.
Levels = Mapping[str, Sequence[str]]
# A level of each factor, in the order of the factors.
Combination = tuple[str, ...]
# (factor, level) of each factor in the effect.
Effect = tuple[tuple[str, str], ...]


def is_crossed(levels: Levels, played: Mapping[Combination, object]) -> bool:
    """Return True if every factor has at least two levels and every combination of levels was played."""
    crossed = all(len(own) > 1 for own in levels.values()) and bool(levels)
    return crossed and all(one in played for one in product(*levels.values()))


def effect_names(levels: Levels) -> Iterator[Effect]:
    """Yield main effects first, then interactions of two factors, and so on."""
    for size in range(1, len(levels) + 1):
        for factors in combinations(levels, size):
            yield from (
                tuple(zip(factors, chosen, strict=True)) for chosen in product(*(levels[one][1:] for one in factors))
            )


def factorial_effects(
    topics: Sequence[str],
    levels: Levels,
    cells: Mapping[Combination, Mapping[Trial, Cell]],
    rng: np.random.Generator,
    *,
    level: float,
    reach: float,
    continued: bool = False,
    clusters: Mapping[str, str] | None = None,
    invalid: Mapping[Combination, int] | None = None,
    whole: Mapping[Combination, Gain] | None = None,
) -> dict[Effect, Difference]:
    """Return every effect, without correction for multiple tests. Raises ValueError if a combination is missing.

    `cells` are the values of each trial, by combination, and `invalid` are the numbers of trials without a valid
    attempt. `whole` are the cells together with what was lost, which then bounds the effects; None if nothing was lost.
    All other arguments are as for `scoring.inference.matched.difference`.
    """
    if not is_crossed(levels, cells):
        raise ValueError("not every combination of the levels was played")
    lost = invalid or {}
    played = whole or {at: Gain(WithLost(own)) for at, own in cells.items()}
    found: dict[Effect, Difference] = {}
    for effect in effect_names(levels):
        sides = _effect_sides(levels, effect)
        scale = 2.0 ** (len(effect) - 1)  # 2^|S| means, half of them on each side

        def between(end: End, sides: tuple[list[Combination], ...] = sides, scale: float = scale) -> Difference:
            below, above = (
                _average_sides([played[one].at(end, against=not at) for one in side], scale)
                for at, side in enumerate(sides)
            )
            return difference(
                topics,
                below,
                above,
                rng,
                level=level,
                reach=scale * reach,
                continued=continued,
                clusters=clusters,
                invalid=sum(lost.get(one, 0) for side in sides for one in side),
            )

        found[effect] = within_bounds(between, [part for side in sides for one in side for part in played[one].sides])
    return found


def _effect_sides(levels: Levels, effect: Effect) -> tuple[list[Combination], list[Combination]]:
    meant = dict(effect)
    own = [(levels[name][0], meant[name]) if name in meant else tuple(levels[name]) for name in levels]
    against: list[Combination] = []
    counted: list[Combination] = []
    for one in product(*own):
        at_first = sum(name in meant and at != meant[name] for name, at in zip(levels, one, strict=True))
        (against if at_first % 2 else counted).append(one)
    return against, counted


def _average_sides(sides: Sequence[Mapping[Trial, Cell]], scale: float) -> dict[Trial, Cell]:
    common = set(sides[0]).intersection(*sides[1:])
    found: dict[Trial, Cell] = {}
    for trial in sorted(common):
        values = [above / below if below > 0 else math.nan for above, below in (side[trial] for side in sides)]
        found[trial] = (scale * math.fsum(values) / len(values), 1.0)
    return found
