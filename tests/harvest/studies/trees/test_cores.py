"""Work on several cores: all of it is done, and none is begun once it is of no use."""

from __future__ import annotations

import time

import numpy as np
import pytest

from harvest.studies.trees.parted_systems import cores


def drawn(seed: int) -> float:
    return float(np.random.default_rng(seed).random(1000).sum())


def test_the_draws_do_not_depend_on_what_comes_first() -> None:
    with cores() as pool:
        found = [one.result() for one in [pool.submit(drawn, seed) for seed in range(40)]]
    assert found == [drawn(seed) for seed in range(40)]


def test_work_that_has_not_begun_is_dropped_after_a_fault() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        time.sleep(0.05)

    def fail() -> None:
        with cores() as pool:
            for number in range(50):
                pool.submit(work, number)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert len(begun) < 50
