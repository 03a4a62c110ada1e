"""`language`: the answer is written in one of certain languages, or in none of them."""

from typing import ClassVar

from pydantic import Field, field_validator, model_validator

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence
from topics.errors import suggestion
from topics.languages import known_languages, language_of

# Means the language of the user's turn that was answered.
ASKED = "asked"


class Language(AnswerRule):
    """Holds if the language of the answer is known, and is in `one_of` or not in `none_of`.

    Exactly one of the two options is given. Each lists ISO 639-1 codes such as `de`, or `asked` for the language of
    the user's turn. The rule does not hold if a required language cannot be determined (`topics.languages`).
    Evidence: the languages of the answer and of the user's turn.
    """

    version: ClassVar[str] = "language/1"

    one_of: tuple[str, ...] | None = Field(default=None, min_length=1)
    none_of: tuple[str, ...] | None = Field(default=None, min_length=1)

    @field_validator("one_of", "none_of")
    @classmethod
    def _check_codes(cls, codes: tuple[str, ...] | None) -> tuple[str, ...] | None:
        known = (ASKED, *known_languages()) if codes else ()
        for code in codes or ():
            if code not in known:
                raise ValueError(f"unknown language {code!r}{suggestion(code, known)}; allowed: {', '.join(known)}")
        return codes

    @model_validator(mode="after")
    def _check_one_option(self) -> "Language":
        if (self.one_of is None) == (self.none_of is None):
            raise ValueError("give either `one_of` or `none_of`")
        return self

    def judge(self, sight: Sight) -> Verdict:
        codes = self.one_of or self.none_of or ()
        found = language_of(sight.answer.text)
        asked = language_of(sight.exchanges[-1].said) if ASKED in codes else ""
        named = {asked if code == ASKED else code for code in codes}
        known = bool(found) and "" not in named
        holds = known and (found in named) == (self.one_of is not None)
        what = "a language that cannot be told from these words" if not found else f"written in {found}"
        if ASKED in codes:
            what += f", asked in {asked or 'a language that cannot be told'}"
        return Verdict(holds, (absence(f"{'one' if self.one_of else 'none'} of {', '.join(codes)}", what),))
