"""Suspend garbage collection while large recordings are processed."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collection(most: int = 200_000) -> Iterator[None]:
    """Suspend garbage collection until a command ends, for a command that keeps millions of objects without cycles.
    Collection would take up to a seventh of the command's time and free nothing. If the command created more than
    `most` objects, which take about a tenth of a second to traverse, they are also exempt from later collections."""
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > most:
            gc.freeze()  # or the next look would go through all of them
        gc.enable()
