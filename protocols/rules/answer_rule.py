"""The base class of rules whose options are in a file. It is separate because it needs pydantic, which playing does
not.
"""

from typing import ClassVar

from topics.document import StrictModel
from topics.topic import Topic


class AnswerRule(StrictModel):
    """A rule whose options are its fields. By default it needs only the text of answers and fits every topic."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def unfit(self, topic: Topic) -> str | None:
        return None
