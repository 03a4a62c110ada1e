"""Text as a reader sees it: invisible characters, and letters that look alike.

Rules on words should read what a person reads. A zero-width character inside a word, or a Cyrillic о instead of a
Latin one, would hide the word from them. So text with the first is refused, and the second is replaced.
"""

import re
import unicodedata
from typing import Final

_JOINERS: Final = frozenset("\u200c\u200d")
# Visible characters of the category Cf: signs before or around numbers.
_SIGNS: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Invisible characters of other categories.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Scripts in which nothing needs a joiner.
_SIMPLE: Final = ("LATIN", "GREEK", "CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL")


def has_invisible(text: str) -> bool:
    """True if a character of `text` has no visible shape and no use.

    A joiner has a use between letters of a script that joins them (Persian, Hindi), and in an emoji.
    """
    return any(_is_hidden(text, at) for at, letter in enumerate(text) if not letter.isascii())


def _is_hidden(text: str, at: int) -> bool:
    letter = text[at]
    if letter in _BLANK or "\U000e0100" <= letter <= "\U000e01ef":
        return True
    if unicodedata.category(letter) != "Cf" or letter in _SIGNS:
        return False
    return letter not in _JOINERS or not _is_joined_after(text[at - 1 : at] if at else "")


def _is_joined_after(before: str) -> bool:
    if not before or before.isascii():
        return False
    if unicodedata.category(before) in ("So", "Sk") or before == "\ufe0f":
        return True
    is_mark = unicodedata.category(before)[0] == "M"
    return is_mark or (before.isalpha() and not unicodedata.name(before, "").startswith(_SIMPLE))


_ALIKE: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝвкмнтАВЕЗКМНОРСТУХІЈЅαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwbkmhtABE3KMHOPCTYXIJSaeikvoptuxABEZHIKMNOPTYX",
)
_APOSTROPHES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u02b9": "'", "\uff07": "'"})
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")


def read_as(text: str) -> str:
    """Return `text` with wide and styled letters as plain ones, Cyrillic and Greek letters in a Latin word as those
    they look like, and straight apostrophes."""
    plain = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    return _WORD.sub(lambda word: word[0].translate(_ALIKE) if _LATIN.search(word[0]) else word[0], plain)
