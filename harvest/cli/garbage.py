"""Values of recorded runs are never looked through for what could be collected."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 200_000  # values; to look through them takes a tenth of a second


@contextmanager
def uncollected() -> Iterator[None]:
    """For commands that make millions of values, none of them in a circle, and need all of them to the end: to look for
    what could be collected takes up to a seventh of their time, and finds nothing. Where there are many of them, they
    are not looked through later either."""
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY:
            gc.freeze()  # or the next look would go through all of them
        gc.enable()
