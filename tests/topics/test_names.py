"""Names in letters of all scripts, and what is refused in words."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topics.document import StrictModel, name_validator, parse_document
from topics.errors import InputError
from topics.names import ascii_name, first_lookalikes, name_fault, name_words
from topics.shown_names import normalise_name
from topics.topic import ID_SIGNS, check_topic_id

SIGNS = " ._+-"
SCRIPTS = (
    *("weekly", "wöchentlich", "Größe", "Große Änderung", "naïve café", "GPT-4.1+b_2", "週次監査", "ジョン・スミス"),
    *("〇一二", "한국어", "أسبوعي", "תוצאה", "हिन्दी", "ไทย", "தமிழ்", "Вопрос", "Ελληνικά", "ქართული", "Việt", "٣"),
    *("GPT-4 модель", "β-Test", "Ｇ"),
)
REFUSED = {
    # The name → words of the message.
    "": "characters that are not allowed",
    "-a": "characters that are not allowed",
    " a": "characters that are not allowed",
    "a/b": "characters that are not allowed",
    "ä/b": "characters that are not allowed",
    "ä\\b": "characters that are not allowed",
    "..": "characters that are not allowed",
    "ä\nb": "U+000A",
    "a\u200bb": "U+200B (zero width space), which cannot be seen",
    "a\u202eb": "U+202E (right-to-left override), which cannot be seen",
    "a\u3000b": "U+3000 (ideographic space), which cannot be seen",
    "\u3164": "U+3164 (hangul filler), which cannot be seen",
    "x²": "characters that are not allowed",
    "¼": "characters that are not allowed",
    "ä🙂": "characters that are not allowed",
    "\u0301a": "characters that are not allowed",
    "ä \u0301": "characters that are not allowed",
    "Gro\u0308ße": "composed form (NFC)",
    "\u212bngström": "composed form (NFC)",
    "Pаypal": "mixes Latin and Cyrillic letters in 'Pаypal'",
    "βTest": "mixes Greek and Latin letters in 'βTest'",
    "𞤀" * 60: "more than 200 bytes",
}


class Named(StrictModel):
    name: Annotated[str, name_validator(ID_SIGNS)]


def named(text: str) -> str:
    return parse_document(f"name: {text}\n", "file.yaml").validate_as(Named).name


@pytest.mark.parametrize("name", SCRIPTS)
def test_letters_of_every_script_make_names(name: str) -> None:
    assert name_fault(name, SIGNS) == ""


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_an_invalid_name_is_refused_with_the_reason(name: str) -> None:
    assert REFUSED[name] in name_fault(name, SIGNS)


def test_a_name_of_a_file_is_accepted_unchanged() -> None:
    assert named("a.b-c_D+9") == "a.b-c_D+9"
    assert named("Größe") == "Größe"


@pytest.mark.parametrize("text", ["a b", "-a", "caf\u00e9!", "'a\\n'"])
def test_a_wrong_character_in_a_file_is_reported_in_words(text: str) -> None:
    with pytest.raises(InputError) as refused:
        named(text)
    assert refused.value.what.startswith("name: has characters that are not allowed here (here: ")
    assert refused.value.allowed == "letters, digits and . _ + -, beginning with a letter or digit"


def test_another_fault_in_a_file_is_refused_with_its_reason() -> None:
    with pytest.raises(InputError) as refused:
        named("Pаypal")
    assert refused.value.what == (
        "name: mixes Latin and Cyrillic letters in 'Pаypal', which look alike (here: 'Pаypal')"
    )
    with pytest.raises(InputError, match=r"cannot be the id of a topic: it has letters .* composed form \(NFC\)"):
        check_topic_id("Gro\u0308ße")


def test_the_words_for_a_form_name_its_characters() -> None:
    assert name_words(" ._+-") == "letters, digits, spaces and . _ + -, beginning with a letter or digit"
    assert name_words("_-", first="letter") == "letters, digits and _ -, beginning with a letter"


@given(st.text(st.characters(codec="ascii"), max_size=8))
def test_the_ascii_names_are_the_same_as_always(name: str) -> None:
    assert (name_fault(name, SIGNS) == "") == bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._+-]*", name))
    assert (name_fault(name, "_-", first="letter") == "") == bool(re.fullmatch("[A-Za-z][A-Za-z0-9_-]*", name))


@given(st.text(max_size=60), st.sampled_from([SIGNS, ID_SIGNS, "_-"]))
def test_a_name_is_one_safe_part_of_a_path_in_normal_form(name: str, signs: str) -> None:
    if name_fault(name, signs):
        return
    assert Path("folder", name).parts == ("folder", name)
    assert unicodedata.normalize("NFC", name) == name
    assert len(name.encode()) <= 200
    assert name.isprintable()


@given(st.text(max_size=60))
def test_an_ascii_name_is_safe_and_is_kept(name: str) -> None:
    made = ascii_name(name, "[^a-z0-9]+", 40)
    assert re.fullmatch("[a-z0-9-]{0,40}", made)
    if name.isascii():
        assert made == re.sub("[^a-z0-9]+", "-", name).strip("-")[:40]


def test_names_with_other_letters_remain_different_in_ascii() -> None:
    names = ("週次", "月次", "wöchentlich", "wächentlich", "हिन्दी")
    assert len({ascii_name(name, "[^a-z0-9]+") for name in names}) == len(names)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("A", "B", "А"), ("A", "А")),  # the last is Cyrillic
        (("Ｇ１", "G1"), ("Ｇ１", "G1")),
        (("Größe", "größe"), ("Größe", "größe")),
        (("M1", "m1"), None),
        (("Größe", "Grösse"), ("Größe", "Grösse")),
        (("Größe", "Grosse"), None),
    ],
)
def test_names_that_look_alike_are_found(names: tuple[str, ...], found: tuple[str, str] | None) -> None:
    assert first_lookalikes(names) == found


@given(st.text(st.characters(codec="ascii")))
def test_ascii_names_compare_as_before(name: str) -> None:
    assert normalise_name(name) == " ".join(name.split()).casefold()
