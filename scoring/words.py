"""Lengths of texts and positions in a conversation, in words or in characters.

    unit_of(texts, choice)    the unit that a conversation, or one turn, is measured in
    length(text, unit)        the length of a text
    unit_starts(text)         the index at which each character that counts begins
    passages(conversation)    user turns and replies, with positions

[GFRC] counts words of English (§3.2: L = 1,250 words, 250 a minute), and characters of Japanese (§2.2, after the
1CLICK tasks: L = 1,000 characters, 500 a minute). A word is a run of characters between whitespace, as in
`str.split()`. Characters are counted as a reader sees them: combining marks, invisible characters and whitespace do
not count, so a text has the same length in every normal form. An address counts as one character, and as one word,
since nobody reads it character by character.

*Which unit.* All of a conversation is measured in one unit. If its answers mix scripts with and without blanks
between words, the unit is that of the text that takes longer to read: characters if there are more than twice as many
characters of scripts without blanks as words of other scripts (500 and 250 a minute). Addresses do not count in this.
On a tie, words count.

Positions start at 1 and include user turns, because typing costs the user time too ([GFRC] §3.2). In the paper this is
a choice of the instantiation (§2.3), so `passages` can leave out the words of user turns.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from recordings.conversations.conversation import Conversation
from topics.late_pattern import lazy_pattern
from topics.links import find_urls

Unit = Literal["words", "characters"]
UnitChoice = Literal["by-script", "words", "characters"]
UserWords = Literal["counted", "left-out"]

# Characters read in the time of a word: [GFRC] has 500 characters (§2.2) and 250 words (§3.2) a minute.
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
_BARE = lazy_pattern(f"[{''.join(_WITHOUT_BLANKS.values())}]+")
_ADDRESS = lazy_pattern(r"(?:https?://|www\.)[!-~]+", re.IGNORECASE)
_UNSEEN = frozenset({"Mn", "Mc", "Me", "Cc", "Cf", "Zs", "Zl", "Zp"})


def unit_of(texts: Iterable[str], choice: UnitChoice = "by-script") -> Unit:
    """Return the unit for these texts together: `choice`, or if the script decides, the unit of the text that takes
    longer to read."""
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
    """Return the length of a text in a unit. The length is 0 if the text has no word or no visible character."""
    return len(text.split()) if unit == "words" else len(unit_starts(text))


def unit_starts(text: str) -> list[int]:
    """Return the start of each character that counts, in order. An address counts as one character."""
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


def word_count(text: str) -> int:
    """Return the number of words in `text`."""
    return len(text.split())


@dataclass(frozen=True, slots=True)
class Passage:
    """One side of one turn, with the positions of its words, or characters, in the conversation. `turn` is a number
    from 1, and `speaker` is `user` or `system`. `unit` is the conversation's unit. In this unit, `before` is the
    length of the conversation before the passage, and `words` is the length of the passage. A user turn whose words
    are left out has the length 0."""

    turn: int
    speaker: str
    text: str
    before: int
    words: int
    unit: Unit = "words"

    @property
    def first_position(self) -> int:
        """The position of the first word, or of the word before a passage without words. At least 1."""
        return self.before + 1 if self.words else max(1, self.before)

    @property
    def last_position(self) -> int:
        """The position of the last word, or of the word before a passage without words. At least 1."""
        return max(1, self.before + self.words)

    def positions(self, ends: Sequence[int]) -> list[int]:
        """Return the positions in the conversation of the last word, or character, in each span of characters. `ends`
        (spans,) are the ends of the spans in `text`, exclusive. Positions are (spans,), each at least 1. A span of
        whitespace alone has the position of the word before it, as has every span of a passage of length 0."""
        if not self.words:
            return [self.last_position] * len(ends)
        if self.unit == "characters":
            starts = unit_starts(self.text)
            return [max(1, self.before + bisect_left(starts, end)) for end in ends]
        touched: dict[int, int] = {}
        words, at = self.before, 0
        for end in sorted(set(ends)):
            words += len(self.text[at:end].split())
            if 0 < at < min(end, len(self.text)) and not (self.text[at - 1].isspace() or self.text[at].isspace()):
                words -= 1  # the word that continues beyond the last end is already counted
            touched[end], at = max(1, words), end
        return [touched[end] for end in ends]


def conversation_unit(conversation: Conversation, choice: UnitChoice = "by-script") -> Unit:
    """Return the unit of a conversation, chosen by all of its answers together."""
    return unit_of((turn.reply.answer.text for turn in conversation.turns if turn.reply is not None), choice)


def passages(
    conversation: Conversation, choice: UnitChoice = "by-script", user_words: UserWords = "counted"
) -> tuple[Passage, ...]:
    """Return each user turn, in order, followed by the reply if there was one. With `left-out`, user turns have the
    length 0, so that positions count only the words, or characters, of the system."""
    unit = conversation_unit(conversation, choice)
    found: list[Passage] = []
    before = 0
    for turn in conversation.turns:
        sides = [("user", turn.said)]
        if turn.reply is not None:
            sides.append(("system", turn.reply.answer.text))
        for speaker, text in sides:
            words = 0 if speaker == "user" and user_words == "left-out" else length(text, unit)
            found.append(Passage(turn.number, speaker, text, before, words, unit))
            before += words
    return tuple(found)
