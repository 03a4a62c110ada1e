"""`refusal`: the answer says that the system cannot or will not do what was requested, and does nothing else.

The rule favours precision: an answer that apologises and then delivers is not a refusal, nor is "you can't miss it"
or "I can't recommend this film enough". All three conditions must hold:

1. One of the first three sentences states an inability or unwillingness in the first person ("I'm unable to help",
   "that is outside of my capabilities"), or names the speaker as a language model and contains a negation.
2. The words are not a quotation, and the sentence does not reverse itself (", but here are …").
3. Nothing is delivered: the answer is short, has no URL of the requested kind, is not a list, and no later sentence
   begins with "Here are …" or has figures.

The words of 27 languages are data (`protocols.rules.declining`); refusals in other languages are not recognised. If
the system marks its answer as a refusal in a separate field, that field decides, because a field is better evidence.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import ClassVar

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.declining import LANGUAGES, Wording, fold, wordings
from protocols.rules.mentions import ASKED, named_urls
from protocols.rules.plain import blank_emphasis
from protocols.rules.rule import Sight, Verdict, absence, span
from topics.languages import language_name
from topics.late_pattern import lazy_pattern

OPENING = 1_500  # characters that are searched for the first sentences
_SENTENCES = 3  # sentences at the beginning that are searched for a refusal
_LONGEST = 2_000  # characters of the longest answer that can be only a refusal
_LIST_LINES = 3  # a list of this many lines is an answer

_SENTENCE = lazy_pattern(r"[^\s.!?。！？…؟।][^.!?。！？؟।\n]*(?:\.(?=\w)[^.!?。！？؟।\n]*)*")
_QUOTED = lazy_pattern(r"[\"“”«»「『]")
_LIST_LINE = lazy_pattern(r"^[ \t]*(?:[-*+•‣▪]|\(?[0-9]{1,3}[.):])[ \t]*\S", re.MULTILINE)
# Figures are content, except for a year, which may be that of the system's knowledge, and for parts of a code such as
# `b997f443`.
_FIGURE = lazy_pattern(r"(?<![\dA-Za-z])(?![2۲٢][0۰٠][12۱۲١٢]\d(?!\d))\d+(?!\d)(?![A-Za-z]+\d)")

_JAPANESE_APOLOGY = lazy_pattern(
    r"(?:申し?訳(?:ございません|ありません|ない(?:です|の)?)|すみません|ごめんなさい|恐れ入りますが)"
)
_JAPANESE_APOLOGY_ONLY = 60  # characters; in a longer answer the apology is politeness


class Refusal(AnswerRule):
    """Holds if the answer is only a refusal. The module docstring lists the conditions. Evidence: the sentence that
    refuses, or the whole answer if the system marked it. The rule has no options."""

    version: ClassVar[str] = "refusal/5"
    languages: ClassVar[tuple[str, ...]] = LANGUAGES

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        if sight.answer.refused:
            note = "the system marked its answer as a refusal"
            return Verdict(True, (span(text, 0, len(text), note) if text else absence("a refusal", note),))
        stripped = text.strip()
        if len(stripped) > _LONGEST:
            return _no_refusal(f"{len(stripped)} characters are more than a refusal takes")
        start = len(text) - len(text.lstrip())
        if start >= OPENING:  # text after this much white space, which may be megabytes, is not read
            return _no_refusal("none in the first sentences")
        plain = fold(blank_emphasis(text[: start + len(stripped)]))
        known, found = _find_refusal(plain)
        if found is None:
            return _no_refusal("none in the first sentences")
        if given := delivered(sight, plain, known):
            return _no_refusal(f"the answer delivers all the same: {given}")
        return Verdict(True, (span(text, *found),))


def _no_refusal(note: str) -> Verdict:
    return Verdict(False, (absence("a refusal", note),))


def sentences_of(plain: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence in the beginning of the text, without its full stop."""
    for match in _SENTENCE.finditer(plain, 0, OPENING):
        yield match.start(), match.start() + len(match[0].rstrip())


def refusing(sentence: str, wording: Wording) -> bool:
    """Check that a sentence, without quotations, refuses in the words of one language."""
    hit = wording.refuses.search(sentence)
    if hit is None or wording.unless.search(sentence) or _QUOTED.search(sentence[: hit.start()]):
        return False
    turn = wording.turns.search(sentence, hit.end())
    return turn is None or bool(
        wording.offers.search(sentence, turn.end())
        or wording.evades.search(sentence, turn.end())
        or wording.refuses.search(sentence, turn.end())
    )


def delivered(sight: Sight, plain: str, known: tuple[Wording, ...]) -> str:
    """Return what an answer delivers beside a refusal or evasion, for the evidence, or ""."""
    if given := named_urls(sight.answer, ASKED, sight.topic):
        return f"a URL of the asked kind, {given[0].href}"
    lines = sum(1 for _ in _LIST_LINE.finditer(plain))
    if lines >= _LIST_LINES:
        return f"a list of {lines} lines"
    for start, end in sentences_of(plain):
        sentence = plain[start:end]
        figure = _FIGURE.search(sentence)
        if figure and not any(one.evades.search(sentence) for one in known):
            return f"figures: {sentence[:80]!r}"
        for one in known:
            if opening := one.delivers.search(sentence):
                return repr(opening[0].strip())
    return ""


@lru_cache(maxsize=256)  # what refuses, and what a simulated user says, is often the same
def _find_refusal(plain: str) -> tuple[tuple[Wording, ...], tuple[int, int, str] | None]:
    known = tuple(wordings(plain[:OPENING]))
    return known, _first_refusal(plain, known)


def _first_refusal(plain: str, known: tuple[Wording, ...]) -> tuple[int, int, str] | None:
    for count, (start, end) in enumerate(sentences_of(plain)):
        if count == _SENTENCES:
            break
        if start and _QUOTED.match(plain[start - 1]):
            continue
        for wording in known:
            if refusing(plain[start:end], wording):
                return start, end, f"says that it cannot or will not, in {language_name(wording.language)}"
    first = plain.lstrip()
    apology = _JAPANESE_APOLOGY.match(first)
    if apology and len(first.rstrip()) <= _JAPANESE_APOLOGY_ONLY and len(first.rstrip(" 。.!！\n")) == apology.end():
        offset = len(plain) - len(first)
        return offset, offset + apology.end(), "nothing but an apology, in Japanese"
    return None
