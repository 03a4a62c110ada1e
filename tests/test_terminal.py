"""What systems wrote is shown whole and cannot steer the terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harvest.terminal import shown


def test_escape_sequences_become_pictures() -> None:
    assert shown("\x1b[31mred\x1b]0;title\x07") == "␛[31mred␛]0;title␇"
    assert shown("\u202egnp.exe") == "<U+202E>gnp.exe"
    assert shown("\x7f\x9b") == "␡<U+009B>"


def test_lines_and_tabs_stay_unless_one_line_is_wanted() -> None:
    assert shown("a\n\tb") == "a\n\tb"
    assert shown("a\n\tb", line=True) == "a␊␉b"


@given(st.text())
def test_nothing_that_steers_is_left_and_letters_stay(text: str) -> None:
    found = shown(text, line=True)
    assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in found)
    assert shown(found, line=True) == found
    if text.isalnum():
        assert found == text
