"""`list_items`: the answer is written as a list."""

from typing import ClassVar

from pydantic import Field

from protocols.rules.answer_rule import AnswerRule
from protocols.rules.rule import Sight, Verdict, absence, limit_evidence, span
from topics.late_pattern import lazy_pattern

# The blank after the mark distinguishes "- item" and "1. item" from "-5 degrees" and "3.5 percent"; a page may put a
# bullet directly before its words, and sentences never begin with one.
_ITEM = lazy_pattern(
    r"^[ \t>]{0,12}(?:[-*+–][ \t]{1,20}|[•‣▪●○・][ \t]{0,20}|\(?(?:[0-9]{1,3}|[a-z])[.):][ \t]{1,20}|[0-9]{1,3}、)"
    r"[^\n]*\S"
)


class ListItems(AnswerRule):
    """Holds if at least `at_least` lines of the answer are list items, which begin with a bullet, number or letter.
    Words separated only by commas are not a list. Evidence: the items, or their number if there are too few."""

    version: ClassVar[str] = "list_items/1"

    at_least: int = Field(default=2, ge=1, le=10_000)

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        found: list[tuple[int, int]] = []
        start = 0
        for line in text.splitlines(keepends=True):
            if item := _ITEM.match(line):
                found.append((start, start + item.end()))
            start += len(line)
        if len(found) < self.at_least:
            return Verdict(False, (absence(f"at least {self.at_least} items of a list", f"{len(found)} items"),))
        return Verdict(True, limit_evidence((span(text, *place, "an item of a list") for place in found), len(found)))
