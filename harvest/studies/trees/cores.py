"""Draws that do not depend on each other, made on several cores at once."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

_MOST = 4  # each draw holds some tens of megabytes


@contextmanager
def cores() -> Iterator[ThreadPoolExecutor]:
    """Threads for work that numpy does, which runs beside Python. What is submitted must have random numbers of its
    own, so that nothing depends on what comes first. Work that was not begun is dropped where the block is left early.
    """
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pool = ThreadPoolExecutor(min(known or 1, _MOST), thread_name_prefix="cores")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
