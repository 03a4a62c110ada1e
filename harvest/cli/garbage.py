"""Values of recorded runs are never looked through for what could be collected."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """For commands that make millions of values, none of them in a circle, and need all of them to the end: to look for
    what could be collected takes up to a seventh of their time, and finds nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
