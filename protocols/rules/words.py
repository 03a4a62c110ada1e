"""`words`: the answer has at least, or at most, this many words."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, model_validator

from protocols.rules.rule import Sight, Verdict, absence
from topics.document import StrictModel
from topics.topic import Topic


class Words(StrictModel):
    """Holds if the answer has between `at_least` and `at_most` words (separated by white space, as in the measures).

    At least one of the two must be given. Evidence: the count.
    """

    version: ClassVar[str] = "words/1"
    needs: ClassVar[frozenset[str]] = frozenset()

    at_least: int | None = Field(default=None, ge=0)
    at_most: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _some_bound(self) -> Words:
        if self.at_least is None and self.at_most is None:
            raise ValueError("give at_least, at_most, or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"no answer can have at least {self.at_least} and at most {self.at_most} words")
        return self

    def judge(self, sight: Sight) -> Verdict:
        count = len(sight.answer.text.split())
        bounds = [f"at least {self.at_least}"] if self.at_least is not None else []
        bounds += [f"at most {self.at_most}"] if self.at_most is not None else []
        holds = count >= (self.at_least or 0) and (self.at_most is None or count <= self.at_most)
        return Verdict(holds, (absence(f"{' and '.join(bounds)} words", f"{count} words"),))

    def unfit(self, topic: Topic) -> str | None:
        return None
