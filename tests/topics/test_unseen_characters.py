"""A character that nobody sees is named where it makes YAML fail, or would change a text unseen."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.document import parse_document
from topics.errors import InputError


@pytest.mark.parametrize(
    ("text", "place", "name"),
    [
        ("a:\n  - b: 1\n\xa0\xa0\xa0\xa0c: 2\n", "3:1", "U+00A0 (no-break space)"),
        ("a:\n\u3000 b: 1\n", "2:1", "U+3000 (ideographic space)"),
        ("a:\n  b: 1\n\u2003\u2003c: 2\n", "3:1", "U+2003 (em space)"),
        ("a\u200b: 1\n", "1:1", "U+200B (zero width space)"),
        ("a: one\x85two\n", "1:7", "U+0085 (next line)"),
        ('a: "one\x85two"\n', "1:8", "U+0085 (next line)"),
        ("a: one\u2028two\n", "1:7", "U+2028 (line separator)"),
        ("a: |\n  one\u2029two\n", "2:6", "U+2029 (paragraph separator)"),
        ("a: 'one \u2028 two'\n", "1:9", "U+2028 (line separator)"),
    ],
)
def test_the_character_is_named_with_its_place(text: str, place: str, name: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_document(text, "x.yaml")
    assert str(refused.value).startswith(f"x.yaml:{place}: ")
    assert f"the character {name}" in str(refused.value)
    assert "ordinary blank" in str(refused.value)


@pytest.mark.parametrize("text", ["a: Bonjour\xa0!\nb: c: d\n", "# \xa0 a comment\na: [1\n"])
def test_another_fault_is_not_blamed_on_a_character_within_words(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_document(text, "x.yaml")
    assert "U+00A0" not in str(refused.value)


@given(st.text(max_size=20) | st.text(st.sampled_from("a \x85\u2028\u2029\xa0\u200b\U0001f600"), max_size=8))
def test_json_is_read_as_json_has_it_or_refused(words: str) -> None:
    """However it is escaped: json.dumps writes characters above U+FFFF as two halves."""
    for ascii_only in (True, False):
        written = json.dumps({"a": words}, ensure_ascii=ascii_only)
        odd = any(one in "\x85\u2028\u2029" or "\ud800" <= one <= "\udfff" or not one.isprintable() for one in words)
        with contextlib.suppress(InputError) if odd else contextlib.nullcontext():
            assert parse_document(written, "x.yaml").value == {"a": words}


def test_halves_that_fit_are_one_character_and_others_are_refused() -> None:
    assert parse_document('{"\\ud83d\\ude00": "\\ud83d\\ude00!"}', "x.yaml").value == {"😀": "😀!"}
    for half in ("\\ud83d", "\\ude00\\ud83d", "\\ud83d \\ude00"):
        with pytest.raises(InputError, match="half of a character"):
            parse_document(f'a: "{half}"', "x.yaml")
