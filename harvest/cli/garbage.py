"""Spare large recordings from garbage collection."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 200_000  # values; to look through them takes a tenth of a second


@contextmanager
def uncollected() -> Iterator[None]:
    """Suspend garbage collection for commands that keep millions of values, none of them in a cycle, until they end.

    Collection would take up to a seventh of their time and find nothing. If there are many values, they are also
    exempt from later collections.
    """
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY:
            gc.freeze()  # or the next look would go through all of them
        gc.enable()
