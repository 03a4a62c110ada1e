"""The places that kinds may have: by hand, and ranges that hold together."""

import numpy as np
import pytest

from scoring.inference.ranks import possible_ranks
from tests.support.exposure_worlds import WORLDS, ExposureWorld, topic_shares
from topics.identity import generator


def test_clear_orders_are_certain() -> None:
    shares = np.tile([0.7, 0.2, 0.1, 0.0], (200, 1))
    assert possible_ranks(shares) == [(1, 1), (2, 2), (3, 3), (4, 4)]


def test_few_topics_allow_any_order() -> None:
    assert possible_ranks(np.eye(3)) == [(1, 3)] * 3
    assert possible_ranks(np.ones((5, 1))) == [(1, 1)]


@pytest.mark.parametrize(
    ("world", "studies"),
    [
        pytest.param(WORLDS[5], 20, id=str(WORLDS[5])),
        *(pytest.param(one, 300, marks=pytest.mark.soak, id=str(one)) for one in WORLDS),
    ],
)
def test_all_true_ranks_are_in_their_ranges(world: ExposureWorld, studies: int) -> None:
    true = world.true_shares()
    wrong = 0
    for number in range(studies):
        shares = topic_shares(world.draw(generator(5, "ranks", str(world), str(number)), 45, 1))
        first = np.argsort(-shares.sum(axis=0), kind="stable")[:8]
        own = true[first]
        for place, (low, high) in enumerate(possible_ranks(shares[:, first])):
            above = int((own > own[place] + 1e-9).sum())
            level = int((np.abs(own - own[place]) <= 1e-9).sum())  # ties have any of their places
            if above + level < low or above + 1 > high:
                wrong += 1
                break
    assert wrong <= max(1, 0.05 * studies)
