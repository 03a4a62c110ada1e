"""Plug-ins from other distributions, found by the entry points of a group. Each name may be used once."""

from collections.abc import Callable, Collection, Mapping
from importlib.metadata import EntryPoint, entry_points
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
