"""`sentences`: the answer has at least, or at most, this many sentences."""

from typing import ClassVar

from protocols.rules.rule import Sight, Verdict
from protocols.rules.words import CountRule
from topics.counting import pluralize
from topics.sentences import sentences


class Sentences(CountRule):
    """Holds if the answer has between `at_least` and `at_most` sentences (`topics.sentences`), which include list
    items, headings and rows of a table; abbreviations, numbers and URLs do not end one. Evidence: the count."""

    version: ClassVar[str] = "sentences/1"
    unit: ClassVar[str] = "sentences"

    def judge(self, sight: Sight) -> Verdict:
        count = len(sentences(sight.answer.text))
        return self.verdict(count, pluralize(count, "sentence"))
