"""Lengths of texts in words or, where words have no blanks between them, in characters, and which of the two counts.

    unit_of(texts, choice)    the unit that a conversation, or one turn, is measured in
    length(text, unit)        how long a text is
    unit_starts(text)         where each of its characters that count begins

[GFRC] counts words of English (§3.2: L = 1,250 words, 250 a minute), and characters of Japanese (§2.2, after the 1CLICK
tasks: L = 1,000 characters, 500 a minute). A word is a run of characters between whitespace. A character is what a
reader sees as one: marks that stand on another one, invisible ones and whitespace do not count, so that a text has one
length in every normal form. An address counts as one character, as it is one word: nobody reads it letter by letter.

*Which unit.* Of texts in scripts with blanks and without, that unit counts whose text takes longer to read: characters
if there are more letters of scripts without blanks than twice as many words of other scripts (500 and 250 a minute).
Addresses do not count in this. Words are counted if neither takes longer.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from topics.late_pattern import late_pattern
from topics.links import find_urls

Unit = Literal["words", "characters"]
UnitChoice = Literal["by-script", "words", "characters"]

# What is read in the time of a word: [GFRC] has 500 characters (§2.2) and 250 words (§3.2) a minute.
CHARACTERS_A_WORD = 2

_WITHOUT_BLANKS = {
    "Han": r"\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",
    "Hiragana and Katakana": r"\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f\U0001b000-\U0001b16f",
    "Bopomofo": r"\u3105-\u312f\u31a0-\u31bf",
    "Yi": r"\ua000-\ua48c",
    "Thai": r"\u0e01-\u0e4e",
    "Lao": r"\u0e81-\u0edf",
    "Tibetan": r"\u0f40-\u0fbc",
    "Myanmar": r"\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f",
    "Khmer": r"\u1780-\u17d3",
    "Tai Le, New Tai Lue, Tai Tham and Tai Viet": r"\u1950-\u1974\u1980-\u19df\u1a20-\u1aad\uaa80-\uaadf",
    "Javanese and Balinese": r"\ua980-\ua9df\u1b00-\u1b4c",
}
_BARE = late_pattern(f"[{''.join(_WITHOUT_BLANKS.values())}]+")
_ADDRESS = late_pattern(r"(?:https?://|www\.)[!-~]+", re.IGNORECASE)
_UNSEEN = frozenset({"Mn", "Mc", "Me", "Cc", "Cf", "Zs", "Zl", "Zp"})


def unit_of(texts: Iterable[str], choice: UnitChoice = "by-script") -> Unit:
    """The unit of these texts together: the one chosen or, by script, the one that takes longer to read."""
    if choice != "by-script":
        return choice
    several = tuple(texts)
    if not any(not text.isascii() and _BARE.search(text) for text in several):
        return "words"
    letters = words = 0
    for text in several:
        told = _ADDRESS.sub(" ", text)
        letters += sum(unicodedata.category(one)[0] == "L" for run in _BARE.findall(told) for one in run)
        words += sum(any(map(str.isalnum, word)) for word in _BARE.sub(" ", told).split())
    return "characters" if letters > CHARACTERS_A_WORD * words else "words"


def length(text: str, unit: Unit) -> int:
    """How long a text is in a unit; 0 for one without a word, or without a character that is seen."""
    return len(text.split()) if unit == "words" else len(unit_starts(text))


def unit_starts(text: str) -> list[int]:
    """Where each character that counts begins, an address being one, in order: the text up to `end`, exclusive, has as
    many as there are places before `end`."""
    found: list[int] = []
    at = 0
    for mention in find_urls(text):
        found += [place for place in range(at, mention.start) if _is_visible(text[place])]
        found.append(mention.start)
        at = mention.end
    found += [place for place in range(at, len(text)) if _is_visible(text[place])]
    return found


@lru_cache(maxsize=2**14)
def _is_visible(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character) not in _UNSEEN
