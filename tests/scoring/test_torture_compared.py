"""What `harvest compare` says in the worlds of the torture suite, and how a simulated study is handed over to it."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.torture import catalogue, compared, saved
from tests.support.torture.cells import counted
from tests.support.torture.study import Study
from tests.support.torture.world import WORLDS

ENGINES = {engine.name: engine for engine in compared.ENGINES}
LIKE_THESE, THESE = ENGINES["compare, topics like these"], ENGINES["compare, these topics"]
assert catalogue.MODULES


def study(name: str, topics: int, trials: int, systems: int = 2) -> Study:
    return WORLDS[name].study(1, 0, topics, trials, systems)


def test_a_lost_attempt_is_not_a_cell_and_counts_as_lost() -> None:
    given = study("the last system loses half of its failures: useful or not, Beta(3, 2)", 15, 5)
    gone = int(np.isnan(given.values[1]).sum())
    assert gone > 0
    assert len(compared.cells_of(given, 1)) == 75 - gone
    assert len(compared.lost_of(given, 1, (0.0, 1.0)).low) == gone
    assert not compared.lost_of(given, 0, (0.0, 1.0)).low
    assert compared.compared(given, estimand="like-these").pairs[0].bounds is not None


def test_a_recovery_is_only_over_failures() -> None:
    given = study("fails in 30% against 30%, recovers in 0.5 (topics alike)", 15, 5)
    cells = compared.cells_of(given, 0).values()
    assert sum(below for _, below in cells) == (given.values[0] == 0).sum()
    assert sum(above for above, _ in cells) == np.nansum(given.second[0])  # type: ignore[index]
    assert compared.compared(given, estimand="these").pooled


def test_named_clusters_and_declared_sessions_are_passed_on_and_others_are_not() -> None:
    named = study("clusters of five, named, 100% alike: useful or not, Beta(2, 2)", 45, 5)
    nobody = study("clusters of five, not named, 100% alike: useful or not, Beta(2, 2)", 45, 5)
    assert compared.compared(named, estimand="like-these").clusters == 9
    assert compared.compared(nobody, estimand="like-these").clusters == 0
    declared = study("sessions that stay lost, declared", 15, 5)
    hidden = study("sessions that stay lost, not declared", 15, 5)
    assert set(compared.compared(declared, estimand="like-these").sessions.values()) == {5}
    assert compared.compared(hidden, estimand="like-these").sessions == {}


@pytest.mark.parametrize(
    ("world", "size"),
    [
        ("one system steady: useful or not, 0.95 in 95%, 0 in 5%", (15, 5, 2)),
        ("one system steady: R, lognormal σ 1.5", (45, 5, 2)),
        ("fails in 2% against 50%, recovers in 0.5 (topics alike)", (15, 5, 2)),
        ("clusters of five, named, 100% alike: useful or not, Beta(2, 2)", (45, 5, 2)),
        ("the last system loses half of its failures: useful or not, Beta(3, 2)", (15, 5, 2)),
    ],
)
def test_similar_systems_are_not_told_apart_in_hostile_worlds(world: str, size: tuple[int, int, int]) -> None:
    cell = counted(LIKE_THESE, WORLDS[world], size, 30)
    assert not cell.too_low
    assert not cell.too_wrong


def test_a_real_difference_is_found() -> None:
    cell = counted(LIKE_THESE, WORLDS["one system far off: useful or not, Beta(4, 1)"], (45, 5, 2), 15)
    assert cell.decided >= 12
    assert cell.wrong == 0


def test_a_cell_far_from_being_flagged_is_not_counted_further() -> None:
    world = WORLDS["one system steady: R, lognormal σ 1.5"]
    assert counted(THESE, world, (2, 5, 2), 80, whole=False).studies == 80
    assert counted(LIKE_THESE, world, (8, 3, 2), 80, whole=False).studies == 60


def test_cells_are_kept_in_a_file_and_the_last_of_each_is_used(tmp_path: Path) -> None:
    world, path = WORLDS["useful or not, Beta(2, 2)"], tmp_path / "cells.jsonl"
    for count in (3, 5):
        saved.add(path, counted(THESE, world, (8, 3, 2), count))
    (cell,) = saved.kept(path)
    assert (cell.studies, cell.size, cell.engine) == (5, (8, 3, 2), THESE.name)
