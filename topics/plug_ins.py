"""Plug-ins from other distributions, found by the entry points of a group. Each name may be used once."""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from topics.errors import InputError

T = TypeVar("T")

# Results of `load_entry`, in order: all code of other distributions in this process is loaded there.
_LOADED: dict[str, None] = {}


def find_plug_ins(group: str, what: str, taken: Collection[str]) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name. `what` is the kind of plug-in in the plural. `taken` has Harvest's
    own names. Raises InputError for a name that is taken or that two distributions define."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        if entry.name in taken or entry.name in found:
            raise InputError(
                f"two {what} are called {entry.name!r}; one is from {entry_source(entry)}",
                advice="rename one, or uninstall this distribution",
            )
        found[entry.name] = entry
    return MappingProxyType(found)


def entry_points(group: str) -> Iterable[EntryPoint]:
    """Return the entry points of a group."""
    found: Iterable[EntryPoint] = _installed(_path_stamps()).select(group=group)
    return found


def installed_plug_ins() -> list[str]:
    """Return a description of every installed plug-in, with the version of its distribution, in order."""
    return sorted(
        f"{one.group} {one.name} = {entry_source(one)} {one.dist.version if one.dist else ''}"
        for group in _installed(_path_stamps()).groups
        if group.startswith("harvest.")
        for one in entry_points(group)
    )


@lru_cache(1)
def _installed(_: tuple[tuple[str, int], ...]) -> Any:
    # All groups at once: each call reads the files of every distribution. Its class depends on the version of Python.
    return metadata.entry_points()


def _path_stamps() -> tuple[tuple[str, int], ...]:
    """Return each folder of modules with its time of change, which shows if a distribution was installed."""
    folders = [Path(folder) for folder in sys.path]
    return tuple((str(folder), folder.stat().st_mtime_ns) for folder in folders if folder.exists())


def load_entry(entry: EntryPoint, what: str, allowed: str, made: Callable[[Any], T]) -> T:
    """Load an entry point's object and pass it to `made`, which raises TypeError for an unsuitable object. `what` is
    the kind of object for messages, such as `the driver`. Raises InputError for any failure, because the code is not
    Harvest's."""
    try:
        found = made(entry.load())
        _LOADED[f"{what} {entry.name!r} of {entry_source(entry)}"] = None
        return found
    except InputError:
        raise
    except Exception as fault:
        kind = "" if isinstance(fault, TypeError) else f"{type(fault).__name__}: "
        raise InputError(
            f"{what} {entry.name!r} of {entry_source(entry)} cannot be loaded: {kind}{fault}",
            allowed=allowed,
            advice="correct it, or uninstall that distribution",
        ) from fault


def loaded_plug_ins() -> tuple[str, ...]:
    """Return descriptions of the plug-ins loaded in this process."""
    return tuple(_LOADED)


def entry_source(entry: EntryPoint) -> str:
    return f"{entry.dist.name} ({entry.value})" if entry.dist else entry.value
