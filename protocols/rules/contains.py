"""`contains`: the answer contains certain words.

Phrases are searched in the whole answer, both as written and without formatting. A pattern is a regular expression
with bounded running time (`topics.patterns`), and is searched only in the first 100,000 characters.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import islice
from typing import ClassVar

from pydantic import Field, field_validator, model_validator

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.plain import plain_text
from protocols.rules.rule import Sight, Verdict, absence, limit_evidence, span
from topics.patterns import check_searchable

_SEARCHED = 100_000  # characters; a user's pattern may cost time at each of them
_LONGEST_PHRASE = 200  # characters; use a pattern for longer texts
_MOST_HITS = 10_000  # an answer that repeats one word for ever must not fill the memory

# A letter of a script that puts spaces between words; Chinese, Japanese, Thai and the like have no word boundaries.
SPACED = (
    r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    r"\U00020000-\U0003ffff]"
)


class Contains(AnswerRule):
    """Holds if the answer contains one of `phrases`, or matches `pattern`. Exactly one of the two options is given.

    Phrases match whole words. White space may differ, straight and curly apostrophes are equal, and case is ignored
    unless `case` is true. Phrases are searched in the answer as written and in its plain text
    (`protocols.rules.plain`). A pattern is a bounded regular expression. Evidence: every match.
    """

    version: ClassVar[str] = "contains/2"

    phrases: tuple[str, ...] | None = Field(default=None, min_length=1, max_length=200)
    pattern: str | None = None
    case: bool = False

    @field_validator("phrases")
    @classmethod
    def _some_words(cls, phrases: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for phrase in phrases or ():
            if not phrase.strip():
                raise ValueError("every phrase must contain a word")
            if len(phrase) > _LONGEST_PHRASE:
                raise ValueError(f"a phrase is longer than {_LONGEST_PHRASE} characters")
        return phrases

    @field_validator("pattern")
    @classmethod
    def _check_pattern(cls, pattern: str | None) -> str | None:
        return None if pattern is None else check_searchable(pattern)

    @model_validator(mode="after")
    def _check_one_option(self) -> "Contains":
        if (self.phrases is None) == (self.pattern is None):
            raise ValueError("give either `phrases` or `pattern`")
        return self

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        expression = _compile_phrases(self.phrases, self.pattern, self.case)
        limit = len(text) if self.pattern is None else min(len(text), _SEARCHED)
        hits = _find_phrases(expression, text, limit)
        if self.phrases is not None and len(hits) < _MOST_HITS:
            plain, phrases = plain_text(text), tuple(unicodedata.normalize("NFKC", one) for one in self.phrases)
            if plain.text != text or phrases != self.phrases:
                read = _compile_phrases(phrases, None, self.case)
                seen = (plain.original_span(*hit) for hit in _find_phrases(read, plain.text, len(plain.text)))
                known = {at for start, end in hits for at in (start, end - 1)}
                others = [(start, end) for start, end in seen if start not in known and end - 1 not in known]
                hits = sorted((*hits, *others))[:_MOST_HITS]
        if hits:
            what = "one of the phrases" if self.pattern is None else "the pattern"
            return Verdict(True, limit_evidence((span(text, start, end, what) for start, end in hits), len(hits)))
        missed = " | ".join(self.phrases) if self.phrases else str(self.pattern)
        note = "not found" if limit == len(text) else f"not found in the first {limit} of {len(text)} characters"
        return Verdict(False, (absence(missed, note),))


def _find_phrases(expression: re.Pattern[str], text: str, limit: int) -> list[tuple[int, int]]:
    found = (hit.span() for hit in expression.finditer(text, 0, limit))
    return list(islice((hit for hit in found if hit[1] > hit[0]), _MOST_HITS))


@lru_cache(maxsize=256)
def _compile_phrases(phrases: tuple[str, ...] | None, pattern: str | None, case: bool) -> re.Pattern[str]:
    flags = re.NOFLAG if case else re.IGNORECASE
    if pattern is not None:
        return re.compile(pattern, flags | re.MULTILINE)
    shapes = []
    for phrase in phrases or ():
        words = phrase.split()
        body = r"\s{1,50}".join(re.sub("['’ʼ´]", "['’ʼ´]", re.escape(word)) for word in words)
        before = f"(?<!{SPACED})" if re.match(SPACED, words[0]) else ""
        after = f"(?!{SPACED})" if re.match(SPACED, words[-1][-1]) else ""
        shapes.append(before + body + after)
    return re.compile("|".join(shapes), flags)
