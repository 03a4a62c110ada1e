"""Many conversations with one browser: memory stays bounded, every page is closed, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harvest.drivers.registry import build_driver
from harvest.systems.driver import Opening, Surroundings
from tests.support.interfaces import NAMES, awkward_pages, interface
from tests.support.processes import below, gone, memory


@dataclass
class Course:
    """own, below: MB in memory of this process and of all it started, after each `every` conversations. processes:
    how many there were then. left: ids of processes that were still there after the end."""

    own: list[float] = field(default_factory=list)
    below: list[float] = field(default_factory=list)
    processes: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        cells = zip(self.own, self.below, self.processes, strict=True)
        return ", ".join(f"{own:.0f}+{other:.0f} MB/{count}" for own, other, count in cells)


async def settled(servers: Collection[int]) -> list[int]:
    """The processes below this one but the servers, once no more of them end: those of closed pages take a moment."""
    family = [one.id for one in below(os.getpid()) if one.id not in servers]
    while True:
        await asyncio.sleep(1)
        now = [one.id for one in below(os.getpid()) if one.id not in servers]
        if len(now) >= len(family):
            return now
        family = now


async def _converse(url: str, conversations: int, every: int, contexts: int = 3) -> Course:
    course = Course()
    servers = {one.id for one in below(os.getpid())}
    driver = build_driver("browser", {"url": url}, Surroundings("page", Path()))

    async def hold(number: int) -> None:
        session = await driver.open(Opening("page", "M001", number, 1))
        for turn in (1, 2):
            said = f"scenario quick n={number} t={turn} and some more words"
            assert (await session.say(said)).turn.answer.text
        await session.close()

    family: list[int] = []
    try:
        for first in range(0, conversations, every):
            for start in range(first, first + every, contexts):
                async with asyncio.TaskGroup() as group:
                    for number in range(start, min(start + contexts, first + every)):
                        group.create_task(hold(number))
            family = await settled(servers)
            own, other = memory(os.getpid())
            course.own.append(own)
            course.below.append(other)
            course.processes.append(len(family))
    finally:
        await driver.close()
    course.left = await asyncio.to_thread(gone, family)
    return course


def test_four_conversations_leave_no_page_no_process_and_no_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The browser refuses to keep its own in a folder with a path as long as pytest's are.
    with awkward_pages() as pages, tempfile.TemporaryDirectory(prefix="h-") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        course = asyncio.run(_converse(pages.url("plain"), 4, 2, contexts=2))
        assert course.left == []
        assert list(Path(folder).iterdir()) == []
    with capsys.disabled():
        print(f"\n{course}")
    # A page is a process or two: pages that stayed open would add up.
    assert course.processes[-1] <= course.processes[0] + 2, course
    assert course.own[-1] <= course.own[0] + 20, course
    assert course.below[-1] <= course.below[0] + 120, course


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_memory_does_not_grow_over_five_hundred_conversations(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with interface(name) as page:
        course = asyncio.run(_converse(page.url, 500, 50))
    with capsys.disabled():
        print(f"\n{name}: {course}")
    assert course.left == []
    assert course.processes[-1] <= course.processes[0] + 2, course
    # From the second fifty on: the first fills caches.
    assert course.own[-1] <= course.own[1] + 30, course
    assert course.below[-1] <= course.below[1] + 150, course
