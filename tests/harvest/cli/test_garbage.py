"""Nothing is collected while a study is made, and everything afterwards."""

from __future__ import annotations

import gc

import pytest

from harvest.cli.garbage import uncollected


def test_collecting_goes_on_afterwards_whatever_happens() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), uncollected():
        _ = 1 / 0
    assert gc.isenabled()
