"""Worlds of a statistical test that the suite tries, and those that only the long tests try."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["keep_cells"]


def keep_cells(cells: Iterable[Any], *kept: object) -> list[Any]:
    """All cells as parameters of a test: those at the places (or with the names) `kept` are tried in the suite, the
    others by `make soak`. Keep the cell that fails first if the method is wrong."""
    return [
        cell if {place, cell if isinstance(cell, str) else None} & set(kept) else _in_soak(cell)
        for place, cell in enumerate(cells)
    ]


def _in_soak(cell: Any) -> Any:
    return pytest.param(*(cell if type(cell) is tuple else (cell,)), marks=pytest.mark.soak)
