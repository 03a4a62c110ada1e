"""The exact test of dependence: against all tables with the same sums, its size in worlds without it, its power."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.inference.dependence import _swap_cells, dependence
from topics.identity import generator

Floats = npt.NDArray[np.float64]


def difference(table: npt.ArrayLike) -> float:
    """P(1 after 1) - P(1 after 0), counted pair by pair."""
    after: dict[int, list[int]] = {0: [], 1: []}
    for row in np.asarray(table).tolist():
        for left, right in pairwise(row):
            if left >= 0 and right >= 0:
                after[left].append(right)
    if not after[0] or not after[1]:
        return math.nan
    return sum(after[1]) / len(after[1]) - sum(after[0]) / len(after[0])


def all_tables(table: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Every table with the same sums of rows and columns."""
    rows = [[row for row in product((0, 1), repeat=table.shape[1]) if sum(row) == total] for total in table.sum(axis=1)]
    found = (np.array(one) for one in product(*rows))
    return [one for one in found if (one.sum(axis=0) == table.sum(axis=0)).all()]


TABLE = np.array([[1, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 1, 1, 1, 1], [0, 0, 0, 0, 1]])


def test_excess_and_p_are_those_over_all_tables_with_the_same_sums() -> None:
    every = [difference(one) for one in all_tables(TABLE)]
    assert len(every) == 49
    mean = float(np.mean(every))
    exact = float(np.mean(np.abs(np.array(every) - mean) >= abs(difference(TABLE) - mean) - 1e-9))
    found = dependence(TABLE, np.zeros(4, dtype=int), generator(1, "exact"), draws=20_000)
    assert found.difference == pytest.approx(difference(TABLE))
    assert found.expected == pytest.approx(mean, abs=0.01)
    assert found.excess == pytest.approx(difference(TABLE) - mean, abs=0.01)
    assert found.p == pytest.approx(exact, abs=0.02)
    assert (found.n, found.ones) == (16, int(TABLE[:, :-1].sum()))


def test_the_expected_difference_is_below_zero_if_rows_are_alike() -> None:
    """The bias of Miller and Sanjurjo: within short rows, equal rates look like alternation."""
    tables = [np.array(one).reshape(6, 5) for one in ([1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1] * 2,)]
    found = dependence(tables[0], np.zeros(6, dtype=int), generator(1, "bias"))
    assert found.expected < -0.1
    assert found.excess == pytest.approx(found.difference - found.expected)


@given(
    st.integers(2, 7).flatmap(
        lambda columns: st.lists(st.lists(st.sampled_from([-1, 0, 1]), min_size=columns, max_size=columns), min_size=2)
    ),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_trades_keep_every_sum_the_empty_cells_and_the_groups(rows: list[list[int]], data: st.DataObject) -> None:
    table = np.array(rows, dtype=np.int8)
    groups = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows))))
    traded = _swap_cells(table[None].repeat(3, axis=0), groups, generator(1, "trades"), 5)
    for one in traded:
        assert ((one == -1) == (table == -1)).all()
        assert (one.sum(axis=1) == table.sum(axis=1)).all()
        for group in set(groups.tolist()):
            assert (one[groups == group].sum(axis=0) == table[groups == group].sum(axis=0)).all()


@pytest.mark.parametrize(
    "table",
    [
        [[1, 0], [0, 1], [1, 1]],  # two columns: a row's sum says how many pairs it has
        [[1, 0, -1], [0, 1, -1], [-1, 1, 0], [-1, 0, 1]],  # two cells a row, wherever they are
        [[1, 0, 1, 1]],  # nobody to trade with
        [[1, 1, 1], [1, 1, 1]],
        [[-1, -1, -1], [-1, -1, -1]],
    ],
)
def test_without_another_table_there_is_no_figure(table: list[list[int]]) -> None:
    found = dependence(table, np.zeros(len(table), dtype=int), generator(1, "none"))
    assert all(math.isnan(value) for value in (found.excess, found.p, found.expected))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=9))
def test_no_trade_between_rows_of_two_cells_changes_the_difference(rows: list[tuple[int, int, int]]) -> None:
    table = np.full((1, len(rows), 4), -1, dtype=np.int8)
    for row, (at, left, right) in enumerate(rows):
        table[0, row, at : at + 2] = left, right
    groups = np.zeros(len(rows), dtype=int)
    traded = _swap_cells(np.repeat(table, 9, axis=0), groups, generator(1, "two"), 4)
    assert {difference(one) for one in traded} <= {difference(table[0])} or math.isnan(difference(table[0]))


def test_rows_in_groups_of_their_own_have_no_partner_to_trade_with() -> None:
    assert math.isnan(dependence(TABLE, np.arange(4), generator(1, "alone")).p)


@pytest.mark.parametrize("cells", [[[0, 2]], [0, 1], [[0.5, 1]]])
def test_other_cell_values_are_refused(cells: list[object]) -> None:
    with pytest.raises(ValueError, match="cells must be"):
        dependence(np.array(cells), np.zeros(1, dtype=int), generator(1, "refused"))


def world(
    rng: np.random.Generator, *, memory: float = 0.0, drift: float = 0.0, rows: int = 30
) -> npt.NDArray[np.int64]:
    """(rows, 10): conversations with rates of their own (log odds of standard deviation 1) that rise by 2.

    memory: what a 1 adds to the log odds of the next cell. drift: standard deviation of the rise of each row by itself.
    """
    own, turns = rng.normal(0, 1, rows), np.linspace(-1, 1, 10)
    slope = rng.normal(0, drift, rows) if drift else np.zeros(rows)
    cells = np.zeros((rows, 10), dtype=np.int64)
    for turn in range(10):
        before = cells[:, turn - 1] if turn else 0
        odds = own + (1 + slope) * turns[turn] + memory * before
        cells[:, turn] = rng.random(rows) < 1 / (1 + np.exp(-odds))
    return cells


def found_in_worlds(worlds: int, **kind: float) -> int:
    """In how many worlds p is at most 5%."""
    found = 0
    for number in range(worlds):
        rng = generator(7, "worlds", number)
        table = world(rng, memory=kind.get("memory", 0.0), drift=kind.get("drift", 0.0))
        found += dependence(table, np.zeros(len(table), dtype=int), rng, draws=99, steps=10).p <= 0.05
    return found


def most_by_chance(worlds: int) -> int:
    """What a binomial with 5% exceeds with probability less than 1 in 1,000."""
    chances, total = [math.comb(worlds, k) * 0.05**k * 0.95 ** (worlds - k) for k in range(worlds + 1)], 0.0
    for count, chance in enumerate(chances):
        total += chance
        if total >= 0.999:
            return count
    raise AssertionError(worlds)


def test_bad_conversations_and_late_turns_raise_no_alarm() -> None:
    assert found_in_worlds(100) <= most_by_chance(100)


def test_memory_is_detected() -> None:
    assert found_in_worlds(20, memory=1.5) >= 15


@pytest.mark.soak
def test_size_and_power_in_many_worlds() -> None:
    alarms = found_in_worlds(1000)
    powers = {memory: found_in_worlds(200, memory=memory) / 200 for memory in (0.5, 1.0, 1.5)}
    drifting = found_in_worlds(200, drift=2.0) / 200
    print(f"\nno memory: {alarms / 1000:.3f}; memory: {powers}; rows that drift on their own: {drifting:.3f}")
    assert alarms <= most_by_chance(1000)
    assert powers[0.5] < powers[1.0] < powers[1.5]
    assert powers[1.5] >= 0.9
    assert drifting > 0.05  # the page says that these are not told apart
