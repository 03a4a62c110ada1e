"""The language that a text is written in, as far as its words show it.

M. Lui, T. Baldwin, "langid.py: An Off-the-shelf Language Identification Tool" (ACL 2012, System Demonstrations) tells
97 languages apart by pieces of their words; the library py3langid, its successor, knows 140. Names and addresses say
little, and a word or two could stand in several languages: then there is no answer.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Protocol

from topics.late_pattern import late_pattern

# The probability from which on a language counts as known. Of the 3,634 English utterances of DBDC3 and IARD with 20
# letters or more, the language of 3,258 is known then, and that of one of them is wrong; of 0.9, 2,821 and none.
LEAST_CONFIDENCE = 0.7

# Characters that are looked at: more do not make it surer.
_LOOKED_AT = 1_000

_LEAST_LETTERS = 8
# Code, addresses and marks.
_NO_WORDS = late_pattern(
    r"```.*?(?:```|\Z)|`[^`\n]*`|(?:https?://|www\.)[!-~]+|<[^<>\n]{1,200}>", re.DOTALL | re.IGNORECASE
)


class _Identifier(Protocol):
    labels: Sequence[str]

    def classify(self, text: str) -> tuple[str, float]: ...


def language_of(text: str) -> str:
    """The language of most of the text as a code of ISO 639-1, such as `de`; "" where it cannot be told: for too few
    words, and for a text that could be in several languages. Code and addresses do not count."""
    return _language(text[: 4 * _LOOKED_AT])


def known_languages() -> tuple[str, ...]:
    """The codes of all languages that can be told apart."""
    return tuple(sorted(_identifier().labels))


@lru_cache(maxsize=2**14)
def _language(text: str) -> str:
    words = _NO_WORDS.sub(" ", text)[:_LOOKED_AT]
    if sum(map(str.isalpha, words)) < _LEAST_LETTERS and words.isascii():
        return ""
    language, probability = _identifier().classify(words)
    return language if probability >= LEAST_CONFIDENCE else ""


@cache
def _identifier() -> _Identifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # only here: it loads a model of 4 MB

    found: _Identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return found
