"""Cookies: each header is looked at on its own, and the same one once; they are found as in one look at all of them.

Patterns: what may match is told from what cannot as by plain searches."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recordings.secrets.escapes import SearchedText
from recordings.secrets.redaction import Redactor
from recordings.secrets.secret_patterns import (
    _EXACT_LITERALS,
    _LOWER_CASE_LITERALS,
    _PARAMETER_LITERALS,
    _cookie_values,
    _holds_any,
    cookies,
)
from topics.lower_case import to_lower

PARTS = (
    "cookie: a=b",
    "Set-Cookie: sid=Hunter2; Path=/; ",
    *("cookie", "set-cookie", "COO\u212aIE", "coo", "-", "_", "x", ":", ", ", "; ", "a=b", "a=", "=", "!=", "expires="),
    *('cookie:"', "cookie:[", '"', "'", "\\", "[", "]", "\n", " ", "\u0130", "申"),
)


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
@example('cookie:"a=b\\cookie:c=d')
@example("cookie: a=b" + "_set-cookie: c=d" + "set-cookie: c=d" + "-set-cookie: c=d")
def test_cookies_are_found_as_in_one_scan_of_all_headers(text: str) -> None:
    assert [(start, end) for start, end, _ in cookies(SearchedText(text))] == list(_cookie_values(text, to_lower(text)))


@pytest.mark.parametrize("header", ["set-cookie: a=b; ", "Cookie: a=b; c=d\n", 'set-cookie: ["a=b", "c=d; Path=/"] '])
def test_a_header_is_scanned_once_however_often_a_reply_repeats_it(header: str) -> None:
    redactor = Redactor()
    redactor.text(header * 2_000)  # what a long text needs is imported now
    few, many = (looks(lambda text=header * times: redactor.text(text)) for times in (100, 2_000))  # type: ignore[misc]
    assert 0 < many == few


def looks(work: Callable[[], object]) -> int:
    """How many times an expression is asked for something at one place."""
    asked = []

    def called(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call" and function.__name__ in {"match", "search"}:
            asked.append(function)

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(asked)


def test_searching_by_the_rarest_character_finds_the_same() -> None:
    groups = (*_EXACT_LITERALS, *_LOWER_CASE_LITERALS, *_PARAMETER_LITERALS)
    assert any(group.around for group in groups)
    draw = random.Random(1)
    for group in groups:
        letters = [*"".join(group.literals), group.rarest]
        held = 0
        for number in range(300):
            parts = [*draw.choices(letters, k=draw.randint(0, 40)), *([group.rarest] * (70 if number % 3 == 0 else 0))]
            if number % 2:
                literal = draw.choice(group.literals)
                parts.insert(draw.randint(0, len(parts)), literal[draw.randint(0, 1) :])
            text = "".join(parts)
            expected = any(literal in text for literal in group.literals)
            assert _holds_any(text, (group,)) == expected, text
            held += expected
        assert held > 30
