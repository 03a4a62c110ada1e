"""`sentences`: the answer has at least, or at most, this many sentences."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, model_validator

from protocols.rules.rule import Sight, Verdict, absence
from topics.counting import pluralize
from topics.document import StrictModel
from topics.sentences import sentences
from topics.topic import Topic


class Sentences(StrictModel):
    """Holds if the answer has between `at_least` and `at_most` sentences (`topics.sentences`).

    An item of a list, a heading and a row of a table are sentences; abbreviations, numbers and URLs do not end one. At
    least one of the two must be given. Evidence: the count.
    """

    version: ClassVar[str] = "sentences/1"
    needs: ClassVar[frozenset[str]] = frozenset()

    at_least: int | None = Field(default=None, ge=0)
    at_most: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _some_bound(self) -> Sentences:
        if self.at_least is None and self.at_most is None:
            raise ValueError("give at_least, at_most, or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"no answer can have at least {self.at_least} and at most {self.at_most} sentences")
        return self

    def judge(self, sight: Sight) -> Verdict:
        count = len(sentences(sight.answer.text))
        bounds = [f"at least {self.at_least}"] if self.at_least is not None else []
        bounds += [f"at most {self.at_most}"] if self.at_most is not None else []
        holds = count >= (self.at_least or 0) and (self.at_most is None or count <= self.at_most)
        return Verdict(holds, (absence(f"{' and '.join(bounds)} sentences", pluralize(count, "sentence")),))

    def unfit(self, topic: Topic) -> str | None:
        return None
