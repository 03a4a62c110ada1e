"""The base class of rules with options in a file. It has its own module because it needs pydantic, unlike playing."""

from typing import ClassVar

from topics.document import StrictModel
from topics.topic import Topic


class AnswerRule(StrictModel):
    """A rule with its options as fields. By default, a rule needs only the text of answers and fits every topic.
    `languages` has the codes of the languages whose words the rule knows; () means that it knows all, or needs none."""

    needs: ClassVar[frozenset[str]] = frozenset()
    languages: ClassVar[tuple[str, ...]] = ()

    def unfit(self, topic: Topic) -> str | None:
        return None
