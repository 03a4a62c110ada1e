"""Text as a reader sees it: invisible characters, and letters that look like others.

Rules on words read what a person reads. A character of no width inside a word, or a Cyrillic о for a Latin one, would
hide the word from them; so text is refused for the first, and read without the second.
"""

import re
import unicodedata
from typing import Final

_JOINERS: Final = frozenset("\u200c\u200d")
# Of the category Cf, and seen: signs that stand before or around numbers.
_SIGNS: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Of other categories, and not seen.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Scripts in which nothing needs a joiner.
_SIMPLE: Final = ("LATIN", "GREEK", "CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL")


def has_invisible(text: str) -> bool:
    """Whether a character of `text` has neither a shape nor a use that a reader would miss.

    A joiner has one between letters of a script that joins them (Persian, Hindi), and in an emoji.
    """
    return any(_is_hidden(text, at) for at, letter in enumerate(text) if not letter.isascii())


def _is_hidden(text: str, at: int) -> bool:
    letter = text[at]
    if letter in _BLANK or "\U000e0100" <= letter <= "\U000e01ef":
        return True
    if unicodedata.category(letter) != "Cf" or letter in _SIGNS:
        return False
    return letter not in _JOINERS or not _joins(text[at - 1 : at] if at else "")


def _joins(before: str) -> bool:
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
    """`text` as a reader takes it: wide and styled letters as plain ones, Cyrillic and Greek letters inside a word with
    Latin ones as those they look like, apostrophes straight."""
    plain = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    return _WORD.sub(lambda word: word[0].translate(_ALIKE) if _LATIN.search(word[0]) else word[0], plain)
