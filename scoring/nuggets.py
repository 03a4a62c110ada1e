"""Entity nuggets of a conversation: the URLs of the topic's kind in the system's answers, with their gold entries.

    find_nuggets(conversation, topic, ...)   one Nugget for each link to an entity, in reading order
    position_weight(position, patience)      the weight of a nugget at that position

An entity is identified by its canonical URL, never by its title. A repetition, within a turn or in a later turn,
costs words and earns nothing ([GFRC] §5). A link whose anchor is its address is one occurrence, not two.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from protocols.answer import Answer
from recordings.conversations.conversation import Conversation
from scoring.settings import Settings
from scoring.words import Passage, passages
from topics.attributes import AttributeSet
from topics.gold import GoldTable
from topics.kinds import UrlKind
from topics.links import find_urls
from topics.topic import Topic

# The text between the two addresses of one link: `[https://a.org](https://a.org)`, `<a href="…">https://a.org</a>`.
_SAME_LINK = re.compile(r"[^\[\]\n]{0,999}\]\(\s{0,9}<?|[\"'][^<>\n]{0,999}>[^<\n]{0,999}")
# A picture's address names no entity.
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,999}\]\(\s{0,9}<?(?=https?://)", re.IGNORECASE)

_NONE: Mapping[str, tuple[float, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Nugget:
    """One link to an entity in a system turn.

    - `turn`: the number of the turn, from 1.
    - `start`, `end`: character offsets in the answer's text, `end` exclusive. For a link outside the text (a card, a
      footnote), the offsets of the passage that the link supports. Both are -1 if the system does not say which
      passage; `position` is then the position of the turn's last word.
    - `position`: WC(n), from 1, of the last word, or character, in the whole conversation.
    - `entity`, `url`: the canonical key, and the URL as written.
    - `grade`: relevance in the gold table, or None if the entity is not judged.
    - `gain`: g(n) in [0, 1]. Unjudged entities and duplicates have 0.
    - `memberships`: group distributions by attribute set, for relevant nuggets only.
    - `unknown`: attribute sets for which the gold table gives no group. The uniform distribution is used for them.
    """

    turn: int
    start: int
    end: int
    position: int
    entity: str
    url: str
    grade: int | None
    gain: float
    duplicate: bool
    title: str = ""
    memberships: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: _NONE)
    unknown: tuple[str, ...] = ()

    @property
    def relevant(self) -> bool:
        """True for a nugget with a gain above 0, which is a judged entity that is not a repetition."""
        return self.gain > 0

    @property
    def unjudged(self) -> bool:
        """True if the entity is not in the gold table and this is the first link to the entity in the conversation."""
        return self.grade is None and not self.duplicate

    @property
    def in_text(self) -> bool:
        return self.start >= 0


def find_nuggets(
    conversation: Conversation,
    topic: Topic,
    gold: GoldTable | None,
    attributes: Mapping[str, AttributeSet],
    settings: Settings,
    spoken: Sequence[Passage] | None = None,
) -> tuple[Nugget, ...]:
    """Find every link to an entity of the topic's kind, in reading order. Topic types without a kind of URL have
    none.

    Without `gold`, every nugget is unjudged. `spoken` is `passages(conversation)`, if already computed. Raises
    InputError for a grade that has no gain.
    """
    kind = topic.type.url
    if kind is None:
        return ()
    sets = tuple([attributes[name] for name in topic.type.attributes])
    known = {} if gold is None else gold.of(topic.id)
    replies = {turn.number: turn.reply.answer for turn in conversation.turns if turn.reply is not None}
    found: list[Nugget] = []
    seen: set[str] = set()
    for passage in passages(conversation, settings.unit, settings.user_words) if spoken is None else spoken:
        if passage.speaker != "system":
            continue
        for entity, url, start, end, position in occurrences(replies[passage.turn], passage, kind):
            repeated = entity in seen
            seen.add(entity)
            entry = known.get(entity)
            grade, title = (None, "") if entry is None else (entry.grade, entry.title)
            gain = settings.gain(grade) if grade is not None and not repeated else 0.0
            memberships, unknown = _memberships(entry.groups, sets) if entry is not None and gain > 0 else (_NONE, ())
            place = (passage.turn, start, end, position, entity, url)
            found.append(Nugget(*place, grade, gain, repeated, title, memberships, unknown))
    return tuple(found)


def _memberships(
    groups: Mapping[str, tuple[float, ...]], sets: Sequence[AttributeSet]
) -> tuple[Mapping[str, tuple[float, ...]], tuple[str, ...]]:
    unknown = tuple([attribute for attribute in sets if attribute.name not in groups])
    if not unknown:
        return groups, ()
    even = {one.name: (1.0 / len(one.groups),) * len(one.groups) for one in unknown}
    return MappingProxyType({**groups, **even}), tuple(even)


def occurrences(answer: Answer, passage: Passage, kind: UrlKind) -> Iterator[tuple[str, str, int, int, int]]:
    """Yield (entity, url, start, end, position) of each link to an entity in the answer with the text of `passage`.
    Links in the text precede other links."""
    spans: list[tuple[str, str, int, int]] = []
    pictures = {image.end() for image in _IMAGE.finditer(answer.text)} if "![" in answer.text else frozenset()
    for mention in find_urls(answer.text):
        entity = kind.key(mention.href) if mention.start not in pictures else None
        if entity is None:
            continue
        if spans and spans[-1][0] == entity and _SAME_LINK.fullmatch(answer.text, spans[-1][3], mention.start):
            spans[-1] = (entity, mention.href, spans[-1][2], mention.end)
        else:
            spans.append((entity, mention.href, mention.start, mention.end))
    written = {url for _, url, *_ in spans}
    spans = _add_sources(answer, kind, spans)
    positions = passage.positions([end for *_, end in spans]) if spans else ()
    for (entity, url, start, end), position in zip(spans, positions, strict=True):
        yield entity, url, start, end, position
    inside = {entity for entity, *_ in spans}
    for link in answer.links:
        if link.href in written:
            continue
        entity = kind.key(link.href)
        if entity is not None and entity not in inside:
            inside.add(entity)
            yield entity, link.href, -1, -1, passage.last_position


def _add_sources(
    answer: Answer, kind: UrlKind, spans: list[tuple[str, str, int, int]]
) -> list[tuple[str, str, int, int]]:
    """Insert outside links that are sources of a passage, unless their entity is linked in that passage."""
    lacked: dict[str, tuple[str, str, int, int]] = {}
    inside = {entity for entity, *_ in spans}
    for source in sorted((one for one in answer.sources if one.start >= 0), key=lambda one: one.start):
        entity = kind.key(source.href)
        words = answer.text[source.start : source.end]
        if entity is not None and entity not in inside and words.strip():
            start = source.start + len(words) - len(words.lstrip())
            lacked.setdefault(entity, (entity, source.href, start, start + len(words.strip())))
    return sorted([*spans, *lacked.values()], key=lambda span: span[2]) if lacked else spans


def position_weight(position: npt.ArrayLike, patience: int | npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Compute pw(n) = max(0, 1 - (WC(n) - 1)/L), Eq. 6: 1 for the first word, 0 from word L + 1 on. `position` (...)
    is WC(n) from 1. `patience` is L, at least 1, in the unit of the positions: one number, or (...). Returns (...) in
    [0, 1]. Eq. 8 prints WC for WC - 1; Table 1 and the normaliser of Eq. 7 need Eq. 6."""
    places = np.asarray(position, dtype=np.float64)
    if not (np.all(np.asarray(patience) >= 1) and np.all(places >= 1)):
        raise ValueError("positions and patience must be at least 1")
    return np.maximum(0.0, 1.0 - (places - 1.0) / patience)
