"""The largest share of any kind, whichever it is: by hand, and covered."""

import math

import numpy as np
import pytest

from scoring.inference.largest_share import largest_share
from tests.support.exposure_worlds import SIZES, WORLDS, ExposureWorld, topic_shares
from topics.identity import generator


def test_the_kind_and_its_share_are_those_of_the_sample() -> None:
    column, value, interval = largest_share([[0.5, 0.5], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    assert (column, value) == (1, 0.625)
    assert interval.low < 0.625 < interval.high


def test_few_topics_have_no_interval() -> None:
    column, value, interval = largest_share(np.eye(3))
    assert (column, value, interval.note) == (0, 1 / 3, "3 topics: too few to resample")
    assert largest_share(np.zeros((5, 0)))[0] == -1
    assert math.isnan(largest_share(np.zeros((5, 0)))[1])


def test_a_share_that_is_largest_by_luck_is_not_told_apart_from_its_peers() -> None:
    # 45 topics cite one of 200 equal domains each: one of them leads with two or three citations.
    world = ExposureWorld(name="200 equal domains", domains=200, exponent=0.0, cites=0.0)
    for number in range(5):
        found = largest_share(topic_shares(world.draw(generator(0, "luck", str(number)), 45, 1)))
        assert found[1] >= 2 / 45
        assert found[2].contains(1 / 200)


@pytest.mark.parametrize(
    ("world", "size", "studies"),
    [
        *(pytest.param(one, (15, 1), 40, id=str(one)) for one in WORLDS[1:9:3]),
        *(pytest.param(one, size, 400, marks=pytest.mark.soak, id=f"{one} {size}") for one in WORLDS for size in SIZES),
    ],
)
def test_intervals_cover(world: ExposureWorld, size: tuple[int, int], studies: int) -> None:
    truth = float(world.true_shares().max())
    found = [
        largest_share(topic_shares(world.draw(generator(2, "largest", str(world), str(k)), *size)))[2]
        for k in range(studies)
    ]
    covered = sum(one.contains(truth) for one in found) / studies
    assert covered >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / studies)
