"""A late pattern does what a compiled one does, and is compiled at its first use only."""

from __future__ import annotations

import copy
import re

import pytest

from topics.late_pattern import lazy_pattern


def test_a_late_pattern_finds_the_same_as_a_compiled_pattern() -> None:
    late, compiled = (
        lazy_pattern(r"\b(a)(?P<rest>\w*)", re.IGNORECASE),
        re.compile(r"\b(a)(?P<rest>\w*)", re.IGNORECASE),
    )
    text = "Ask a cat about ants"
    for _ in range(2):
        assert [one.span() for one in late.finditer(text)] == [one.span() for one in compiled.finditer(text)]
        assert late.findall(text, 3) == compiled.findall(text, 3)
        assert late.sub(r"<\g<rest>>", text) == compiled.sub(r"<\g<rest>>", text)
        assert (late.match(text, 1), late.fullmatch("b")) == (None, None)
    assert (late.pattern, late.flags, late.groupindex) == (compiled.pattern, compiled.flags, compiled.groupindex)
    assert copy.copy(late).search(text)


def test_a_late_pattern_is_compiled_at_its_first_use() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("")
