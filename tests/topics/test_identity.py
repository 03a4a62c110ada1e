from __future__ import annotations

from topics.identity import content_hash, derived_seed


def test_a_lone_surrogate_in_a_name_has_a_hash_and_a_seed() -> None:
    assert len(content_hash("system", "A\ud800")) == 32
    assert derived_seed(1, "A\ud800") != derived_seed(1, "A")


def test_a_seed_never_changes() -> None:
    assert derived_seed(1, "é", 2) == 293975157746311455039797765822477719143
