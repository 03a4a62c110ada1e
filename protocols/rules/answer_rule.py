"""The base of rules whose options are in a file. It needs pydantic, which playing a protocol does not."""

from typing import ClassVar

from topics.document import StrictModel
from topics.topic import Topic


class AnswerRule(StrictModel):
    """A rule with its options as fields. By default it needs only the text of answers, and fits every topic."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def unfit(self, topic: Topic) -> str | None:
        return None
