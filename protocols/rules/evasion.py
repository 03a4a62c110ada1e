"""`evasion`: the answer points elsewhere or leaves the subject, and says nothing else.

An evasion does not say that the system cannot or will not answer; that is a `refusal`. All of these must hold:

1. One of the sentences points to somebody else for the answer ("please consult the website of the commission"),
   calls the question difficult or a matter of opinion, or proposes another subject.
2. Every other sentence does so, too, or is an apology or thanks of a few words.
3. Nothing is delivered, as for a refusal, and no sentence has figures or a colon.

Only people can judge whether pointing elsewhere was the right answer ("Whom should I call?").
"""

from typing import ClassVar

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.declining import LANGUAGES, fold, wordings
from protocols.rules.plain import blank_emphasis
from protocols.rules.refusal import Refusal, delivered, sentences_of
from protocols.rules.rule import Sight, Verdict, absence, span
from topics.late_pattern import lazy_pattern

_LONGEST = 600  # characters; a longer answer says something
_COURTESY_WORDS = 2
_COURTESY_LETTERS = 8  # of a script without spaces
_EXCLAIMED_WORDS = 6  # "Thank you for your question!"
_CONTENT = lazy_pattern(r"\d|[:：;；؛]\s*\S")


class Evasion(AnswerRule):
    """Holds if the answer only evades. The module docstring lists the conditions. Evidence: the first sentence that
    evades. The rule has no options."""

    version: ClassVar[str] = "evasion/2"
    languages: ClassVar[tuple[str, ...]] = LANGUAGES

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        if len(text) > _LONGEST:
            return _no_evasion(f"{len(text)} characters are more than an evasion takes")
        if Refusal().judge(sight).holds:
            return _no_evasion("the answer is a refusal")
        plain = fold(blank_emphasis(text))
        known = tuple(wordings(plain))
        evading = None
        for start, end in sentences_of(plain):
            sentence = plain[start:end]
            if not _CONTENT.search(sentence) and any(one.evades.search(sentence) for one in known):
                evading = evading or (start, end)
            elif not _is_courtesy(sentence, plain[end : end + 1]):
                return _no_evasion(f"the answer says something: {sentence[:80]!r}")
        if evading is None:
            return _no_evasion("no sentence points elsewhere")
        if given := delivered(sight, plain, known):
            return _no_evasion(f"the answer delivers: {given}")
        return Verdict(True, (span(text, *evading, "points elsewhere or leaves the subject"),))


def _no_evasion(note: str) -> Verdict:
    return Verdict(False, (absence("an evasion", note),))


def _is_courtesy(sentence: str, mark: str) -> bool:
    words = len(sentence.split())
    if words == 1 and not sentence.isascii() and mark not in ("!", "！"):
        return len(sentence) <= _COURTESY_LETTERS
    return words <= (_EXCLAIMED_WORDS if mark in ("!", "！") else _COURTESY_WORDS)
