"""Spare large recordings from garbage collection."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected(many: int = 200_000) -> Iterator[None]:
    """Suspend garbage collection for commands that keep millions of values, none of them in a cycle, until they end.
    Collection would take up to a seventh of their time and find nothing. If there are more than `many` values, which
    take about a tenth of a second to look through, they are also exempt from later collections."""
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > many:
            gc.freeze()  # or the next look would go through all of them
        gc.enable()
