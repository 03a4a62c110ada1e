"""One conversation as input of measures, with the gold data on its topic. Results that measures share are cached."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from recordings.conversations.conversation import Conversation
from scoring.cited import CitedSource, find_cited
from scoring.nuggets import Nugget, find_nuggets
from scoring.settings import Settings
from scoring.swan.assessment import Assessment, TopicData, assess
from scoring.swan.judged import Judgments
from scoring.swan.schema import Schema
from scoring.words import Passage, Unit, passages
from topics.attributes import AttributeSet
from topics.gold import GoldTable
from topics.source_table import SourceTable
from topics.topic import Topic

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Judged:
    """The basis of SWAN: the criteria, and the judgments of people, rules and models."""

    schema: Schema
    judgments: Judgments


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """The input of a measure: a conversation, its topic, and gold data on good answers.

    `gold` is None if nothing is judged. `attributes` are the attribute sets by name, and `sources` is what is known
    about sources. `settings` are those of this
    measure (see `under`), and `base` those of the whole run. `judged` loads the judgments for SWAN; only measures
    that need judgments call it. `made` are results of `once` so far, by settings.
    """

    conversation: Conversation
    topic: Topic
    gold: GoldTable | None
    attributes: Mapping[str, AttributeSet]
    settings: Settings
    judged: Callable[[], Judged]
    base: Settings = field(default_factory=Settings)
    sources: SourceTable = field(default_factory=SourceTable)
    made: list[tuple[Settings, dict[Hashable, Any]]] = field(default_factory=list)

    def under(self, settings: Settings) -> "Material":
        """Return this conversation under other settings. Results of `once` are kept and shared by measures."""
        same = settings is self.settings or settings == self.settings
        return self if same else replace(self, settings=settings)

    def aside(self) -> "Material":
        """Return a copy with separate results of `once`, which are freed together with the copy."""
        return replace(self, made=[(settings, dict(made)) for settings, made in self.made])

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return `make()`, computed at most once for this conversation and these settings, under the key `what`."""
        made = self._made()
        if what not in made:
            made[what] = make()
        found: T = made[what]
        return found

    def _made(self) -> dict[Hashable, Any]:
        for settings, made in self.made:
            if settings is self.settings or settings == self.settings:
                return made
        self.made.append((self.settings, {}))
        return self.made[-1][1]

    @property
    def unscorable(self) -> str:
        """As `why_unscorable` returns it."""
        return why_unscorable(self.topic, self.gold)

    @property
    def nuggets(self) -> tuple[Nugget, ...]:
        """All links to an entity of the topic's kind, in reading order."""
        return self.once(
            "nuggets",
            lambda: find_nuggets(
                self.conversation, self.topic, self.gold, self.attributes, self.settings, self.passages
            ),
        )

    @property
    def relevant(self) -> tuple[Nugget, ...]:
        """The nuggets that have a gain, each entity once."""
        return self.once("relevant", lambda: tuple([nugget for nugget in self.nuggets if nugget.relevant]))

    @property
    def unjudged(self) -> int:
        """The number of entities that are not in the gold table."""
        return self.once("unjudged", lambda: sum(nugget.unjudged for nugget in self.nuggets))

    @property
    def sets(self) -> tuple[AttributeSet, ...]:
        """The attribute sets of the topic's type."""
        return tuple(self.attributes[name] for name in self.topic.type.attributes)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All user turns and replies in order, with the positions of their words or characters."""
        unit, user_words = self.settings.unit, self.settings.user_words
        return self.once("passages", lambda: passages(self.conversation, unit, user_words))

    @property
    def cited(self) -> tuple[CitedSource, ...]:
        """The sources of all answers, in order, each once in an answer."""
        return self.once(
            "cited", lambda: find_cited(self.conversation, self.sources, self.settings.citations, self.passages)
        )

    @property
    def unit(self) -> Unit:
        """The unit of positions and lengths in this conversation."""
        return self.passages[0].unit if self.passages else "words"

    @property
    def patience(self) -> int:
        """L in the unit of this conversation."""
        return self.settings.limit(self.unit)

    @property
    def assessment(self) -> Assessment:
        """The items and scores of every criterion under the run's settings. Parameters of measures have no effect."""
        return self.under(self.base).once("assessment", self._assess)

    @property
    def assessed(self) -> bool:
        """True if any measure has used the assessment."""
        return any("assessment" in known for _, known in self.made)

    def _assess(self) -> Assessment:
        judged = self.judged()
        ground = TopicData(self.topic, self.gold, self.attributes, self.base)
        return assess(self.conversation, judged.schema, judged.judgments, ground)


def why_unscorable(topic: Topic, gold: GoldTable | None) -> str:
    """Return the reason why good answers on a topic are unknown, or "" if they are known."""
    if gold is None:
        return "no gold table"
    if topic.type.url is None:
        return "the topic's type names no kind of URL"
    if not gold.entries(topic.id):
        return "the gold table has no entry for this topic"
    return ""
