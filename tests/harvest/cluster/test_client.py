"""The cluster as whoever gives it work sees it."""

from __future__ import annotations

import gc
import threading

import pytest

from harvest.cluster.client import connected
from topics.errors import InputError


def test_a_client_that_cannot_start_is_closed_at_once_and_not_when_memory_is_looked_through() -> None:
    before = set(threading.enumerate())
    gc.disable()
    try:
        with pytest.raises(InputError, match="there is no scheduler of Dask at nowhere"), connected("nowhere"):
            pass
        assert [one.name for one in threading.enumerate() if one not in before] == []
    finally:
        gc.enable()
