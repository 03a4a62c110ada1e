"""Effects of factors: the planted ones are found, and in hostile worlds without any nothing is said."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from scoring.inference.aligned import Cell, Trial
from scoring.inference.matched import Combination, compare_family, effect_names, factorial_effects, is_crossed
from tests.support.kept_cells import keep_cells

LEVELS = {"patience": ("patient", "hasty"), "cooperation": ("willing", "unwilling"), "skill": ("skilled", "unskilled")}
HASTY, UNWILLING, UNSKILLED = (("patience", "hasty"), ("cooperation", "unwilling"), ("skill", "unskilled"))
World = dict[Combination, dict[Trial, Cell]]


def played(
    rng: np.random.Generator,
    topics: int,
    *,
    lengths: tuple[int, int] = (3, 3),
    rare: bool = False,
    lost: float = 0.0,
    lift: dict[tuple[str, ...], float] | None = None,
) -> World:
    """Shares of useful turns. Topics are unlike hard, and each answers users of each kind in its own way. lengths: mean
    turns of patient and of hasty users. rare: failures are. lost: of hasty trials. lift: by levels, what is added where
    all of them are there."""
    hard = np.full(topics, 0.97) if rare else rng.beta(2, 2, topics)
    found: World = {}
    for combination in product(*LEVELS.values()):
        hasty = combination[0] == "hasty"
        added = sum(by for levels, by in (lift or {}).items() if set(levels) <= set(combination))
        cells: dict[Trial, Cell] = {}
        for topic in range(topics):
            own = float(np.clip(hard[topic] + added + (0 if rare else rng.normal(0, 0.1)), 0, 1))
            for trial in range(4):
                if hasty and rng.random() < lost:
                    continue
                turns = 1 + rng.poisson(lengths[hasty] - 1)
                cells[f"T{topic}", trial] = (float(rng.binomial(turns, own)) / turns, 1.0)
        found[combination] = cells
    return found


def found_in(rng: np.random.Generator, topics: int, worlds: list[World]) -> list[set[tuple[tuple[str, str], ...]]]:
    """By world, the effects that are found, corrected over all of them."""
    names = [f"T{number}" for number in range(topics)]
    each = [factorial_effects(names, LEVELS, one, rng, level=0.95, reach=1.0) for one in worlds]
    tests = [own for one in each for own in one.values()]
    corrected = iter(compare_family(tests, [math.nan] * len(tests), level=0.95))
    return [{effect for effect in one if next(corrected).beyond} for one in each]


@pytest.mark.parametrize(
    "world",
    keep_cells(
        [
            {},
            {"lengths": (6, 1)},
            {"rare": True},
            {"rare": True, "lengths": (6, 1)},
            {"lengths": (6, 1), "lost": 0.3},
        ],
        3,
    ),
    ids=["plain", "unlike lengths", "rare failures", "rare failures, unlike lengths", "lost trials"],
)
@pytest.mark.parametrize("topics", keep_cells([5, 15], 0))
def test_nothing_is_reported_if_no_factor_matters(world: dict[str, object], topics: int) -> None:
    """Of two systems at once: 14 effects in a family. Of five topics no p can be small enough for so many, so a few
    studies show what all would."""
    rng, wrong, studies = np.random.default_rng(4), 0, 40 if topics > 5 else 3
    for _ in range(studies):
        worlds = [played(rng, topics, **world) for _ in range(2)]  # type: ignore[arg-type]
        wrong += any(found_in(rng, topics, worlds))
    assert wrong <= (0.05 * studies + 3 * (0.05 * 0.95 * studies) ** 0.5 if topics > 5 else 0)


def test_a_planted_main_effect_and_interaction_are_found_and_no_others() -> None:
    rng = np.random.default_rng(5)
    hits = others = 0
    for _ in range(10):
        world = played(rng, 45, lift={("hasty",): -0.25, ("unwilling", "unskilled"): -0.45})
        (found,) = found_in(rng, 45, [world])
        expected = {(HASTY,), (UNWILLING,), (UNSKILLED,), (UNWILLING, UNSKILLED)}
        hits += len(found & expected)
        others += len(found - expected)
    assert hits >= 36, "an interaction gives each of its factors a main effect, too"
    assert others <= 1


def test_effects_are_the_contrasts_of_yates() -> None:
    """By hand: 2 x 2 means 1, .6 / .8, 0."""
    levels = {"a": ("a0", "a1"), "b": ("b0", "b1")}
    means = {("a0", "b0"): 1.0, ("a0", "b1"): 0.6, ("a1", "b0"): 0.8, ("a1", "b1"): 0.0}
    cells: World = {one: {(f"T{topic}", 1): (mean, 1.0) for topic in range(6)} for one, mean in means.items()}
    found = factorial_effects(
        [f"T{topic}" for topic in range(6)], levels, cells, np.random.default_rng(1), level=0.95, reach=1.0
    )
    assert {effect: round(own.value, 9) for effect, own in found.items()} == {
        (("a", "a1"),): -0.4,
        (("b", "b1"),): -0.6,
        (("a", "a1"), ("b", "b1")): -0.4,
    }
    assert all(own.n == 6 for own in found.values())


def test_factors_of_three_levels_have_an_effect_for_each_level_except_the_first() -> None:
    levels = {"a": ("x", "y", "z"), "b": ("p", "q")}
    assert len(list(effect_names(levels))) == 2 + 1 + 2
    assert is_crossed(levels, dict.fromkeys(product(*levels.values())))
    assert not is_crossed(levels, {("x", "p"): 0})
    assert not is_crossed({"a": ("x",)}, {("x",): 0})
    with pytest.raises(ValueError, match="every combination of the levels must be played"):
        factorial_effects([], levels, {}, np.random.default_rng(1), level=0.95, reach=1.0)


def test_a_trial_counts_if_every_combination_of_the_effect_has_it() -> None:
    levels = {"a": ("a0", "a1"), "b": ("b0", "b1")}
    cells: World = {one: {(f"T{topic}", 1): (1.0, 1.0) for topic in range(6)} for one in product(*levels.values())}
    del cells["a1", "b1"]["T0", 1]
    cells["a0", "b0"]["T1", 1] = (math.nan, 0.0)
    found = factorial_effects(
        [f"T{topic}" for topic in range(6)],
        levels,
        cells,
        np.random.default_rng(1),
        level=0.95,
        reach=1.0,
        invalid={("a1", "b1"): 1},
    )
    assert {own.n for own in found.values()} == {4}
    assert {own.invalid for own in found.values()} == {1}
    assert {own.undefined for own in found.values()} == {1}
