"""The words of an English text that say what it is about: all but those that any text may have."""

import re

_SEARCHED = 200_000  # characters that are searched for words
_WORD = re.compile(r"\w+")
_EMPTY = """
a about all also am an and any are as at be been but by can could did do does for from had has have how i if
in is it its just like me more most my no not of on one only or other our please should so some such that the
their them then there these they this those to up us want was we were what when where which who why will with
would you your
"""
_EMPTY_WORDS = frozenset(_EMPTY.split())


def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text, in lower case and without the s of a plural."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(
        _stem(word) for word in words if word not in _EMPTY_WORDS and (len(word) > 1 or not word.isascii())
    )


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def share_of_words(wanted: str, text: str) -> float:
    """Return the share in [0, 1] of the content words of `wanted` that occur in `text`, or 0.0 if `wanted` has no
    content words. Only the first 200,000 characters of `text` are read."""
    words = content_words(wanted)
    return len(words & content_words(text[:_SEARCHED])) / len(words) if words else 0.0
