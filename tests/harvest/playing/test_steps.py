"""Systems are played in step: a quick one does not finish hours before a slow one, and nobody waits for a dead one."""

from __future__ import annotations

import asyncio
from collections import deque
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.playing.plan import Sitting
from harvest.playing.runner import Steps


def _queue(trials: list[int]) -> deque[Sitting]:
    return deque(Sitting((), block=(trial, 0)) for trial in sorted(trials))


_trials = st.lists(st.integers(1, 5), max_size=8)


@given(queues=st.dictionaries(st.sampled_from("ABC"), _trials), order=st.randoms(use_true_random=False))
def test_no_system_is_more_than_a_trial_ahead_and_every_sitting_is_played(
    queues: dict[str, list[int]], order: object
) -> None:
    waiting = {name: _queue(trials) for name, trials in queues.items()}
    taken: list[tuple[str, int]] = []

    async def work(steps: Steps, name: str) -> None:
        while (sitting := await steps.next_sitting(name)) is not None:
            taken.append((name, sitting.block[0]))
            for name_of_other, queue in waiting.items():
                if name_of_other != name and queue:
                    assert queue[0].block[0] >= sitting.block[0] - 1
            for _ in range(order.randrange(3)):  # type: ignore[attr-defined]
                await asyncio.sleep(0)

    async def everybody() -> None:
        steps = Steps(waiting)
        async with asyncio.TaskGroup() as group:
            for name in waiting:
                for _ in range(2):
                    group.create_task(work(steps, name))

    asyncio.run(asyncio.wait_for(everybody(), 30))
    assert sorted(taken) == sorted((name, trial) for name, trials in queues.items() for trial in trials)
    for name in queues:
        own = [trial for of, trial in taken if of == name]
        assert all(one <= other for one, other in pairwise(own))


async def test_a_system_that_is_abandoned_delays_nobody() -> None:
    steps = Steps({"quick": _queue([1, 2, 3]), "dead": _queue([1, 1, 1])})
    assert (await steps.next_sitting("quick")) is not None
    assert (await steps.next_sitting("quick")) is not None
    third = asyncio.create_task(steps.next_sitting("quick"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(third), 0.01)
    assert await steps.give_up_system("dead") == 0  # these sittings hold no trial
    sitting = await third
    assert sitting is not None
    assert sitting.block == (3, 0)
