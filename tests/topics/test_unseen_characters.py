"""A character that nobody sees is named where it makes YAML fail, or would change a text unseen."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.document import parse_document
from topics.errors import InputError
from topics.topic_file import read_topics
from topics.unseen_characters import character_name, find_unseen, has_visible_text, show_unseen


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
def test_json_is_read_by_its_own_rules_or_refused(words: str) -> None:
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


@pytest.mark.parametrize(
    "words", ["\u200b", "\u00ad \u2060", "\u3164", "\ufeff\n", "\U000e0041", "\u202e", "\u2800", "\ufe0f"]
)
def test_a_text_without_visible_characters_is_empty(words: str) -> None:
    assert not has_visible_text(words)
    assert has_visible_text(f"{words}?")
    topic = f'{{"id": "T1", "type": "shop", "request": {json.dumps(words)}}}'
    text = f'{{"format": "harvest-topics/1", "name": "s", "types": {{"shop": {{}}}}, "topics": [{topic}]}}'
    with pytest.raises(InputError, match=r"the text has only invisible characters: the character U\+"):
        read_topics(parse_document(text, "t.yaml"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200bb", "a<U+200B>b"),
        ("a\u00a0b \u202ec", "a<U+00A0>b <U+202E>c"),
        ("\U000e0041\ufeff", "<U+E0041><U+FEFF>"),
        ("a\u200db\ufe0f", "a<U+200D>b<U+FE0F>"),
        ("👨\u200d👩 ❤\ufe0f می\u200cخواهم 東\u3000京", ""),
        ("tab\tand\nline é", ""),
    ],
)
def test_an_invisible_character_is_shown_by_its_code(text: str, shown: str) -> None:
    assert show_unseen(text) == (shown or text)
    assert bool(find_unseen(text)) == bool(shown)


def test_every_invisible_character_has_a_name() -> None:
    names = {"\0": "null", "\x07": "bell", "\x1b": "escape", "\x1f": "control character", "\x7f": "delete"}
    names |= {"\x85": "next line", "\x9b": "control character", "\u200b": "zero width space"}
    for character, name in names.items():
        assert character_name(character) == f"the character U+{ord(character):04X} ({name})"
    for code in range(0x11000):
        for character in find_unseen(f"a{chr(code)}"):
            assert "()" not in character_name(character)
