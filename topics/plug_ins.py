"""What other distributions add by entry points: found by the name of a group, each name once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

from topics.errors import InputError

__all__ = ["found_in", "source"]


def found_in(group: str, what: str, taken: Collection[str]) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name. what: what they are, in the plural. taken: names that are Harvest's own.

    Raises InputError for a name that is taken, or that two distributions give.
    """
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        if entry.name in taken or entry.name in found:
            raise InputError(
                f"two {what} are called {entry.name!r}; one is of {source(entry)}",
                advice="rename it there, or uninstall that distribution",
            )
        found[entry.name] = entry
    return MappingProxyType(found)


def source(entry: EntryPoint) -> str:
    """Where an entry point is from: its distribution, and what it names there."""
    return f"{entry.dist.name} ({entry.value})" if entry.dist else entry.value
