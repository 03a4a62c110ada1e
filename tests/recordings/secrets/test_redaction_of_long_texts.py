"""A long text is looked at stretch by stretch: what it repeats once, and with the same result as in one look."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recordings.secrets import redaction
from recordings.secrets.escapes import SearchedText
from recordings.secrets.redaction import Redactor
from tests.support.fillers import FILLERS, filled

TOLD = "hunter2-hunter2"


def looks(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many texts secrets are looked for in, to redact `text`."""
    seen = []

    def searched(text: str) -> SearchedText:
        seen.append(text)
        return SearchedText(text)

    with monkeypatch.context() as patch:
        patch.setattr(redaction, "SearchedText", searched)
        Redactor().text(text)
    return len(seen)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("set-cookie", marks=pytest.mark.soak),
        "PEM lines",
        "parameters",
        "long keys",
        "Markdown links",
        "words",
    ],
)
def test_repeated_text_in_a_reply_is_scanned_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (looks(filled(FILLERS[name], size), monkeypatch) for size in (4_000_000, 7_500_000))
    assert 0 < many == few


def test_unrepeated_text_in_a_reply_is_scanned_in_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (looks("".join(f"{n} words, " for n in range(count)), monkeypatch) for count in (80_000, 240_000))
    assert 2 * few < many < 4 * few


PIECES = (
    *("a ", " ", "\n", "x" * 40 + " ", "&token=abc1 ", "cookie: a=b; ", "://u:pw@ "),
    *(f"{TOLD} ", f"{TOLD[:7]} ", "\\u0068unter2-hunter2 ", "&#104;unter2-hunter2 "),
)


@given(st.lists(st.tuples(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4), st.integers(1, 300)), max_size=5))
@example([(["a "], 300), ([f"{TOLD} "], 300)])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_stretches_find_the_same_as_one_scan(
    monkeypatch: pytest.MonkeyPatch, loops: list[tuple[list[str], int]]
) -> None:
    text = "".join("".join(pieces) * times for pieces, times in loops)
    redactor = Redactor([TOLD])
    whole = redactor.text(text)
    with monkeypatch.context() as patch:
        for name, size in (("_STRETCH", 4096), ("_CONTEXT", 512), ("_HEAD", 16), ("_LONGEST_PERIOD", 1024)):
            patch.setattr(redaction, name, size)
        assert redactor.text(text) == whole
