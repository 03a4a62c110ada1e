"""Nothing is collected while a study is made, and everything afterwards."""

from __future__ import annotations

import gc

import pytest

from harvest.cli.garbage import pause_collection


def test_garbage_collection_continues_afterwards_in_any_case() -> None:
    assert gc.isenabled()
    with pause_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), pause_collection():
        _ = 1 / 0
    assert gc.isenabled()


def test_many_values_are_not_traversed_later_either() -> None:
    gc.collect()  # so that few are young
    before = gc.get_freeze_count()
    try:
        with pause_collection(most=10_000):
            few: list[list[int]] = [[] for _ in range(100)]
        assert gc.get_freeze_count() == before
        with pause_collection(most=10_000):
            many: list[list[int]] = [[] for _ in range(20_000)]
        assert gc.get_freeze_count() >= before + len(many) + len(few)
    finally:
        gc.unfreeze()
