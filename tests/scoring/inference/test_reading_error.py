"""The bound on misread answers holds where it is hardest, and says nothing where nothing was compared."""

import math

import numpy as np
import pytest

from scoring.inference.reading_error import WitnessCounts, reading_error
from tests.support.kept_cells import keep_cells
from tests.support.reading_worlds import audits, worlds


def test_many_short_conversations_without_a_difference_leave_room_for_one_unseen_error() -> None:
    found = reading_error([WitnessCounts(3, 0, 0)] * 140)
    assert (found.compared, found.differ, found.misread) == (420, 0, 3)
    assert found.share == pytest.approx(3 / 420)


def test_few_long_conversations_without_a_difference_leave_room_for_half() -> None:
    assert reading_error([WitnessCounts(60, 0, 0), WitnessCounts(60, 0, 0)]).share == 0.5


def test_differing_turns_were_misread_and_turns_without_comparison_count_against_all() -> None:
    found = reading_error([WitnessCounts(2, 1, 0), *[WitnessCounts(3, 0, 0)] * 30, WitnessCounts(0, 0, 6)])
    assert found.misread >= 1 + 1
    assert found.share_of_all == (found.misread + 6) / 99


def test_without_comparisons_nothing_is_bounded() -> None:
    found = reading_error([WitnessCounts(0, 0, 2)])
    assert math.isnan(found.share)
    assert found.share_of_all == 1.0
    assert math.isnan(reading_error([]).share_of_all)


def test_a_witness_that_sees_everything_leaves_only_the_errors_it_saw() -> None:
    assert reading_error([WitnessCounts(2, 1, 0), WitnessCounts(3, 0, 0)], sensitivity=1.0).misread == 1


@pytest.mark.parametrize(("size", "count"), keep_cells([(2, 500), (5, 500), (12, 500), (40, 100), (150, 50)], 1, 3))
def test_the_bound_is_valid_in_hostile_worlds(size: int, count: int) -> None:
    """Both shares, in 93% of the audits of every world with so many conversations."""
    rng = np.random.default_rng(size)
    for world in worlds():
        if world.conversations != size:
            continue
        held = held_of_all = 0
        for one in audits(world, count, rng):
            found = reading_error(one.told)
            held += one.compared_wrong <= found.misread
            held_of_all += one.wrong <= found.misread + found.silent
        assert held >= 0.93 * count, (world, held)
        assert held_of_all >= 0.93 * count, (world, held_of_all)
