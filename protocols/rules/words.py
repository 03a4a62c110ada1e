"""`words` and `sentences`: rules that bound the length of an answer."""

from typing import ClassVar

from pydantic import Field, model_validator

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence
from topics.counting import pluralize
from topics.sentences import sentences


class CountRule(AnswerRule):
    """A rule that bounds the number of units, such as words, in an answer. At least one bound must be given."""

    unit: ClassVar[str]

    at_least: int | None = Field(default=None, ge=0)
    at_most: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _check_bounds(self) -> "CountRule":
        if self.at_least is None and self.at_most is None:
            raise ValueError("give at_least, at_most, or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(
                f"it is impossible to have at least {self.at_least} and at most {self.at_most} {self.unit}"
            )
        return self

    def verdict(self, count: int, found: str) -> Verdict:
        bounds = [f"at least {self.at_least}"] if self.at_least is not None else []
        bounds += [f"at most {self.at_most}"] if self.at_most is not None else []
        holds = count >= (self.at_least or 0) and (self.at_most is None or count <= self.at_most)
        return Verdict(holds, (absence(f"{' and '.join(bounds)} {self.unit}", found),))


class Words(CountRule):
    """Holds if the answer has `at_least` to `at_most` words, separated by white space. Evidence: the count."""

    version: ClassVar[str] = "words/1"
    unit: ClassVar[str] = "words"

    def judge(self, sight: Sight) -> Verdict:
        count = len(sight.answer.text.split())
        return self.verdict(count, f"{count} words")


class Sentences(CountRule):
    """Holds if the answer has between `at_least` and `at_most` sentences (`topics.sentences`). List items, headings
    and table rows count as sentences. Abbreviations, numbers and URLs do not end a sentence. Evidence: the count."""

    version: ClassVar[str] = "sentences/1"
    unit: ClassVar[str] = "sentences"

    def judge(self, sight: Sight) -> Verdict:
        count = len(sentences(sight.answer.text))
        return self.verdict(count, pluralize(count, "sentence"))
