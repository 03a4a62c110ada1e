"""Printed intervals hold the truth in simulated worlds: a part of them here, all of them in `make soak`."""

from __future__ import annotations

import re

import pytest

from tests.support.calibration import Cell, shares, table
from tests.support.calibration_page import LEAST, PAGE
from tests.support.calibration_worlds import WORLDS
from tests.support.torture import __main__ as torture
from tests.support.torture import classical
from tests.support.torture.page import FAMILIES, HEAD
from tests.support.torture.table import line


def test_no_cell_on_the_page_covers_less_than_promised() -> None:
    page = PAGE.read_text(encoding="utf-8")
    covers = [float(cell) for cell in re.findall(r"\| (1\.000|\.\d{3})(?= )", page[page.index("## All cells") :])]
    assert len(covers) > 200
    assert min(covers) >= LEAST


def test_the_page_lists_every_interval_and_verdict_in_hostile_worlds() -> None:
    page = PAGE.read_text(encoding="utf-8")
    part = page[page.index(HEAD) : page.index("## All cells")]
    textbook = {engine.name for engine in classical.ENGINES}
    told = {name.removesuffix(FAMILIES) for name in torture.ENGINES if name not in textbook}
    assert {name for name in told if f"### {name[0].upper()}{name[1:]}\n" not in part} == set()


@pytest.mark.parametrize("name", ["bimodal", "rare"])
def test_shares_cover_the_truth_for_topics_of_two_kinds(name: str) -> None:
    world = next(world for world in WORLDS if world.name == name)
    for kind, (pairs, truth) in shares(world, (15, 5), 60).items():
        held = [low <= true <= high for (low, high), true in zip(pairs, truth, strict=True) if low == low]
        assert sum(held) >= 0.88 * len(held), kind  # .95 of 60, less three standard errors


@pytest.mark.soak
def test_every_printed_interval_covers_the_truth_in_every_world_and_size() -> None:
    def short(cell: Cell) -> bool:
        return bool(cell.printed) and cell.coverage < LEAST

    assert [cell for cell in table(500) if short(cell)] == []


@pytest.mark.soak
def test_every_interval_and_verdict_is_valid_in_hostile_worlds() -> None:
    asked = torture.tasks([], [], ["8x3", "15x5", "45x5", "200x1"], 300, 31, whole=False)
    textbook = {engine.name for engine in classical.ENGINES}
    cells = torture.played((task for task in asked if task[0] not in textbook), 2)
    assert [line(cell) for cell in cells if not cell.hidden and (cell.too_low or cell.too_wrong)] == []
