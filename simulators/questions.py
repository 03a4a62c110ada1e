"""Whether an answer asks the user something before it goes on, by rules one can read.

An answer is a clarifying question when all of these hold:

1. its last or last but one sentence ends with a question mark (?, ？, ؟ or ⸮), outside code and quotations;
2. that sentence is no offer ("Is there anything else?", "Would you like me to …?", "Can I help …?");
3. nothing was delivered: no link, fewer than two lines of a list, and at most 60 words beside the question.

Only English offers are known; an offer in another language counts as a question. Questions in languages that ask
without a question mark are not found. The rules do not understand what a question means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from protocols.answer import Answer

__all__ = ["Question", "clarifying_question", "content_words", "share_of_words"]

_READ = 20_000  # characters of an answer that are looked at: its end
_SEARCHED = 200_000  # characters that are searched for words
_MOST_WORDS = 60
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = re.compile(r'"[^"\n]{0,300}"|“[^”\n]{0,300}”|«[^»\n]{0,300}»|「[^」\n]{0,300}」')
_SENTENCE = re.compile(r"[^.!?？؟⸮。！\n]+[.!?？؟⸮。！]*")
_ASKS = "?？؟⸮"
_LIST_LINE = re.compile(r"^[ \t]*(?:[-*+•]|\(?[0-9]{1,3}[.):])[ \t]+\S", re.MULTILINE)
_OFFER = re.compile(
    r"\b(?:anything|something) else\b|\bwould you like (?:me|to (?:know|hear|see) more|more)\b"
    r"|\b(?:do you )?(?:want|need) (?:me to|more|any(?:thing)? (?:else|more|other))\b"
    r"|\b(?:can|may|could|should|shall|how (?:can|may)) i (?:help|assist|be of|tell you more|do (?:anything|more))\b"
    r"|\b(?:was|is|did|does) (?:this|that|it) (?:help\w*|answer|what you|useful|ok|okay)\b"
    r"|\bany (?:other|more|further) questions\b",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"^\W*(?:(?:so|and|just to (?:be sure|check|clarify))\W+)?(?:do|does|did|is|are|was|were|have|has|would|will|can"
    r"|could|should|shall)\b(?! you (?:tell|say|give|specify|explain|clarify|describe|be more))|\b(?:or|rather)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_EMPTY = """
a about all also am an and any are as at be been but by can could did do does for from had has have how i if
in is it its just like me more most my no not of on one only or other our please should so some such that the
their them then there these they this those to up us want was we were what when where which who why will with
would you your
"""
_EMPTY_WORDS = frozenset(_EMPTY.split())


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the system. text: its sentence. closed: it asks for yes or no, or offers a choice."""

    text: str
    closed: bool


def clarifying_question(answer: Answer) -> Question | None:
    """The clarifying question that the answer asks, by the rules above; None where it asks none."""
    if answer.links:
        return None
    text = _CODE.sub(" ", answer.text[-_READ:])
    if len(_LIST_LINE.findall(text)) >= 2:
        return None
    bare = _QUOTED.sub(" ", text)
    sentences = [one.strip() for one in _SENTENCE.findall(bare) if one.strip()]
    asked = next((one for one in reversed(sentences[-2:]) if one[-1] in _ASKS), None)
    if asked is None or _OFFER.search(asked):
        return None
    if len(bare.split()) - len(asked.split()) > _MOST_WORDS:
        return None
    return Question(asked, bool(_CLOSED.search(asked)))


def content_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, in lower case and without the s of a plural."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(
        _stem(word) for word in words if word not in _EMPTY_WORDS and (len(word) > 1 or not word.isascii())
    )


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def share_of_words(wanted: str, text: str) -> float:
    """Share in [0, 1] of the content words of `wanted` that stand in the first 200,000 characters of `text`; 0.0 where
    `wanted` has none."""
    words = content_words(wanted)
    return len(words & content_words(text[:_SEARCHED])) / len(words) if words else 0.0
