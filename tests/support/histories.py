"""Histories of watched audits as files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harvest.studies.watch.history import Look, open_history

__all__ = ["write_history"]


def write_history(path: Path, looks: Iterable[Look]) -> None:
    """Add the looks to the history at `path`, one after the other."""
    for look in looks:
        with open_history(path) as file:
            file.add(look)
