"""A pool of threads for independent random draws."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

_MOST = 4  # each draw holds some tens of megabytes


@contextmanager
def cores() -> Iterator[ThreadPoolExecutor]:
    """Return an executor with a thread for each core, for work in numpy, which releases Python's lock.

    Each task must bring its own random numbers, so that results do not depend on the order of completion. If the
    block ends early, tasks that have not begun are cancelled.
    """
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pool = ThreadPoolExecutor(min(known or 1, _MOST), thread_name_prefix="cores")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
