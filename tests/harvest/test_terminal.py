"""What systems wrote is shown whole and cannot steer the terminal."""

from __future__ import annotations

import os
import pty
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Table

from harvest.terminal import live_console, print_message, printable, terminal_width, wrap_lines


def test_escape_sequences_become_pictures() -> None:
    assert printable("\x1b[31mred\x1b]0;title\x07") == "␛[31mred␛]0;title␇"
    assert printable("\u202egnp.exe") == "<U+202E>gnp.exe"
    assert printable("\x7f\x9b") == "␡<U+009B>"


def test_lines_and_tabs_are_kept_unless_one_line_is_requested() -> None:
    assert printable("a\n\tb") == "a\n\tb"
    assert printable("a\n\tb", line=True) == "a␊␉b"


@given(st.text())
def test_no_control_character_is_left_and_letters_are_kept(text: str) -> None:
    found = printable(text, line=True)
    assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in found)
    assert printable(found, line=True) == found
    if text.isalnum():
        assert found == text


def test_lines_are_broken_between_words_and_keep_their_indentation() -> None:
    text = "Here are three films:\n  - Primer, a film of two engineers who\n\nThat is all."
    assert wrap_lines(text, 24).splitlines() == [
        "Here are three films:",
        "  - Primer, a film of",
        "  two engineers who",
        "",
        "That is all.",
    ]
    assert wrap_lines(text, 80) == text
    assert wrap_lines(text, None) == text


def test_the_rest_of_a_line_may_be_indented_further() -> None:
    assert wrap_lines("  one two three\nfour", 10, hang=2) == "  one two\n    three\nfour"


def test_messages_do_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_message("note: \x1b[31mred\nand more")
    assert capsys.readouterr().err == "note: ␛[31mred\nand more\n"


def test_progress_lines_follow_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what is drawn over and over would take more lines than are taken back."""
    monkeypatch.delenv("COLUMNS", raising=False)
    widths = [42, 200, 30]
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((widths[0], 24)))
    console = live_console()
    while widths:
        assert console.width == widths[0]
        console.print(Table("label"))
        del widths[0]


def test_messages_are_broken_on_a_terminal_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "note: a sentence that is wider than this terminal of forty columns"
    print_message(said)
    assert capsys.readouterr().err == f"{said}\n"
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 40))
    with os.fdopen(theirs, "w") as screen:
        monkeypatch.setattr("sys.stderr", screen)
        print_message(said)
        written = b""
        while b"columns" not in written:  # a busy machine hands it over in parts
            written += os.read(ours, 1000)
    os.close(ours)
    shown = written.decode().splitlines()
    assert shown == ["note: a sentence that is wider than this", "terminal of forty columns"]


def test_an_address_is_left_whole_and_wide_letters_count_twice() -> None:
    address = "https://www.example.org/a/very/long/way/to/a/page"
    assert wrap_lines(f"See {address} for more of it.", 20).splitlines() == ["See", address, "for more of it."]
    assert wrap_lines("映画 映画 映画 映画", 10).splitlines() == ["映画 映画", "映画 映画"]


@given(st.text(alphabet="ab 漢\n-"), st.integers(1, 40))
def test_wrapping_loses_no_word_and_makes_no_line_wider_than_a_word(text: str, width: int) -> None:
    found = wrap_lines(text, width)
    assert found.split() == text.split()
    for line in found.split("\n"):
        assert cell_len(line) <= width or len(line.split()) <= 1


def test_no_line_ends_within_an_interval() -> None:
    text = "A is better by 3.1 points [-7.2, +3.2] [sic, or so] and 12.0% [10.1, 14.4]."
    for width in range(1, 80):
        lines = wrap_lines(text, width).splitlines()
        assert " ".join(lines) == text
        for interval in ("[-7.2, +3.2]", "[10.1, 14.4]."):
            assert sum(interval in line for line in lines) == 1
    assert wrap_lines("a [0, 1] b", 5).splitlines() == ["a", "[0, 1]", "b"]


def test_output_that_is_not_a_terminal_has_no_width() -> None:
    ours, theirs = pty.openpty()
    read, write = os.pipe()
    with os.fdopen(theirs, "w") as screen, os.fdopen(write, "w") as pipe:
        assert terminal_width(pipe) is None
        assert terminal_width(screen) is None, "it does not say"
    os.close(ours)
    os.close(read)
