"""Two sides compared: the design that the data declare decides the method."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from scoring.comparison.compared_pairs import compare_pairs
from scoring.inference.aligned import Cell, Trial, align
from scoring.inference.paired import Estimand
from scoring.inference.sides import compare_sides
from tests.support.kept_cells import keep_cells

Floats = npt.NDArray[np.float64]


def cells_of(values: Floats) -> dict[Trial, Cell]:
    """values: (topics, trials)."""
    return {(f"T{row:03}", trial): (float(value), 1.0) for (row, trial), value in np.ndenumerate(values)}


def names(topics: int) -> list[str]:
    return [f"T{row:03}" for row in range(topics)]


def told_apart(one: Floats, other: Floats, estimand: Estimand, **design: object) -> bool:
    cells = {"A": cells_of(one), "B": cells_of(other)}
    aligned = align(names(len(one)), ["A", "B"], cells, pooled=False, **design)  # type: ignore[arg-type]
    found = compare_sides(aligned, 0, 1, np.random.default_rng(1), estimand=estimand, level=0.95, reach=1.0)
    return found.p <= 0.05 and found.outside <= 0.05


@pytest.mark.parametrize(("phi", "most"), keep_cells([(0.0, 0.06), (0.8, 0.1)], 1))
def test_similar_systems_whose_trials_are_dependent_in_time_are_seldom_told_apart(phi: float, most: float) -> None:
    """W13 at 10×20: without their times, alike systems with a state of .8 are told apart in more than one study of
    six."""
    rng, wrong, blind = np.random.default_rng(3), 0, 0
    studies = 40
    for _ in range(studies):
        topics = rng.normal(0.3, 0.5, (10, 1))
        sides, times = {}, {}
        for name in "AB":
            state = np.empty((10, 20))
            state[:, 0] = rng.normal(size=10)
            for trial in range(1, 20):
                state[:, trial] = phi * state[:, trial - 1] + np.sqrt(1 - phi**2) * rng.normal(size=10)
            sides[name] = (rng.random((10, 20)) < stats.norm.cdf(1.5 * state + topics)).astype(float)
            times[name] = {(f"T{row:03}", trial): float(row * 20 + trial) for row, trial in np.ndindex(10, 20)}
        wrong += told_apart(sides["A"], sides["B"], "these", times=times, in_time=True)
        blind += told_apart(sides["A"], sides["B"], "these")
    assert wrong <= stats.binom.ppf(0.999, studies, most)
    if phi:
        assert wrong < blind
        assert blind > studies / 8


def test_clusters_of_topics_are_one_unit() -> None:
    """W11: clusters of five near-duplicates, both systems alike in the mean."""
    rng, wrong, blind, studies = np.random.default_rng(5), 0, 0, 50
    for _ in range(studies):
        of_cluster = np.repeat(rng.normal(0, 0.25, (9, 2)), 5, axis=0)
        sides = [np.clip(0.5 + of_cluster[:, [at]] + rng.normal(0, 0.1, (45, 3)), 0, 1) for at in (0, 1)]
        clusters = {name: str(row // 5) for row, name in enumerate(names(45))}
        wrong += told_apart(sides[0], sides[1], "like-these", clusters=clusters)
        blind += told_apart(sides[0], sides[1], "like-these")
    assert wrong <= stats.binom.ppf(0.999, studies, 0.05)
    assert blind > studies / 6


def test_declared_sessions_have_the_wider_of_two_intervals() -> None:
    rng = np.random.default_rng(7)
    one, other = rng.random((20, 6)), rng.random((20, 6))
    cells = {"A": cells_of(one), "B": cells_of(other)}
    found = {}
    for continued in ((), ("A", "B")):
        aligned = align(names(20), ["A", "B"], cells, pooled=False, continued=continued)
        found[continued] = compare_sides(
            aligned, 0, 1, np.random.default_rng(1), estimand="like-these", level=0.95, reach=1.0
        ).interval
    assert found["A", "B"].low <= found[()].low
    assert found["A", "B"].high >= found[()].high


@pytest.mark.parametrize(
    ("load", "withheld"), [("none", False), ("on one system", True), ("on both", False), ("sessions", True)]
)
def test_a_time_effect_of_all_topics_leaves_no_winner_unless_both_systems_share_it(load: str, withheld: bool) -> None:
    """Trials are played round by round, all topics in each; both systems in turn."""
    refused = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        chances = rng.beta(4, 2, (30, 1))
        when = {(f"T{row:03}", trial): float(trial * 30 + row) for row, trial in np.ndindex(30, 5)}
        slow = 0.3 * np.sin(np.arange(150) / 12 + rng.uniform(0, 6)).reshape(5, 30).T
        of_session = rng.choice([-0.35, 0.25], (2, 5))
        sides = {}
        for at, name in enumerate("AB"):
            moved = {
                "none": np.zeros((30, 5)),
                "on one system": slow * at,
                "on both": slow,
                "sessions": np.broadcast_to(of_session[at], (30, 5)),
            }[load]
            sides[name] = (rng.random((30, 5)) < np.clip(chances + moved, 0, 1)).astype(float)
        cells = {name: cells_of(values) for name, values in sides.items()}
        times = {"A": when, "B": {trial: at + 0.5 for trial, at in when.items()}}
        aligned = align(names(30), ["A", "B"], cells, pooled=False, times=times)
        (pair,) = compare_pairs(
            "M", None, aligned, rng, estimand="like-these", level=0.95, good="high", reach=1.0
        ).pairs
        refused += "alike whatever the topic" in pair.why
        assert pair.is_distinguished is False or not pair.why
    assert refused >= 8 if withheld else refused <= 1
