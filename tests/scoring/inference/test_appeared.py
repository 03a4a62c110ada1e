"""Kinds that a later run shows and an earlier one does not: by hand, and false alarms as rare as promised."""

import math

import numpy as np
import pytest

from scoring.inference.appeared import Appeared, appeared
from tests.support.exposure_worlds import WORLDS, ExposureWorld
from topics.identity import generator


def test_the_figures_are_those_computed_by_hand() -> None:
    # Two topics with two trials in each run. Kind 0 is in all trials of the later run alone, kind 1 in one of them.
    topics = [0, 0, 0, 0, 1, 1, 1, 1]
    later = [False, False, True, True] * 2
    shown = np.array([later, [False, False, True, False] + 4 * [False], 8 * [True]]).T
    found = appeared(shown, topics, later, generator(0, "by hand"))
    assert found.new.tolist() == [0, 1]
    assert found.trials.tolist() == [4, 1]
    assert found.p.tolist() == [pytest.approx((1 / 6) ** 2), pytest.approx(1 / 2)]
    # Kind 1 could not be called new, and kind 2 neither: the family is kind 0 alone.
    assert found.corrected[0] == pytest.approx(1 / 36)
    assert math.isnan(found.corrected[1])


def test_topics_of_only_one_run_show_nothing() -> None:
    found = appeared([[True], [True], [False]], [0, 1, 1], [True, True, False], generator(0, "alone"))
    assert (found.new.tolist(), found.trials.tolist()) == ([0], [1])
    assert found.p.tolist() == [0.5]


def test_without_common_topics_there_is_no_comparison() -> None:
    found = appeared([[True], [True]], [0, 1], [True, False], generator(0, "nothing"))
    assert not len(found.new)


def looked(world: ExposureWorld, topics: int, trials: int, number: int, *, planted: int = 0) -> Appeared:
    rng = generator(4, "appeared", str(world), str(number))
    shown = world.draw(rng, topics, 2 * trials) > 0
    later = np.tile(np.arange(2 * trials) >= trials, topics)
    table = np.append(shown.reshape(topics * 2 * trials, -1), np.zeros((len(later), 1), dtype=bool), axis=1)
    table[rng.choice(np.flatnonzero(later), planted, replace=False), -1] = True
    return appeared(table, np.repeat(np.arange(topics), 2 * trials), later, rng)


@pytest.mark.parametrize(
    ("world", "size", "studies"),
    [
        *(pytest.param(one, (15, 2), 30, id=str(one)) for one in WORLDS[:9:4]),
        *(
            pytest.param(one, size, 300, marks=pytest.mark.soak, id=f"{one} {size}")
            for one in WORLDS
            for size in ((8, 1), (8, 3), (45, 2))
        ),
    ],
)
def test_an_unchanged_system_has_no_news(world: ExposureWorld, size: tuple[int, int], studies: int) -> None:
    each = [looked(world, *size, number) for number in range(studies)]
    error = 2 * math.sqrt(0.05 * 0.95 / studies)
    named = sum(bool((one.corrected <= 0.05).any()) for one in each) / studies
    assert named <= 0.05 + error
    assert sum(one.chance <= 0.05 for one in each) / studies <= 0.05 + error
    # Only the number of new kinds that chance brings is expected.
    seen, expected = (np.mean(part) for part in zip(*((len(one.new), one.expected) for one in each), strict=True))
    assert seen == pytest.approx(expected, rel=0.25, abs=0.5)


def test_a_domain_that_appears_in_a_third_of_answers_is_news() -> None:
    found = looked(WORLDS[0], 15, 2, 0, planted=10)
    at = found.new.tolist().index(60)
    assert found.trials[at] == 10
    assert found.corrected[at] <= 0.05
