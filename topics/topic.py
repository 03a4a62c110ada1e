"""Topics, which define the subject of a conversation and the required content of a useful answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from topics.attributes import AttributeSet
from topics.counting import pluralize
from topics.errors import InputError
from topics.kinds import UrlKind
from topics.names import LONGEST, WRONG_CHARACTERS, name_fault, name_words
from topics.sent_files import SentFile
from topics.source_table import SourceTable

# The signs of a topic's id besides letters and digits; ids are used in file names, options and tables.
ID_SIGNS = "._+-"

# The word for a topic's request among the texts that are translated, and in tables of questions.
QUESTION = "question"

# A language as it is written in files: `de`, `pt-BR`, `zh-Hant`.
LANGUAGE_TAG = r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*"


def check_topic_id(name: str) -> None:
    """Raise InputError for an id that no topic file could contain."""
    fault = name_fault(name, ID_SIGNS) if len(name) <= LONGEST else f"has more than {LONGEST} characters"
    if fault:
        shown = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
        raise InputError(
            f"{shown!r} cannot be the id of a topic" + ("" if fault == WRONG_CHARACTERS else f": it {fault}"),
            allowed=f"at most {LONGEST} characters: {name_words(ID_SIGNS)}",
            advice="rename the topic in its file, or give its id as --topic",
        )


@dataclass(frozen=True, slots=True)
class TopicType:
    """A kind of topic, for example movies. `name` is a word such as `movie`. `asks_for` is the content of each line
    of an answer (`movie title, IMDb URL`). `url` is the kind of URL that names an entity of this type, or None if
    answers contain no URL. `attributes` names the attribute sets that group entities of this type."""

    name: str
    asks_for: str = ""
    url: UrlKind | None = None
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """The subject of a user's request to a system.

    `id` is unique in its set (`M002`). `request` is the request in the user's words, without the format. `subject` is
    a short phrase, or "". `turns` are seed turns, for protocols that say the same fixed turns to every system.
    `fields` are further texts by name, for protocol templates (`topic.fields.year`). `format` is the required content
    of each line of an answer if it differs from the topic's type, otherwise "". `cluster` names a cluster of related
    topics, such as wordings of one question, or is None; only intervals use the cluster. `translations` has texts by
    language and then by name: `question`, `subject`, `asks_for` or a field. Only the design of an audit uses them.
    `files` go with the turns of protocol states that attach them.
    """

    id: str
    type: TopicType
    request: str
    subject: str = ""
    turns: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    format: str = ""
    cluster: str | None = None
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    files: tuple[SentFile, ...] = ()

    @property
    def asks_for(self) -> str:
        """The required content of each line of an answer, according to the topic or else its type."""
        return self.format or self.type.asks_for


@dataclass(frozen=True, slots=True, repr=False)
class TopicSet:
    """Topics in file order, with the attribute sets to which they refer. `left_out` has the ids of topics in the file
    that are not played; a gold table may still contain them. `sources` is what is known about the sources of answers.
    `topics["M002"]` returns a topic. An unknown id raises InputError."""

    name: str
    topics: tuple[Topic, ...]
    attributes: Mapping[str, AttributeSet]
    about: str = ""
    left_out: tuple[str, ...] = ()
    sources: SourceTable = field(default_factory=SourceTable)

    def __getitem__(self, topic_id: str) -> Topic:
        for topic in self.topics:
            if topic.id == topic_id:
                return topic
        raise InputError(
            f"topic {topic_id!r} is not in the topic set {self.name!r}",
            allowed=", ".join(topic.id for topic in self.topics[:8]) + (", …" if len(self.topics) > 8 else ""),
        )

    def __repr__(self) -> str:
        return f"<TopicSet {self.name}: {pluralize(len(self.topics), 'topic')}>"

    @property
    def clusters(self) -> dict[str, str]:
        """The cluster names by topic id. Topics without a cluster are left out."""
        return {topic.id: topic.cluster for topic in self.topics if topic.cluster}

    def only(self, ids: Iterable[str]) -> "TopicSet":
        """Return the set with only the topics in `ids`, in the set's order. Raises InputError for an unknown id."""
        known = {topic.id for topic in self.topics}
        chosen = {name if name in known else self[name].id for name in ids}  # which raises for an unknown one
        kept = tuple(topic for topic in self.topics if topic.id in chosen)
        out = (*self.left_out, *(topic.id for topic in self.topics if topic.id not in chosen))
        return replace(self, topics=kept, left_out=out)
